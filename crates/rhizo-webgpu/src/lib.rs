//! The WebGPU backend of Rhizo, over `wgpu`: it translates, and decides nothing. First slice, native only.
//!
//! # How it is built
//! Every object of the contract is one boxed `wgpu` object whose address is `Native::word`. Commands go straight into a
//! `wgpu::CommandEncoder`; passes are freed of their borrow of it, because the contract's own passes already order them.
//! Calls that WebGPU validates late run inside error scopes, so that their failure is the result of the call; what still
//! arrives later is given by `Device::take_errors`.
//!
//! # Dropped
//! Barriers, and waits and signals of binary semaphores: WebGPU has one queue and orders its work itself.
//!
//! # Lowered (same meaning, bounded GPU work)
//! - Buffer-texture copies with a row pitch that is no multiple of 256 bytes: one copy per row through a staging buffer.
//! - Copies inside one buffer: through a staging buffer.
//! - `fill_buffer` with another word than 0: copies from a small filled buffer.
//! - `clear_color` and `resolve` of whole sub-resources: empty raster passes.
//! - Host writes that are not in words of four bytes: the rest of the word comes from a copy the backend keeps.
//!
//! # Refused, with the reason, before any native call
//! Blits, queries, timeline semaphores, pipeline caches, arrays of bindings, layered and 3D targets, multiview, swizzles,
//! several viewports, primitive restart and indexed strips, render areas smaller than the target with a clear, captures.

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
mod queue;
mod texture;

use rhizo_rhi::{Backend, Instance, InstanceDesc, Result};

/// Whether the backend can run here: at least one adapter that keeps WebGPU's rules.
///
/// # Errors
/// The reason, with what was found.
pub fn support() -> Result<(), String> {
    let desc = InstanceDesc::new(Backend::WebGpu);
    let instance = instance(&desc).map_err(|error| error.detail().to_owned())?;
    let adapters = instance.adapters();
    if adapters.iter().any(|adapter| adapter.unusable.is_none()) {
        return Ok(());
    }
    if adapters.is_empty() {
        return Err(format!("no adapter was found through {:?}; install a graphics driver", instance::BACKENDS));
    }
    let reasons = adapters.iter().map(|a| format!("{}: {}", a.name, a.unusable.as_deref().unwrap_or("usable")));
    Err(reasons.collect::<Vec<_>>().join("; "))
}

/// Opens an instance. `desc.backend` is not looked at: this is WebGPU.
///
/// *Maps to* `navigator.gpu`.
///
/// # Errors
/// `Unsupported` for required native validation: `wgpu` gives the layer's messages to the process's log, where they
/// can't be told apart by instance.
pub fn instance(desc: &InstanceDesc<'_>) -> Result<Instance> {
    Ok(Instance::from_backend(Box::new(instance::WebGpuInstance::new(desc)?), desc.queues))
}
