//! Shaders the tests share, and the external validators.

use std::io::Write;
use std::process::Command;

/// Vertex and fragment stage with every common kind of resource.
pub const LIT: &str = r"
struct Camera { view_proj: mat4x4<f32>, eye: vec3<f32>, }
struct Light { position: vec4<f32>, color: vec4<f32>, }
struct Draw { model: mat4x4<f32>, tint: vec4<f32>, weights: array<f32, 3>, index: u32, }
struct Vertex { @location(0) position: vec3<f32>, @location(1) uv: vec2<f32>, @location(3) joints: vec4<u32>, }
struct Between { @builtin(position) clip: vec4<f32>, @location(0) uv: vec2<f32>, @location(1) @interpolate(flat) id: i32, }

@group(1) @binding(0) var<uniform> camera: Camera;
@group(1) @binding(1) var shadow_map: texture_depth_2d;
@group(0) @binding(0) var shadow_sampler: sampler_comparison;
@group(2) @binding(4) var base_color: texture_2d<f32>;
@group(2) @binding(5) var base_sampler: sampler;
@group(3) @binding(7) var<uniform> unused: Light;
var<immediate> draw: Draw;

@vertex fn vs(v: Vertex, @builtin(instance_index) instance: u32) -> Between {
    var out: Between;
    out.clip = camera.view_proj * draw.model * vec4<f32>(v.position, 1.0);
    out.uv = v.uv * draw.weights[instance % 3u];
    out.id = i32(v.joints.x + draw.index);
    return out;
}

@fragment fn fs(in: Between) -> @location(0) vec4<f32> {
    let shadow = textureSampleCompare(shadow_map, shadow_sampler, in.uv, 0.5);
    return textureSample(base_color, base_sampler, in.uv) * draw.tint * shadow * f32(in.id);
}
";

/// A compute stage with storage resources, shared memory and overrides.
pub const PARTICLES: &str = r"
struct Particle { position: vec3<f32>, age: f32, }
struct Pool { count: atomic<u32>, items: array<Particle>, }
@group(1) @binding(3) var<storage, read_write> pool: Pool;
@group(1) @binding(4) var<storage, read> forces: array<vec2<f32>>;
@group(1) @binding(5) var image: texture_storage_2d<rgba8unorm, write>;
@group(1) @binding(6) var counts: texture_2d<u32>;
var<workgroup> tile: array<vec4<f32>, 65>;
override scale: f32 = 2.0;
@id(7) override rate: u32;
override group: u32 = 64u;

@compute @workgroup_size(group, 2) fn step(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) at: u32) {
    tile[at] = vec4<f32>(forces[id.x], 0.0, scale);
    workgroupBarrier();
    let slot = atomicAdd(&pool.count, rate);
    pool.items[slot].position += tile[at ^ 1u].xyz;
    textureStore(image, vec2<i32>(id.xy), vec4<f32>(f32(textureLoad(counts, vec2<i32>(id.xy), 0).x)));
}

@compute @workgroup_size(8) fn clear() { tile[0] = vec4<f32>(); }
";

/// Fails unless `spirv-val` accepts the words; says so loudly if it is not installed.
pub fn spirv_val(what: &str, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    validate(what, "spirv-val", &["--target-env", "vulkan1.3"], &bytes, ".spv");
}

/// Fails unless `glslangValidator` accepts the text; says so loudly if it is not installed.
pub fn glslang(what: &str, stage: rhizo_rhi::ShaderStage, text: &str) {
    let stage = match stage {
        rhizo_rhi::ShaderStage::Vertex => "vert",
        rhizo_rhi::ShaderStage::Fragment => "frag",
        _ => "comp",
    };
    validate(what, "glslangValidator", &["-S", stage], text.as_bytes(), ".glsl");
}

fn validate(what: &str, program: &str, args: &[&str], bytes: &[u8], suffix: &str) {
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().expect("a temporary file");
    file.write_all(bytes).expect("written");
    match Command::new(program).args(args).arg(file.path()).output() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("SKIPPED: {what} was not checked by {program}, which is not installed");
        }
        Err(e) => panic!("{program}: {e}"),
        Ok(out) => assert!(
            out.status.success(),
            "{program} refuses {what}:\n{}{}\n{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr),
            if suffix == ".glsl" { String::from_utf8_lossy(bytes) } else { "".into() }
        ),
    }
}
