//! Hostile input ends in an error or a shader, never in a panic, an overflowed stack or a hang.

use super::common::{LIT, PARTICLES};
use proptest::prelude::*;
use rhizo_rhi::{ShaderPayload, ShaderStage, ShaderTarget};
use rhizo_shader::{Entry, Module, ShaderErrorKind as Kind, ShaderFeatures, Source, limits};
use std::fmt::Write;

const TARGETS: [ShaderTarget; 4] = [
    ShaderTarget::Spirv { version: (1, 6) },
    ShaderTarget::Wgsl,
    ShaderTarget::GlslEs { version: 300 },
    ShaderTarget::GlslEs { version: 310 },
];

/// Parses and compiles every entry point for every target; returns the kinds of errors met.
fn everything(source: &Source<'_>) -> Vec<Kind> {
    let module = match Module::parse(source) {
        Ok(module) => module,
        Err(e) => {
            assert!(e.to_string().len() < 20_000, "an error must stay readable");
            return vec![e.kind().clone()];
        }
    };
    let entries: Vec<_> = module.entries().map(|e| (e.name.to_owned(), e.stage)).collect();
    let mut kinds = Vec::new();
    for (name, stage) in &entries {
        for target in TARGETS {
            let entry = Entry { name, stage: Some(*stage), constants: &[], unbounded_count: Some(16) };
            let result = module.compile(entry, target).or_else(|e| match e.kind() {
                Kind::Constant => module.compile(Entry { constants: &[("7", 3.0)], ..entry }, target),
                _ => Err(e),
            });
            kinds.extend(result.err().map(|e| e.kind().clone()));
        }
    }
    kinds
}

fn wgsl(text: &str) -> Vec<Kind> {
    everything(&Source::wgsl("hostile.wgsl", text).with_features(ShaderFeatures::all()))
}

fn fragment(expression: &str) -> String {
    format!("@fragment fn fs(@location(0) a: f32) -> @location(0) vec4<f32> {{ return vec4<f32>({expression}); }}")
}

fn too_large(kinds: &[Kind]) -> bool {
    matches!(kinds, [Kind::TooLarge { .. }])
}

#[test]
fn a_hundred_thousand_brackets() {
    for open in ["(", "[", "{", "array<", "a[", "f(", "-(", "if (a) {", "vec2<f32>("] {
        let text = open.repeat(100_000);
        assert!(too_large(&wgsl(&fragment(&text))), "{open}");
        let glsl = format!("#version 450\nvoid main() {{ {text} }}");
        assert!(too_large(&everything(&Source::glsl("x", ShaderStage::Vertex, &glsl))), "{open}");
    }
}

#[test]
fn the_longest_accepted_chains_fit_the_stack() {
    let n = limits::CHAIN - 20;
    let sum = format!("a{}", "+a".repeat(n));
    // As WGSL it would nest deeper than WGSL readers take; the other languages are fine.
    let kinds = wgsl(&fragment(&sum));
    let as_wgsl = Kind::Unsupported { what: "this shader as WGSL".into() };
    assert!(kinds.iter().all(|k| *k == as_wgsl), "{kinds:?}");
    // Right-leaning, through brackets and negations as deep as allowed.
    let nested = format!("{}a{}", "(a*".repeat(100), ")".repeat(100));
    assert!(!wgsl(&fragment(&nested)).contains(&Kind::CompilerBug));
    for chain in [
        "-".repeat(n) + "a",
        "!".repeat(n),
        format!("a{}", ".x".repeat(n)),
        format!("a{}", "[0]".repeat(n / 2)),
        "&a".repeat(n),
    ] {
        assert!(!wgsl(&fragment(&chain)).contains(&Kind::CompilerBug));
    }
    for chain in [sum, "a?a:".repeat(n / 2) + "a", "-".repeat(n) + "a", "a=".repeat(n) + "a"] {
        let glsl = format!(
            "#version 450\nlayout(location=0) in float a;\nlayout(location=0) out vec4 o;\nvoid main() {{ o = vec4({chain}); }}"
        );
        let kinds = everything(&Source::glsl("x", ShaderStage::Fragment, &glsl));
        assert!(!kinds.contains(&Kind::CompilerBug), "{kinds:?}");
    }
    let ifs = "if(a>0.0)".repeat(n / 4);
    let glsl = format!(
        "#version 450\nlayout(location=0) in float a;\nlayout(location=0) out vec4 o;\nvoid main() {{ {ifs} o = vec4(a); }}"
    );
    assert!(!everything(&Source::glsl("x", ShaderStage::Fragment, &glsl)).contains(&Kind::CompilerBug));
}

