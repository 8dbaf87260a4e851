//! Rules on crates: which may depend on which, over `cargo metadata`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Crates that translate to one graphics API. Only the façade `rhizo` may name them.
const BACKENDS: [&str; 5] = ["rhizo-d3d12", "rhizo-gles", "rhizo-metal", "rhizo-vulkan", "rhizo-webgpu"];

/// Crates of the graphics APIs. Only backends may name them.
const API_CRATES: [&str; 12] = [
    "ash",
    "glow",
    "gpu-allocator",
    "khronos-egl",
    "metal",
    "objc2-metal",
    "vulkanalia",
    "wgpu",
    "wgpu-core",
    "wgpu-hal",
    "windows",
    "windows-sys",
];

/// Crates whose root must say `#![forbid(unsafe_code)]`. `rhizo-shader` is not among them: it alone vouches for the
/// artifacts that naga validated, which is one `unsafe` call.
const FORBID_UNSAFE: [&str; 7] =
    ["rhizo-frame", "rhizo-graph", "rhizo-scene", "rhizo-shader-macros", "rhizo-testkit", "rhizo-tool", "xtask"];

/// What the rules look at in one workspace package.
#[derive(Clone, Debug, Default)]
struct Package {
    name: String,
    manifest: PathBuf,
    /// Root files of its library and programs.
    roots: Vec<PathBuf>,
    /// What it is built with: normal and build dependencies, optional ones included.
    dependencies: BTreeSet<String>,
    /// Normal dependencies that no feature switches off.
    fixed: BTreeSet<String>,
    dev_dependencies: BTreeSet<String>,
}

impl Package {
    /// Crates of the product lie in `crates/`; tests, benches, examples and automation do not.
    fn is_product(&self) -> bool {
        let folder = self.manifest.parent().and_then(Path::parent).and_then(Path::file_name);
        folder.is_some_and(|folder| folder == "crates") && self.name != "rhizo-testkit"
    }
}

/// Checks the workspace.
///
/// # Errors
/// `cargo metadata` failed or a manifest cannot be read.
pub fn check() -> Result<Vec<String>, String> {
    let packages = packages()?;
    let mut findings = dependency_findings(&packages);
    for package in &packages {
        findings.extend(manifest_findings(package)?);
    }
    let register = crate::root().join("docs/dependencies.md");
    let text = std::fs::read_to_string(&register).map_err(|error| format!("{}: {error}", register.display()))?;
    findings.extend(register_findings(&packages, &text));
    Ok(findings)
}

fn dependency_findings(packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    for package in packages {
        let name = package.name.as_str();
        let is_backend = BACKENDS.contains(&name);
        for dependency in &package.dependencies {
            let dependency = dependency.as_str();
            if package.is_product() && BACKENDS.contains(&dependency) && name != "rhizo" {
                findings.push(format!("{name} depends on {dependency}: only `rhizo` names a backend"));
            }
            if package.is_product() && API_CRATES.contains(&dependency) && !is_backend {
                findings.push(format!("{name} depends on {dependency}: only backends name a graphics API"));
            }
            if name == "rhizo-graph" && dependency.starts_with("rhizo") && dependency != "rhizo-rhi" {
                findings.push(format!("rhizo-graph depends on {dependency}: it knows only rhizo-rhi"));
            }
            if name == "rhizo-rhi" && dependency.starts_with("rhizo") {
                findings.push(format!("rhizo-rhi depends on {dependency}: it is the lowest layer"));
            }
            if name == "xtask" && !["rhizo-testkit", "serde_json"].contains(&dependency) {
                findings.push(format!("xtask depends on {dependency}: it must compile before anything is installed"));
            }
        }
        for dependency in package.fixed.iter().filter(|name| *name != "serde_json") {
            if name == "rhizo-testkit" {
                findings.push(format!("rhizo-testkit needs {dependency}: make it optional, xtask is built with it"));
            }
        }
    }
    findings
}

fn manifest_findings(package: &Package) -> Result<Vec<String>, String> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let mut findings = Vec::new();
    if !has_workspace_lints(&read(&package.manifest)?) {
        findings.push(format!("{}: its manifest lacks `[lints] workspace = true`", package.name));
    }
    if FORBID_UNSAFE.contains(&package.name.as_str()) {
        for root in &package.roots {
            if !read(root)?.contains("#![forbid(unsafe_code)]") {
                findings.push(format!("{}: {} lacks #![forbid(unsafe_code)]", package.name, root.display()));
            }
        }
    }
    Ok(findings)
}

