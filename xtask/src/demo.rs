//! `cargo xtask demo`: setup, then the built-in scene as a picture.

use std::env;
use std::process::Command;

use crate::Outcome;
use crate::setup::{self, Mode};

/// Runs the command.
///
/// # Errors
/// Setup or the program failed.
pub fn run() -> Outcome {
    setup::run(Mode::BeforeUse)?;
    let picture = crate::root().join("out/demo.png");
    std::fs::create_dir_all(crate::root().join("out")).map_err(|error| format!("out: {error}"))?;
    if picture.exists() {
        // So that an old picture is never taken for a new one.
        std::fs::remove_file(&picture).map_err(|error| format!("{}: {error}", picture.display()))?;
    }
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(crate::root());
    // Vulkan alone draws it: the other backends would make the first build longer.
    let build = ["run", "--release", "-p", "rhizo-tool", "--no-default-features"];
    command.args(build).args(["--", "demo", "-o"]).arg(&picture);
    println!("demo: {command:?}");
    let status = command.status().map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Err(format!("the demo failed: {status}"));
    }
    if !picture.is_file() {
        return Err(format!("the demo ended well but left no picture at {}", picture.display()));
    }
    println!("demo: the picture is {}", picture.display());
    Ok(())
}
