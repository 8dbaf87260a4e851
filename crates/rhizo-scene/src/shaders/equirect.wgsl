// From an equirectangular image to the textures of image-based light. Follows brdf.wgsl and cube.wgsl.
// Directions: u = 0.5 + atan2(z, x) / 2 pi, v = 0.5 - asin(y) / pi, v down from the top row.

@group(1) @binding(0) var equirect: texture_2d<f32>;

fn texel(x: i32, y: i32, size: vec2i) -> vec3f {
    return textureLoad(equirect, vec2i((x + size.x) % size.x, clamp(y, 0, size.y - 1)), 0).rgb;
}

// Bilinear; 32-bit float textures need not be filterable.
fn radiance(d: vec3f) -> vec3f {
    let size = vec2i(textureDimensions(equirect));
    let uv = vec2f(0.5 + atan2(d.z, d.x) / (2.0 * PI), 0.5 - asin(clamp(d.y, -1.0, 1.0)) / PI);
    let p = uv * vec2f(size) - 0.5;
    let base = floor(p);
    let f = p - base;
    let x = i32(base.x);
    let y = i32(base.y);
    let top = mix(texel(x, y, size), texel(x + 1, y, size), f.x);
    let bottom = mix(texel(x, y + 1, size), texel(x + 1, y + 1, size), f.x);
    return mix(top, bottom, f.y);
}

struct CubeParams {
    size: u32,
    // Samples along each axis of a texel.
    samples: u32,
    // Keeps the brightest texel inside the range of half floats.
    scale: f32,
    unused: u32,
}

@group(1) @binding(1) var cube_out: texture_storage_2d_array<rgba16float, write>;
var<immediate> cube_params: CubeParams;

@compute @workgroup_size(8, 8, 1)
fn equirect_to_cube(@builtin(global_invocation_id) id: vec3u) {
    let size = cube_params.size;
    if id.x >= size || id.y >= size {
        return;
    }
    let n = cube_params.samples;
    var sum = vec3f(0.0);
    for (var y = 0u; y < n; y += 1u) {
        for (var x = 0u; x < n; x += 1u) {
            let inside = (vec2f(f32(x), f32(y)) + 0.5) / f32(n);
            let at = (vec2f(id.xy) + inside) / f32(size);
            sum += radiance(normalize(face_direction(id.z, at)));
        }
    }
    textureStore(cube_out, id.xy, id.z, vec4f(sum * (cube_params.scale / f32(n * n)), 1.0));
}
