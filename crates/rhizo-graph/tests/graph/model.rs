//! A naive model of what a graph file means, written from the workloads' README alone: sets of cells, all pairs.
//! It shares nothing with the compiler.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

/// (mip, layer, aspect) of a texture; (first byte of a run, 0, 0) of a buffer.
pub type Cell = (u64, u64, u64);

/// How an access behaves.
pub struct AccessRow {
    pub stages: &'static str,
    pub reads: &'static str,
    pub writes: &'static str,
    pub layouts: &'static [&'static str],
}

/// The table of 8-graph-files, once more and by hand.
pub fn row(kind: &str) -> AccessRow {
    const SAMPLED: &[&str] = &["shader-read-only", "depth-stencil-read-only", "general", "common"];
    const FROM: &[&str] = &["copy-source", "general", "common"];
    const TO: &[&str] = &["copy-destination", "general", "common"];
    let make = |stages, reads, writes, layouts| AccessRow { stages, reads, writes, layouts };
    match kind {
        "indirect-read" => make("indirect", "indirect-command-read", "", &[]),
        "index-read" => make("index-input", "index-read", "", &[]),
        "vertex-read" => make("vertex-input", "vertex-read", "", &[]),
        "uniform-read" => make("shader", "constant-read", "", &[]),
        "sampled-read" => make("shader", "shader-read", "", SAMPLED),
        "storage-read" => make("shader", "shader-read", "", &["general"]),
        "storage-write" => make("shader", "", "shader-write", &["general"]),
        "storage-read-write" => make("shader", "shader-read", "shader-write", &["general"]),
        "color-attachment-write" | "color-attachment-read-write" => {
            make("fragment", "render-target-read", "render-target-write", &["render-target"])
        }
        "depth-stencil-read" => {
            make("fragment", "depth-stencil-read", "", &["depth-stencil-read-only", "depth-stencil-write"])
        }
        "depth-stencil-write" => {
            make("fragment", "depth-stencil-read", "depth-stencil-write", &["depth-stencil-write"])
        }
        "resolve-read" => make("resolve", "resolve-read", "", &["resolve-source"]),
        "resolve-write" => make("resolve", "", "resolve-write", &["resolve-destination"]),
        "copy-read" => make("transfer", "transfer-read", "", FROM),
        "copy-write" | "clear-write" => make("transfer", "", "transfer-write", TO),
        "shading-rate-read" => make("fragment", "shading-rate-read", "", &["shading-rate-surface"]),
        "accel-struct-read" => make("shader", "accel-struct-read", "", &[]),
        "accel-struct-build-input" => make("accel-struct-build", "shader-read", "", &[]),
        "accel-struct-write" => make("accel-struct-build", "", "accel-struct-write", &[]),
        "present" => make("outside", "present", "", &["present"]),
        "host-read" | "host-write" => make("outside", "", "", &["general"]),
        other => panic!("unknown access {other}"),
    }
}

/// Expands group names.
pub fn stages(names: &[String]) -> BTreeSet<String> {
    let group = |name: &str| -> Vec<&'static str> {
        match name {
            "all-graphics" => vec!["indirect", "index-input", "vertex-input", "vertex", "fragment", "task", "mesh"],
            "all-shading" => {
                vec!["vertex", "fragment", "compute", "task", "mesh", "ray-tracing", "machine-learning"]
            }
            _ => vec![],
        }
    };
    let mut set = BTreeSet::new();
    for name in names {
        let members = group(name);
        if members.is_empty() {
            set.insert(name.clone());
        }
        set.extend(members.into_iter().map(str::to_owned));
    }
    set
}

pub fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|v| v.as_str()).map(str::to_owned).collect()
}

fn pair(value: &Value) -> Option<(u64, u64)> {
    let list = value.as_array()?;
    Some((list.first()?.as_u64()?, list.get(1)?.as_u64()?))
}

pub struct Resource {
    pub data: Value,
    pub texture: bool,
    pub transient: bool,
    pub output: bool,
    pub cells: BTreeSet<Cell>,
    pub bytes: u64,
    cuts: BTreeSet<u64>,
}

