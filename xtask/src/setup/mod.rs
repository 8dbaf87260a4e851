//! `cargo xtask setup`: installs the drivers and tools that demo and tests need.
//!
//! Each need is a probe (a program, a file, a driver) and the packages that satisfy it. Probes take milliseconds, so a
//! machine where nothing is missing pays nothing. Only when something is missing is `apt-get` called.

mod apt;
mod needs;

use std::time::Instant;

pub use needs::on_path;
use needs::{Need, Weight};

/// Whether to install or only to report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Install what is missing.
    Install,
    /// Report what is missing.
    Check,
}

/// Runs the command.
///
/// # Errors
/// When something required is missing and may not or could not be installed: the message lists the packages and the
/// commands that install them.
pub fn run(mode: Mode) -> crate::Outcome {
    let start = Instant::now();
    let missing = missing_needs();
    if missing.is_empty() {
        println!("setup: nothing is missing ({} ms)", start.elapsed().as_millis());
        return Ok(());
    }
    for (need, reason) in &missing {
        println!("setup: missing: {} ({}): {reason}", need.name, need.purpose);
    }
    if mode == Mode::Check {
        let packages = packages_of(&missing);
        return finish(&missing, &format!("install: {}", packages.join(" ")));
    }
    let packages = packages_of(&missing);
    let by_hand = apt::commands_by_hand(&packages);
    if let Err(why) = apt::install(&packages) {
        return Err(format!("{why}\nPackages to install: {}\nCommands:\n{by_hand}", packages.join(" ")));
    }
    let missing = missing_needs();
    for (need, reason) in &missing {
        println!("setup: still missing: {} ({}): {reason}", need.name, need.purpose);
    }
    println!("setup: done in {} s", start.elapsed().as_secs());
    finish(&missing, &format!("Commands tried:\n{by_hand}"))
}

/// Fails when a required need is among the missing; the other ones only cost skipped tests.
fn finish(missing: &[(Need, String)], advice: &str) -> crate::Outcome {
    let required: Vec<_> =
        missing.iter().filter(|(need, _)| need.weight == Weight::Required).map(|(need, _)| need.name).collect();
    if required.is_empty() {
        println!("setup: what is still missing is optional: tests that need it are skipped and say so");
        return Ok(());
    }
    Err(format!("missing: {}\n{advice}", required.join(", ")))
}

fn missing_needs() -> Vec<(Need, String)> {
    needs::all().into_iter().filter_map(|need| need.probe.check().err().map(|reason| (need, reason))).collect()
}

fn packages_of(missing: &[(Need, String)]) -> Vec<&'static str> {
    let mut packages: Vec<_> = missing.iter().flat_map(|(need, _)| need.packages.iter().copied()).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}
