//! The Rhizo GPU contract: mechanisms, not policy.
//!
//! Every operation maps one-to-one onto the modern native APIs; nothing is tracked or inferred behind the caller's back.
//! What the hardware needs to know (stages, accesses, layouts, queues) is stated. The front types here are written once
//! above the object-safe traits of [`backend`], which each API's crate implements.
//!
//! # What it does not do
//! No automatic barriers (that is the render graph's job), no hidden state cache, no emulation of missing features: what
//! a device cannot do is refused with its reason before any native call.
//!
//! # Conventions
//! Clip space: x right, y up, z 0..1. Textures and framebuffers: origin top-left. Units stand last in names.
//!
//! # Threads
//! Instances, devices, queues, resources, pipelines, tables and command buffers are `Send + Sync`; pools and recorders are
//! `Send`; passes are neither.
//!
//! # Errors
//! Recording calls return nothing: the first failed check is returned by [`Recorder::finish`] with the place of the
//! call. Each broken rule has an identifier, see [`clause`].

pub mod backend;
mod barrier;
mod binding;
mod buffer;
mod cache;
mod caps;
pub mod clause;
mod device;
mod encoder;
mod error;
mod format;
mod handle;
mod instance;
mod limits;
pub mod null;
mod pass;
mod pipeline;
mod query;
mod queue;
mod shader;
mod texture;
mod transfer;
mod vocab;

pub use backend::{HandOver, MemoryReport, NativeMessage};
pub use barrier::*;
pub use binding::*;
pub use buffer::*;
pub use cache::*;
pub use caps::*;
pub use device::*;
pub use encoder::{CommandBuffer, CommandPool, Recorder};
pub use error::*;
pub use format::*;
pub use handle::{ObjectId, Reclamation};
pub use instance::*;
pub use limits::*;
pub use pass::*;
pub use pipeline::*;
pub use query::*;
pub use queue::*;
pub use shader::*;
pub use texture::*;
pub use transfer::*;
pub use vocab::*;
