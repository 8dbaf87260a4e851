// Mean radiance of GGX lobes for V = N (Karis 2013), by importance sampling with filtered lookups (Colbert and
// Krivanek 2007). Follows brdf.wgsl and cube.wgsl.

struct PrefilterParams {
    size: u32,
    samples: u32,
    roughness: f32,
    // Texels along a face of the source.
    source_size: f32,
}

// Faces one by one, not a cube: SwiftShader keeps a frame of neighbouring texels around each face of a cube and brings it
// up to date before draws but not before dispatches, which then read whatever the memory held. The lobes are wider than
// what filtering across edges would change. To test again: bind a cube here and run the reference pictures on SwiftShader.
@group(1) @binding(0) var source_faces: texture_2d_array<f32>;
@group(1) @binding(1) var source_sampler: sampler;
@group(1) @binding(2) var prefiltered_out: texture_storage_2d_array<rgba16float, write>;
var<immediate> prefilter_params: PrefilterParams;

@compute @workgroup_size(8, 8, 1)
fn prefilter(@builtin(global_invocation_id) id: vec3u) {
    let size = prefilter_params.size;
    if id.x >= size || id.y >= size {
        return;
    }
    let n = normalize(face_direction(id.z, (vec2f(id.xy) + 0.5) / f32(size)));
    let axes = frame_around(n);
    let alpha = prefilter_params.roughness * prefilter_params.roughness;
    let count = prefilter_params.samples;
    let texel_angle = 4.0 * PI / (6.0 * prefilter_params.source_size * prefilter_params.source_size);
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var i = 0u; i < count; i += 1u) {
        let h = sample_ggx(hammersley(i, count), alpha);
        let l = vec3f(2.0 * h.z * h.x, 2.0 * h.z * h.y, 2.0 * h.z * h.z - 1.0);
        if l.z > 0.0 {
            // The density of l is D (n.h) / (4 v.h), and v.h = n.h here.
            let density = d_ggx(alpha, h.z) * 0.25;
            let sample_angle = 1.0 / (f32(count) * density);
            // One level more than the footprint: neighbouring samples overlap and bright texels leave no dots.
            let level = max(0.5 * log2(sample_angle / texel_angle) + 1.0, 0.0);
            let point = face_point(axes * l);
            sum += textureSampleLevel(source_faces, source_sampler, point.at, point.face, level).rgb * l.z;
            weights += l.z;
        }
    }
    textureStore(prefiltered_out, id.xy, id.z, vec4f(sum / max(weights, 1e-6), 1.0));
}
