//! Accepted shaders: what is written, and what is reflected.

use super::common::{LIT, PARTICLES, glslang, spirv_val};
use rhizo_rhi::Format;
use rhizo_rhi::{
    BindingKind, SampleType, ScalarClass, ShaderArtifact, ShaderPayload, ShaderStage, ShaderTarget, ViewDimension,
};
use rhizo_shader::{Code, Entry, Module, ShaderFeatures, Source, SpirvModule, compile};

const SPIRV: ShaderTarget = ShaderTarget::Spirv { version: (1, 6) };
const ES: ShaderTarget = ShaderTarget::GlslEs { version: 310 };

fn module(text: &str) -> Module {
    Module::parse(&Source::wgsl("test.wgsl", text)).expect("valid")
}

fn step() -> Entry<'static> {
    Entry { constants: &[("7", 3.0)], ..Entry::new("step") }
}

fn words(artifact: &ShaderArtifact) -> &[u32] {
    match artifact.payload() {
        ShaderPayload::Spirv(words) => words,
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_written_is_accepted_by_independent_validators() {
    for (name, text, entries) in
        [("lit", LIT, vec!["vs".into(), "fs".into()]), ("particles", PARTICLES, vec![step(), "clear".into()])]
    {
        let module = module(text);
        for entry in entries {
            for version in [(1, 0), (1, 3), (1, 5), (1, 6)] {
                let artifact = module.compile(entry, ShaderTarget::Spirv { version }).expect("SPIR-V");
                assert_eq!(artifact.entry(), entry.name);
                spirv_val(&format!("{name} {}", entry.name), words(&artifact));
                assert_eq!(SpirvModule::parse("x", words(&artifact)).expect("walkable").version, version);
            }
            let artifact = module.compile(entry, ES).expect("GLSL ES");
            assert_eq!(artifact.entry(), "main");
            let ShaderPayload::GlslEs { source, .. } = artifact.payload() else { panic!("GLSL") };
            glslang(name, artifact.stage(), source);
            let artifact = module.compile(entry, ShaderTarget::Wgsl).expect("WGSL");
            let ShaderPayload::Wgsl(source) = artifact.payload() else { panic!("WGSL") };
            let again = Module::parse(&Source::wgsl("again", source)).expect("WGSL it can read");
            assert_eq!(again.reflect(artifact.entry()).expect("same").bindings, artifact.interface().bindings);
        }
    }
}

#[test]
fn only_what_the_entry_point_uses_is_reflected() {
    let module = module(LIT);
    let vs = module.reflect("vs").expect("vertex");
    let list: Vec<_> =
        vs.bindings.iter().map(|b| (b.group, b.slot, b.name.as_str(), b.kind, b.count, b.min_size)).collect();
    assert_eq!(list, [(1, 0, "camera", BindingKind::Constant { dynamic: false }, 1, 80)]);
    assert_eq!(vs.push_constant_size, 96);
    let inputs: Vec<_> = vs.inputs.iter().map(|v| (v.location, v.name.as_str(), v.scalar, v.components)).collect();
    assert_eq!(
        inputs,
        [(0, "position", ScalarClass::Float, 3), (1, "uv", ScalarClass::Float, 2), (3, "joints", ScalarClass::Uint, 4)]
    );
    let outputs: Vec<_> = vs.outputs.iter().map(|v| (v.location, v.scalar, v.components)).collect();
    assert_eq!(outputs, [(0, ScalarClass::Float, 2), (1, ScalarClass::Sint, 1)]);

    let fs = module.reflect("fs").expect("fragment");
    let texture = |sample| BindingKind::Texture { sample, dimension: ViewDimension::D2, multisampled: false };
    let list: Vec<_> = fs.bindings.iter().map(|b| (b.group, b.slot, b.kind)).collect();
    assert_eq!(
        list,
        [
            (0, 0, BindingKind::Sampler { comparison: true }),
            (1, 1, texture(SampleType::Depth)),
            (2, 4, texture(SampleType::Float)),
            (2, 5, BindingKind::Sampler { comparison: false }),
        ]
    );
    assert_eq!((fs.group_size, fs.writes_depth, fs.outputs.len()), ([0; 3], false, 1));
}

#[test]
fn compute_reflects_group_memory_and_overrides() {
    let module = module(PARTICLES);
    let entry = Entry { constants: &[("7", 3.0), ("group", 16.0)], ..Entry::new("step") };
    let interface = module.reflect(entry).expect("compute");
    assert_eq!(interface.group_size, [16, 2, 1]);
    assert_eq!(interface.group_shared_size, 65 * 16);
    let list: Vec<_> = interface.bindings.iter().map(|b| (b.slot, b.kind, b.min_size)).collect();
    assert_eq!(
        list,
        [
            // The count, padding, and one particle: WebGPU's minimum binding size.
            (3, BindingKind::BufferWrite, 32),
            (4, BindingKind::BufferRead, 8),
            (
                5,
                BindingKind::StorageTexture {
                    format: Format::Rgba8Unorm,
                    dimension: ViewDimension::D2,
                    read: false,
                    write: true
                },
                0
            ),
            (
                6,
                BindingKind::Texture { sample: SampleType::Uint, dimension: ViewDimension::D2, multisampled: false },
                0
            ),
        ]
    );
    let clear = module.reflect("clear").expect("needs no value for the override it does not use");
    assert_eq!((clear.group_size, clear.bindings.len()), ([8, 1, 1], 0));
}

#[test]
fn fragment_depth_and_dual_source_outputs() {
    let text = "struct O { @builtin(frag_depth) d: f32, @location(0) c: vec4<f32>, @location(2) n: vec2<u32>, }
        @fragment fn fs() -> O { return O(0.5, vec4<f32>(), vec2<u32>()); }";
    let fs = module(text).reflect("fs").expect("fragment");
    assert!(fs.writes_depth);
    assert_eq!(
        fs.outputs.iter().map(|o| (o.location, o.scalar)).collect::<Vec<_>>(),
        [(0, ScalarClass::Float), (2, ScalarClass::Uint)]
    );
    let text = "enable dual_source_blending;
        struct O { @location(0) @blend_src(0) a: vec4<f32>, @location(0) @blend_src(1) b: vec4<f32>, }
        @fragment fn fs() -> O { return O(vec4<f32>(1.0), vec4<f32>(0.5)); }";
    let source =
        Source::wgsl("dual", text).with_features(ShaderFeatures::PORTABLE | ShaderFeatures::DUAL_SOURCE_BLENDING);
    let artifact = compile(&source, "fs", SPIRV).expect("dual source");
    assert_eq!(artifact.interface().outputs.len(), 1);
    spirv_val("dual source", words(&artifact));
}

#[test]
fn bindless_arrays_are_clamped_to_the_table() {
    let text = "enable wgpu_binding_array;
        @group(0) @binding(0) var textures: binding_array<texture_2d<f32>>;
        @group(0) @binding(1) var few: binding_array<texture_2d<f32>, 5>;
        @group(0) @binding(2) var s: sampler;
        @fragment fn fs(@location(0) @interpolate(flat) i: u32, @location(1) uv: vec2<f32>) -> @location(0) vec4<f32> {
            return textureSample(textures[i], s, uv) + textureSample(few[i], s, uv);
        }";
    let source = Source::wgsl("bindless", text).with_features(ShaderFeatures::PORTABLE | ShaderFeatures::BINDLESS);
    let module = Module::parse(&source).expect("valid");
    assert_eq!(module.reflect("fs").expect("reflects").bindings.iter().map(|b| b.count).collect::<Vec<_>>(), [0, 5, 1]);
    let error = module.compile("fs", SPIRV).expect_err("nothing to clamp to");
    assert!(error.to_string().contains("unbounded_count"), "{error}");
    let entry = Entry { unbounded_count: Some(1000), ..Entry::new("fs") };
    let artifact = module.compile(entry, SPIRV).expect("clamped");
    assert_eq!(artifact.interface().bindings[0].count, 1000);
    spirv_val("bindless", words(&artifact));
    // The clamp is there: the highest index is a constant of the module.
    let clamp_to = |n: u32| words(&artifact).windows(4).any(|w| w[0] == (4 << 16) | 43 && w[3] == n);
    assert!(clamp_to(999) && clamp_to(4));
}

#[test]
fn indices_are_clamped_and_loops_bounded() {
    let text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @group(0) @binding(1) var<uniform> table: array<vec4<u32>, 13>;
        @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i: u32) { data[i] = table[data[0]].x; }";
    let artifact = module(text).compile("main", SPIRV).expect("valid");
    let has = |opcode: u32| words(&artifact).iter().any(|w| w & 0xffff == opcode);
    assert!(has(68), "OpArrayLength: the run-time sized array is clamped");
    assert!(words(&artifact).windows(4).any(|w| w[0] == (4 << 16) | 43 && w[3] == 12), "the fixed one too");
}

#[test]
fn debug_names_are_written() {
    let artifact = module(LIT).compile("vs", SPIRV).expect("valid");
    let bytes: Vec<u8> = words(&artifact).iter().flat_map(|w| w.to_le_bytes()).collect();
    assert!(bytes.windows(6).any(|w| w == b"camera"));
}

#[test]
fn no_int8_or_dot_product_capabilities_slip_in() {
    let text = "@group(0) @binding(0) var<storage, read_write> d: array<u32>;
        @compute @workgroup_size(1) fn main() { d[0] = pack4xU8(unpack4xU8(d[1])) + dot4U8Packed(d[2], d[3]); }";
    let artifact = module(text).compile("main", SPIRV).expect("polyfilled");
    let parsed = SpirvModule::parse("x", words(&artifact)).expect("walkable");
    for capability in &parsed.capabilities {
        let need = rhizo_shader::spirv_capability_need(*capability).expect("a known capability");
        assert!(need.met_by(ShaderFeatures::PORTABLE), "{capability} needs {need:?}");
    }
    spirv_val("packing", words(&artifact));
}

#[test]
fn glsl_is_read_and_macros_work() {
    let text = "#version 450
        #ifdef TINT
        layout(location = 0) in vec2 uv;
        layout(location = 0) out vec4 color;
        layout(set = 2, binding = 1) uniform texture2D image;
        layout(set = 2, binding = 2) uniform sampler state;
        layout(push_constant) uniform Push { vec4 tint; } push;
        void main() { color = texture(sampler2D(image, state), uv) * TINT * push.tint; }
        #endif";
    let source = Source {
        label: "tint.frag",
        code: Code::Glsl { text, stage: ShaderStage::Fragment, defines: &[("TINT", "vec4(0.5)")] },
        features: ShaderFeatures::PORTABLE,
    };
    let artifact = compile(&source, "main", SPIRV).expect("valid GLSL");
    spirv_val("GLSL", words(&artifact));
    let i = artifact.interface();
    assert_eq!(
        i.bindings.iter().map(|b| (b.group, b.slot, b.name.as_str())).collect::<Vec<_>>(),
        [(2, 1, "image"), (2, 2, "state")]
    );
    assert_eq!((i.push_constant_size, i.inputs.len(), i.outputs.len()), (16, 1, 1));
    for target in [ES, ShaderTarget::GlslEs { version: 300 }] {
        let artifact = compile(&source, "main", target).expect("GLSL ES");
        let ShaderPayload::GlslEs { source, names, push_constants } = artifact.payload() else { panic!("GLSL") };
        glslang("GLSL", ShaderStage::Fragment, source);
        assert_eq!(names.len(), 1);
        assert_eq!((names[0].binding, names[0].sampler), ((2, 1), Some((2, 2))));
        assert!(source.contains(&format!("uniform highp sampler2D {}", names[0].name)), "{source}");
        assert_eq!((push_constants.len(), push_constants[0].offset, push_constants[0].rows), (1, 0, 4));
    }
}

#[test]
fn glsl_es_names_and_push_constants_match_the_source() {
    let module = module(LIT);
    let artifact = module.compile("vs", ShaderTarget::GlslEs { version: 300 }).expect("GLSL ES 300");
    let ShaderPayload::GlslEs { source, names, push_constants } = artifact.payload() else { panic!("GLSL") };
    glslang("lit 300", ShaderStage::Vertex, source);
    assert_eq!(names.len(), 1);
    assert!(source.contains(&format!("uniform {}", names[0].name)), "{source}");
    assert_eq!(names[0].slot, None);
    let list: Vec<_> = push_constants.iter().map(|p| (p.offset, p.columns, p.rows, p.scalar)).collect();
    let f = ScalarClass::Float;
    assert_eq!(
        list,
        [(0, 4, 4, f), (64, 1, 4, f), (80, 1, 1, f), (84, 1, 1, f), (88, 1, 1, f), (92, 1, 1, ScalarClass::Uint)]
    );
    let root = push_constants[0].name.split('.').next().expect("a path");
    assert!(source.contains(root), "{root} in {source}");
    assert!(push_constants[4].name.ends_with("weights[2]"), "{push_constants:?}");
    assert!(source.contains("gl_Position.yz = vec2(-gl_Position.y, gl_Position.z * 2.0 - gl_Position.w)"), "{source}");

    let artifact = self::module(PARTICLES).compile(step(), ES).expect("GLSL ES 310");
    let ShaderPayload::GlslEs { source, names, .. } = artifact.payload() else { panic!("GLSL") };
    let slots: Vec<_> = names.iter().map(|n| (n.binding.1, n.slot)).collect();
    assert_eq!(slots, [(3, Some(0)), (4, Some(1)), (5, Some(0)), (6, None)]);
    assert!(source.contains("binding = 1"), "{source}");
}

#[test]
fn spirv_comes_in_through_naga_and_keeps_its_interface() {
    let particles = module(PARTICLES).compile(step(), SPIRV).expect("valid");
    let lit = module(LIT);
    let list = [lit.compile("vs", SPIRV).expect("vs"), lit.compile("fs", SPIRV).expect("fs"), particles];
    for artifact in &list {
        let again = compile(&Source::spirv("again.spv", words(artifact)), artifact.entry(), SPIRV).expect("readable");
        spirv_val("SPIR-V again", words(&again));
        let strip = |a: &ShaderArtifact| {
            let i = a.interface();
            let bindings: Vec<_> = i.bindings.iter().map(|b| (b.group, b.slot, b.kind, b.count)).collect();
            (bindings, i.push_constant_size, i.group_size, i.inputs.len(), i.outputs.len())
        };
        assert_eq!(strip(&again), strip(artifact));
    }
}

#[test]
fn ready_spirv_is_passed_through_when_it_keeps_its_word() {
    use rhizo_shader::from_spirv_unchecked;
    for version in [(1, 3), (1, 6)] {
        let ours = module(PARTICLES).compile(step(), ShaderTarget::Spirv { version }).expect("valid");
        // SAFETY: the binary was just written from a validated module, with this interface.
        let passed = unsafe {
            from_spirv_unchecked("ready", words(&ours), "step", ShaderStage::Compute, ours.interface().clone())
        }
        .expect("fits");
        assert_eq!(passed.payload(), ours.payload());
    }
}

#[test]
fn several_entry_points_share_one_module() {
    let module = module(LIT);
    assert_eq!(
        module.entries().map(|e| (e.name, e.stage)).collect::<Vec<_>>(),
        [("vs", ShaderStage::Vertex), ("fs", ShaderStage::Fragment)]
    );
    std::thread::scope(|scope| {
        let module = &module;
        for name in ["vs", "fs", "vs"] {
            scope.spawn(move || module.compile(name, SPIRV).expect("from any thread"));
        }
    });
}
