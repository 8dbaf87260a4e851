//! What must never come back into the contract: rules over the public text of `rhizo-rhi`.
//!
//! Each rule is a function from sources to findings; each is shown to fire on a line that breaks it.

use std::path::{Path, PathBuf};

/// One source file: its path inside `src/`, and its code without comments.
struct Source {
    path: String,
    code: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
        Self { path: path.to_owned(), code: lines.collect::<Vec<_>>().join("\n") }
    }

    /// Where commands are recorded: passes, recorder and the trait behind them.
    fn records(&self) -> bool {
        self.path.starts_with("pass/") || ["encoder.rs", "backend/command.rs"].contains(&&*self.path)
    }

    /// (name, whole signature) of each function that callers or backends see.
    fn functions(&self) -> Vec<(&str, &str)> {
        let seen = |before: &str| {
            let before = before.trim_end();
            let in_trait = self.path.starts_with("backend/");
            before.ends_with("pub") || before.ends_with("pub const") || before.ends_with("pub unsafe") || in_trait
        };
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices("fn ") {
            let boundary = self.code[..at].chars().next_back().is_none_or(char::is_whitespace);
            if !boundary || !seen(self.code[..at].rsplit('\n').next().unwrap_or_default()) {
                continue;
            }
            let rest = &self.code[at + 3..];
            let name = &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())];
            found.push((name, &rest[..rest.find(['{', ';']).unwrap_or(rest.len())]));
        }
        found
    }

    /// Names of the public items of a kind (`struct`, `enum`, `type`).
    fn items(&self, kind: &str) -> Vec<&str> {
        let start = format!("pub {kind} ");
        let names = self.code.match_indices(&start).map(|(at, _)| &self.code[at + start.len()..]);
        names.map(|rest| &rest[..rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())]).collect()
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.code.split(|c: char| !c.is_alphanumeric() && c != '_')
    }
}

type Rule = fn(&[Source]) -> Vec<String>;

/// Paths, each with lines that break a rule there.
type Breaking = &'static [(&'static str, &'static str)];

fn no_uniform_by_name(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|s| s.records() || s.path == "binding.rs") {
        for (name, signature) in source.functions() {
            if name.contains("uniform") || name.contains("parameter") {
                findings.push(format!("{}: {name}", source.path));
            }
            // The only text a command takes is a label.
            let texts = signature.matches("&str").count();
            let labels = signature.matches("label: &str").count() + signature.matches("-> &str").count();
            if texts != labels {
                findings.push(format!("{}: {name} takes a text that is no label", source.path));
            }
        }
    }
    findings
}

/// Statics are constant tables, or the counters that number objects and devices.
fn no_global_parameters(sources: &[Source]) -> Vec<String> {
    const CHANGING: [&str; 8] =
        ["static mut", "thread_local!", "Atomic", "Mutex", "RwLock", "Cell", "OnceLock", "LazyLock"];
    let is_counter = |line: &str| line.contains("static DEVICES: AtomicU32") || line.contains("static NEXT: AtomicU64");
    let declares = |line: &str| {
        let line = line.trim_start();
        let start = line.split_once("static ").map_or("", |(before, _)| before);
        line.contains("thread_local!") || (line.contains("static ") && start.chars().all(|c| "pub(crate) ".contains(c)))
    };
    let mut findings = Vec::new();
    for source in sources {
        let statics = source.code.lines().filter(|line| declares(line) && !is_counter(line));
        let changing = statics.filter(|line| CHANGING.iter().any(|word| line.contains(word)));
        findings.extend(changing.map(|line| format!("{}: {}", source.path, line.trim())));
    }
    findings
}

fn no_clear_outside_loads(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|s| s.records()) {
        // A transfer pass clears textures: the lowering of a pass that only loads.
        let allowed = ["pass/transfer.rs", "backend/command.rs"].contains(&&*source.path);
        for (name, _) in source.functions() {
            if name.contains("clear") && !(allowed && name == "clear_color") {
                findings.push(format!("{}: {name}", source.path));
            }
        }
    }
    findings
}

