// Space 2: a material; space 3 is outside tables: one draw's transform in push constants.

// Flags of `Material.flags`.
const UNLIT: u32 = 1u;
const MASK: u32 = 2u;
const BLEND: u32 = 4u;
const CLEARCOAT: u32 = 8u;
const ANISOTROPY: u32 = 16u;
const TRANSMISSION: u32 = 32u;
const DOUBLE_SIDED: u32 = 64u;

// One texture as the material uses it: uv' = linear * uv + offset (KHR_texture_transform).
struct Slot {
    // Columns of the 2x2 matrix.
    linear: vec4f,
    offset: vec2f,
    uv_set: u32,
    // 0 if there is no texture.
    present: u32,
}

struct Material {
    base_color: vec4f,
    emissive: vec3f,
    alpha_cutoff: f32,
    metallic: f32,
    roughness: f32,
    normal_scale: f32,
    occlusion_strength: f32,
    // Reflectance of a dielectric at normal incidence.
    dielectric_f0: f32,
    clearcoat: f32,
    clearcoat_roughness: f32,
    clearcoat_normal_scale: f32,
    // Cosine and sine of the rotation, strength.
    anisotropy: vec3f,
    transmission: f32,
    flags: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
    slots: array<Slot, 9>,
}

const SLOT_BASE_COLOR: u32 = 0u;
const SLOT_METALLIC_ROUGHNESS: u32 = 1u;
const SLOT_NORMAL: u32 = 2u;
const SLOT_OCCLUSION: u32 = 3u;
const SLOT_EMISSIVE: u32 = 4u;
const SLOT_CLEARCOAT: u32 = 5u;
const SLOT_CLEARCOAT_ROUGHNESS: u32 = 6u;
const SLOT_CLEARCOAT_NORMAL: u32 = 7u;
const SLOT_ANISOTROPY: u32 = 8u;

@group(2) @binding(0) var<uniform> material: Material;
@group(2) @binding(1) var base_color_texture: texture_2d<f32>;
@group(2) @binding(2) var metallic_roughness_texture: texture_2d<f32>;
@group(2) @binding(3) var normal_texture: texture_2d<f32>;
@group(2) @binding(4) var occlusion_texture: texture_2d<f32>;
@group(2) @binding(5) var emissive_texture: texture_2d<f32>;
@group(2) @binding(6) var clearcoat_texture: texture_2d<f32>;
@group(2) @binding(7) var clearcoat_roughness_texture: texture_2d<f32>;
@group(2) @binding(8) var clearcoat_normal_texture: texture_2d<f32>;
@group(2) @binding(9) var anisotropy_texture: texture_2d<f32>;
@group(2) @binding(10) var base_color_sampler: sampler;
@group(2) @binding(11) var metallic_roughness_sampler: sampler;
@group(2) @binding(12) var normal_sampler: sampler;
@group(2) @binding(13) var occlusion_sampler: sampler;
@group(2) @binding(14) var emissive_sampler: sampler;
@group(2) @binding(15) var clearcoat_sampler: sampler;
@group(2) @binding(16) var clearcoat_roughness_sampler: sampler;
@group(2) @binding(17) var clearcoat_normal_sampler: sampler;
@group(2) @binding(18) var anisotropy_sampler: sampler;

fn has(flag: u32) -> bool {
    return (material.flags & flag) != 0u;
}

// Flags of `Draw.flags`.
const DRAW_UNLIT: u32 = 1u;
const DRAW_MIRRORED: u32 = 2u;

struct Draw {
    // The first three rows of the mesh-to-world matrix.
    world: array<vec4f, 3>,
    // The rows of the matrix for normals, up to a positive factor.
    normal: array<vec4f, 3>,
    flags: u32,
}

var<immediate> draw: Draw;

fn to_world(position: vec3f) -> vec3f {
    let p = vec4f(position, 1.0);
    return vec3f(dot(draw.world[0], p), dot(draw.world[1], p), dot(draw.world[2], p));
}

fn coordinates(slot: u32, uv0: vec2f, uv1: vec2f) -> vec2f {
    let s = material.slots[slot];
    let uv = select(uv0, uv1, s.uv_set == 1u);
    return s.linear.xy * uv.x + s.linear.zw * uv.y + s.offset;
}

fn present(slot: u32) -> bool {
    return material.slots[slot].present != 0u;
}
