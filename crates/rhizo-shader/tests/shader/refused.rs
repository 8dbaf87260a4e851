//! Refused shaders: each kind of error, its place and its text.

use super::common::{LIT, PARTICLES};
use rhizo_rhi::{BindingKind, ShaderInterface, ShaderPayload, ShaderStage, ShaderTarget};
use rhizo_shader::{
    Code, Entry, Module, ShaderError, ShaderErrorKind as Kind, ShaderFeatures, Source, compile, from_spirv_unchecked,
};

const SPIRV: ShaderTarget = ShaderTarget::Spirv { version: (1, 6) };

fn wgsl(text: &str) -> ShaderError {
    Module::parse(&Source::wgsl("bad.wgsl", text)).expect_err(text)
}

fn module(text: &str) -> Module {
    Module::parse(&Source::wgsl("test.wgsl", text)).expect("valid")
}

fn unsupported(error: &ShaderError) -> &str {
    match error.kind() {
        Kind::Unsupported { what } => what,
        other => panic!("{other:?}: {error}"),
    }
}

#[test]
fn parse_errors_show_the_place() {
    let error = wgsl("fn f() -> f32 {\n    return colour;\n}\n");
    assert_eq!((error.kind(), error.line(), error.column()), (&Kind::Parse, Some(2), Some(12)));
    assert_eq!(
        error.to_string(),
        "shader 'bad.wgsl': parse: no definition in scope for identifier: `colour`\n \
         --> bad.wgsl:2:12\n  |\n2 |     return colour;\n  |            ^^^^^^ unknown identifier"
    );
    let source = Source::glsl("bad.frag", ShaderStage::Fragment, "#version 450\nvoid main() {\n  float x = ;\n}\n");
    let error = Module::parse(&source).expect_err("bad GLSL");
    assert_eq!((error.kind(), error.line()), (&Kind::Parse, Some(3)));
    assert!(error.to_string().contains("3 |   float x = ;"), "{error}");
}

#[test]
fn validation_errors_show_the_place_and_the_cause() {
    let error =
        wgsl("@fragment fn fs(@location(0) x: u32) -> @location(0) vec4<f32> {\n    return vec4<f32>(f32(x));\n}");
    assert_eq!(error.kind(), &Kind::Validate);
    assert_eq!(error.line(), Some(1));
    assert!(error.to_string().contains("interpolation") || error.to_string().contains("nterpolat"), "{error}");
}

#[test]
fn missing_features_are_named() {
    let text = "enable wgpu_binding_array;
        @group(0) @binding(0) var t: binding_array<texture_2d<f32>, 4>;
        @group(0) @binding(1) var s: sampler;
        @fragment fn fs(@location(0) @interpolate(flat) i: u32) -> @location(0) vec4<f32> { return textureSample(t[i], s, vec2<f32>()); }";
    let what = wgsl(text);
    assert_eq!(
        unsupported(&what),
        "this shader needs the feature TEXTURE_ARRAYS, the feature TEXTURE_ARRAYS_NON_UNIFORM"
    );
    let text = "enable wgpu_ray_query; @group(0) @binding(0) var tlas: acceleration_structure;
        @compute @workgroup_size(1) fn main() { var q: ray_query; rayQueryInitialize(&q, tlas, RayDesc(0u, 0xffu, 0.0, 1.0, vec3<f32>(), vec3<f32>(1.0))); }";
    assert!(unsupported(&wgsl(text)).contains("ray tracing"), "{}", wgsl(text));
    // Valid for naga, but SPIR-V needs a capability of its own.
    let text = "@group(0) @binding(0) var t: texture_storage_2d<bgra8unorm, write>;
        @compute @workgroup_size(1) fn main() { textureStore(t, vec2<i32>(), vec4<f32>()); }";
    let error = compile(&Source::wgsl("bgra", text), "main", SPIRV).expect_err("not stated");
    assert!(unsupported(&error).contains("STORAGE_WRITE_WITHOUT_FORMAT"), "{error}");
    let source = Source::wgsl("bgra", text).with_features(ShaderFeatures::STORAGE_WRITE_WITHOUT_FORMAT);
    compile(&source, "main", SPIRV).expect("stated");
}

