//! The WebGPU backend on both software drivers, which `wgpu` reaches through Vulkan.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod hello;
mod refused;
mod transfer;

use rhizo_rhi::{Backend, Buffer, CommandBuffer, Device, DeviceDesc, InstanceDesc, Queue, QueueKind};
use rhizo_shader::{Module, Source};
use rhizo_testkit::drivers::TestDriver;

/// Ten seconds.
const TIMEOUT_NS: u64 = 10_000_000_000;

/// Runs a test on every software driver, naming the driver in what it prints.
fn on_each_driver(test: impl Fn(&Device, &Queue)) {
    for driver in TestDriver::SOFTWARE {
        println!("on {driver}");
        let instance = rhizo_webgpu::instance(&InstanceDesc::new(Backend::WebGpu)).unwrap();
        let name = driver.adapter_name_contains().unwrap();
        let adapter = instance.adapters().iter().position(|info| info.name.contains(name)).unwrap_or_else(|| {
            let found: Vec<_> = instance.adapters().iter().map(|info| &info.name).collect();
            panic!(
                "no adapter of {driver} among {found:?}: name its manifest in VK_DRIVER_FILES, or run cargo xtask test"
            )
        });
        let device = instance.open(adapter, &DeviceDesc { label: "test", queues: None }).unwrap();
        let queue = device.queue(QueueKind::Graphics, 0).unwrap();
        test(&device, &queue);
        let errors = device.take_errors();
        assert!(errors.is_empty(), "late errors on {driver}: {errors:?}");
    }
}

fn submit_and_wait(queue: &Queue, commands: &CommandBuffer) {
    let submission = queue.submit_commands(&[commands]).unwrap();
    assert!(queue.wait(submission, TIMEOUT_NS).unwrap(), "not done in ten seconds");
    assert!(queue.is_complete(submission));
}

fn read(buffer: &Buffer) -> Vec<u8> {
    let mut bytes = vec![0; buffer.size_bytes() as usize];
    buffer.read_into(0, &mut bytes).unwrap();
    bytes
}

fn module(label: &str, source: &str) -> Module {
    Module::parse(&Source::wgsl(label, source)).unwrap()
}
