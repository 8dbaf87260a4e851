//! Finds the Vulkan drivers that tests run on, by their ICD manifests.
//!
//! Tests run on two independent software drivers, so that a fault of one is not taken for a rule of the API.
//! `cargo xtask test` hands both manifests to the loader through `VK_DRIVER_FILES` (and `VK_ICD_FILENAMES`, its name
//! before loader 1.3.207); one Vulkan instance then enumerates both as adapters, and a test picks one by
//! [`TestDriver::adapter_name_contains`]. Manifest format: "Vulkan Loader Interface Architecture", section
//! "ICD Manifest File Format".

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A Vulkan driver that tests can ask for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TestDriver {
    /// Mesa's software driver; tests need Mesa 25, which reports Vulkan 1.4.
    Lavapipe,
    /// Google's software driver, shipped beside Chromium.
    SwiftShader,
    /// Any other installed manifest, by its file stem (`radeon_icd.x86_64`). Whether an adapter stands behind it only
    /// the loader can tell.
    Hardware(String),
}

impl TestDriver {
    /// The drivers every test machine should have, in the order in which they are handed to the loader.
    pub const SOFTWARE: [TestDriver; 2] = [TestDriver::Lavapipe, TestDriver::SwiftShader];

    /// A part of the adapter's name that only this driver reports; `None` where the manifest does not tell.
    pub fn adapter_name_contains(&self) -> Option<&'static str> {
        match self {
            TestDriver::Lavapipe => Some("llvmpipe"),
            TestDriver::SwiftShader => Some("SwiftShader"),
            TestDriver::Hardware(_) => None,
        }
    }

    /// The lowest Vulkan version (major, minor) that the tests accept in the driver's manifest.
    pub fn minimum_api_version(&self) -> (u32, u32) {
        match self {
            // Mesa 22.3 (Debian 12) says 1.3 and lacks descriptor indexing, mesh shaders, ray tracing and sparse.
            TestDriver::Lavapipe => (1, 4),
            // SwiftShader's manifest says 1.0 whatever it supports (1.3), so the manifest is no evidence there.
            TestDriver::SwiftShader | TestDriver::Hardware(_) => (1, 0),
        }
    }
}

impl fmt::Display for TestDriver {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TestDriver::Lavapipe => out.write_str("lavapipe"),
            TestDriver::SwiftShader => out.write_str("SwiftShader"),
            TestDriver::Hardware(stem) => write!(out, "hardware ({stem})"),
        }
    }
}

/// An ICD manifest whose driver library was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverManifest {
    /// The manifest itself: what `VK_DRIVER_FILES` takes.
    pub path: PathBuf,
    /// `library_path` as the manifest has it: absolute, relative to the manifest, or a bare file name.
    pub library: String,
    /// Highest Vulkan version (major, minor) that the driver states.
    pub api_version: (u32, u32),
}

/// One driver and its manifest, or why it cannot be used.
#[derive(Clone, Debug)]
pub struct DriverState {
    /// Which driver this is about.
    pub driver: TestDriver,
    /// The manifest, or a sentence that says what is missing and what was tried.
    pub manifest: Result<DriverManifest, String>,
}

/// Folders in which the Vulkan loader on Linux looks for ICD manifests, highest priority first.
pub fn manifest_folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(home) = env::var_os("XDG_DATA_HOME") {
        folders.push(PathBuf::from(home).join("vulkan/icd.d"));
    } else if let Some(home) = env::var_os("HOME") {
        folders.push(PathBuf::from(home).join(".local/share/vulkan/icd.d"));
    }
    folders.extend(["/etc", "/usr/local/share", "/usr/share"].map(|base| Path::new(base).join("vulkan/icd.d")));
    folders
}

/// Folders in which browsers of the Chromium family keep SwiftShader's manifest.
pub fn browser_folders() -> Vec<PathBuf> {
    ["/usr/lib/chromium", "/usr/lib64/chromium-browser", "/usr/lib/chromium-browser", "/opt/google/chrome"]
        .map(PathBuf::from)
        .to_vec()
}