#[test]
fn every_stated_feature_opens_its_shader() {
    let compute = |enable: &str, declare: &str, body: &str| {
        format!("{enable} {declare} @compute @workgroup_size(1) fn main() {{ {body} }}")
    };
    let cases = [
        (ShaderFeatures::PUSH_CONSTANTS, compute("", "var<immediate> p: u32; var<private> x: u32;", "x = p;")),
        (ShaderFeatures::INT64, compute("", "var<private> x: u64;", "x += 1lu;")),
        (ShaderFeatures::FLOAT64, compute("", "var<private> x: f64;", "x += 1.0lf;")),
        (ShaderFeatures::FLOAT16, compute("enable f16;", "var<private> x: f16;", "x += 1.0h;")),
        (ShaderFeatures::SUBGROUP, compute("", "var<private> x: u32;", "x = subgroupAdd(1u);")),
        (
            ShaderFeatures::CUBE_ARRAY_TEXTURES,
            compute(
                "",
                "@group(0) @binding(0) var t: texture_cube_array<f32>; var<private> x: u32;",
                "x = textureNumLayers(t);",
            ),
        ),
        (
            ShaderFeatures::STORAGE_NORM16_FORMATS,
            compute(
                "",
                "@group(0) @binding(0) var t: texture_storage_2d<r16unorm, write>;",
                "textureStore(t, vec2<i32>(), vec4<f32>());",
            ),
        ),
        (
            ShaderFeatures::TEXTURE_ATOMICS,
            compute(
                "",
                "@group(0) @binding(0) var t: texture_storage_2d<r32uint, atomic>;",
                "textureAtomicAdd(t, vec2<i32>(), 1u);",
            ),
        ),
    ];
    for (feature, text) in cases {
        let closed = Source::wgsl("x", &text).with_features(ShaderFeatures::empty());
        let error = compile(&closed, "main", SPIRV).expect_err(&text);
        let (name, _) = feature.iter_names().next().expect("one flag");
        assert!(unsupported(&error).contains(name), "{name}: {error}");
        let artifact = compile(&closed.with_features(feature), "main", SPIRV).unwrap_or_else(|e| panic!("{name}: {e}"));
        let ShaderPayload::Spirv(words) = artifact.payload() else { panic!("SPIR-V") };
        super::common::spirv_val(name, words);
    }
}

#[test]
fn entry_points_are_looked_up_by_name_and_stage() {
    let lit = module(LIT);
    let error = lit.compile("main", SPIRV).expect_err("missing");
    assert_eq!(error.kind(), &Kind::EntryMissing);
    assert!(error.to_string().contains("entry points: vs (vertex), fs (fragment)"), "{error}");
    let entry = Entry { stage: Some(ShaderStage::Compute), ..Entry::new("vs") };
    assert_eq!(lit.compile(entry, SPIRV).expect_err("wrong stage").kind(), &Kind::EntryMissing);
    assert_eq!(module("fn f() {}").compile("f", SPIRV).expect_err("no entry").kind(), &Kind::EntryMissing);
}

#[test]
fn constants_are_checked() {
    let particles = module(PARTICLES);
    for constants in [
        &[][..],
        &[("rate", 1.0)],
        &[("7", -1.0)],
        &[("7", f64::NAN)],
        &[("7", 1.0), ("nope", 1.0)],
        &[("7", 1.0), ("group", 0.0)],
    ] {
        let entry = Entry { constants, ..Entry::new("step") };
        let error = particles.compile(entry, SPIRV).expect_err("bad constants");
        assert!(matches!(error.kind(), Kind::Constant | Kind::Validate), "{constants:?}: {error}");
    }
}

#[test]
fn glsl_es_input_and_odd_targets_are_refused_with_the_reason() {
    let source = Source::glsl("old.frag", ShaderStage::Fragment, "#version 300 es\nvoid main() {}\n");
    let error = Module::parse(&source).expect_err("ES");
    assert_eq!((unsupported(&error), error.line()), ("GLSL ES input", Some(1)));
    assert!(error.to_string().contains("#version 300 es\n  | ^^^^^^^^^^^^^^^"), "{error}");

    let particles = module(PARTICLES);
    let es = |version| ShaderTarget::GlslEs { version };
    let clear = particles.compile("clear", es(300)).expect_err("no compute");
    assert!(unsupported(&clear).contains("compute shader in GLSL ES 300"), "{clear}");
    assert!(unsupported(&particles.compile("clear", es(200)).expect_err("too old")).contains("GLSL ES 200"));
    let spirv2 = particles.compile("clear", ShaderTarget::Spirv { version: (2, 0) }).expect_err("too new");
    assert!(unsupported(&spirv2).contains("SPIR-V 2.0"));

    let storage = "@group(0) @binding(0) var<storage, read> b: vec4<f32>;
        @vertex fn vs() -> @builtin(position) vec4<f32> { return b; }";
    assert!(unsupported(&module(storage).compile("vs", es(310)).expect_err("vertex")).contains("vertex shader"));
    let samplers = "@group(0) @binding(0) var t: texture_2d<f32>; @group(0) @binding(1) var a: sampler; @group(0) @binding(2) var b: sampler;
        @fragment fn fs() -> @location(0) vec4<f32> { return textureSample(t, a, vec2<f32>()) + textureSample(t, b, vec2<f32>()); }";
    let error = module(samplers).compile("fs", es(300)).expect_err("two samplers");
    assert!(unsupported(&error).contains("several samplers"), "{error}");
    let depth = "@group(0) @binding(0) var t: texture_depth_2d; @group(0) @binding(1) var s: sampler;
        @fragment fn fs() -> @location(0) vec4<f32> { return vec4<f32>(textureSample(t, s, vec2<f32>())); }";
    let error = module(depth).compile("fs", es(300)).expect_err("only comparison");
    assert!(unsupported(&error).contains("sampled without comparison"), "{error}");
}

