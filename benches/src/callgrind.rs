//! Own instructions: what callgrind counts in the region, less everything below calls into the Vulkan driver.
//!
//! The method of the peer numbers: the total of the region minus the inclusive cost of each call from outside into the
//! driver's library. What remains is the bench loop, the layer measured and the libc it calls.

use crate::{DRAWS, Side};
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
    for (name, (total, own)) in [("ash", ash), ("rhizo", rhizo)] {
        let per = |n: u64| n as f64 / f64::from(DRAWS);
        println!(
            "  {name:6} total {:8.1}   own {:7.1}   own ratio {:.2}",
            per(total),
            per(own),
            own as f64 / ash.1 as f64
        );
    }
    Ok(())
}

fn count(side: &str, driver: &str) -> Result<(u64, u64)> {
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
    Ok(parse(&text))
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

/// Total and own instructions of a callgrind file.
fn parse(text: &str) -> (u64, u64) {
    let mut names = Names::default();
    let (mut object, mut callee) = (String::new(), None::<String>);
    let (mut total, mut below) = (0, 0);
    let mut call = false;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("ob=") {
            object = names.resolve(name);
        } else if let Some(name) = line.strip_prefix("cob=") {
            callee = Some(names.resolve(name));
        } else if line.starts_with("calls=") {
            call = true;
        } else if let Some(cost) = cost_of(line) {
            if !call {
                total += cost;
            } else if let Some(callee) = callee.take()
                && is_driver(&callee)
                && !is_driver(&object)
            {
                below += cost;
            }
            if call {
                (call, callee) = (false, None);
            }
        }
    }
    (total, total - below)
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
    use super::parse;

    #[test]
    fn calls_into_the_driver_are_subtracted_once() {
        let text = "events: Ir\nob=(1) /bin/bench\nfn=(1) region\n10 100\ncob=(2) /usr/lib/libvulkan_lvp.so\ncfn=(2) draw\ncalls=3 0\n11 50\n12 7\nob=(2)\nfn=(2)\n5 40\ncob=(3) /lib/libc.so\ncfn=(3) malloc\ncalls=1 0\n6 10\nob=(3)\nfn=(3)\n1 10\n";
        assert_eq!(parse(text), (157, 107));
    }
}
