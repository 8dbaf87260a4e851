//! Heap allocations of a steady frame, counted on real drivers: none through the RHI and none through the frame layer;
//! through the graph a number that may only fall. One test, because the counter sees the whole process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod counter;
mod graph;
mod work;

use rhizo::frame::{Begin, FrameConfig, Frames};
use rhizo::*;
use rhizo_testkit::drivers::{self, TestDriver};
use rhizo_testkit::skips;
use work::Work;

/// Frames before counting: every list has grown to its size by then.
const WARM_UPS: u32 = 10;
/// Frames counted.
const FRAMES: u32 = 100;
/// Most allocations of a frame through the graph, in the order of [`graph::count`]: lower them when they fall. None is
/// the aim; a kept plan leaves the work's list and one box for each pass.
const GRAPH_FRAME_ALLOCATIONS: [u64; 2] = [38, 3];

pub(crate) const TIMEOUT_NS: u64 = 20_000_000_000;

const TEST: &str = "allocations::a_steady_frame_allocates_nothing";

/// Allocations of `FRAMES` frames after `WARM_UPS`.
fn steady(mut frame: impl FnMut()) -> u64 {
    for _ in 0..WARM_UPS {
        frame();
    }
    counter::count(|| {
        for _ in 0..FRAMES {
            frame();
        }
    })
}

/// Record, submit, completion, drop.
fn through_the_rhi(device: &Device) -> u64 {
    let work = Work::new(device).unwrap();
    let table = work.own_table(device).unwrap();
    let queue = device.queue(QueueKind::Graphics, 0).unwrap();
    let mut pool = queue.create_pool();
    steady(|| {
        let mut recorder = pool.begin("frame").unwrap();
        work.record(&mut recorder, &table, 0);
        let commands = recorder.finish().unwrap();
        let submitted = queue.submit_commands(&[&commands]).unwrap();
        assert!(queue.wait(submitted, TIMEOUT_NS).unwrap());
        drop(commands);
        device.collect();
    })
}

/// As [`through_the_rhi`], with two command buffers always in flight behind the recorded one.
fn pipelined(device: &Device) -> u64 {
    let work = Work::new(device).unwrap();
    let table = work.own_table(device).unwrap();
    let queue = device.queue(QueueKind::Graphics, 0).unwrap();
    let mut pool = queue.create_pool();
    let mut flying: [Option<(CommandBuffer, SubmissionIndex)>; 2] = [None, None];
    let mut next = 0;
    steady(|| {
        if let Some((commands, submitted)) = flying[next].take() {
            assert!(queue.wait(submitted, TIMEOUT_NS).unwrap());
            drop(commands);
        }
        let mut recorder = pool.begin("frame").unwrap();
        work.record(&mut recorder, &table, 0);
        let commands = recorder.finish().unwrap();
        let submitted = queue.submit_commands(&[&commands]).unwrap();
        flying[next] = Some((commands, submitted));
        next = 1 - next;
    })
}

/// Frames in flight, constants, an upload.
fn through_frames(device: &Device) -> u64 {
    let work = Work::new(device).unwrap();
    let queue = device.queue(QueueKind::Graphics, 0).unwrap();
    let mut frames = Frames::new(device, &queue, &FrameConfig::default()).unwrap();
    let mut tables: [Option<BindingTable>; 3] = [None, None, None];
    let mut later = 0;
    let count = steady(|| {
        // A frame that is dropped unsubmitted is as if it had not been begun.
        later += u32::from(matches!(frames.begin().unwrap(), Begin::Later));
        let mut frame = frames.wait_begin(TIMEOUT_NS).unwrap();
        let slot = frame.slot();
        if tables[slot].is_none() {
            tables[slot] = Some(work.frame_table(device, frame.constant_buffer()).unwrap());
        }
        let table = tables[slot].as_ref().unwrap();
        let first = frame.constants(bytemuck::bytes_of(&[1.0_f32; 4])).unwrap();
        let second = frame.constants(bytemuck::bytes_of(&[0.5_f32; 4])).unwrap();
        frame.upload_buffer(&work.vertices, 0, bytemuck::bytes_of(&[0.25_f32; 6])).unwrap();
        let uploads = frame.record_uploads("uploads").unwrap();
        let mut recorder = frame.record("frame").unwrap();
        work.record(&mut recorder, table, first.offset);
        work.record(&mut recorder, table, second.offset);
        let commands = recorder.finish().unwrap();
        frame.submit(&[&uploads, &commands]).unwrap();
    });
    println!("  {later} of {} frames had to wait for their slot", WARM_UPS + FRAMES);
    count
}

fn open(driver: &TestDriver) -> Result<Device, String> {
    let desc = OpenDesc {
        adapter: driver.adapter_name_contains().map(str::to_owned),
        allow_software: true,
        ..OpenDesc::new(Backend::Vulkan)
    };
    rhizo::open(&desc).map_err(|error| error.to_string())
}

/// Points the Vulkan loader at the test drivers, unless the environment already does.
fn point_loader() {
    if std::env::var_os("VK_DRIVER_FILES").is_some() {
        return;
    }
    if let Some(list) = drivers::driver_files(&drivers::installed_drivers()) {
        // SAFETY: the only test of this process has not touched Vulkan yet, and no other thread reads the environment.
        unsafe {
            std::env::set_var("VK_DRIVER_FILES", &list);
            std::env::set_var("VK_ICD_FILENAMES", &list);
        }
    }
}

fn check(driver: &TestDriver, device: &Device) {
    let counts = [
        ("record + submit + completion + drop", through_the_rhi(device)),
        ("the same, two in flight", pipelined(device)),
        ("frames with constants and uploads", through_frames(device)),
    ];
    for (what, count) in counts {
        println!("{driver}: {what}: {count} allocations in {FRAMES} frames");
    }
    let graph = graph::count(device);
    for (what, count) in &graph {
        println!("{driver}: graph, {what}: {:.2} allocations a frame", *count as f64 / f64::from(FRAMES));
    }
    for (what, count) in counts {
        assert_eq!(count, 0, "{driver}: {what}");
    }
    for ((what, count), bound) in graph.into_iter().zip(GRAPH_FRAME_ALLOCATIONS) {
        let bound = bound * u64::from(FRAMES);
        assert!(
            count <= bound,
            "{driver}: graph, {what}: {count} allocations in {FRAMES} frames, the bound is {bound}"
        );
    }
}

#[test]
fn a_steady_frame_allocates_nothing() {
    counter::check();
    point_loader();
    let mut ran = 0;
    for driver in TestDriver::SOFTWARE {
        match open(&driver) {
            Ok(device) => {
                check(&driver, &device);
                ran += 1;
            }
            Err(reason) => skips::report_partial_skip(TEST, &driver.to_string(), &reason),
        }
    }
    if ran == 0 {
        skips::report_skip(TEST, "no test driver is installed; run `cargo xtask setup`");
    }
}
