//! `cargo xtask tidy`: the workspace's own rules, those that rustfmt and clippy don't know.

mod arrows;
mod text;

use std::path::PathBuf;
use std::process::Command;

use crate::Outcome;

/// Runs the command: prints every finding, then fails when there is one.
///
/// # Errors
/// A rule is broken, or the tree cannot be read.
pub fn run() -> Outcome {
    let files = tracked_files()?;
    let mut findings = Vec::new();
    for path in &files {
        let whole = crate::root().join(path);
        // A name in the index whose file is gone, a link, or not text: nothing to check.
        if let Ok(text) = std::fs::read_to_string(&whole) {
            findings.extend(text::check(&path.to_string_lossy(), &text));
        }
    }
    findings.extend(arrows::check()?);
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: files: {}, findings: {}", files.len(), findings.len());
    if findings.is_empty() { Ok(()) } else { Err("the tree is not tidy".into()) }
}

/// Files of the tree, relative to its root: tracked ones and new ones that git does not ignore.
fn tracked_files() -> Result<Vec<PathBuf>, String> {
    let output = Command::new("git")
        .current_dir(crate::root())
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|error| format!("git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut files: Vec<_> = names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
    files.sort();
    files.dedup();
    Ok(files)
}
