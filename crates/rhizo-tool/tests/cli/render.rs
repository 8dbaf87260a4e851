//! `rhizo demo` and `rhizo render`: a whole picture, or the old one and a reason.

use crate::{has_driver, keys, names, rhizo};
use std::path::Path;

const SMALL: [&str; 5] = ["--size", "48x32", "--backend", "vulkan", "-q"];

fn demo(folder: &Path, arguments: &[&str]) -> crate::Run {
    rhizo(folder, &[&["demo"][..], &SMALL, arguments].concat())
}

#[test]
fn the_demo_gives_a_picture_and_its_counts() {
    if !has_driver("rhizo_tool::cli::render::the_demo_gives_a_picture_and_its_counts") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = demo(folder.path(), &["-o", "new/out.png", "--stats", "stats.json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.starts_with("new/out.png: 48x32, drawn by "), "{}", run.stdout);
    assert_eq!(names(folder.path()), ["new", "stats.json"]);
    assert_eq!(names(&folder.path().join("new")), ["out.png"], "no temporary file is left");
    let picture = image::open(folder.path().join("new/out.png")).unwrap().into_rgba8();
    assert_eq!(picture.dimensions(), (48, 32));
    let first = *picture.get_pixel(0, 0);
    assert!(picture.pixels().filter(|texel| **texel != first).count() > 500, "the picture shows something");
    let stats: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("stats.json")).unwrap()).unwrap();
    for key in
        ["version", "adapter", "backend", "size", "passes", "draws", "triangles", "clears", "memory", "milliseconds"]
    {
        assert!(keys(&stats).contains(&key), "no {key} in {:?}", keys(&stats));
    }
    assert_eq!((&stats["version"], &stats["backend"]), (&1.into(), &"vulkan".into()));
    assert_eq!(stats["size"], serde_json::json!([48, 32]));
    assert_eq!(stats["passes"], serde_json::json!(["shadow", "main", "transparent", "post", "readback"]));
}

#[test]
fn a_scene_without_anything_renders_as_sky() {
    if !has_driver("rhizo_tool::cli::render::a_scene_without_anything_renders_as_sky") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty.gltf"), r#"{"asset": {"version": "2.0"}}"#).unwrap();
    let run = rhizo(folder.path(), &[&["render", "empty.gltf", "-o", "out.png"][..], &SMALL].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(image::open(folder.path().join("out.png")).unwrap().into_rgba8().dimensions(), (48, 32));
}

/// Permissions would not do: they hold nobody back who is root.
#[test]
fn a_place_that_cannot_be_written_is_an_error_and_leaves_nothing() {
    if !has_driver("rhizo_tool::cli::render::a_place_that_cannot_be_written_is_an_error_and_leaves_nothing") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "in the way").unwrap();
    std::fs::create_dir(folder.path().join("taken.png")).unwrap();
    for place in ["file/out.png", "taken.png"] {
        let run = demo(folder.path(), &["-o", place]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{place}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: cannot "), "{place}: {}", run.stderr);
        assert!(run.stderr.contains(place.split('/').next().unwrap()), "{}", run.stderr);
        assert_eq!(names(folder.path()), ["file", "taken.png"], "{place}");
        assert!(names(&folder.path().join("taken.png")).is_empty());
        assert_eq!(std::fs::read(folder.path().join("file")).unwrap(), b"in the way");
    }
}

#[test]
fn what_the_device_cannot_do_is_refused_in_words() {
    if !has_driver("rhizo_tool::cli::render::what_the_device_cannot_do_is_refused_in_words") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    demo(folder.path(), &["-o", "out.png", "--samples", "3"]).assert_error(&["samples", "3"]);
    demo(folder.path(), &["-o", "out.png", "--exposure", "NaN"]).assert_error(&["exposure"]);
    demo(folder.path(), &["-o", "out.png", "--camera", "nobody"]).assert_error(&["nobody", "hero"]);
    let vast = ["demo", "-o", "out.png", "--size", "99999x2", "--backend", "vulkan", "-q"];
    rhizo(folder.path(), &vast).assert_error(&["99999"]);
    assert!(names(folder.path()).is_empty());
}
