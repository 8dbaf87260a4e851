// Cube faces.

// Direction of a point of a cube face; faces in the order +X -X +Y -Y +Z -Z, (0, 0) at a face's top left.
fn face_direction(face: u32, at: vec2f) -> vec3f {
    let p = at * 2.0 - 1.0;
    switch face {
        case 0u: { return vec3f(1.0, -p.y, -p.x); }
        case 1u: { return vec3f(-1.0, -p.y, p.x); }
        case 2u: { return vec3f(p.x, 1.0, p.y); }
        case 3u: { return vec3f(p.x, -1.0, -p.y); }
        case 4u: { return vec3f(p.x, -p.y, 1.0); }
        default: { return vec3f(-p.x, -p.y, -1.0); }
    }
}

struct FacePoint {
    face: u32,
    at: vec2f,
}

// The inverse of `face_direction`.
fn face_point(d: vec3f) -> FacePoint {
    let a = abs(d);
    if a.x >= a.y && a.x >= a.z {
        return FacePoint(select(0u, 1u, d.x < 0.0), vec2f(select(-d.z, d.z, d.x < 0.0), -d.y) / a.x * 0.5 + 0.5);
    }
    if a.y >= a.z {
        return FacePoint(select(2u, 3u, d.y < 0.0), vec2f(d.x, select(d.z, -d.z, d.y < 0.0)) / a.y * 0.5 + 0.5);
    }
    return FacePoint(select(4u, 5u, d.z < 0.0), vec2f(select(d.x, -d.x, d.z < 0.0), -d.y) / a.z * 0.5 + 0.5);
}