#[derive(Clone)]
pub struct Access {
    pub resource: String,
    pub kind: String,
    pub reads: bool,
    pub writes: bool,
    pub discards: bool,
    pub attachment: bool,
    pub stages: BTreeSet<String>,
    pub masks: BTreeSet<String>,
    pub cells: BTreeSet<Cell>,
}

pub struct Pass {
    pub name: String,
    pub side_effect: bool,
    pub after: Vec<usize>,
    pub accesses: Vec<Access>,
}

pub struct Model {
    pub resources: BTreeMap<String, Resource>,
    pub passes: Vec<Pass>,
    pub index: HashMap<String, usize>,
}

pub fn aspects(format: &str) -> &'static [&'static str] {
    match format {
        "depth16" | "depth32float" => &["depth"],
        "stencil8" => &["stencil"],
        "depth24-stencil8" | "depth32float-stencil8" => &["depth", "stencil"],
        _ => &["color"],
    }
}

fn texel(format: &str) -> u64 {
    match format {
        "r8unorm" | "r8uint" | "stencil8" => 1,
        "rg8unorm" | "rg8uint" | "r16float" | "depth16" => 2,
        "rgba16float" | "rg32float" | "depth32float-stencil8" => 8,
        "rgba32float" => 16,
        _ => 4,
    }
}

fn resource_bytes(data: &Value) -> u64 {
    if let Some(bytes) = data["bytes"].as_u64() {
        return bytes;
    }
    if data["kind"] == "buffer" {
        return data["size"].as_u64().unwrap();
    }
    let side = |i: usize, mip: u64| (data["extent"][i].as_u64().unwrap() >> mip).max(1);
    let texels: u64 = (0..data["mips"].as_u64().unwrap()).map(|mip| side(0, mip) * side(1, mip) * side(2, mip)).sum();
    texels
        * data["layers"].as_u64().unwrap()
        * data["samples"].as_u64().unwrap()
        * texel(data["format"].as_str().unwrap())
}

impl Model {
    /// `more` holds selectors of expectations or barriers that must not straddle cells either.
    pub fn new(graph: &Value, more: &[&Value]) -> Self {
        let mut cuts: HashMap<&str, BTreeSet<u64>> = HashMap::new();
        let own = graph["passes"].as_array().unwrap().iter().flat_map(|pass| pass["accesses"].as_array().unwrap());
        for selector in own.chain(more.iter().copied()) {
            if let (Some(name), Some((offset, size))) = (selector["resource"].as_str(), pair(&selector["range"])) {
                cuts.entry(name).or_default().extend([offset, offset + size]);
            }
        }
        let mut model = Self { resources: BTreeMap::new(), passes: Vec::new(), index: HashMap::new() };
        for data in graph["resources"].as_array().unwrap() {
            let name = data["name"].as_str().unwrap();
            let mut cuts = cuts.remove(name).unwrap_or_default();
            cuts.insert(0);
            let mut resource = Resource {
                texture: data["kind"] == "texture",
                transient: data["lifetime"] == "transient",
                output: data["output"] == true,
                cells: BTreeSet::new(),
                bytes: resource_bytes(data),
                cuts,
                data: data.clone(),
            };
            resource.cells = resource.select(&Value::Null);
            model.resources.insert(name.to_owned(), resource);
        }
        let passes = graph["passes"].as_array().unwrap();
        model.index = passes.iter().enumerate().map(|(i, p)| (p["name"].as_str().unwrap().to_owned(), i)).collect();
        model.passes = passes.iter().map(|pass| model.pass(pass)).collect();
        model
    }

    fn pass(&self, data: &Value) -> Pass {
        let accesses = data["accesses"].as_array().unwrap();
        Pass {
            name: data["name"].as_str().unwrap().to_owned(),
            side_effect: data["side_effect"] == true,
            after: strings(&data["after"]).iter().map(|name| self.index[name]).collect(),
            accesses: accesses.iter().map(|access| self.access(data["kind"].as_str().unwrap(), access)).collect(),
        }
    }

