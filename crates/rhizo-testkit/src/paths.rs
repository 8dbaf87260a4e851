//! Where tests find shared assets and leave what they write.

use std::env;
use std::path::{Path, PathBuf};

/// Environment variable that names the folder of shared assets.
pub const SHARED_VARIABLE: &str = "RHIZO_SHARED";

/// The folder of shared assets (`assets/`, `workloads/`, …): what [`SHARED_VARIABLE`] names, else the first folder
/// called `shared` beside this crate, the running package or the current folder, or beside one of their parents.
///
/// # Errors
/// A sentence saying what was tried; tests hand it to [`crate::skip!`].
pub fn shared_dir() -> Result<PathBuf, String> {
    let starts = [
        env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from), // set by cargo and nextest when they run a test
        Some(PathBuf::from(env!("CARGO_MANIFEST_DIR"))),
        env::current_dir().ok(),
    ];
    let starts: Vec<_> = starts.into_iter().flatten().collect();
    shared_dir_from(env::var_os(SHARED_VARIABLE).map(PathBuf::from), &starts)
}

/// [`shared_dir`] with the variable's value and the folders to start from given.
///
/// # Errors
/// As [`shared_dir`].
pub fn shared_dir_from(named: Option<PathBuf>, starts: &[PathBuf]) -> Result<PathBuf, String> {
    if let Some(folder) = named {
        return match folder.join("assets").is_dir() {
            true => Ok(folder),
            false => Err(format!("{SHARED_VARIABLE} names {}, which has no folder assets", folder.display())),
        };
    }
    let candidates = starts.iter().flat_map(|start| start.ancestors()).map(|folder| folder.join("shared"));
    candidates.into_iter().find(|folder| folder.join("assets").is_dir()).ok_or_else(|| {
        format!("no shared assets: {SHARED_VARIABLE} is not set and no folder `shared` with `assets` lies above here")
    })
}

/// The workspace's root, as it was when this crate was compiled.
pub fn workspace_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_path_buf()
}

/// Where tests leave pictures and reports: what `RHIZO_OUT` names, else `out/` in the workspace (ignored by git).
pub fn out_dir() -> PathBuf {
    env::var_os("RHIZO_OUT").map_or_else(|| workspace_dir().join("out"), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn shared_is_found_beside_a_parent() {
        let root = tempfile::tempdir().unwrap();
        let start = root.path().join("checkout/crates/one");
        fs::create_dir_all(root.path().join("shared/assets")).unwrap();
        fs::create_dir_all(start.join("shared")).unwrap(); // a decoy without assets
        assert_eq!(shared_dir_from(None, &[start]).unwrap(), root.path().join("shared"));
    }

    #[test]
    fn a_wrong_variable_is_an_error_and_not_a_fallback() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("shared/assets")).unwrap();
        let error = shared_dir_from(Some("/nonexistent".into()), &[root.path().into()]).unwrap_err();
        assert!(error.contains("/nonexistent"), "{error}");
    }

    #[test]
    fn nothing_found_says_what_to_set() {
        let root = tempfile::tempdir().unwrap();
        assert!(shared_dir_from(None, &[root.path().join("a")]).unwrap_err().contains(SHARED_VARIABLE));
    }

    #[test]
    fn the_workspace_is_the_folder_of_the_lock_file() {
        assert!(workspace_dir().join("Cargo.lock").is_file());
    }
}
