//! Help, and wrong usage: exit status 2, nothing done.

use crate::{names, rhizo};

#[test]
fn help_and_version_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let help = rhizo(folder.path(), &["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    for command in ["info", "demo", "render", "graph"] {
        assert!(help.stdout.contains(&format!("\n  {command} ")), "{}", help.stdout);
        let own = rhizo(folder.path(), &[command, "--help"]);
        assert_eq!(own.code, 0, "{}", own.stderr);
        assert!(own.stdout.contains(&format!("Usage: rhizo {command}")), "{}", own.stdout);
    }
    let version = rhizo(folder.path(), &["--version"]);
    assert_eq!((version.code, version.stdout), (0, format!("rhizo {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn wrong_usage_has_status_2_and_names_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&[], "Usage:"),
        (&["paint"], "paint"),
        (&["demo"], "--output"),
        (&["demo", "-o"], "--output"),
        (&["render", "-o", "out.png"], "<SCENE>"),
        (&["demo", "-o", "out.png", "--size", "0x4"], "0x4"),
        (&["demo", "-o", "out.png", "--size", "large"], "1280x720"),
        (&["demo", "-o", "out.png", "--samples", "many"], "many"),
        (&["demo", "-o", "out.png", "--backend", "directx"], "directx"),
        (&["demo", "-o", "out.png", "--camera", "1,2,-3"], "1,2,-3"),
        (&["render", "a.gltf", "-o", "out.png", "--preset", "pretty"], "reference-lit"),
        (&["info", "--frobnicate"], "--frobnicate"),
        (&["graph"], "Usage:"),
        (&["graph", "compile"], "<FILE>"),
        (&["graph", "compile", "a.graph.json", "--policy", "best"], "random:SEED"),
    ];
    for (arguments, part) in cases {
        let run = rhizo(folder.path(), arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert_eq!(run.stdout, "", "{arguments:?}");
        assert!(run.stderr.contains(part), "{arguments:?}: no `{part}` in\n{}", run.stderr);
        assert!(!run.stderr.contains('\x1b'), "colour codes in a pipe: {:?}", run.stderr);
    }
    assert!(names(folder.path()).is_empty());
}