#[test]
fn sizes_are_limited() {
    let what = |error: &ShaderError| match error.kind() {
        Kind::TooLarge { what, .. } => *what,
        other => panic!("{other:?}: {error}"),
    };
    assert_eq!(what(&wgsl(&" ".repeat((1 << 20) + 1))), "bytes of source");
    assert_eq!(what(&Module::parse(&Source::spirv("x", &vec![0; (1 << 20) + 1])).expect_err("big")), "words of SPIR-V");
    let text =
        "var<immediate> p: array<vec4<f32>, 17>; @vertex fn vs() -> @builtin(position) vec4<f32> { return p[0]; }";
    assert_eq!(what(&wgsl(text)), "bytes of push constants");
    let define = "x".repeat(1 << 20);
    let code = Code::Glsl { text: "#version 450\n", stage: ShaderStage::Vertex, defines: &[("A", &define)] };
    let source = Source { label: "x", code, features: ShaderFeatures::PORTABLE };
    assert_eq!(what(&Module::parse(&source).expect_err("big")), "bytes of macro definitions");
}

#[test]
fn two_variables_of_one_binding_are_refused() {
    let text = "@group(0) @binding(0) var<uniform> a: u32; @group(0) @binding(0) var<uniform> b: u32;
        @compute @workgroup_size(1) fn main() { var x = a + b; x += 1u; }";
    let error = match Module::parse(&Source::wgsl("x", text)) {
        Ok(module) => module.compile("main", SPIRV).expect_err("clash"),
        Err(error) => error,
    };
    assert!(matches!(error.kind(), Kind::Validate | Kind::Unsupported { .. }), "{error}");
}

fn particle_words(version: (u8, u8)) -> (Vec<u32>, ShaderInterface) {
    let entry = Entry { constants: &[("7", 3.0)], ..Entry::new("step") };
    let artifact = module(PARTICLES).compile(entry, ShaderTarget::Spirv { version }).expect("valid");
    let ShaderPayload::Spirv(words) = artifact.payload() else { panic!("SPIR-V") };
    (words.clone(), artifact.interface().clone())
}

fn ready(words: &[u32], entry: &str, stage: ShaderStage, interface: ShaderInterface) -> Kind {
    // SAFETY: the result is never given to a device.
    unsafe { from_spirv_unchecked("ready.spv", words, entry, stage, interface) }.expect_err("bad").kind().clone()
}

#[test]
fn broken_spirv_is_malformed() {
    let (good, interface) = particle_words((1, 5));
    let broken = |change: &dyn Fn(&mut Vec<u32>)| {
        let mut words = good.clone();
        change(&mut words);
        let kind = ready(&words, "step", ShaderStage::Compute, interface.clone());
        assert_eq!(kind, Kind::Malformed);
        assert_eq!(Module::parse(&Source::spirv("x", &words)).expect_err("bad").kind(), &Kind::Malformed);
    };
    broken(&|w| w.truncate(3));
    broken(&|w| w.clear());
    broken(&|w| w[0] = 0);
    broken(&|w| w.iter_mut().for_each(|x| *x = x.swap_bytes()));
    broken(&|w| w[1] = 0x0002_0000);
    broken(&|w| w[1] = 0x0001_0900);
    broken(&|w| w[3] = 0);
    broken(&|w| w[3] = u32::MAX);
    broken(&|w| w[5] &= 0xffff);
    broken(&|w| w[5] |= 0xffff_0000);
    broken(&|w| {
        w.pop();
    });
    broken(&|w| w.truncate(5));
}

#[test]
fn ready_spirv_is_held_to_its_stated_interface() {
    for version in [(1, 3), (1, 5)] {
        let (words, interface) = particle_words(version);
        let with = |change: &dyn Fn(&mut ShaderInterface)| {
            let mut stated = interface.clone();
            change(&mut stated);
            assert_eq!(ready(&words, "step", ShaderStage::Compute, stated), Kind::InterfaceMismatch);
        };
        with(&|i| {
            i.bindings.pop();
        });
        with(&|i| i.bindings[0].slot = 30);
        with(&|i| i.bindings[0].kind = BindingKind::Constant { dynamic: false });
        with(&|i| i.bindings[2].kind = i.bindings[3].kind);
        with(&|i| i.bindings[3].count = 2);
        with(&|i| i.group_size = [1, 1, 1]);
        assert_eq!(ready(&words, "main", ShaderStage::Compute, interface.clone()), Kind::EntryMissing);
        assert_eq!(ready(&words, "step", ShaderStage::Vertex, interface.clone()), Kind::EntryMissing);
        let mut kernel = words.clone();
        kernel.splice(5..5, [(2 << 16) | 17, 6]);
        assert!(matches!(ready(&kernel, "step", ShaderStage::Compute, interface), Kind::Unsupported { .. }));
    }
}

#[test]
fn spirv_that_naga_cannot_read_points_to_the_way_around() {
    let (mut words, _) = particle_words((1, 5));
    // RayQueryKHR: a capability the safe path does not take.
    words.splice(5..5, [(2 << 16) | 17, 4472]);
    let error = Module::parse(&Source::spirv("rays.spv", &words)).expect_err("unsupported");
    assert!(unsupported(&error).contains("RayQuery"), "{error}");
    assert!(error.to_string().contains("from_spirv_unchecked"), "{error}");
}
