// Metallic-roughness shading (glTF 2.0) with a directional shadow map, punctual lights and image-based light.
// Follows brdf.wgsl, frame.wgsl and material.wgsl.

struct VertexIn {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) tangent: vec4f,
    @location(3) uv0: vec2f,
    @location(4) uv1: vec2f,
    @location(5) color: vec4f,
}

struct Surface {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) tangent: vec4f,
    @location(3) uv: vec4f,
    @location(4) color: vec4f,
}

@vertex
fn vertex(in: VertexIn) -> Surface {
    var out: Surface;
    out.world = to_world(in.position);
    out.clip = frame.clip_from_world * vec4f(out.world, 1.0);
    out.normal = vec3f(
        dot(draw.normal[0].xyz, in.normal),
        dot(draw.normal[1].xyz, in.normal),
        dot(draw.normal[2].xyz, in.normal),
    );
    let tangent = vec3f(
        dot(draw.world[0].xyz, in.tangent.xyz),
        dot(draw.world[1].xyz, in.tangent.xyz),
        dot(draw.world[2].xyz, in.tangent.xyz),
    );
    // A mirrored instance turns the cross product of normal and tangent around.
    let mirrored = select(1.0, -1.0, (draw.flags & DRAW_MIRRORED) != 0u);
    out.tangent = vec4f(tangent, in.tangent.w * mirrored);
    out.uv = vec4f(in.uv0, in.uv1);
    out.color = in.color;
    return out;
}

// Everything the lobes need about the shaded point.
struct Point {
    world: vec3f,
    v: vec3f,
    n: vec3f,
    t: vec3f,
    b: vec3f,
    n_dot_v: f32,
    base_color: vec3f,
    metallic: f32,
    roughness: f32,
    f0: vec3f,
    anisotropy: f32,
    coat: f32,
    coat_roughness: f32,
    coat_n: vec3f,
    transmission: f32,
}

// Below this a highlight is narrower than a pixel can show.
const MIN_ROUGHNESS: f32 = 0.045;

// The tangent frame: as given, or any where the vertex has no tangent (the shading then does not depend on it).
fn tangent_frame(in: Surface, n: vec3f, side: f32) -> mat3x3f {
    if dot(in.tangent.xyz, in.tangent.xyz) < 1e-12 {
        return frame_around(n);
    }
    let t = normalize(in.tangent.xyz);
    let b = normalize(cross(n * side, t)) * in.tangent.w;
    return mat3x3f(t * side, b * side, n);
}

fn perturbed(tbn: mat3x3f, texel: vec3f, scale: f32) -> vec3f {
    var n = texel * 2.0 - 1.0;
    n = vec3f(n.xy * scale, n.z);
    return normalize(tbn * n);
}

fn base_color_of(in: Surface) -> vec4f {
    var color = material.base_color * in.color;
    if present(SLOT_BASE_COLOR) {
        let uv = coordinates(SLOT_BASE_COLOR, in.uv.xy, in.uv.zw);
        color *= textureSample(base_color_texture, base_color_sampler, uv);
    }
    return color;
}

fn emission_of(in: Surface) -> vec3f {
    var emission = material.emissive;
    if present(SLOT_EMISSIVE) {
        let uv = coordinates(SLOT_EMISSIVE, in.uv.xy, in.uv.zw);
        emission *= textureSample(emissive_texture, emissive_sampler, uv).rgb;
    }
    return emission;
}

fn occlusion_of(in: Surface) -> f32 {
    if !present(SLOT_OCCLUSION) {
        return 1.0;
    }
    let uv = coordinates(SLOT_OCCLUSION, in.uv.xy, in.uv.zw);
    let texel = textureSample(occlusion_texture, occlusion_sampler, uv).r;
    return 1.0 + material.occlusion_strength * (texel - 1.0);
}