    fn access(&self, pass_kind: &str, data: &Value) -> Access {
        let kind = data["access"].as_str().unwrap().to_owned();
        let table = row(&kind);
        let attachment = data.get("load").is_some();
        let writes = !table.writes.is_empty() || kind == "host-write";
        let loaded = data["load"] == "load";
        let reads = if attachment { loaded } else { !writes || kind == "storage-read-write" };
        let default = match (table.stages, pass_kind) {
            ("outside", _) => vec![],
            ("shader", "raster") => vec!["vertex", "fragment"],
            ("shader", "compute") => vec!["compute"],
            ("shader", "ray-tracing") => vec!["ray-tracing"],
            ("shader", _) => vec!["accel-struct-build"],
            ("resolve", "raster") => vec!["fragment"],
            ("resolve", _) => vec!["transfer"],
            (stage, _) => vec![stage],
        };
        let named = strings(&data["stages"]);
        let default: Vec<String> = default.into_iter().map(str::to_owned).collect();
        let named = if named.is_empty() { default } else { named };
        let mut masks = BTreeSet::new();
        if !table.reads.is_empty() && (!attachment || loaded) {
            masks.insert(table.reads.to_owned());
        }
        if !table.writes.is_empty() {
            masks.insert(table.writes.to_owned());
        }
        let name = data["resource"].as_str().unwrap();
        Access {
            resource: name.to_owned(),
            reads,
            writes,
            discards: data["store"] == "discard",
            attachment,
            stages: if table.stages == "outside" { BTreeSet::new() } else { stages(&named) },
            masks,
            cells: self.resources[name].select(data),
            kind,
        }
    }

    /// The cells a selector of an expectation or barrier names.
    pub fn cells(&self, selector: &Value) -> BTreeSet<Cell> {
        self.resources[selector["resource"].as_str().unwrap()].select(selector)
    }

    /// A discard ends contents, so it keeps its place among reads as a write does.
    pub fn conflict(&self, i: usize, j: usize) -> bool {
        let ends = |a: &Access| a.writes || a.discards;
        self.passes[i].accesses.iter().any(|a| {
            self.passes[j]
                .accesses
                .iter()
                .any(|b| a.resource == b.resource && (ends(a) || ends(b)) && !a.cells.is_disjoint(&b.cells))
        })
    }

    pub fn edges(&self) -> BTreeSet<(usize, usize)> {
        let mut edges = BTreeSet::new();
        for j in 0..self.passes.len() {
            edges.extend((0..j).filter(|i| self.conflict(*i, j)).map(|i| (i, j)));
            edges.extend(self.passes[j].after.iter().map(|i| (*i, j)));
        }
        edges
    }

    pub fn live(&self) -> BTreeSet<usize> {
        let mut forced: BTreeSet<usize> = BTreeSet::new();
        loop {
            let mut live = BTreeSet::new();
            let mut wanted: HashMap<&str, BTreeSet<Cell>> = HashMap::new();
            for (name, resource) in self.resources.iter().filter(|(_, resource)| resource.output) {
                wanted.insert(name, resource.cells.clone());
            }
            for (i, pass) in self.passes.iter().enumerate().rev() {
                let hit = |a: &Access| a.writes && wanted.get(&*a.resource).is_some_and(|w| !w.is_disjoint(&a.cells));
                if !(pass.side_effect || forced.contains(&i) || pass.accesses.iter().any(hit)) {
                    continue;
                }
                live.insert(i);
                for a in pass.accesses.iter().filter(|a| a.writes && !a.reads) {
                    wanted.entry(&a.resource).or_default().retain(|cell| !a.cells.contains(cell));
                }
                for a in pass.accesses.iter().filter(|a| a.reads) {
                    wanted.entry(&a.resource).or_default().extend(a.cells.iter().copied());
                }
            }
            let mut next = forced.clone();
            next.extend(live.iter().flat_map(|i| self.passes[*i].after.iter().copied()));
            if next.iter().all(|i| live.contains(i)) {
                return live;
            }
            next.extend(live);
            forced = next;
        }
    }

    pub fn has_initial(resource: &Resource) -> bool {
        let initial = &resource.data["initial"];
        !resource.transient && initial.is_object() && initial["layout"] != "undefined"
    }

