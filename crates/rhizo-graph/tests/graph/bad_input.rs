//! Malformed and hostile files: an error with its place, in bounded time, never a panic.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use rhizo_graph::file::{GraphFile, PlanFile, parse_profile, profile_json};
use rhizo_graph::{OrderPolicy, Policy, Profile, compile};
use serde_json::{Value, json};

use crate::random;

fn base() -> Value {
    json!({
        "version": 1, "name": "n", "source": "s", "notes": "",
        "resources": [
            {"name": "t", "kind": "texture", "lifetime": "transient", "dimension": "2d", "format": "rgba8unorm",
             "extent": [8, 8, 1], "mips": 1, "layers": 1, "samples": 1},
            {"name": "b", "kind": "buffer", "lifetime": "imported", "output": true, "size": 64,
             "initial": {"stages": [], "access": []}}
        ],
        "passes": [
            {"name": "draw", "kind": "raster", "queue": "graphics", "accesses": [
                {"resource": "t", "access": "color-attachment-write", "load": "clear", "store": "store"}]},
            {"name": "read", "kind": "compute", "queue": "graphics", "accesses": [
                {"resource": "t", "access": "sampled-read"},
                {"resource": "b", "access": "storage-write", "range": [0, 32]}]}
        ]
    })
}

/// The file with one value replaced (or, with `Null`, removed).
fn with(pointer: &str, value: Value) -> String {
    let mut file = base();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = file.pointer_mut(parent).unwrap();
    match (parent, value) {
        (Value::Object(map), Value::Null) => drop(map.remove(key)),
        (Value::Object(map), value) => drop(map.insert(key.to_owned(), value)),
        (Value::Array(list), value) => list[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer}"),
    }
    serde_json::to_string_pretty(&file).unwrap()
}

#[test]
fn malformed_files_name_line_and_field() {
    let cases = [
        ("/version", json!(2), "version"),
        ("/version", json!("1"), "version"),
        ("/extra", json!(1), ""),
        ("/resources/0/format", json!("rgba9"), "resources[0].format"),
        ("/resources/0/extent", json!([8, 8]), "resources[0].extent"),
        ("/resources/0/mips", json!(-1), "resources[0].mips"),
        ("/resources/0/mips", Value::Null, "resources[0]"),
        ("/resources/0/size", json!(4), "resources[0].size"),
        ("/resources/1/size", json!(1.5), "resources[1].size"),
        ("/resources/1/name", json!("t"), "resources[1].name"),
        ("/resources/1/initial/layout", json!("general"), "resources[1].initial.layout"),
        ("/resources/1/initial/stages", json!(["fragmnt"]), "resources[1].initial.stages"),
        ("/passes/1/name", json!("draw"), "passes[1].name"),
        ("/passes/1/name", json!("@final"), "passes[1].name"),
        ("/passes/1/kind", json!("raytracing"), "passes[1].kind"),
        ("/passes/1/sideeffect", json!(true), "passes[1]"),
        ("/passes/0/accesses/0/load", Value::Null, "passes[0].accesses[0]"),
        ("/passes/1/accesses/0/load", json!("load"), "passes[1].accesses[0]"),
        ("/passes/1/accesses/0/aspects", json!([]), "passes[1].accesses[0].aspects"),
        ("/passes/1/accesses/0/stages", json!(["host"]), "passes[1].accesses[0].stages"),
        ("/passes/1/accesses/1/mips", json!([0, 1]), "passes[1].accesses[1].range"),
    ];
    for (pointer, value, field) in cases {
        let text = with(pointer, value);
        let error = GraphFile::parse(&text).expect_err(pointer);
        assert!(error.line > 0, "{pointer}: no line in {error}");
        assert!(error.field.starts_with(field), "{pointer}: `{}` is not {field}: {error}", error.field);
        assert!(!error.message.is_empty());
    }
    for text in ["", "[", "{}", "null", "{\"version\": 1} x", &"[".repeat(100_000)] {
        assert!(GraphFile::parse(text).is_err());
        assert!(PlanFile::parse(text).is_err());
        assert!(parse_profile(text).is_err());
    }
}

#[test]
fn well_formed_but_wrong_files_have_a_code() {
    let cases = [
        ("/passes/0/accesses/0/resource", json!("nobody"), "invalid-handle"),
        ("/passes/0/after", json!(["nobody"]), "invalid-handle"),
        ("/passes/0/after", json!(["draw"]), "cycle"),
        ("/passes/0/after", json!(["read"]), "cycle"),
        ("/passes/0/queue", json!("compute"), "invalid-descriptor"),
        ("/passes/0/kind", json!("compute"), "invalid-descriptor"),
        ("/passes/1/accesses/1/range", json!([u64::MAX, u64::MAX]), "invalid-descriptor"),
        ("/passes/1/accesses/0/mips", json!([0, u32::MAX]), "invalid-descriptor"),
        ("/passes/1/accesses/0/layers", json!([u32::MAX, u32::MAX]), "invalid-descriptor"),
        ("/passes/1/accesses/0/range", json!([0, 1]), "invalid-descriptor"),
        ("/passes/0/accesses/0/access", json!("depth-stencil-write"), "invalid-descriptor"),
        ("/resources/0/extent", json!([u32::MAX, u32::MAX, 1]), "invalid-descriptor"),
        ("/resources/0/extent", json!([u32::MAX, 1, 1]), ""),
        ("/resources/0/layers", json!(u32::MAX), ""),
        ("/resources/0/samples", json!(3), "invalid-descriptor"),
        ("/resources/0/bytes", json!(1), "invalid-descriptor"),
        ("/resources/0/alignment", json!(3), "invalid-descriptor"),
        ("/resources/1/size", json!(0), "invalid-descriptor"),
        ("/resources/1/initial", Value::Null, "invalid-state"),
        ("/resources/0/initial", json!({"stages": [], "access": [], "layout": "general"}), "invalid-state"),
    ];
    for (pointer, value, code) in cases {
        let graph = GraphFile::parse(&with(pointer, value)).unwrap_or_else(|error| panic!("{pointer}: {error}")).graph;
        match compile(&graph, &Profile::portable(), &Policy::default()) {
            Ok(_) => assert_eq!(code, "", "{pointer} compiles"),
            Err(error) => assert_eq!(error.code.name(), code, "{pointer}: {error}"),
        }
    }
}

