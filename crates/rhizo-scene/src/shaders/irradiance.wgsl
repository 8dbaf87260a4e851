// Irradiance by exact summation. The image is cut into cells; each cell keeps, per colour, the vector sum of
// radiance * solid angle * direction. The irradiance of a normal is then the sum of max(0, N . vector): exact for every
// cell on one side of the horizon, wherever inside it the light sits, so one bright texel needs no fine cells.
// Follows brdf.wgsl and cube.wgsl.

struct MomentParams {
    // Image, in parts of texels: a small image's texels are cut, as one direction stands for each part.
    size: vec2u,
    // Cells.
    cells: vec2u,
    // Parts of a texel.
    parts: vec2u,
}

@group(1) @binding(0) var moment_image: texture_2d<f32>;
@group(1) @binding(1) var<storage, read_write> moments_out: array<vec4f>;
var<immediate> moment_params: MomentParams;

@compute @workgroup_size(8, 8, 1)
fn moments(@builtin(global_invocation_id) id: vec3u) {
    let size = moment_params.size;
    let cells = moment_params.cells;
    if id.x >= cells.x || id.y >= cells.y {
        return;
    }
    let from_texel = id.xy * size / cells;
    let to_texel = (id.xy + 1u) * size / cells;
    var red = vec3f(0.0);
    var green = vec3f(0.0);
    var blue = vec3f(0.0);
    for (var y = from_texel.y; y < to_texel.y; y += 1u) {
        let top = cos(PI * f32(y) / f32(size.y));
        let bottom = cos(PI * f32(y + 1u) / f32(size.y));
        let solid_angle = (top - bottom) * 2.0 * PI / f32(size.x);
        let latitude = (0.5 - (f32(y) + 0.5) / f32(size.y)) * PI;
        for (var x = from_texel.x; x < to_texel.x; x += 1u) {
            let longitude = ((f32(x) + 0.5) / f32(size.x) - 0.5) * 2.0 * PI;
            let d = vec3f(cos(latitude) * cos(longitude), sin(latitude), cos(latitude) * sin(longitude));
            let c = textureLoad(moment_image, vec2u(x, y) / moment_params.parts, 0).rgb * solid_angle;
            red += c.r * d;
            green += c.g * d;
            blue += c.b * d;
        }
    }
    let at = (id.y * cells.x + id.x) * 3u;
    moments_out[at] = vec4f(red, 0.0);
    moments_out[at + 1u] = vec4f(green, 0.0);
    moments_out[at + 2u] = vec4f(blue, 0.0);
}

struct IrradianceParams {
    size: u32,
    cells: u32,
    // Of the stored radiance.
    scale: f32,
    unused: u32,
}

@group(1) @binding(2) var<storage, read> moments_in: array<vec4f>;
@group(1) @binding(3) var irradiance_out: texture_storage_2d_array<rgba16float, write>;
var<immediate> irradiance_params: IrradianceParams;

// Irradiance / pi: the radiance of a white Lambertian surface, and also of the GGX lobe of roughness 1 along its normal.
@compute @workgroup_size(8, 8, 1)
fn irradiance(@builtin(global_invocation_id) id: vec3u) {
    let size = irradiance_params.size;
    if id.x >= size || id.y >= size {
        return;
    }
    let n = normalize(face_direction(id.z, (vec2f(id.xy) + 0.5) / f32(size)));
    var sum = vec3f(0.0);
    for (var i = 0u; i < irradiance_params.cells; i += 1u) {
        let at = i * 3u;
        let cosines = vec3f(dot(n, moments_in[at].xyz), dot(n, moments_in[at + 1u].xyz), dot(n, moments_in[at + 2u].xyz));
        sum += max(cosines, vec3f(0.0));
    }
    textureStore(irradiance_out, id.xy, id.z, vec4f(sum * (irradiance_params.scale / PI), 1.0));
}
