//! Recording 10,000 draws through Rhizo and through raw `ash`, in one process, alternating.
//!
//!     cargo run --profile bench -p rhizo-benches -- record [--driver NAME]
//!     cargo run --profile bench -p rhizo-benches -- instructions [--driver NAME]
//!
//! Each draw pushes 16 bytes of constants; every 8th sets a table and a vertex buffer. `record` prints CPU nanoseconds of the
//! recording thread; the spread between two equal `ash` series tells what a difference means. `instructions` runs both under
//! `valgrind --tool=callgrind` and counts instructions outside the Vulkan driver's library: repeatable to the digit.

mod callgrind;
mod raw;
mod through;

use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;

/// Draws per recording.
pub const DRAWS: u32 = 10_000;
/// Every so many draws, table and vertex buffer are set.
pub const SWITCH: u32 = 8;

/// The shader both sides use.
pub const SHADER: &str = "
struct Push { offset: vec2<f32>, scale: vec2<f32> }
var<immediate> push: Push;
struct Material { color: vec4<f32> }
@group(2) @binding(0) var<uniform> material: Material;

@vertex
fn vertex(@location(0) position: vec2<f32>) -> @builtin(position) vec4<f32> {
    return vec4<f32>(position * push.scale + push.offset, 0.0, 1.0);
}

@fragment
fn fragment() -> @location(0) vec4<f32> {
    return material.color;
}
";

const ROUNDS: usize = 8;
const REPETITIONS: usize = 40;
/// Recordings before the first measured one.
pub const WARM_UPS: usize = 3;

/// One side of the comparison.
pub trait Side {
    /// Records all draws into a fresh command buffer.
    fn record(&mut self) -> Result<()>;
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let driver =
        args.iter().position(|a| a == "--driver").and_then(|i| args.get(i + 1)).map_or("llvmpipe", String::as_str);
    match args.first().map(String::as_str) {
        Some("record") => record(driver),
        Some("instructions") => callgrind::instructions(driver),
        Some("region") => region(args.get(1).context("region needs ash or rhizo")?, driver),
        _ => bail!("usage: rhizo-benches record|instructions [--driver NAME]"),
    }
}

fn record(driver: &str) -> Result<()> {
    // Two devices for the two series in `ash`: where the driver's memory lies is part of the spread.
    let (mut ash, mut again) = (raw::Raw::new(driver)?, raw::Raw::new(driver)?);
    let mut rhizo = through::Through::new(driver)?;
    let (mut first, mut second, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        first.push(series(&mut ash)?);
        own.push(series(&mut rhizo)?);
        second.push(series(&mut again)?);
    }
    let per_draw = |series: &[f64]| median(series) / f64::from(DRAWS);
    let (a, b, r) = (per_draw(&first), per_draw(&second), per_draw(&own));
    let both: Vec<f64> = first.iter().chain(&second).copied().collect();
    let base = per_draw(&both);
    println!("recording {DRAWS} draws on {driver}: median of {ROUNDS} interleaved rounds of {REPETITIONS}");
    println!("  ash    {base:7.2} ns/draw   (A/A spread {:.3})", a.max(b) / a.min(b));
    println!("  rhizo  {r:7.2} ns/draw   ratio {:.3}", r / base);
    Ok(())
}

/// The median time of one recording, in nanoseconds of this thread's CPU time.
fn series(side: &mut dyn Side) -> Result<f64> {
    for _ in 0..WARM_UPS {
        side.record()?;
    }
    let mut times = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let start = thread_ns();
        side.record()?;
        times.push(thread_ns() - start);
    }
    Ok(median(&times))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn thread_ns() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// What callgrind counts: one recording after warm-ups.
fn region(side: &str, driver: &str) -> Result<()> {
    let mut side: Box<dyn Side> = match side {
        "ash" => Box::new(raw::Raw::new(driver)?),
        "rhizo" => Box::new(through::Through::new(driver)?),
        other => bail!("no side is called {other}"),
    };
    for _ in 0..WARM_UPS {
        side.record()?;
    }
    callgrind::measured_region(&mut *side)?;
    black_box(&side);
    Ok(())
}