fn no_fixed_state_outside_pipelines(sources: &[Source]) -> Vec<String> {
    const STATE: [&str; 10] = [
        "BlendState",
        "BlendFactor",
        "DepthState",
        "StencilState",
        "RenderState",
        "Topology",
        "CullMode",
        "FrontFace",
        "FillMode",
        "TargetState",
    ];
    let mut findings = Vec::new();
    for source in sources.iter().filter(|s| s.records()) {
        findings.extend(source.words().filter(|w| STATE.contains(w)).map(|w| format!("{}: {w}", source.path)));
    }
    findings
}

fn no_untyped_view(sources: &[Source]) -> Vec<String> {
    const UNTYPED: [&str; 5] = ["View", "BufferView", "TextureView", "ResourceView", "ImageView"];
    let mut findings = Vec::new();
    for source in sources {
        let items = ["struct", "enum", "type"].iter().flat_map(|kind| source.items(kind));
        findings.extend(items.filter(|name| UNTYPED.contains(name)).map(|name| format!("{}: {name}", source.path)));
    }
    findings
}

fn no_barrier_on_views(sources: &[Source]) -> Vec<String> {
    let barriers = sources.iter().filter(|s| s.path == "barrier.rs");
    barriers.flat_map(|s| s.words().filter(|w| w.ends_with("View")).map(|w| format!("{}: {w}", s.path))).collect()
}

fn no_gl_only_method(sources: &[Source]) -> Vec<String> {
    let is_gl = |name: &&str| name.split('_').any(|part| ["gl", "gles", "egl", "webgl", "opengl"].contains(&part));
    let shared = sources.iter().filter(|s| s.path.starts_with("backend/") || s.records());
    shared
        .flat_map(|s| s.functions().into_iter().map(|(n, _)| n).filter(is_gl).map(|n| format!("{}: {n}", s.path)))
        .collect()
}

fn no_empty_pipeline_layout(sources: &[Source]) -> Vec<String> {
    let body = |name: &str| {
        let declarations = sources.iter().flat_map(|s| s.code.split("pub struct ").skip(1));
        let mut own = declarations.filter_map(|text| text.strip_prefix(name));
        let rest = own.find(|rest| !rest.starts_with(char::is_alphanumeric))?;
        Some(&rest[rest.find(['{', ';'])?..=rest.find(['}', ';'])?])
    };
    let needed = [("PipelineLayoutDesc", ["tables:", "push:"]), ("PipelineLayout", ["tables:", "raw:"])].into_iter();
    let mut findings = Vec::new();
    for (name, fields) in needed {
        let body = body(name).unwrap_or_default();
        findings.extend(fields.iter().filter(|f| !body.contains(**f)).map(|f| format!("{name} lacks {f}")));
    }
    findings
}

fn one_topology(sources: &[Source]) -> Vec<String> {
    let named = |name: &str| name.contains("Topology") || name.contains("Primitive");
    let enums: Vec<&str> = sources.iter().flat_map(|s| s.items("enum")).filter(|name| named(name)).collect();
    let listed = sources.iter().flat_map(|s| s.code.lines()).filter(|line| line.trim() == "TriangleStrip,").count();
    if enums == ["Topology"] && listed == 1 { Vec::new() } else { vec![format!("{enums:?}, listed {listed} times")] }
}

fn compute_is_first_class(sources: &[Source]) -> Vec<String> {
    let has = |item: &str| sources.iter().any(|s| s.code.contains(item));
    let needed = [
        "pub struct ComputePipeline ",
        "pub struct ComputePipelineDesc",
        "pub struct ComputePass<",
        "pub fn create_compute_pipeline(",
        "fn create_compute_pipeline(&self, desc: &NativeComputePipeline",
        "pub fn compute_pass(",
    ];
    needed.iter().filter(|item| !has(item)).map(|item| format!("no `{item}`")).collect()
}