fn point_of(in: Surface, base_color: vec3f, front: bool) -> Point {
    var p: Point;
    // Back faces of double-sided materials are lit with the flipped frame.
    let side = select(-1.0, 1.0, front || !has(DOUBLE_SIDED));
    let geometric = normalize(in.normal) * side;
    let tbn = tangent_frame(in, geometric, side);
    p.world = in.world;
    p.v = toward_eye(in.world);
    p.n = geometric;
    if present(SLOT_NORMAL) {
        let uv = coordinates(SLOT_NORMAL, in.uv.xy, in.uv.zw);
        p.n = perturbed(tbn, textureSample(normal_texture, normal_sampler, uv).xyz, material.normal_scale);
    }
    p.base_color = base_color;
    p.metallic = material.metallic;
    p.roughness = material.roughness;
    if present(SLOT_METALLIC_ROUGHNESS) {
        let uv = coordinates(SLOT_METALLIC_ROUGHNESS, in.uv.xy, in.uv.zw);
        let texel = textureSample(metallic_roughness_texture, metallic_roughness_sampler, uv);
        p.metallic *= texel.b;
        p.roughness *= texel.g;
    }
    p.roughness = clamp(p.roughness, MIN_ROUGHNESS, 1.0);
    p.f0 = mix(vec3f(material.dielectric_f0), base_color, p.metallic);
    p.n_dot_v = clamp(dot(p.n, p.v), 0.0, 1.0);
    p.transmission = material.transmission * (1.0 - p.metallic);
    p.t = tbn[0];
    p.b = tbn[1];
    add_anisotropy(&p, in, tbn);
    add_coat(&p, in, geometric, tbn);
    return p;
}

// KHR_materials_anisotropy: the direction is turned by the rotation and by the texture.
fn add_anisotropy(p: ptr<function, Point>, in: Surface, tbn: mat3x3f) {
    (*p).anisotropy = 0.0;
    if !has(ANISOTROPY) {
        return;
    }
    var direction = material.anisotropy.xy;
    (*p).anisotropy = material.anisotropy.z;
    if present(SLOT_ANISOTROPY) {
        let uv = coordinates(SLOT_ANISOTROPY, in.uv.xy, in.uv.zw);
        let texel = textureSample(anisotropy_texture, anisotropy_sampler, uv).xyz;
        let d = texel.xy * 2.0 - 1.0;
        let turned = vec2f(direction.x * d.x - direction.y * d.y, direction.y * d.x + direction.x * d.y);
        let length_2 = dot(turned, turned);
        if length_2 > 1e-8 {
            direction = turned * inverseSqrt(length_2);
        }
        (*p).anisotropy *= texel.z;
    }
    (*p).t = tbn[0] * direction.x + tbn[1] * direction.y;
    (*p).b = tbn[1] * direction.x - tbn[0] * direction.y;
}

// KHR_materials_clearcoat: its own normal, not the base's.
fn add_coat(p: ptr<function, Point>, in: Surface, geometric: vec3f, tbn: mat3x3f) {
    (*p).coat = 0.0;
    (*p).coat_n = geometric;
    (*p).coat_roughness = 1.0;
    if !has(CLEARCOAT) {
        return;
    }
    (*p).coat = material.clearcoat;
    (*p).coat_roughness = material.clearcoat_roughness;
    if present(SLOT_CLEARCOAT) {
        let uv = coordinates(SLOT_CLEARCOAT, in.uv.xy, in.uv.zw);
        (*p).coat *= textureSample(clearcoat_texture, clearcoat_sampler, uv).r;
    }
    if present(SLOT_CLEARCOAT_ROUGHNESS) {
        let uv = coordinates(SLOT_CLEARCOAT_ROUGHNESS, in.uv.xy, in.uv.zw);
        (*p).coat_roughness *= textureSample(clearcoat_roughness_texture, clearcoat_roughness_sampler, uv).g;
    }
    (*p).coat_roughness = clamp((*p).coat_roughness, MIN_ROUGHNESS, 1.0);
    if present(SLOT_CLEARCOAT_NORMAL) {
        let uv = coordinates(SLOT_CLEARCOAT_NORMAL, in.uv.xy, in.uv.zw);
        let texel = textureSample(clearcoat_normal_texture, clearcoat_normal_sampler, uv).xyz;
        (*p).coat_n = perturbed(tbn, texel, material.clearcoat_normal_scale);
    }
}