#[test]
fn branches_blocks_and_declarations_in_large_numbers() {
    let branches = "if (a > 1.0) { return vec4<f32>(1.0); }".to_owned()
        + &" else if (a > 2.0) { return vec4<f32>(2.0); }".repeat(limits::ELSE_BRANCHES);
    let text =
        format!("@fragment fn fs(@location(0) a: f32) -> @location(0) vec4<f32> {{ {branches} return vec4<f32>(); }}");
    let kinds = wgsl(&text);
    assert!(kinds.iter().all(|k| matches!(k, Kind::Unsupported { .. })), "{kinds:?}");

    // As many constants, aliases and functions as are accepted, each defined by the next: the order is found recursively.
    let fill = |line: &dyn Fn(usize) -> String, last: &str| {
        let lines: String = (0..limits::DECLARATIONS - 5).map(line).collect();
        lines + &last.replace('N', &(limits::DECLARATIONS - 5).to_string())
    };
    let end = "@compute @workgroup_size(1) fn main() { }";
    let constants = fill(&|i| format!("const c{i}=c{};\n", i + 1), &format!("const cN=1; {end}"));
    let aliases =
        fill(&|i| format!("alias t{i}=array<t{},1>;\n", i + 1), &format!("alias tN=f32; var<private> x: t0; {end}"));
    let functions =
        fill(&|i| format!("fn f{i}(){{f{}();}}\n", i + 1), "fn fN(){} @compute @workgroup_size(1) fn main() { f0(); }");
    assert!(too_large(&wgsl(&aliases)), "types may not nest so deep");
    for text in [constants, functions] {
        let kinds = wgsl(&text);
        assert!(!kinds.contains(&Kind::CompilerBug), "{kinds:?}");
    }
}

/// One expression as many operators deep as a function may have: text cannot say it (chains are limited), SPIR-V can.
#[test]
fn the_deepest_expression_of_a_binary_fits_the_stack() {
    let chain = |n: usize| {
        let mut text = String::from("@fragment fn fs(@location(0) a: f32) -> @location(0) vec4<f32> { let x0 = a;\n");
        for i in 0..n {
            let _ = writeln!(text, "let x{}=x{i}+a;", i + 1);
        }
        let _ = write!(text, "return vec4<f32>(x{n}); }}");
        let module = match Module::parse(&Source::wgsl("chain", &text)) {
            Ok(module) => module,
            Err(e) => return vec![e.kind().clone()],
        };
        let artifact = match module.compile("fs", TARGETS[0]) {
            Ok(artifact) => artifact,
            Err(e) => return vec![e.kind().clone()],
        };
        let ShaderPayload::Spirv(words) = artifact.payload() else { panic!("SPIR-V") };
        everything(&Source::spirv("chain.spv", words))
    };
    let kinds = chain(limits::EXPRESSION_DEPTH - 10);
    assert!(kinds.iter().all(|k| matches!(k, Kind::Unsupported { .. })), "{kinds:?}");
    assert!(too_large(&chain(limits::EXPRESSION_DEPTH + 10)));
}

#[test]
fn macros_that_explode_are_refused() {
    let bomb: String = (0..64).map(|i| format!("#define A{} A{i} A{i}\n", i + 1)).collect();
    let text = format!("#version 450\n{bomb}void main() {{ A64 }}");
    assert!(too_large(&everything(&Source::glsl("bomb", ShaderStage::Vertex, &text))));
}

#[test]
fn large_zero_values_do_not_fill_the_memory() {
    let text = "const z = array<u32, 500000000>(); @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i: u32) {
        var x = z; x[i] = 1u; var y = x[i + 1u]; y += 1u; }";
    let module = Module::parse(&Source::wgsl("zero", text)).expect("valid");
    let kind = |target| module.compile("main", target).map(|_| ()).map_err(|e| e.kind().clone());
    assert_eq!(kind(TARGETS[0]), Ok(()));
    assert!(matches!(kind(TARGETS[3]), Err(Kind::TooLarge { .. })), "{:?}", kind(TARGETS[3]));
}