/// Every driver on this machine: lavapipe and SwiftShader always have an entry, with a reason where they are missing;
/// other installed manifests follow.
pub fn installed_drivers() -> Vec<DriverState> {
    drivers_in(&manifest_folders(), &browser_folders())
}

/// [`installed_drivers`] over given folders: loader folders and browser folders.
pub fn drivers_in(loader: &[PathBuf], browsers: &[PathBuf]) -> Vec<DriverState> {
    let manifests = manifests_of(loader);
    let (lavapipe, others): (Vec<_>, Vec<_>) =
        manifests.into_iter().partition(|path| file_name(path).starts_with("lvp_icd"));
    let (mut swiftshader, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|path| file_name(path).starts_with("vk_swiftshader_icd"));
    swiftshader.extend(manifests_of(browsers).into_iter().filter(|path| file_name(path) == "vk_swiftshader_icd.json"));
    let mut states = vec![
        choose(TestDriver::Lavapipe, &lavapipe, "lvp_icd*.json", loader),
        choose(TestDriver::SwiftShader, &swiftshader, "vk_swiftshader_icd.json", &[loader, browsers].concat()),
    ];
    for path in others {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        states.push(DriverState { driver: TestDriver::Hardware(stem), manifest: read_manifest(&path) });
    }
    states
}

/// The value for `VK_DRIVER_FILES`: the manifests of the usable software drivers. `None` when there is none.
pub fn driver_files(states: &[DriverState]) -> Option<std::ffi::OsString> {
    let paths = states
        .iter()
        .filter(|state| TestDriver::SOFTWARE.contains(&state.driver))
        .filter_map(|state| state.manifest.as_ref().ok())
        .map(|manifest| manifest.path.clone());
    let joined = env::join_paths(paths).ok()?;
    (!joined.is_empty()).then_some(joined)
}

/// Takes the first usable manifest; with none, the reason of the first unusable one, else where it was looked for.
fn choose(driver: TestDriver, candidates: &[PathBuf], pattern: &str, looked: &[PathBuf]) -> DriverState {
    let mut first_reason = None;
    for path in candidates {
        match read_manifest(path).and_then(|manifest| new_enough(&driver, manifest)) {
            Ok(manifest) => return DriverState { driver, manifest: Ok(manifest) },
            Err(reason) => first_reason = first_reason.or(Some(reason)),
        }
    }
    let reason = first_reason.unwrap_or_else(|| {
        let folders: Vec<_> = looked.iter().map(|path| path.display().to_string()).collect();
        format!("no {pattern} in {}", folders.join(", "))
    });
    DriverState { driver, manifest: Err(reason) }
}

fn new_enough(driver: &TestDriver, manifest: DriverManifest) -> Result<DriverManifest, String> {
    let (need, have) = (driver.minimum_api_version(), manifest.api_version);
    if have >= need {
        return Ok(manifest);
    }
    let path = manifest.path.display();
    Err(format!("{path}: Vulkan {}.{}, tests need {}.{} or newer", have.0, have.1, need.0, need.1))
}

fn manifests_of(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        let mut here: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        here.retain(|path| file_name(path).contains("_icd") && path.extension().is_some_and(|ext| ext == "json"));
        here.sort();
        found.extend(here);
    }
    found
}