/// Changes one place of a JSON value: the n-th node gets another value, or goes.
fn mutate(value: &mut Value, countdown: &mut u64, change: u64) {
    if *countdown == 0 {
        *value = match change % 9 {
            0 => Value::Null,
            1 => json!(-1),
            2 => json!(u64::MAX),
            3 => json!(u32::MAX),
            4 => json!("r0"),
            5 => json!([]),
            6 => json!({}),
            7 => json!([0, change]),
            _ => json!(change % 5),
        };
    }
    *countdown = countdown.wrapping_sub(1);
    match value {
        Value::Array(list) => {
            if *countdown == 0 && change.is_multiple_of(2) && !list.is_empty() {
                list.push(list[0].clone());
            }
            list.iter_mut().for_each(|item| mutate(item, countdown, change));
        }
        Value::Object(map) => map.values_mut().for_each(|item| mutate(item, countdown, change)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn mutated_graph_files_never_panic(seed: u64, place in 0_u64..200, change: u64, cut in 0_usize..6000) {
        let start = Instant::now();
        let mut file = random::graph(seed, 6, 4);
        mutate(&mut file, &mut place.clone(), change);
        let text = file.to_string();
        let mut texts = vec![text.clone()];
        texts.push(text.chars().take(cut).collect());
        for text in texts {
            if let Ok(file) = GraphFile::parse(&text) {
                let policy = Policy { order: OrderPolicy::Memory };
                if let Ok(plan) = compile(&file.graph, &Profile::portable(), &policy) {
                    let json = PlanFile::new(&file.graph, &plan).to_json();
                    prop_assert!(PlanFile::parse(&json).is_ok());
                }
            }
        }
        prop_assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn mutated_plan_and_profile_files_never_panic(seed: u64, place in 0_u64..300, change: u64) {
        let graph = random::graph(seed, 4, 3).to_string();
        if let Ok(compiled) = crate::compile_text(&graph, &Profile::single_queue(), OrderPolicy::Declaration) {
            let mut plan = compiled.json;
            mutate(&mut plan, &mut place.clone(), change);
            let _ = PlanFile::parse(&plan.to_string());
        }
        let mut profile: Value = serde_json::from_str(&profile_json(&Profile::portable())).unwrap();
        mutate(&mut profile, &mut (place % 40), change);
        if let (Ok(profile), Ok(file)) = (parse_profile(&profile.to_string()), GraphFile::parse(&graph)) {
            let _ = compile(&file.graph, &profile, &Policy::default());
        }
    }
}

/// Graphs made to be as expensive as their size allows.
#[test]
fn hostile_graphs_are_refused_or_quick() {
    let bound = Duration::from_secs(20);
    let buffer = json!({"name": "b", "kind": "buffer", "lifetime": "imported", "output": true, "size": 1_000_000,
                        "initial": {"stages": [], "access": []}});
    // Every pass reads everything and writes a byte of its own: pieces times passes.
    let fine: Vec<Value> = (0..6000)
        .map(|i| {
            json!({"name": format!("p{i}"), "kind": "compute", "queue": "graphics", "accesses": [
            {"resource": "b", "access": "storage-write", "range": [2 * i, 1]}]})
        })
        .chain((0..6000).map(|i| {
            json!({"name": format!("q{i}"), "kind": "compute", "queue": "graphics",
            "side_effect": true, "accesses": [{"resource": "b", "access": "storage-read"}]})
        }))
        .collect();
    // A chain of orders backwards, in which every second pass wakes another.
    let wake: Vec<Value> = (0..20_000)
        .map(|i| {
            json!({"name": format!("p{i}"), "kind": "compute", "queue": "graphics", "side_effect": i == 0,
            "after": if i < 19_999 { vec![format!("p{}", i + 1)] } else { vec![] }, "accesses": []})
        })
        .collect();
    // One pass that reads a buffer in thousands of overlapping ways.
    let overlapping: Vec<Value> =
        (0..4000).map(|i| json!({"resource": "b", "access": "storage-read", "range": [i, 4000]})).collect();
    let one = vec![json!({"name": "p", "kind": "compute", "queue": "graphics", "side_effect": true,
                          "accesses": overlapping})];
    for (name, passes, code) in [("fine", fine, Some("unsupported")), ("wake", wake, None), ("one", one, None)] {
        let file = json!({"version": 1, "name": name, "source": "", "notes": "", "resources": [buffer],
                          "passes": passes});
        let start = Instant::now();
        let graph = GraphFile::parse(&file.to_string()).unwrap().graph;
        let result = compile(&graph, &Profile::portable(), &Policy::default());
        println!("{name}: {:?} in {:?}", result.as_ref().err().map(|error| error.code), start.elapsed());
        assert_eq!(result.err().map(|error| error.code.name()), code, "{name}");
        assert!(start.elapsed() < bound, "{name}");
    }
}