// D * V of the base layer.
fn base_lobe(p: Point, l: vec3f, h: vec3f, n_dot_l: f32) -> f32 {
    let alpha = p.roughness * p.roughness;
    let n_dot_h = clamp(dot(p.n, h), 0.0, 1.0);
    if p.anisotropy == 0.0 {
        return d_ggx(alpha, n_dot_h) * v_smith(alpha, n_dot_l, p.n_dot_v);
    }
    // KHR_materials_anisotropy: the tangent axis gets rougher, up to 1.
    let at = mix(alpha, 1.0, p.anisotropy * p.anisotropy);
    let ab = alpha;
    let a2 = at * ab;
    let f = vec3f(ab * dot(p.t, h), at * dot(p.b, h), a2 * n_dot_h);
    let w2 = a2 / max(dot(f, f), 1e-12);
    let d = a2 * w2 * w2 / PI;
    let lv = n_dot_l * length(vec3f(at * dot(p.t, p.v), ab * dot(p.b, p.v), p.n_dot_v));
    let ll = p.n_dot_v * length(vec3f(at * dot(p.t, l), ab * dot(p.b, l), n_dot_l));
    return d * min(0.5 / max(lv + ll, 1e-6), 1e4);
}

// BRDF times cosine for light from `l`.
fn reflected(p: Point, l: vec3f) -> vec3f {
    let h = normalize(l + p.v);
    let v_dot_h = clamp(dot(p.v, h), 0.0, 1.0);
    let fresnel = schlick(v_dot_h);
    let n_dot_l = clamp(dot(p.n, l), 0.0, 1.0);
    let specular = base_lobe(p, l, h, n_dot_l) * (p.f0 + (1.0 - p.f0) * fresnel);
    let under = 1.0 - mix(material.dielectric_f0, 1.0, fresnel);
    let diffuse = p.base_color * ((1.0 - p.metallic) * (1.0 - p.transmission) * under / PI);
    var out = (specular + diffuse) * n_dot_l;
    if p.coat > 0.0 {
        let alpha = p.coat_roughness * p.coat_roughness;
        let coat_n_dot_l = clamp(dot(p.coat_n, l), 0.0, 1.0);
        let coat_n_dot_v = clamp(dot(p.coat_n, p.v), 0.0, 1.0);
        let lobe = d_ggx(alpha, clamp(dot(p.coat_n, h), 0.0, 1.0)) * v_smith(alpha, coat_n_dot_l, coat_n_dot_v);
        let coat_fresnel = mix(0.04, 1.0, schlick(coat_n_dot_v));
        out = out * (1.0 - p.coat * coat_fresnel) + p.coat * lobe * mix(0.04, 1.0, fresnel) * coat_n_dot_l;
    }
    return out;
}

// Share of the shadow-casting light that arrives: 3 x 3 bilinear comparisons.
fn shadow(world: vec3f, n: vec3f) -> f32 {
    let moved = world + n * frame.shadow_normal_offset;
    let clip = frame.shadow_from_world * vec4f(moved, 1.0);
    let uv = vec2f(clip.x * 0.5 + 0.5, 0.5 - clip.y * 0.5);
    if any(uv < vec2f(0.0)) || any(uv > vec2f(1.0)) || clip.z <= 0.0 {
        return 1.0;
    }
    var sum = 0.0;
    for (var y = -1; y <= 1; y += 1) {
        for (var x = -1; x <= 1; x += 1) {
            let at = uv + vec2f(f32(x), f32(y)) * frame.shadow_texel;
            sum += textureSampleCompareLevel(shadow_map, shadow_sampler, at, clip.z);
        }
    }
    return sum / 9.0;
}

fn lit_by(p: Point, light: Light, shadow_normal: vec3f) -> vec3f {
    var l = light.direction;
    var strength = 1.0;
    if light.kind != LIGHT_DIRECTIONAL {
        let to_light = light.position - p.world;
        let distance_2 = max(dot(to_light, to_light), 1e-8);
        l = to_light * inverseSqrt(distance_2);
        // KHR_lights_punctual, "range": windowed inverse square.
        let reach = distance_2 * light.inverse_range * light.inverse_range;
        strength = clamp(1.0 - reach * reach, 0.0, 1.0) / distance_2;
        if light.kind == LIGHT_SPOT {
            let falloff = clamp(dot(light.direction, l) * light.cone_scale + light.cone_offset, 0.0, 1.0);
            strength *= falloff * falloff;
        }
    }
    if strength <= 0.0 {
        return vec3f(0.0);
    }
    if light.casts_shadow > 0.5 {
        strength *= shadow(p.world, shadow_normal);
    }
    return light.color * strength * reflected(p, l);
}

