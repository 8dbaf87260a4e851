//! `cargo xtask setup`: installs the drivers and tools that demo and tests need.
//!
//! Each need is a probe (a program, a file, a driver) and the packages that satisfy it. Probes take milliseconds, so a
//! machine where nothing is missing pays nothing. Only when something is missing is `apt-get` called.

mod apt;
mod needs;

use std::time::{Duration, Instant};

pub use needs::on_path;
use needs::{Need, Weight};

/// Names of needs that an attempt could not meet, relative to the workspace: they are not tried again for a day.
const TRIED: &str = "out/setup-tried";

/// What setup is run for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Install what is missing.
    Install,
    /// Only report what is missing.
    Check,
    /// Install what is missing before demo or tests, which run without the optional needs too.
    BeforeUse,
}

/// Runs the command.
///
/// # Errors
/// When something is missing and may not or could not be installed: the message lists the packages and the commands
/// that install them.
pub fn run(mode: Mode) -> crate::Outcome {
    let start = Instant::now();
    let missing = missing_needs();
    if missing.is_empty() {
        println!("setup: nothing is missing ({} ms)", start.elapsed().as_millis());
        return Ok(());
    }
    report("missing", &missing);
    if mode == Mode::Check {
        let packages = packages_of(&missing);
        return Err(format!("install: {}", packages.join(" ")));
    }
    if all_optional(&missing) && tried_lately(&missing) {
        println!("setup: could not be installed lately and is optional; to try again remove {TRIED}");
        return Ok(());
    }
    let packages = packages_of(&missing);
    let by_hand = apt::commands_by_hand(&packages);
    if let Err(why) = apt::install(&packages) {
        let advice = format!("{why}\nPackages to install: {}\nCommands:\n{by_hand}", packages.join(" "));
        if mode == Mode::BeforeUse && all_optional(&missing) {
            println!("setup: {advice}\nsetup: going on without: tests that need it are skipped and say so");
            return Ok(());
        }
        return Err(advice);
    }
    let missing = missing_needs();
    report("still missing", &missing);
    println!("setup: done in {} s", start.elapsed().as_secs());
    remember(&missing)?;
    if all_optional(&missing) { Ok(()) } else { Err(format!("something required is missing. Tried:\n{by_hand}")) }
}

fn report(what: &str, missing: &[(Need, String)]) {
    for (need, reason) in missing {
        let weight = if need.weight == Weight::Required { "" } else { "optional; " };
        println!("setup: {what}: {} ({weight}{}): {reason}", need.name, need.purpose);
    }
}

fn all_optional(missing: &[(Need, String)]) -> bool {
    missing.iter().all(|(need, _)| need.weight == Weight::Optional)
}

fn remember(missing: &[(Need, String)]) -> crate::Outcome {
    if missing.is_empty() {
        return Ok(());
    }
    let path = crate::root().join(TRIED);
    let names: Vec<_> = missing.iter().map(|(need, _)| need.name).collect();
    std::fs::create_dir_all(crate::root().join("out"))
        .and_then(|()| std::fs::write(&path, names.join("\n")))
        .map_err(|error| format!("{}: {error}", path.display()))
}

fn tried_lately(missing: &[(Need, String)]) -> bool {
    let path = crate::root().join(TRIED);
    let Ok(names) = std::fs::read_to_string(&path) else { return false };
    let age = std::fs::metadata(&path).and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
    let lately = age.is_some_and(|age| age < Duration::from_secs(24 * 60 * 60));
    lately && missing.iter().all(|(need, _)| names.lines().any(|name| name == need.name))
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
