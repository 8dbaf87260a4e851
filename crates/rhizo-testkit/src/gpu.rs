//! Running a test on every driver, with native validation: any message fails the test that caused it.

use crate::drivers::TestDriver;
use crate::skips::report_partial_skip;
use rhizo::{Backend, Device, DeviceDesc, Instance, InstanceDesc, NativeMessage, NativeValidation, QueueRequest};

/// A device of one driver, opened for one test.
pub struct Gpu {
    /// The device.
    pub device: Device,
    /// Its instance; its messenger is this test's.
    pub instance: Instance,
    /// The driver.
    pub driver: TestDriver,
}

/// The drivers every test runs on.
pub const DRIVERS: [TestDriver; 2] = [TestDriver::Lavapipe, TestDriver::SwiftShader];

/// Runs `body` on each driver with the validation layer and its synchronization validation. A driver that is not
/// installed is reported as a skipped part of the test.
///
/// # Panics
/// When `body` does, or when the validation layer said anything.
pub fn each_driver(test: &str, body: impl Fn(&Gpu)) {
    each_driver_with(test, QueueRequest::ONE, body);
}

/// As [`each_driver`], with these queues.
///
/// # Panics
/// As [`each_driver`].
pub fn each_driver_with(test: &str, queues: QueueRequest, body: impl Fn(&Gpu)) {
    let mut ran = 0;
    for driver in DRIVERS {
        match open(&driver, queues) {
            Ok(gpu) => {
                body(&gpu);
                finish(test, gpu);
                ran += 1;
            }
            Err(reason) => report_partial_skip(test, &driver.to_string(), &reason),
        }
    }
    if ran == 0 {
        crate::skips::report_skip(test, "no test driver is installed; run `cargo xtask setup`");
    }
}

/// Opens a device of a driver with validation required, or says why not.
///
/// # Errors
/// The reason, in words.
pub fn open(driver: &TestDriver, queues: QueueRequest) -> Result<Gpu, String> {
    let desc =
        InstanceDesc { native_validation: NativeValidation::Required, queues, ..InstanceDesc::new(Backend::Vulkan) };
    let instance = rhizo::instance(&desc).map_err(|error| error.to_string())?;
    let wanted = driver.adapter_name_contains().unwrap_or_default();
    let found = instance.adapters().iter().position(|adapter| adapter.name.contains(wanted));
    let adapter = found.ok_or_else(|| {
        let names: Vec<&str> = instance.adapters().iter().map(|a| a.name.as_str()).collect();
        format!("no adapter called {wanted} (VK_DRIVER_FILES, which `cargo xtask test` sets, decides); found {names:?}")
    })?;
    let device =
        instance.open(adapter, &DeviceDesc { label: "test", queues: None }).map_err(|error| error.to_string())?;
    Ok(Gpu { device, instance, driver: driver.clone() })
}

/// Drops the device and fails on anything the validation layer said, destruction included.
///
/// # Panics
/// When there is a message or a late error.
pub fn finish(test: &str, gpu: Gpu) {
    let Gpu { device, instance, driver } = gpu;
    let late = device.take_errors();
    drop(device);
    let messages = instance.take_messages();
    assert!(late.is_empty(), "{test} on {driver}: late errors {late:?}");
    assert!(messages.is_empty(), "{test} on {driver}: native validation says\n{}", list(&messages));
}

fn list(messages: &[NativeMessage]) -> String {
    messages.iter().map(|m| format!("  {}: {}\n", m.id, m.text)).collect()
}
