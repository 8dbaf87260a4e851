// The split-sum table: x is N.V, y is roughness, both from 0 at the first texel's centre to 1 at the last one's.
// Follows brdf.wgsl.

struct SplitSumParams {
    size: u32,
    samples: u32,
}

@group(1) @binding(0) var split_sum_out: texture_storage_2d<rgba16float, write>;
var<immediate> split_sum_params: SplitSumParams;

@compute @workgroup_size(8, 8, 1)
fn integrate_split_sum(@builtin(global_invocation_id) id: vec3u) {
    let size = split_sum_params.size;
    if id.x >= size || id.y >= size {
        return;
    }
    let at = vec2f(id.xy) / f32(size - 1u);
    let n_dot_v = max(at.x, 1e-3);
    // A perfect mirror has no density to sample; the limit is reached well before.
    let roughness = max(at.y, 0.02);
    let alpha = roughness * roughness;
    let v = vec3f(sqrt(1.0 - n_dot_v * n_dot_v), 0.0, n_dot_v);
    var a = 0.0;
    var b = 0.0;
    let count = split_sum_params.samples;
    for (var i = 0u; i < count; i += 1u) {
        let h = sample_ggx(hammersley(i, count), alpha);
        let v_dot_h = dot(v, h);
        let l = 2.0 * v_dot_h * h - v;
        if l.z > 0.0 && v_dot_h > 0.0 {
            // BRDF without Fresnel, times cosine, over the density of l.
            let weight = v_smith(alpha, l.z, n_dot_v) * 4.0 * l.z * v_dot_h / max(h.z, 1e-6);
            let f = schlick(v_dot_h);
            a += weight * (1.0 - f);
            b += weight * f;
        }
    }
    textureStore(split_sum_out, id.xy, vec4f(a / f32(count), b / f32(count), 0.0, 1.0));
}