    /// The live passes in the stable topological order, or `None` when there is none (a cycle).
    pub fn stable_order(&self, live: &BTreeSet<usize>) -> Option<Vec<usize>> {
        let edges: Vec<_> = self.edges().into_iter().filter(|(i, j)| live.contains(i) && live.contains(j)).collect();
        let mut done = BTreeSet::new();
        let mut order = Vec::new();
        while order.len() < live.len() {
            let ready = |j: &usize| !done.contains(j) && edges.iter().all(|(a, b)| b != j || done.contains(a));
            let next = live.iter().copied().find(ready)?;
            done.insert(next);
            order.push(next);
        }
        Some(order)
    }

    /// The error class that the graph must fail with.
    pub fn error(&self, live: &BTreeSet<usize>) -> Option<&'static str> {
        for pass in &self.passes {
            for (k, b) in pass.accesses.iter().enumerate() {
                for a in &pass.accesses[..k] {
                    if a.resource != b.resource || a.cells.is_disjoint(&b.cells) {
                        continue;
                    }
                    let (one, two) = (row(&a.kind).layouts, row(&b.kind).layouts);
                    let common = !self.resources[&a.resource].texture || one.iter().any(|l| two.contains(l));
                    if a.writes || b.writes || !common {
                        return Some("duplicate-access");
                    }
                }
            }
        }
        let all: BTreeSet<usize> = (0..self.passes.len()).collect();
        if self.stable_order(&all).is_none() {
            return Some("cycle");
        }
        let mut valid: HashMap<&str, BTreeSet<Cell>> = HashMap::new();
        for (name, resource) in self.resources.iter().filter(|(_, resource)| Self::has_initial(resource)) {
            valid.insert(name, resource.cells.clone());
        }
        for i in live {
            let accesses = &self.passes[*i].accesses;
            for a in accesses.iter().filter(|a| a.reads) {
                if !valid.get(&*a.resource).is_some_and(|valid| a.cells.is_subset(valid)) {
                    return Some("uninitialized-read");
                }
            }
            for a in accesses.iter().filter(|a| a.writes) {
                valid.entry(&a.resource).or_default().extend(a.cells.iter().copied());
            }
            for a in accesses.iter().filter(|a| a.discards) {
                valid.entry(&a.resource).or_default().retain(|cell| !a.cells.contains(cell));
            }
        }
        None
    }

    /// Most bytes of transients alive at once in this order.
    pub fn max_load(&self, order: &[usize]) -> u64 {
        let mut spans: HashMap<&str, (usize, usize)> = HashMap::new();
        for (at, i) in order.iter().enumerate() {
            for a in &self.passes[*i].accesses {
                spans.entry(&a.resource).or_insert((at, at)).1 = at;
            }
        }
        let load = |at: usize| -> u64 {
            let alive = spans.iter().filter(|(name, (first, last))| {
                let resource = &self.resources[**name];
                resource.transient && *first <= at && (at <= *last || resource.output)
            });
            alive.map(|(name, _)| self.resources[*name].bytes).sum()
        };
        (0..order.len()).map(load).max().unwrap_or(0)
    }
}

impl Resource {
    /// The cells a selector names; what it leaves out means everything.
    pub fn select(&self, selector: &Value) -> BTreeSet<Cell> {
        if !self.texture {
            let (offset, size) = pair(&selector["range"]).unwrap_or((0, self.data["size"].as_u64().unwrap()));
            return self.cuts.iter().filter(|cut| (offset..offset + size).contains(*cut)).map(|c| (*c, 0, 0)).collect();
        }
        let whole = |key: &str| (0, self.data[key].as_u64().unwrap());
        let (mip, mips) = pair(&selector["mips"]).unwrap_or_else(|| whole("mips"));
        let (layer, layers) = pair(&selector["layers"]).unwrap_or_else(|| whole("layers"));
        let all = aspects(self.data["format"].as_str().unwrap());
        let named = strings(&selector["aspects"]);
        let mut cells = BTreeSet::new();
        for (k, _) in all.iter().enumerate().filter(|(_, a)| named.is_empty() || named.iter().any(|n| n == **a)) {
            for m in mip..mip + mips {
                cells.extend((layer..layer + layers).map(|l| (m, l, k as u64)));
            }
        }
        cells
    }
}
