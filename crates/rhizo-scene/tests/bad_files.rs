//! The Khronos validator's own test files: each imports or fails with a typed error, and agrees with the validator's
//! report except for the rules listed here.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap like the tests themselves")]

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use rhizo_scene::import::{Limits, import};
use serde_json::Value;

/// Validator errors that do not keep us from importing, and why. Anything else must be refused.
const TOLERATED: &[(&str, &str)] = &[
    ("EMPTY_ENTITY", "an empty array means the same as none"),
    ("BUFFER_DATA_URI_MIME_TYPE_INVALID", "the bytes are what they are, whatever they are called"),
    ("BUFFER_VIEW_TARGET_OVERRIDE", "targets are hints for upload; data is copied here"),
    ("DUPLICATE_ELEMENTS", "naming an extension twice says nothing new"),
    ("MESH_PRIMITIVE_ACCESSOR_UNALIGNED", "the data is read byte by byte"),
    ("MESH_PRIMITIVE_ACCESSOR_WITHOUT_BYTESTRIDE", "packed data is the only reading"),
    ("MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_UNSIGNED_INT", "of an application's own attribute, which is not read"),
    ("MESH_PRIMITIVE_INDEXED_SEMANTIC_CONTINUITY", "of an attribute that is not read"),
    ("MESH_PRIMITIVE_INVALID_ATTRIBUTE", "unknown attributes are ignored, with a note"),
    ("MESH_PRIMITIVE_MORPH_TARGET_NO_BASE_ACCESSOR", "a difference to nothing changes nothing"),
    ("MESH_PRIMITIVE_POSITION_ACCESSOR_WITHOUT_BOUNDS", "the box is taken from the data"),
    ("MESH_PRIMITIVE_TOO_FEW_TEXCOORDS", "the missing coordinates are zero"),
    ("SCENE_NON_ROOT_NODE", "exporters do it; the node keeps its place below its parents, with a note"),
    ("UNDECLARED_EXTENSION", "an extension that is read is read, declared or not"),
    ("UNSATISFIED_DEPENDENCY", "byteOffset without bufferView, skin or weights without mesh have no effect"),
];

/// Files without validator errors that are refused all the same, and why.
const REFUSED: &[(&str, &str)] = &[
    ("asset/min_version_valid.gltf", "it demands glTF 2.1, which only gives the validator a warning"),
    ("root/named_objects.gltf", "it shows a mesh whose buffer has no data"),
    ("root/unused_objects.gltf", "it shows a mesh whose buffer has no data"),
];

/// Codes of severity 0 in a validator report.
fn errors_in_report(file: &Path) -> BTreeSet<String> {
    let mut name = file.as_os_str().to_owned();
    name.push(".report.json");
    let report: Value = serde_json::from_slice(&std::fs::read(name).unwrap()).unwrap();
    let messages = report["issues"]["messages"].as_array().cloned().unwrap_or_default();
    // Animations are not read.
    let read = |m: &&Value| !m["pointer"].as_str().is_some_and(|p| p.starts_with("/animations/"));
    let errors = messages.iter().filter(|m| m["severity"] == 0).filter(read);
    errors.map(|m| m["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn bad_files_agree_with_the_validator() {
    let Some(shared) = common::shared_or_skip("bad_files_agree_with_the_validator") else { return };
    let mut limits = Limits::default();
    limits.max_total_bytes = 1 << 24;
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    let files = common::gltf_files(&shared.join("assets/gltf-bad"));
    assert!(files.len() > 150, "only {} files found", files.len());
    for file in &files {
        let errors = errors_in_report(file);
        let fatal: Vec<_> = errors.iter().filter(|c| !TOLERATED.iter().any(|(t, _)| t == c)).collect();
        let started = Instant::now();
        let result = import(file, &limits);
        assert!(started.elapsed() < Duration::from_secs(2), "{} took too long", file.display());
        match &result {
            Ok(_) if REFUSED.iter().any(|(name, _)| file.ends_with(name)) => {
                wrong.push(format!("{} loads, but is listed as refused", file.display()));
            }
            Ok(_) if !fatal.is_empty() => wrong.push(format!("{} loads in spite of {fatal:?}", file.display())),
            Ok(_) => used.extend(errors),
            Err(e) => {
                assert_eq!(&e.file, file);
                assert!(!e.to_string().is_empty());
                let expected = REFUSED.iter().any(|(name, _)| file.ends_with(name));
                if fatal.is_empty() != expected {
                    wrong.push(format!("refused, though the validator's errors are {errors:?}: {e}"));
                }
            }
        }
    }
    if let Some(peak) = common::peak_memory_bytes() {
        assert!(peak < 1 << 28, "{peak} bytes at the peak");
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
    let idle: Vec<_> = TOLERATED.iter().filter(|(code, _)| !used.contains(*code)).collect();
    assert!(idle.is_empty(), "tolerated but never met in a file that loads: {idle:?}");
}
