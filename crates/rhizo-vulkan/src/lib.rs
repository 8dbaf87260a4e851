//! The Vulkan 1.3 backend of Rhizo: it translates, and decides nothing.
//!
//! Baseline: Vulkan 1.3 with dynamic rendering, synchronization2 and timeline semaphores; everything else by
//! capability. The loader is opened at run time: where it is missing, [`instance`] says what to install.
//!
//! # How it is built
//! Every object of the contract is one Vulkan handle (`Native::word`) and, where destruction needs more than the handle,
//! a pointer to a boxed record (`Native::aux`). `device` owns what lives as long as the `VkDevice`; queues and recorders
//! hold it too, so the order in which a program drops them does not matter.
//!
//! # What it does not do
//! No tracking, no barrier of its own (except the one to the host that the contract names), no allocation, lock or log
//! while recording, no call into a driver's optional feature that was not enabled.
//!
//! # Conventions
//! Viewports get a negative height, so clip space has y up; front faces are taken as the contract states them.

mod adapter;
mod binding;
mod buffer;
mod caps;
mod convert;
mod device;
mod encoder;
mod instance;
mod memory;
mod pipeline;
mod query;
mod queue;
mod quirks;
mod texture;

use rhizo_rhi::{Instance, InstanceDesc, Result};

/// Whether the backend can run here: a Vulkan loader of at least version 1.3 and one adapter.
///
/// # Errors
/// The reason, with what to install.
pub fn support() -> Result<(), String> {
    let desc = InstanceDesc::new(rhizo_rhi::Backend::Vulkan);
    let instance = instance(&desc).map_err(|error| error.detail().to_owned())?;
    let adapters = instance.adapters();
    if adapters.iter().any(|adapter| adapter.unusable.is_none()) {
        return Ok(());
    }
    if adapters.is_empty() {
        return Err(format!("the Vulkan loader found no driver; {}", instance::INSTALL_DRIVER));
    }
    let reasons = adapters.iter().map(|a| format!("{}: {}", a.name, a.unusable.as_deref().unwrap_or("usable")));
    Err(reasons.collect::<Vec<_>>().join("; "))
}

/// Opens an instance. `desc.backend` is not looked at: this is Vulkan.
///
/// *Maps to* `vkCreateInstance`.
///
/// # Errors
/// `Unavailable` when the loader, a Vulkan 1.3 instance or (if required) the validation layer is missing, saying what to
/// install; native failures.
pub fn instance(desc: &InstanceDesc<'_>) -> Result<Instance> {
    Ok(Instance::from_backend(Box::new(instance::VulkanInstance::new(desc)?), desc.queues))
}
