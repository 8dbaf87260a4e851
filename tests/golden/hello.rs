//! `examples/hello` on every backend: all pictures equal the golden one and each other.

use super::{golden_file, opaque};
use image::RgbImage;
use rhizo::{Backend, Device, DeviceDesc, Instance, InstanceDesc, NativeValidation};
use rhizo_testkit::flip::Report;
use rhizo_testkit::gpu::each_driver;
use rhizo_testkit::skips::report_partial_skip;
use std::cell::RefCell;

#[path = "../../examples/hello.rs"]
#[allow(dead_code, reason = "only the program uses its `main`")]
pub(crate) mod example;

/// Edge of the picture in texels.
const SIZE: u32 = 256;
/// SwiftShader rounds interpolated colours differently from Mesa: 0.006 was measured. Pictures of one driver through
/// different backends are equal.
const LIMIT: f64 = 0.01;

const TEST: &str = "golden::hello::all_backends_draw_the_same_picture";

fn draw(device: &Device) -> RgbImage {
    let pixels = example::draw(device).unwrap_or_else(|e| panic!("on {}: {e:#}", device.adapter().name));
    opaque(SIZE, SIZE, pixels)
}

/// The picture of each adapter of a backend that is not Vulkan, by a name fit for the report.
fn others(backend: Backend) -> Vec<(String, RgbImage)> {
    let validation = if backend == Backend::Gles { NativeValidation::Required } else { NativeValidation::IfPresent };
    let desc = InstanceDesc { native_validation: validation, ..InstanceDesc::new(backend) };
    let instance = match rhizo::support(backend).and_then(|()| rhizo::instance(&desc).map_err(|e| e.to_string())) {
        Ok(instance) => instance,
        Err(reason) => {
            report_partial_skip(TEST, backend.name(), &reason);
            return Vec::new();
        }
    };
    let adapters = instance.adapters().len();
    assert!(adapters > 0, "{} runs here without an adapter", backend.name());
    (0..adapters).map(|adapter| (report_name(&instance, adapter), checked(&instance, adapter))).collect()
}

fn report_name(instance: &Instance, adapter: usize) -> String {
    let name = &instance.adapters()[adapter].name;
    let driver = if name.contains("SwiftShader") { "swiftshader" } else { "llvmpipe" };
    format!("hello.{}-{driver}-{adapter}", instance.backend().name())
}

/// Draws, and fails on anything the native layer or the backend said.
fn checked(instance: &Instance, adapter: usize) -> RgbImage {
    let name = report_name(instance, adapter);
    let device = instance.open(adapter, &DeviceDesc { label: "test", queues: None }).unwrap();
    let picture = draw(&device);
    let late = device.take_errors();
    drop(device);
    let messages = instance.take_messages();
    assert!(late.is_empty() && messages.is_empty(), "{name}: late errors {late:?}, native messages {messages:?}");
    picture
}

#[test]
fn all_backends_draw_the_same_picture() {
    let pictures = RefCell::new(Vec::new());
    each_driver(TEST, |gpu| {
        pictures.borrow_mut().push((format!("hello.vulkan-{}", gpu.driver).to_lowercase(), draw(&gpu.device)));
    });
    let mut pictures = pictures.into_inner();
    pictures.extend(others(Backend::WebGpu));
    pictures.extend(others(Backend::Gles));
    let Some((first, picture)) = pictures.first() else { return }; // reported as skipped
    let report = Report::of_workspace();
    let golden = golden_file("hello.png");
    report.check_golden(first, &golden, picture, LIMIT).unwrap();
    let golden = rhizo_testkit::flip::load_rgb8(&golden).unwrap();
    // The limit is worth something: a picture upside down, or with its colours swapped, is far above it.
    let upside_down = image::imageops::flip_vertical(&golden);
    let mut swapped = golden.clone();
    swapped.pixels_mut().for_each(|texel| texel.0.reverse());
    for fault in [upside_down, swapped] {
        assert!(f64::from(rhizo_testkit::flip::compare(&golden, &fault).unwrap().mean) > 5.0 * LIMIT);
    }
    let mut wrong = Vec::new();
    for (name, picture) in &pictures {
        let result = report.record(name, &golden, picture, LIMIT).unwrap();
        println!("{name}: mean FLIP {:.5}, max {:.3}", result.mean, result.max);
        if !result.passes() {
            wrong.push(name.clone());
        }
    }
    for (i, (a, reference)) in pictures.iter().enumerate() {
        for (b, picture) in &pictures[i + 1..] {
            let between = rhizo_testkit::flip::compare(reference, picture).unwrap();
            println!("{a} : {b}: mean FLIP {:.5}, max {:.3}", between.mean, between.max);
            if f64::from(between.mean) > LIMIT {
                wrong.push(format!("{a} against {b}"));
            }
        }
    }
    assert!(wrong.is_empty(), "above {LIMIT}: {wrong:?}; see out/flip/index.html");
}