fn collect(folder: &Path, inside: &str, out: &mut Vec<Source>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = format!("{inside}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), out);
        } else if name.ends_with(".rs") {
            out.push(Source::new(&name, &std::fs::read_to_string(&path).unwrap()));
        }
    }
}

fn contract() -> Vec<Source> {
    let mut sources = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/rhizo-rhi/src"), "", &mut sources);
    assert!(sources.iter().map(|s| s.functions().len()).sum::<usize>() > 200, "the scanner sees the functions");
    sources
}

/// Each rule with files and lines that break it.
const RULES: &[(&str, Rule, Breaking)] = &[
    (
        "no uniform is set by name",
        no_uniform_by_name,
        &[
            ("pass/raster.rs", "pub fn set_uniform(&mut self, at: u32, value: f32) {}"),
            ("pass/raster.rs", "pub fn set(&mut self, name: &str, value: f32) {}"),
        ],
    ),
    (
        "no global parameters",
        no_global_parameters,
        &[
            ("device.rs", "static PARAMETERS: Mutex<Vec<f32>> = Mutex::new(Vec::new());"),
            ("device.rs", "    pub(crate) static mut PARAMETER: f32 = 0.0;"),
            ("device.rs", "thread_local! { static X: u8 = 0; }"),
        ],
    ),
    (
        "no clear outside a pass load",
        no_clear_outside_loads,
        &[
            ("pass/raster.rs", "pub fn clear_color(&mut self) {}"),
            ("encoder.rs", "pub fn clear(&mut self) {}"),
            ("backend/command.rs", "fn clear_depth(&mut self);"),
        ],
    ),
    (
        "no blend, depth or topology state outside the pipeline",
        no_fixed_state_outside_pipelines,
        &[
            ("pass/raster.rs", "pub fn set_blend(&mut self, state: BlendState) {}"),
            ("backend/command.rs", "fn set_topology(&mut self, topology: Topology);"),
        ],
    ),
    (
        "no untyped view",
        no_untyped_view,
        &[("texture.rs", "pub struct TextureView {}"), ("buffer.rs", "pub enum View {}")],
    ),
    ("no barrier on a view", no_barrier_on_views, &[("barrier.rs", "pub view: &'a ColorTargetView,")]),
    (
        "no GL-only method on a shared trait",
        no_gl_only_method,
        &[("backend/mod.rs", "fn gl_make_current(&self);"), ("backend/command.rs", "fn bind_gl_texture(&mut self);")],
    ),
    (
        "no empty pipeline layout",
        no_empty_pipeline_layout,
        &[("binding.rs", "pub struct PipelineLayoutDesc;\npub struct PipelineLayout { raw: u64 }")],
    ),
    ("one enum for topology", one_topology, &[("pass/mod.rs", "pub enum PrimitiveMode {\n    TriangleStrip,\n}")]),
];

#[test]
fn the_contract_keeps_every_rule() {
    let sources = contract();
    for (name, rule, _) in RULES {
        assert_eq!(rule(&sources), Vec::<String>::new(), "{name}");
    }
    assert_eq!(compute_is_first_class(&sources), Vec::<String>::new());
}

#[test]
fn every_rule_fires() {
    for (name, rule, breaking) in RULES {
        for (path, line) in *breaking {
            let mut sources = contract();
            // Before the real file of that path, so that it is found first.
            sources.insert(0, Source::new(path, line));
            assert!(!rule(&sources).is_empty(), "{name}: {line}");
            let commented = Source::new(path, &line.lines().map(|l| format!("// {l}\n")).collect::<String>());
            sources[0] = commented;
            assert_eq!(rule(&sources), Vec::<String>::new(), "{name}: comments count for nothing");
        }
    }
    let without: Vec<Source> = contract().into_iter().filter(|s| s.path != "pass/compute.rs").collect();
    assert_eq!(compute_is_first_class(&without), ["no `pub struct ComputePass<`"]);
}