fn file_name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// Reads one ICD manifest and checks that its library is there.
///
/// # Errors
/// A sentence naming the file: unreadable, not JSON, a field missing, or the library not found. The library of a bare
/// file name is left to the loader's own search path when it is in none of the usual folders.
pub fn read_manifest(path: &Path) -> Result<DriverManifest, String> {
    let at = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("{at}: {error}"))?;
    let json: Value = serde_json::from_str(&text).map_err(|error| format!("{at}: not JSON: {error}"))?;
    let icd = json.get("ICD").ok_or_else(|| format!("{at}: no ICD section"))?;
    let field =
        |name: &str| icd.get(name).and_then(Value::as_str).ok_or_else(|| format!("{at}: no text field ICD.{name}"));
    let library = field("library_path")?.to_owned();
    let version = field("api_version")?;
    let api_version =
        parse_version(version).ok_or_else(|| format!("{at}: ICD.api_version {version:?} is no version"))?;
    if library.contains('/') {
        let resolved = path.parent().unwrap_or(Path::new("")).join(&library); // an absolute path replaces the parent
        if !resolved.is_file() {
            return Err(format!("{at}: its library {} is missing", resolved.display()));
        }
    }
    Ok(DriverManifest { path: path.to_path_buf(), library, api_version })
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(folder: &Path, name: &str, library: &str, version: &str) -> PathBuf {
        let path = folder.join(name);
        let json = serde_json::json!({"file_format_version": "1.0.0",
            "ICD": {"library_path": library, "api_version": version}});
        fs::write(&path, json.to_string()).unwrap();
        path
    }

    fn reason(states: &[DriverState], driver: &TestDriver) -> String {
        let state = states.iter().find(|state| state.driver == *driver).unwrap();
        state.manifest.clone().unwrap_err()
    }

    #[test]
    fn both_software_drivers_are_found_and_joined_for_the_loader() {
        let (loader, browser) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(browser.path().join("libvk_swiftshader.so"), b"").unwrap();
        let lavapipe = manifest(loader.path(), "lvp_icd.x86_64.json", "libvulkan_lvp.so", "1.4.305");
        let swift = manifest(browser.path(), "vk_swiftshader_icd.json", "./libvk_swiftshader.so", "1.3.0");
        manifest(loader.path(), "radeon_icd.x86_64.json", "libvulkan_radeon.so", "1.4.305");
        let states = drivers_in(&[loader.path().into()], &[browser.path().into()]);
        assert_eq!(states[2].driver, TestDriver::Hardware("radeon_icd.x86_64".into()));
        let joined = driver_files(&states).unwrap();
        assert_eq!(env::split_paths(&joined).collect::<Vec<_>>(), [lavapipe, swift]);
    }

    #[test]
    fn an_old_lavapipe_and_a_missing_library_are_reported() {
        let (loader, browser) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        manifest(loader.path(), "lvp_icd.x86_64.json", "libvulkan_lvp.so", "1.3.230");
        manifest(browser.path(), "vk_swiftshader_icd.json", "./libvk_swiftshader.so", "1.3.0");
        let states = drivers_in(&[loader.path().into()], &[browser.path().into()]);
        assert!(reason(&states, &TestDriver::Lavapipe).contains("Vulkan 1.3, tests need 1.4"));
        assert!(reason(&states, &TestDriver::SwiftShader).contains("libvk_swiftshader.so is missing"));
        assert!(driver_files(&states).is_none());
    }

    #[test]
    fn a_missing_driver_says_where_it_was_looked_for() {
        let folder = PathBuf::from("/nonexistent/icd.d");
        let text = reason(&drivers_in(std::slice::from_ref(&folder), &[]), &TestDriver::Lavapipe);
        assert_eq!(text, "no lvp_icd*.json in /nonexistent/icd.d");
    }

    #[test]
    fn a_broken_manifest_is_an_error_that_names_file_and_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lvp_icd.json");
        for (text, why) in [
            ("{", "not JSON"),
            ("{}", "no ICD section"),
            (r#"{"ICD": {"library_path": "a.so"}}"#, "ICD.api_version"),
            (r#"{"ICD": {"library_path": 3, "api_version": "1.4"}}"#, "ICD.library_path"),
            (r#"{"ICD": {"library_path": "a.so", "api_version": "new"}}"#, "is no version"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read_manifest(&path).unwrap_err();
            assert!(error.contains(why) && error.contains("lvp_icd.json"), "{error}");
        }
    }
}
