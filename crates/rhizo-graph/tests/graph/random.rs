//! Random graphs: errors, culling and order against the naive model, plans against the checker.

use proptest::prelude::*;
use rhizo_graph::{OrderPolicy, Profile};
use serde_json::{Value, json};

use crate::checker::check;
use crate::compile_text;
use crate::corpus::assert_needed;
use crate::model::Model;

/// A small generator of its own, so that a seed means the same graph everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.below(list.len() as u64)).unwrap()]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A graph file with so many passes and resources; most compile, the rest fail in ways the model predicts.
pub fn graph(seed: u64, passes: u64, resources: u64) -> Value {
    let mut random = Random(seed ^ 0x5851_f42d_4c95_7f2d);
    let resources: Vec<Value> = (0..resources).map(|i| resource(&mut random, i)).collect();
    let passes: Vec<Value> = (0..passes).map(|i| pass(&mut random, i, passes, &resources)).collect();
    json!({"version": 1, "name": format!("random {seed}"), "source": "", "notes": "",
           "resources": resources, "passes": passes})
}

fn resource(random: &mut Random, i: u64) -> Value {
    let lifetime = random.pick(&["transient", "transient", "imported", "persistent"]);
    let transient = lifetime == "transient";
    let output = random.chance(if transient { 10 } else { 70 });
    let mut data = if random.chance(40) {
        json!({"kind": "buffer", "size": random.pick(&[256, 1024])})
    } else {
        let format = random.pick(&["rgba8unorm", "rgba8unorm", "r32float", "depth32float", "depth24-stencil8"]);
        let mips = random.pick(&[1, 1, 1, 3]);
        let layers = random.pick(&[1, 1, 2, 4]);
        json!({"kind": "texture", "dimension": "2d", "format": format, "extent": [64, 64, 1], "mips": mips,
               "layers": layers, "samples": 1})
    };
    data["name"] = json!(format!("r{i}"));
    data["lifetime"] = json!(lifetime);
    data["output"] = json!(output);
    let texture = data["kind"] == "texture";
    let depth = data["format"].as_str().is_some_and(|format| format.starts_with("depth"));
    if !transient {
        let layouts: &[&str] = if depth {
            &["shader-read-only", "depth-stencil-write", "depth-stencil-read-only"]
        } else {
            &["shader-read-only", "general", "undefined", "copy-destination"]
        };
        data["initial"] = state(random, texture, random_layout(random.0, layouts));
        if random.chance(40) {
            let layouts: &[&str] = if depth { &["shader-read-only"] } else { &["shader-read-only", "present"] };
            data["final"] = state(random, texture, random_layout(random.0 >> 7, layouts));
        }
    }
    data
}

fn random_layout<'a>(bits: u64, layouts: &[&'a str]) -> &'a str {
    layouts[usize::try_from((bits >> 20) % layouts.len() as u64).unwrap()]
}

fn state(random: &mut Random, texture: bool, layout: &str) -> Value {
    let (stages, access): (&[&str], &[&str]) = match random.below(5) {
        0 => (&["fragment"], &["sampled-read"]),
        1 => (&["compute"], &["storage-write"]),
        2 => (&["transfer"], &[]),
        3 => (&["host"], &["host-write"]),
        _ => (&[], &[]),
    };
    let mut state = json!({"stages": stages, "access": access});
    if texture {
        state["layout"] = json!(layout);
    }
    state
}

fn pass(random: &mut Random, i: u64, count: u64, resources: &[Value]) -> Value {
    let kind = random.pick(&["raster", "compute", "compute", "transfer"]);
    let mut accesses: Vec<Value> = Vec::new();
    let mut attached = false;
    for _ in 0..=random.below(3) {
        let index = usize::try_from(random.below(resources.len() as u64)).unwrap();
        let data = &resources[index];
        // Twice the same resource is legal now and then (other parts, two reads); too often it is only an error.
        let again = accesses.iter().any(|access| access["resource"] == data["name"]);
        if again && !random.chance(12) {
            continue;
        }
        if let Some(access) = access(random, kind, data, &mut attached) {
            accesses.push(access);
        }
    }
    let mut pass = json!({"name": format!("p{i}"), "kind": kind, "queue": "graphics",
                          "side_effect": random.chance(15), "accesses": accesses});
    if random.chance(10) {
        // Mostly backwards; forwards now and then, which may be a cycle.
        let other = if random.chance(75) { random.below(i + 1) } else { random.below(count) };
        if other != i {
            pass["after"] = json!([format!("p{other}")]);
        }
    }
    pass
}

