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
