//! The OpenGL ES 3 backend of Rhizo: it translates, and decides nothing.
//!
//! Baseline: OpenGL ES 3.0, the level of WebGL 2, in a robust context without a surface. EGL is opened at run time: where
//! it is missing, [`instance()`] says what to install.
//!
//! # How it is built
//! A GL context is current on one thread, so each device owns a thread (`device`). Creation sends it a closure and waits
//! for the answer. Commands are recorded as a list on any thread (`encoder`) and replayed there at submit (`replay`);
//! a `glFenceSync` behind each submission tells when it has completed (`queue`).
//!
//! # What it does not do
//! What ES 3.0 lacks is refused with its reason before any GL call: compute, storage buffers and textures, indirect draws,
//! timestamps, timeline semaphores. This first slice also refuses what GL could do and it does not translate yet: arrays,
//! cubes and 3D textures, multisampling, texture-to-texture copies, compressed formats, occlusion queries. One draw sees
//! each texture through one view, because GL keeps levels and components in the texture: in one table that is refused
//! when the table is made, across tables it is a late error of the submission (`Device::take_errors`).
//!
//! # Conventions
//! `rhizo-shader` writes vertex shaders that flip y and stretch z, so row 0 of a texture is the top row everywhere and
//! viewports, scissors and copies need no flip; the front face is inverted instead. Barriers are dropped: GL orders
//! everything these commands can do.

mod adapter;
mod binding;
mod buffer;
mod convert;
mod device;
mod encoder;
mod instance;
mod pipeline;
mod queue;
mod quirks;
mod replay;
mod texture;

use rhizo_rhi::{Instance, InstanceDesc, Result};

/// Whether the backend can run here: EGL, and a robust OpenGL ES 3.0 context without a surface.
///
/// # Errors
/// The reason, with what to install.
pub fn support() -> Result<(), String> {
    let desc = InstanceDesc::new(rhizo_rhi::Backend::Gles);
    instance(&desc).map(|_| ()).map_err(|error| error.detail().to_owned())
}

/// Opens an instance. `desc.backend` is not looked at: this is OpenGL ES.
///
/// *Maps to* `eglGetPlatformDisplay`, `eglInitialize` and a context that is asked what it can do.
///
/// # Errors
/// `Unavailable` when EGL, a display, or a robust OpenGL ES 3.0 context is missing, saying what to install.
pub fn instance(desc: &InstanceDesc<'_>) -> Result<Instance> {
    Ok(Instance::from_backend(Box::new(instance::GlesInstance::new(desc)?), desc.queues))
}
