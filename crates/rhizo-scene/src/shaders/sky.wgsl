// The environment as background, drawn where nothing was. Follows frame.wgsl.

struct SkyOut {
    @builtin(position) clip: vec4f,
    @location(0) ndc: vec2f,
}

// One triangle over the whole target, at the far plane (reversed depth: 0).
@vertex
fn sky_vertex(@builtin(vertex_index) index: u32) -> SkyOut {
    let corner = vec2f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    return SkyOut(vec4f(corner, 0.0, 1.0), corner);
}

@fragment
fn sky_fragment(in: SkyOut) -> @location(0) vec4f {
    let near = frame.world_from_clip * vec4f(in.ndc, 1.0, 1.0);
    let d = select(normalize(near.xyz / near.w - frame.eye), -frame.view_axis, frame.parallel > 0.5);
    let radiance = textureSampleLevel(prefiltered_map, clamp_sampler, d, 0.0).rgb * frame.environment_scale;
    return vec4f(radiance, 1.0);
}