fn access(random: &mut Random, kind: &str, data: &Value, attached: &mut bool) -> Option<Value> {
    let texture = data["kind"] == "texture";
    let depth = data["format"].as_str().is_some_and(|format| format.starts_with("depth"));
    let kinds: &[&str] = match (kind, texture, depth) {
        ("transfer", ..) => &["copy-read", "copy-write", "clear-write"],
        ("raster", true, true) => &["sampled-read", "depth-stencil-write", "depth-stencil-read"],
        ("raster", true, false) => &["sampled-read", "color-attachment-write", "storage-read"],
        (_, true, true) => &["sampled-read"],
        (_, true, false) => &["sampled-read", "storage-read", "storage-write", "storage-read-write"],
        ("raster", false, _) => &["vertex-read", "uniform-read", "indirect-read", "storage-write"],
        (_, false, _) => &["uniform-read", "storage-read", "storage-write", "storage-read-write", "sampled-read"],
    };
    let name = random.pick(kinds);
    let mut access = json!({"resource": data["name"], "access": name});
    let attachment = name.starts_with("color-") || name.starts_with("depth-");
    if attachment {
        if std::mem::replace(attached, true) {
            return None;
        }
        let load = if name == "depth-stencil-read" { "load" } else { random.pick(&["clear", "load", "discard"]) };
        access["load"] = json!(load);
        access["store"] = json!(random.pick(&["store", "store", "store", "discard"]));
        access["mips"] = json!([random.below(data["mips"].as_u64().unwrap()), 1]);
    }
    if texture {
        if !attachment && random.chance(40) {
            let base = random.below(data["mips"].as_u64().unwrap());
            access["mips"] = json!([base, 1]);
        }
        if random.chance(40) {
            let layers = data["layers"].as_u64().unwrap();
            let base = random.below(layers);
            access["layers"] = json!([base, 1 + random.below(layers - base)]);
        }
        if data["format"] == "depth24-stencil8" && random.chance(30) {
            access["aspects"] = json!([random.pick(&["depth", "stencil"])]);
        }
    } else if random.chance(40) {
        let offset = random.below(3) * 64;
        access["range"] = json!([offset, 64 * (1 + random.below(2))]);
    }
    if name == "sampled-read" && kind == "raster" && random.chance(50) {
        access["stages"] = json!([random.pick(&["vertex", "fragment"])]);
    }
    Some(access)
}

/// Compiles and compares with the model and the checker; true when it compiled.
fn agree(graph: &Value, policy: OrderPolicy) -> Result<bool, TestCaseError> {
    let text = graph.to_string();
    let model = Model::new(graph, &[]);
    let live = model.live();
    let expected = model.error(&live);
    let compiled = match compile_text(&text, &Profile::single_queue(), policy) {
        Ok(compiled) => compiled,
        Err(error) => {
            prop_assert_eq!(Some(error.code.name()), expected, "{}\n{}", error, text);
            return Ok(false);
        }
    };
    prop_assert_eq!(expected, None, "compiles, but must fail\n{}", text);
    if policy == OrderPolicy::Declaration {
        let order: Vec<usize> = compiled.plan.passes.iter().map(|pass| pass.pass as usize).collect();
        prop_assert_eq!(Some(order), model.stable_order(&live), "{}", text);
    }
    if let Err(problem) = check(graph, &compiled.json) {
        let dump = rhizo_graph::dump::text(&compiled.graph, &compiled.plan);
        return Err(TestCaseError::fail(format!("{problem}\n{text}\n{dump}")));
    }
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn random_graphs_give_right_plans(seed: u64, passes in 1_u64..12, resources in 1_u64..6, policy in 0_u64..5) {
        let policy = match policy {
            0 | 1 => OrderPolicy::Declaration,
            2 => OrderPolicy::Overlap,
            3 => OrderPolicy::Memory,
            _ => OrderPolicy::Random(seed),
        };
        agree(&graph(seed, passes, resources), policy)?;
    }
}

/// The generator is worth something only if most of its graphs compile and every kind of error occurs.
#[test]
fn random_graphs_are_varied() {
    let (mut compiled, mut errors, mut barriers) = (0, std::collections::BTreeMap::new(), 0);
    for seed in 0..600 {
        let graph = graph(seed, 1 + seed % 11, 1 + seed % 5);
        match compile_text(&graph.to_string(), &Profile::single_queue(), OrderPolicy::Declaration) {
            Ok(plan) => {
                compiled += 1;
                barriers += plan.plan.barriers.len();
            }
            Err(error) => *errors.entry(error.code.name()).or_insert(0) += 1,
        }
    }
    println!("{compiled} of 600 compile, {barriers} barriers, errors {errors:?}");
    assert!(compiled > 150 && barriers > 500 && errors.len() == 3);
}

#[test]
fn barriers_of_random_graphs_are_needed() {
    let mut tried = 0;
    for seed in 0..400 {
        let graph = graph(seed, 2 + seed % 8, 1 + seed % 5);
        if let Ok(compiled) = compile_text(&graph.to_string(), &Profile::single_queue(), OrderPolicy::Declaration) {
            tried += assert_needed(&format!("seed {seed}"), &graph, &compiled.json, 1);
        }
    }
    println!("{tried} barriers deleted, each noticed");
    assert!(tried > 300);
}
