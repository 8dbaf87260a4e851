// Exposure, tone mapping and the sRGB curve: linear light to 8 bits.

const TONE_CLAMP: u32 = 0u;
const TONE_NEUTRAL: u32 = 1u;
const TONE_ACES: u32 = 2u;

struct Post {
    exposure: f32,
    tone: u32,
}

@group(1) @binding(0) var hdr: texture_2d<f32>;
var<immediate> post: Post;

@vertex
fn post_vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    return vec4f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// Khronos PBR Neutral tone mapper (specification 1.0): base colours survive, only highlights are compressed.
fn neutral(color: vec3f) -> vec3f {
    let start = 0.8 - 0.04;
    let desaturation = 0.15;
    let x = min(color.r, min(color.g, color.b));
    let offset = select(0.04, x - 6.25 * x * x, x < 0.08);
    let c = color - offset;
    let peak = max(c.r, max(c.g, c.b));
    if peak < start {
        return c;
    }
    let d = 1.0 - start;
    let new_peak = 1.0 - d * d / (peak + d - start);
    let g = 1.0 - 1.0 / (desaturation * (peak - new_peak) + 1.0);
    return mix(c * (new_peak / peak), vec3f(new_peak), g);
}

// Narkowicz 2015, a rational fit of the ACES reference transform.
fn aces(c: vec3f) -> vec3f {
    return c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14);
}

// IEC 61966-2-1.
fn srgb(c: vec3f) -> vec3f {
    return select(1.055 * pow(c, vec3f(1.0 / 2.4)) - 0.055, 12.92 * c, c <= vec3f(0.0031308));
}

@fragment
fn post_fragment(@builtin(position) at: vec4f) -> @location(0) vec4f {
    var color = max(textureLoad(hdr, vec2i(at.xy), 0).rgb * post.exposure, vec3f(0.0));
    switch post.tone {
        case TONE_NEUTRAL: {
            color = neutral(color);
        }
        case TONE_ACES: {
            color = aces(color);
        }
        default: {}
    }
    return vec4f(srgb(clamp(color, vec3f(0.0), vec3f(1.0))), 1.0);
}