fn spirv_samples() -> Vec<Vec<u32>> {
    let mut out = Vec::new();
    for (text, entries) in [(LIT, &["vs", "fs"][..]), (PARTICLES, &["step", "clear"])] {
        let module = Module::parse(&Source::wgsl("sample", text)).expect("valid");
        for name in entries {
            let constants = if *name == "step" { &[("7", 3.0)][..] } else { &[] };
            let artifact = module.compile(Entry { constants, ..Entry::new(name) }, TARGETS[0]).expect("valid");
            let ShaderPayload::Spirv(words) = artifact.payload() else { panic!("SPIR-V") };
            out.push(words.clone());
        }
    }
    out
}

const GLSL: &str =
    "#version 450\n#define TWICE(x) ((x) * 2.0)\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 color;
layout(set = 0, binding = 1) uniform texture2D image;\nlayout(set = 0, binding = 2) uniform sampler state;
layout(std140, set = 1, binding = 0) uniform Block { mat4 m; float f[4]; } block;
float helper(float a) { for (int i = 0; i < 4; i++) { a += block.f[i]; if (a > 3.0) break; } return TWICE(a); }
void main() { color = texture(sampler2D(image, state), uv) * helper(uv.x) * block.m; }";

/// Pieces of source text that make mutations hit the parsers' rules, not only their tokens.
const PIECES: [&str; 24] = [
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    ",",
    ";",
    "@",
    "0",
    "4294967296",
    "-1",
    "f32",
    "array<",
    "&",
    "*",
    "fn ",
    "struct ",
    "return ",
    "loop {",
    "#define ",
    "\u{7}",
    "é",
    "/*",
];

fn mutate(text: &str, edits: &[(usize, usize, u8)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (at, length, what) in edits {
        let from = at % (chars.len() + 1);
        let to = (from + length % 12).min(chars.len());
        let what = usize::from(*what);
        if what < PIECES.len() {
            chars.splice(from..to, PIECES[what].chars());
        } else {
            let piece: Vec<char> = chars[from..to].to_vec();
            let target = (at * 31 + what) % (chars.len() + 1);
            chars.splice(target..target, piece);
        }
    }
    chars.into_iter().collect()
}

fn edits() -> impl Strategy<Value = Vec<(usize, usize, u8)>> {
    prop::collection::vec((0_usize..4000, 0_usize..12, 0_u8..48), 1..4)
}

proptest! {
    #[test]
    fn mutated_wgsl_never_panics(lit in any::<bool>(), edits in edits()) {
        let kinds = wgsl(&mutate(if lit { LIT } else { PARTICLES }, &edits));
        prop_assert!(!kinds.contains(&Kind::CompilerBug), "{kinds:?}");
    }

    #[test]
    fn mutated_glsl_never_panics(edits in edits()) {
        let text = mutate(GLSL, &edits);
        let kinds = everything(&Source::glsl("x", ShaderStage::Fragment, &text));
        prop_assert!(!kinds.contains(&Kind::CompilerBug), "{kinds:?}");
    }

    /// naga's SPIR-V reader does assert on some broken binaries; that must surface as an error like any other.
    #[test]
    fn mutated_spirv_is_an_error_or_a_shader(which in 0_usize..4, edits in prop::collection::vec((any::<usize>(), any::<u32>(), 0_u8..3), 1..4)) {
        let mut words = spirv_samples()[which].clone();
        for (at, value, how) in edits {
            let at = at % words.len();
            match how {
                0 => words[at] ^= 1 << (value % 32),
                1 => words[at] = value % 256,
                _ => words[at] = words[value as usize % words.len()],
            }
        }
        everything(&Source::spirv("mutated.spv", &words).with_features(ShaderFeatures::all()));
    }

    #[test]
    fn any_words_and_any_text(words in prop::collection::vec(any::<u32>(), 0..64), text in ".{0,200}") {
        prop_assert!(Module::parse(&Source::spirv("x", &words)).is_err());
        wgsl(&text);
        everything(&Source::glsl("x", ShaderStage::Vertex, &format!("#version 450\n{text}")));
    }
}