fn has_workspace_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    lines.by_ref().take_while(|line| !line.starts_with('[')).any(|line| line == "workspace = true")
}

/// Each library we use has its reason in `docs/dependencies.md`, as a row that begins with its name.
fn register_findings(packages: &[Package], register: &str) -> Vec<String> {
    let own: BTreeSet<_> = packages.iter().map(|package| package.name.as_str()).collect();
    let used: BTreeSet<_> = packages
        .iter()
        .flat_map(|package| package.dependencies.iter().chain(&package.dev_dependencies))
        .map(String::as_str)
        .filter(|name| !own.contains(name))
        .collect();
    let missing = used.into_iter().filter(|name| !register.contains(&format!("| `{name}` |")));
    missing.map(|name| format!("docs/dependencies.md: no row for `{name}`")).collect()
}

fn packages() -> Result<Vec<Package>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(crate::root())
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let json: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let list = json["packages"].as_array().ok_or("cargo metadata: no packages")?;
    Ok(list.iter().map(package).collect())
}

fn package(json: &Value) -> Package {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut package =
        Package { name: text(&json["name"]), manifest: text(&json["manifest_path"]).into(), ..Package::default() };
    for target in json["targets"].as_array().into_iter().flatten() {
        let kinds: Vec<_> = target["kind"].as_array().into_iter().flatten().map(text).collect();
        if kinds.iter().any(|kind| kind == "bin" || kind == "proc-macro" || kind.ends_with("lib")) {
            package.roots.push(text(&target["src_path"]).into());
        }
    }
    for dependency in json["dependencies"].as_array().into_iter().flatten() {
        let name = text(&dependency["name"]);
        if dependency["kind"] == "dev" {
            package.dev_dependencies.insert(name);
            continue;
        }
        if dependency["optional"] == false {
            package.fixed.insert(name.clone());
        }
        package.dependencies.insert(name);
    }
    package
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_with(name: &str, dependencies: &[&str]) -> Package {
        let dependencies: BTreeSet<_> = dependencies.iter().map(|name| (*name).to_owned()).collect();
        let manifest = PathBuf::from(format!("crates/{name}/Cargo.toml"));
        Package { name: name.into(), manifest, fixed: dependencies.clone(), dependencies, ..Package::default() }
    }

    #[test]
    fn arrows_that_point_the_wrong_way_are_found() {
        for (name, dependency) in [
            ("rhizo-rhi", "ash"),
            ("rhizo-rhi", "rhizo-graph"),
            ("rhizo-graph", "rhizo-frame"),
            ("rhizo-graph", "rhizo-vulkan"),
            ("rhizo-scene", "wgpu"),
            ("rhizo-tool", "rhizo-vulkan"),
            ("rhizo-testkit", "image"),
            ("xtask", "clap"),
        ] {
            assert!(!dependency_findings(&[crate_with(name, &[dependency])]).is_empty(), "{name} -> {dependency}");
        }
    }

    #[test]
    fn arrows_that_are_meant_are_not() {
        let mut benches = crate_with("rhizo-benches", &["ash", "rhizo-vulkan"]);
        benches.manifest = "benches/Cargo.toml".into();
        let packages = [
            crate_with("rhizo", &["rhizo-vulkan", "rhizo-rhi"]),
            crate_with("rhizo-vulkan", &["ash", "rhizo-rhi"]),
            crate_with("rhizo-graph", &["rhizo-rhi", "serde"]),
            benches,
        ];
        assert_eq!(dependency_findings(&packages), [""; 0]);
    }

    #[test]
    fn lints_must_be_the_workspaces() {
        assert!(has_workspace_lints("[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n"));
        assert!(!has_workspace_lints("[package]\nworkspace = true\n[lints]\n[dependencies]\nworkspace = true\n"));
    }

    #[test]
    fn a_library_without_a_reason_is_found() {
        let packages = [crate_with("rhizo-scene", &["gltf", "rhizo-rhi"]), crate_with("rhizo-rhi", &["bitflags"])];
        let found = register_findings(&packages, "| `bitflags` | flags |");
        assert_eq!(found, ["docs/dependencies.md: no row for `gltf`"]);
    }
}
