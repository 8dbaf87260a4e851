// The GGX microfacet model, shared by shading and by the split-sum table. `alpha` is roughness squared.
// Sources: Walter et al. 2007 (GGX), Heitz 2014 (height-correlated Smith), Burley 2012 (alpha = roughness^2),
// Khronos glTF 2.0 appendix B and KHR_materials_anisotropy.

const PI: f32 = 3.14159265358979;

// Normal distribution, isotropic.
fn d_ggx(alpha: f32, n_dot_h: f32) -> f32 {
    let a2 = alpha * alpha;
    let d = n_dot_h * n_dot_h * (a2 - 1.0) + 1.0;
    return a2 / (PI * d * d);
}

// Height-correlated Smith visibility: masking-shadowing divided by 4 (N.L) (N.V).
fn v_smith(alpha: f32, n_dot_l: f32, n_dot_v: f32) -> f32 {
    let a2 = alpha * alpha;
    let l = n_dot_v * sqrt(a2 + (1.0 - a2) * n_dot_l * n_dot_l);
    let v = n_dot_l * sqrt(a2 + (1.0 - a2) * n_dot_v * n_dot_v);
    return 0.5 / max(l + v, 1e-6);
}

fn schlick(v_dot_h: f32) -> f32 {
    let m = clamp(1.0 - v_dot_h, 0.0, 1.0);
    return m * m * m * m * m;
}

// The i-th of n points of the Hammersley set.
fn hammersley(i: u32, n: u32) -> vec2f {
    return vec2f(f32(i) / f32(n), f32(reverseBits(i)) * 2.3283064365386963e-10);
}

// A half vector distributed by D(h) (n.h) around +Z.
fn sample_ggx(u: vec2f, alpha: f32) -> vec3f {
    let phi = 2.0 * PI * u.x;
    let cos_theta = sqrt((1.0 - u.y) / (1.0 + (alpha * alpha - 1.0) * u.y));
    let sin_theta = sqrt(max(1.0 - cos_theta * cos_theta, 0.0));
    return vec3f(cos(phi) * sin_theta, sin(phi) * sin_theta, cos_theta);
}

// Two axes that make a right-handed frame with `n` (Duff et al. 2017).
fn frame_around(n: vec3f) -> mat3x3f {
    let s = select(-1.0, 1.0, n.z >= 0.0);
    let a = -1.0 / (s + n.z);
    let b = n.x * n.y * a;
    let t = vec3f(1.0 + s * n.x * n.x * a, s * b, -s * n.x);
    return mat3x3f(t, vec3f(b, s + n.y * n.y * a, -n.y), n);
}
