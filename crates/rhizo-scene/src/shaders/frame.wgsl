// Space 1: what a frame and its passes share.

const MAX_LIGHTS: u32 = 64u;

const LIGHT_DIRECTIONAL: u32 = 0u;
const LIGHT_POINT: u32 = 1u;
const LIGHT_SPOT: u32 = 2u;

// A punctual light (KHR_lights_punctual).
struct Light {
    position: vec3f,
    kind: u32,
    // From the surface towards a directional light; backwards along a spot's axis. Unit length.
    direction: vec3f,
    // 1 / range, 0 for none.
    inverse_range: f32,
    // Irradiance of a surface facing a directional light, else radiant intensity.
    color: vec3f,
    // 1 if the shadow map belongs to this light.
    casts_shadow: f32,
    cone_scale: f32,
    cone_offset: f32,
    unused_0: f32,
    unused_1: f32,
}

struct Frame {
    clip_from_world: mat4x4f,
    world_from_clip: mat4x4f,
    shadow_from_world: mat4x4f,
    eye: vec3f,
    light_count: u32,
    // Towards the camera for parallel projections.
    view_axis: vec3f,
    // 1 for parallel projections.
    parallel: f32,
    // Multiplies what the environment's textures hold: intensity / stored scale.
    environment_scale: f32,
    // Level of the prefiltered map at roughness 1.
    environment_max_level: f32,
    // World units a shadow lookup is moved along the normal.
    shadow_normal_offset: f32,
    // One texel of the shadow map in texture coordinates.
    shadow_texel: f32,
    // Lookups into the split-sum table stay this far away from its edges; 0 is exact.
    split_sum_margin: f32,
    unused_0: f32,
    unused_1: f32,
    unused_2: f32,
    lights: array<Light, 64>,
}

@group(1) @binding(0) var<uniform> frame: Frame;
@group(1) @binding(1) var prefiltered_map: texture_cube<f32>;
@group(1) @binding(2) var irradiance_map: texture_cube<f32>;
@group(1) @binding(3) var split_sum: texture_2d<f32>;
@group(1) @binding(4) var clamp_sampler: sampler;
@group(1) @binding(5) var shadow_map: texture_depth_2d;
@group(1) @binding(6) var shadow_sampler: sampler_comparison;

// Unit vector from a point towards the camera.
fn toward_eye(world: vec3f) -> vec3f {
    return select(normalize(frame.eye - world), frame.view_axis, frame.parallel > 0.5);
}
