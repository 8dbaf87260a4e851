// Depth from the light. Follows frame.wgsl and material.wgsl.

struct ShadowIn {
    @location(0) position: vec3f,
    @location(3) uv0: vec2f,
    @location(4) uv1: vec2f,
    @location(5) color: vec4f,
}

struct ShadowOut {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec4f,
    @location(1) alpha: f32,
}

@vertex
fn shadow_vertex(in: ShadowIn) -> ShadowOut {
    var out: ShadowOut;
    out.clip = frame.shadow_from_world * vec4f(to_world(in.position), 1.0);
    out.uv = vec4f(in.uv0, in.uv1);
    out.alpha = in.color.a;
    return out;
}

// Only for masked materials.
@fragment
fn shadow_mask(in: ShadowOut) {
    var alpha = material.base_color.a * in.alpha;
    if present(SLOT_BASE_COLOR) {
        let uv = coordinates(SLOT_BASE_COLOR, in.uv.xy, in.uv.zw);
        alpha *= textureSample(base_color_texture, base_color_sampler, uv).a;
    }
    if alpha < material.alpha_cutoff {
        discard;
    }
}
