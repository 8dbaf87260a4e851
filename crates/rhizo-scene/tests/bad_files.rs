//! The Khronos validator's own test files: each imports or fails with a typed error, and agrees with the validator's
//! report except for the rules listed here.

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use rhizo_scene::import::{Limits, import};
use serde_json::Value;

/// Validator errors that do not keep us from importing, and why. Anything else must be refused.
const TOLERATED: &[(&str, &str)] = &[("EMPTY_ENTITY", "an empty array means the same as none")];

/// Codes of severity 0 in a validator report.
fn errors_in_report(file: &Path) -> BTreeSet<String> {
    let mut name = file.as_os_str().to_owned();
    name.push(".report.json");
    let report: Value = serde_json::from_slice(&std::fs::read(name).unwrap()).unwrap();
    let messages = report["issues"]["messages"].as_array().cloned().unwrap_or_default();
    let errors = messages.iter().filter(|m| m["severity"] == 0);
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
            Ok(_) if !fatal.is_empty() => wrong.push(format!("{} loads in spite of {fatal:?}", file.display())),
            Ok(_) => used.extend(errors),
            Err(e) => {
                assert_eq!(&e.file, file);
                assert!(!e.to_string().is_empty());
                if fatal.is_empty() {
                    wrong.push(format!("refused, though the validator's errors are {errors:?}: {e}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
    let idle: Vec<_> = TOLERATED.iter().filter(|(code, _)| !used.contains(*code)).collect();
    assert!(idle.is_empty(), "tolerated but never met in a file that loads: {idle:?}");
}