// Mean radiance of the lobe of this roughness, looked up where rough lobes point: nearer to the normal.
fn environment_lobe(v: vec3f, n: vec3f, roughness: f32) -> vec3f {
    let r2 = roughness * roughness;
    let d = normalize(mix(reflect(-v, n), n, r2 * r2));
    let level = frame.environment_max_level * roughness * (2.0 - roughness);
    return textureSampleLevel(prefiltered_map, clamp_sampler, d, level).rgb * frame.environment_scale;
}

// Split-sum integrals (A, B): reflectance is F0 A + B (Karis 2013).
fn environment_brdf(roughness: f32, n_dot_v: f32) -> vec2f {
    let size = f32(textureDimensions(split_sum).x);
    let margin = vec2f(frame.split_sum_margin);
    let at = clamp(vec2f(n_dot_v, roughness), margin, 1.0 - margin);
    let uv = (at * (size - 1.0) + 0.5) / size;
    return textureSampleLevel(split_sum, clamp_sampler, uv, 0.0).xy;
}

fn environment(p: Point, occlusion: f32) -> vec3f {
    var n = p.n;
    if p.anisotropy != 0.0 {
        // One lookup along a normal bent towards the rough axis (Filament, "Anisotropic model").
        let bent = normalize(cross(cross(p.b, p.v), p.b));
        let keep = 1.0 - p.anisotropy * (1.0 - p.roughness);
        n = normalize(mix(bent, p.n, keep * keep * keep * keep));
    }
    let ab = environment_brdf(p.roughness, p.n_dot_v);
    let specular = environment_lobe(p.v, n, p.roughness) * (p.f0 * ab.x + ab.y);
    let irradiance = textureSampleLevel(irradiance_map, clamp_sampler, p.n, 0.0).rgb * frame.environment_scale;
    let under = 1.0 - (material.dielectric_f0 * ab.x + ab.y);
    let diffuse = p.base_color * ((1.0 - p.metallic) * (1.0 - p.transmission) * under) * irradiance;
    var out = specular + diffuse;
    if p.coat > 0.0 {
        let n_dot_v = clamp(dot(p.coat_n, p.v), 0.0, 1.0);
        let coat_ab = environment_brdf(p.coat_roughness, n_dot_v);
        let coat = environment_lobe(p.v, p.coat_n, p.coat_roughness) * (0.04 * coat_ab.x + coat_ab.y);
        out = out * (1.0 - p.coat * mix(0.04, 1.0, schlick(n_dot_v))) + p.coat * coat;
    }
    return out * occlusion;
}

// Premultiplied colour and coverage.
@fragment
fn fragment(in: Surface, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let base = base_color_of(in);
    let emission = emission_of(in);
    let occlusion = occlusion_of(in);
    var alpha = select(1.0, base.a, has(BLEND));
    if has(UNLIT) || (draw.flags & DRAW_UNLIT) != 0u {
        if has(MASK) && base.a < material.alpha_cutoff {
            discard;
        }
        return vec4f(base.rgb * alpha, alpha);
    }
    let p = point_of(in, base.rgb, front);
    // Discarding before the samples above would leave their derivatives undefined.
    if has(MASK) && base.a < material.alpha_cutoff {
        discard;
    }
    let side = select(-1.0, 1.0, front || !has(DOUBLE_SIDED));
    let shadow_normal = normalize(in.normal) * side;
    var color = environment(p, occlusion);
    for (var i = 0u; i < min(frame.light_count, MAX_LIGHTS); i += 1u) {
        color += lit_by(p, frame.lights[i], shadow_normal);
    }
    let coat_dims = 1.0 - p.coat * mix(0.04, 1.0, schlick(clamp(dot(p.coat_n, p.v), 0.0, 1.0)));
    color += emission * coat_dims;
    if has(TRANSMISSION) {
        // What is behind shows through, tinted by nothing: blending has one factor for all channels.
        let luminance = dot(p.base_color, vec3f(0.2126, 0.7152, 0.0722));
        let ab = environment_brdf(p.roughness, p.n_dot_v);
        let through = p.transmission * luminance * (1.0 - (material.dielectric_f0 * ab.x + ab.y));
        return vec4f(color * alpha, alpha * (1.0 - through));
    }
    return vec4f(color * alpha, alpha);
}
