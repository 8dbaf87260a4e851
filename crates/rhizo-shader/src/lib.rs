//! Shaders in, each backend's language out: WGSL, Vulkan GLSL and SPIR-V are parsed and validated by naga, then written
//! as SPIR-V, WGSL or GLSL ES together with a reflected [`ShaderInterface`](rhizo_rhi::ShaderInterface).
//!
//! ```
//! use rhizo_rhi::ShaderTarget;
//! use rhizo_shader::{Module, Source};
//!
//! let source = Source::wgsl("fill", "@compute @workgroup_size(64) fn main() {}");
//! let module = Module::parse(&source)?;
//! let artifact = module.compile("main", ShaderTarget::Spirv { version: (1, 6) })?;
//! assert_eq!(artifact.interface().group_size, [64, 1, 1]);
//! # Ok::<(), rhizo_shader::ShaderError>(())
//! ```
//!
//! # What this crate does not do
//! It opens no device and asks none: what a device must be able to do is stated in [`ShaderFeatures`]. It optimises
//! nothing, caches nothing, and includes no files.
//!
//! # Conventions of the code it writes
//! Clip space is the same for every input language: x right, y up, z from 0 to 1. SPIR-V leaves positions alone (the
//! Vulkan backend uses a negative viewport height). GLSL ES flips y and stretches z to -1..1 in the vertex shader, so
//! the backend inverts the front face. WGSL needs neither.
//!
//! # Safety of the code it writes
//! Array, vector, matrix and binding-array indices are clamped (naga's `Restrict`), texel loads outside an image read
//! zero (`ReadZeroSkipWrite`), group-shared memory starts as zero, integer division by zero is defined and endless loops
//! are bounded. GLSL ES keeps naga's unchecked texel loads and indices, because robust access is part of the contract
//! with the context there (WebGL always, GLES through robust contexts).
//!
//! # Hostile input
//! Sizes and nesting are checked before naga sees anything ([`limits`]); naga then runs on a thread of its own with a
//! stack large enough for those limits, and a panic inside it becomes [`ShaderErrorKind::CompilerBug`].
//!
//! # Threads
//! All types are `Send + Sync`; [`Module::compile`] may run on several threads at once.

mod convert;
mod emit;
mod error;
mod excerpt;
mod features;
mod guard;
mod module;
mod reflect;
mod scan;
mod source;
mod spirv;

pub use convert::is_shader_storage_format;
pub use error::{ShaderError, ShaderErrorKind, SourceLocation};
pub use features::{CapabilityNeed, ShaderFeatures, spirv_capability_need};
pub use guard::limits;
pub use module::{Entry, EntryInfo, Module, compile};
pub use source::{Code, Source};
pub use spirv::{SpirvBinding, SpirvClass, SpirvEntry, SpirvModule, from_spirv_unchecked};
