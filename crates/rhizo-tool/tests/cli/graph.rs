//! `rhizo graph compile`: plans, drawings, error codes, and nothing written on failure.

use crate::{keys, names, rhizo};
use rhizo_testkit::paths::shared_dir;
use serde_json::{Value, json};
use std::path::Path;

/// A pass writes a texture, another reads it into the output; `unread` has no effect.
fn good() -> Value {
    let texture = |name: &str, output: bool| {
        json!({"name": name, "kind": "texture", "lifetime": "transient", "output": output, "dimension": "2d",
            "format": "rgba8unorm", "extent": [64, 32, 1], "mips": 1, "layers": 1, "samples": 1})
    };
    let pass = |name: &str, accesses: Value| json!({"name": name, "kind": "raster", "queue": "graphics", "accesses": accesses});
    let write =
        |name: &str| json!({"resource": name, "access": "color-attachment-write", "load": "clear", "store": "store"});
    json!({
        "version": 1, "name": "two passes",
        "resources": [texture("light", false), texture("picture", true), texture("waste", false)],
        "passes": [
            pass("main", json!([write("light")])),
            pass("unread", json!([write("waste")])),
            pass("post", json!([{"resource": "light", "access": "sampled-read"}, write("picture")])),
        ],
    })
}

fn write(folder: &Path, name: &str, graph: &Value) {
    std::fs::write(folder.join(name), graph.to_string()).unwrap();
}

#[test]
fn a_good_file_gives_plan_drawing_and_words() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.graph.json", &good());
    let words = rhizo(folder.path(), &["graph", "compile", "a.graph.json"]);
    assert_eq!((words.code, words.stderr.as_str()), (0, ""), "{}", words.stdout);
    assert!(words.stdout.contains("pass main") && words.stdout.contains("pass post"), "{}", words.stdout);
    let out = ["--emit-plan", "plans/a.plan.json", "--dot", "a.dot", "--json", "--profile", "single-queue"];
    let files = rhizo(folder.path(), &[&["graph", "compile", "a.graph.json"][..], &out].concat());
    assert_eq!((files.code, files.stderr.as_str()), (0, ""));
    assert_eq!(names(folder.path()), ["a.dot", "a.graph.json", "plans"]);
    assert_eq!(names(&folder.path().join("plans")), ["a.plan.json"]);

    let plan: Value = serde_json::from_slice(&std::fs::read(folder.path().join("plans/a.plan.json")).unwrap()).unwrap();
    assert_eq!(plan, files.json(), "what is printed is what is written");
    for key in [
        "version",
        "graph",
        "profile",
        "policy",
        "queues",
        "resources",
        "passes",
        "culled",
        "memory",
        "submissions",
        "stats",
    ] {
        assert!(keys(&plan).contains(&key), "no {key} in {:?}", keys(&plan));
    }
    assert_eq!(
        (&plan["version"], &plan["graph"], &plan["profile"]),
        (&json!(1), &json!("two passes"), &json!("single-queue"))
    );
    let pass_names: Vec<_> =
        plan["passes"].as_array().unwrap().iter().map(|pass| pass["name"].as_str().unwrap()).collect();
    assert_eq!(pass_names, ["main", "post"]);
    assert_eq!(plan["culled"][0]["name"], "unread");
    let dot = std::fs::read_to_string(folder.path().join("a.dot")).unwrap();
    assert!(dot.starts_with("digraph \"two passes\" {") && dot.trim_end().ends_with('}'), "{dot}");
}

/// Breaks the good graph in one way; gives the code it must fail with.
fn broken() -> Vec<(&'static str, Value)> {
    let change = |pointer: &str, value: Value| {
        let mut graph = good();
        *graph.pointer_mut(pointer).unwrap() = value;
        graph
    };
    vec![
        ("invalid-handle", change("/passes/2/accesses/0/resource", json!("nobody"))),
        ("invalid-descriptor", change("/resources/0/mips", json!(12))),
        ("uninitialized-read", change("/passes/0/accesses", json!([]))),
        (
            "cycle",
            change(
                "/passes/0",
                json!({"name": "main", "kind": "raster", "queue": "graphics", "after": ["post"],
            "accesses": good()["passes"][0]["accesses"]}),
            ),
        ),
    ]
}

