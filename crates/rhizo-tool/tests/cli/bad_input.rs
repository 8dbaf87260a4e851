//! Broken scene and environment files: status 1, one line that names file and place, and no output.

use crate::{Run, names, rhizo};
use rhizo_testkit::paths::shared_dir;
use std::path::Path;

/// Below `gltf-bad`, and what the line must say besides the file's name.
const FILES: [(&str, &[&str]); 7] = [
    ("glb/empty_file.glb", &[]),
    ("glb/truncated_chunk_data.glb", &["GLB"]),
    ("json/invalid_syntax.gltf", &["JSON"]),
    ("accessor/small_stride.gltf", &[" at /accessors/0: ", "byteStride"]),
    ("mesh/unresolved_indices.gltf", &[" at /meshes/0/primitives/0/indices: "]),
    ("mesh/unresolved_material.gltf", &[" at /meshes/0/primitives/0/material: "]),
    ("node/infinite_transform.gltf", &[" line 8 column "]),
];

/// Renders into a folder in which the picture exists already, and checks that it is what it was.
fn render(folder: &Path, arguments: &[&str]) -> Run {
    std::fs::write(folder.join("out.png"), b"an older picture").unwrap();
    let run = rhizo(folder, &[arguments, &["-o", "out.png", "--stats", "stats.json", "-q"]].concat());
    assert_eq!(std::fs::read(folder.join("out.png")).unwrap(), b"an older picture", "{arguments:?}");
    run
}

#[test]
fn broken_scenes_are_one_line_that_names_file_and_place() {
    let shared = match shared_dir() {
        Ok(shared) => shared,
        Err(reason) => rhizo_testkit::skip!("{reason}"),
    };
    let folder = tempfile::tempdir().unwrap();
    for (file, parts) in FILES {
        let path = shared.join("assets/gltf-bad").join(file);
        let path = path.to_str().unwrap();
        render(folder.path(), &["render", path]).assert_error(&[parts, &[path]].concat());
        assert_eq!(names(folder.path()), ["out.png"], "{file}");
    }
}

#[test]
fn missing_and_foreign_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    render(folder.path(), &["render", "nowhere.gltf"]).assert_error(&["nowhere.gltf"]);
    std::fs::create_dir(folder.path().join("folder.gltf")).unwrap();
    render(folder.path(), &["render", "folder.gltf"]).assert_error(&["folder.gltf"]);
    std::fs::write(folder.path().join("sky.hdr"), "#?RADIANCE\n\n-Y 999999 +X 999999\n").unwrap();
    render(folder.path(), &["demo", "--env", "sky.hdr"]).assert_error(&["sky.hdr"]);
    std::fs::write(folder.path().join("sky.hdr"), "no picture").unwrap();
    render(folder.path(), &["demo", "--env", "sky.hdr"]).assert_error(&["sky.hdr", "Radiance"]);
    render(folder.path(), &["demo", "--env", "no.hdr"]).assert_error(&["no.hdr"]);
    assert_eq!(names(folder.path()), ["folder.gltf", "out.png", "sky.hdr"]);
}

#[test]
fn the_environment_preset_asks_for_an_environment() {
    let folder = tempfile::tempdir().unwrap();
    let scene = r#"{"asset": {"version": "2.0"}}"#;
    std::fs::write(folder.path().join("empty.gltf"), scene).unwrap();
    render(folder.path(), &["render", "empty.gltf", "--preset", "reference-env"]).assert_error(&["--env"]);
}
