//! Where the shared assets are.

use std::path::{Path, PathBuf};

/// The folder with `assets`: `RHIZO_SHARED`, else a folder `shared` beside this checkout or above it.
pub fn shared_dir() -> Option<PathBuf> {
    let usable = |dir: PathBuf| dir.join("assets").is_dir().then_some(dir);
    match std::env::var_os("RHIZO_SHARED") {
        Some(dir) => usable(dir.into()),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find_map(|dir| usable(dir.join("shared"))),
    }
}

/// The shared assets, or a line on standard error that says why the test is skipped.
pub fn shared_or_skip(test: &str) -> Option<PathBuf> {
    let found = shared_dir();
    if found.is_none() {
        eprintln!("skipped: {test}: no folder `shared/assets` (set RHIZO_SHARED)");
    }
    found
}

/// All .gltf and .glb files below a folder, sorted.
#[allow(dead_code, reason = "not every test binary walks folders")]
pub fn gltf_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "gltf" || e == "glb") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The most memory this process has held so far, where the system says so.
#[allow(dead_code, reason = "not every test binary measures memory")]
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}
