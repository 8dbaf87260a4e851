//! Own instructions: what callgrind counts in the region, less everything below calls into the Vulkan driver.
//!
//! The method of the peer numbers: the total of the region minus the inclusive cost of each call from outside into the
//! driver's library. What remains is the bench loop, the layer measured and the libc it calls. The calls into the driver are
//! counted too: both sides must make the same number for each draw, or the comparison is refused.

use crate::{DRAWS, Side, WARM_UPS};
use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// The function whose instructions are collected.
#[inline(never)]
#[unsafe(no_mangle)]
pub extern "Rust" fn rhizo_measured_region(side: &mut dyn Side) -> Result<()> {
    side.record()
}

pub fn measured_region(side: &mut dyn Side) -> Result<()> {
    rhizo_measured_region(side)
}

/// Runs both sides under callgrind and prints instructions per draw.
pub fn instructions(driver: &str) -> Result<()> {
    let (ash, rhizo) = (count("ash", driver)?, count("rhizo", driver)?);
    println!("instructions per draw on {driver} ({DRAWS} draws, callgrind)");
    for (name, counted) in [("ash", ash), ("rhizo", rhizo)] {
        let per = |n: u64| n as f64 / f64::from(DRAWS);
        println!(
            "  {name:6} total {:8.1}   own {:7.1}   own ratio {:.2}   calls into the driver {}",
            per(counted.total),
            per(counted.own),
            counted.own as f64 / ash.own as f64,
            counted.driver_calls
        );
    }
    let difference = rhizo.driver_calls.abs_diff(ash.driver_calls);
    if ash.driver_calls < u64::from(DRAWS) * 2 || difference > CALLS_A_RECORDING {
        bail!("the sides do different work: {} and {} calls into the driver", ash.driver_calls, rhizo.driver_calls);
    }
    Ok(())
}

/// Calls by which the sides may differ in a whole recording: state that Rhizo defines at the begin of a pass (stencil
/// reference, blend constants), and the labels of pass and command buffer, opened and closed.
const CALLS_A_RECORDING: u64 = 6;

/// What callgrind counted in the region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    /// All instructions.
    total: u64,
    /// Instructions outside the driver and what it calls.
    own: u64,
    /// Calls from outside into the driver's library, in one recording.
    driver_calls: u64,
}

fn count(side: &str, driver: &str) -> Result<Counted> {
    let out = std::env::temp_dir().join(format!("rhizo-callgrind-{}-{side}", std::process::id()));
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=rhizo_measured_region", "--quiet"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe()?)
        .args(["region", side, "--driver", driver])
        .status()
        .context("valgrind is not installed: apt-get install valgrind")?;
    if !status.success() {
        bail!("valgrind ended with {status}");
    }
    let text = std::fs::read_to_string(&out)?;
    std::fs::remove_file(&out)?;
    let mut counted = parse(&text);
    // Callgrind collects costs in the region only, but counts the calls of the warm-ups, which do the same, as well.
    counted.driver_calls /= WARM_UPS as u64 + 1;
    Ok(counted)
}

/// Names in callgrind files are `(id) name` once and `(id)` afterwards.
#[derive(Default)]
struct Names(HashMap<String, String>);

impl Names {
    fn resolve(&mut self, text: &str) -> String {
        let Some((id, name)) = text.split_once(')') else { return text.to_owned() };
        let name = name.trim();
        if !name.is_empty() {
            self.0.insert(id.to_owned(), name.to_owned());
        }
        self.0.get(id).cloned().unwrap_or_default()
    }
}

fn is_driver(object: &str) -> bool {
    let file = Path::new(object).file_name().and_then(|f| f.to_str()).unwrap_or("");
    file.starts_with("libvulkan_") || file.starts_with("libvk_swiftshader") || file.contains("nvidia")
}

/// Reads a callgrind file.
fn parse(text: &str) -> Counted {
    let mut names = Names::default();
    let (mut object, mut callee) = (String::new(), None::<String>);
    let (mut total, mut below, mut driver_calls) = (0, 0, 0);
    let mut call = None::<u64>;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("ob=") {
            object = names.resolve(name);
        } else if let Some(name) = line.strip_prefix("cob=") {
            callee = Some(names.resolve(name));
        } else if let Some(calls) = line.strip_prefix("calls=") {
            call = Some(calls.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0));
        } else if let Some(cost) = cost_of(line) {
            let into = callee.take().is_some_and(|callee| is_driver(&callee)) && !is_driver(&object);
            match call.take() {
                None => total += cost,
                Some(calls) if into => (below, driver_calls) = (below + cost, driver_calls + calls),
                Some(_) => {}
            }
        }
    }
    Counted { total, own: total - below, driver_calls }
}

/// The cost of a `position cost` line.
fn cost_of(line: &str) -> Option<u64> {
    let mut words = line.split(' ');
    let position = words.next()?;
    let numeric = position.starts_with(['+', '-', '*']) || position.chars().all(|c| c.is_ascii_digit());
    if position.is_empty() || !numeric {
        return None;
    }
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Counted, parse};

    #[test]
    fn calls_into_the_driver_are_subtracted_once() {
        let text = "events: Ir\nob=(1) /bin/bench\nfn=(1) region\n10 100\ncob=(2) /usr/lib/libvulkan_lvp.so\ncfn=(2) draw\ncalls=3 0\n11 50\n12 7\nob=(2)\nfn=(2)\n5 40\ncob=(3) /lib/libc.so\ncfn=(3) malloc\ncalls=1 0\n6 10\nob=(3)\nfn=(3)\n1 10\n";
        assert_eq!(parse(text), Counted { total: 157, own: 107, driver_calls: 3 });
    }
}