#[test]
fn a_graph_that_cannot_be_compiled_fails_with_its_code_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (code, graph) in broken() {
        write(folder.path(), "a.graph.json", &graph);
        let arguments = ["graph", "compile", "a.graph.json", "--emit-plan", "plan.json", "--dot", "a.dot"];
        rhizo(folder.path(), &arguments).assert_error(&[&format!("error[{code}]: ")]);
        let run = rhizo(folder.path(), &[&arguments[..], &["--json"]].concat());
        assert_eq!((run.code, run.stderr.as_str()), (1, ""));
        let json = run.json();
        assert_eq!(keys(&json), ["error"]);
        assert_eq!(keys(&json["error"]), ["code", "message", "passes", "resources"]);
        assert_eq!(json["error"]["code"], code);
        assert_eq!(names(folder.path()), ["a.graph.json"]);
    }
}

#[test]
fn a_malformed_file_is_named_with_line_and_field() {
    let folder = tempfile::tempdir().unwrap();
    let text = good().to_string();
    let wrong_type = serde_json::to_string_pretty(&good()).unwrap().replacen("\"mips\": 1", "\"mips\": \"one\"", 1);
    let cases: [(&str, &[&str]); 4] = [
        ("", &["line 1"]),
        ("not JSON", &["line 1"]),
        (&text[..text.len() / 2], &["line 1"]),
        (&wrong_type, &["line ", "mips"]),
    ];
    for (text, parts) in cases {
        std::fs::write(folder.path().join("a.graph.json"), text).unwrap();
        let run = rhizo(folder.path(), &["graph", "compile", "a.graph.json", "--emit-plan", "plan.json"]);
        run.assert_error(&[parts, &["a.graph.json"]].concat());
        let run = rhizo(folder.path(), &["graph", "compile", "a.graph.json", "--json"]);
        assert_eq!((run.code, &run.json()["error"]["code"]), (1, &json!("invalid-file")));
    }
    rhizo(folder.path(), &["graph", "compile", "missing.graph.json"]);
    assert_eq!(names(folder.path()), ["a.graph.json"]);
    let missing = rhizo(folder.path(), &["graph", "compile", "missing.graph.json"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("missing.graph.json"), "{}", missing.stderr);
    let profile = ["graph", "compile", "a.graph.json", "--profile", "nowhere"];
    std::fs::write(folder.path().join("a.graph.json"), good().to_string()).unwrap();
    rhizo(folder.path(), &profile).assert_error(&["nowhere", "portable"]);
}

/// The shared corpus says of each case whether it compiles, and if not, with which code it fails.
#[test]
fn the_shared_corpus_ends_as_it_says() {
    let shared = match shared_dir() {
        Ok(shared) => shared,
        Err(reason) => rhizo_testkit::skip!("{reason}"),
    };
    let cases = shared.join("workloads/graphs/cases");
    let files: Vec<_> = names(&cases).into_iter().filter(|name| name.ends_with(".graph.json")).collect();
    assert!(files.len() >= 40, "only {} cases", files.len());
    let mut refused = 0;
    for file in &files {
        let graph: Value = serde_json::from_slice(&std::fs::read(cases.join(file)).unwrap()).unwrap();
        let run = rhizo(&cases, &["graph", "compile", file, "--json"]);
        let wanted = graph["expect"].get("error");
        refused += usize::from(wanted.is_some());
        match wanted {
            Some(code) => assert_eq!((run.code, &run.json()["error"]["code"]), (1, code), "{file}"),
            None => assert_eq!((run.code, run.json()["graph"].as_str()), (0, graph["name"].as_str()), "{file}"),
        }
    }
    assert!(refused >= 5, "only {refused} cases are refused");
}
