//! The program as its users meet it: exit status, both outputs, and what is in the folder afterwards.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod graph;
mod info;
mod render;
mod usage;

use rhizo_testkit::drivers::{driver_files, installed_drivers};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// What one run gave.
struct Run {
    /// Exit status.
    code: i32,
    stdout: String,
    stderr: String,
}

impl Run {
    /// Standard output as JSON.
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e} in\n{}", self.stdout))
    }

    /// Fails unless the run failed with one line of error that contains all of these.
    fn assert_error(&self, contains: &[&str]) {
        assert_eq!(self.code, 1, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "", "a failure prints nothing to standard output");
        assert!(self.stderr.starts_with("error"), "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        for text in contains {
            assert!(self.stderr.contains(text), "no `{text}` in\n{}", self.stderr);
        }
    }
}

/// The program in a folder, on the software drivers and nothing else the environment may ask for.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rhizo"));
    command.current_dir(folder).args(arguments);
    for variable in ["RHIZO_BACKEND", "RHIZO_ADAPTER", "RHIZO_VALIDATION", "RUST_BACKTRACE"] {
        command.env_remove(variable);
    }
    let drivers = driver_files(&installed_drivers()).unwrap_or_else(|| OsString::from(NO_DRIVER));
    command.envs(["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].map(|name| (name, &drivers)));
    command
}

/// A manifest that is not there.
const NO_DRIVER: &str = "/nonexistent/no_driver_icd.json";

fn run(mut command: Command) -> Run {
    let output = command.output().unwrap();
    Run {
        code: output.status.code().unwrap_or_else(|| panic!("{}", output.status)),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the program in a folder.
fn rhizo(folder: &Path, arguments: &[&str]) -> Run {
    run(command(folder, arguments))
}

/// Names in a folder, sorted: temporary files left behind show up here.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Keys of a JSON object, sorted.
fn keys(value: &serde_json::Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().unwrap_or_else(|| panic!("{value}")).keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Whether a Vulkan driver for tests is installed; without one the test is reported as skipped.
fn has_driver(test: &str) -> bool {
    if driver_files(&installed_drivers()).is_some() {
        return true;
    }
    rhizo_testkit::skips::report_skip(test, "no test driver is installed; run `cargo xtask setup`");
    false
}
