//! Every conversion between the contract's vocabulary and Vulkan's. Matches are exhaustive, without a wildcard, so that a
//! new word breaks the build here.

mod format;
mod state;
mod sync;

pub(crate) use format::*;
pub(crate) use state::*;
pub(crate) use sync::*;

use ash::vk;
use rhizo_rhi::{Error, ErrorKind};

/// A version number for people.
pub(crate) fn version(version: u32) -> String {
    let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
    format!("{major}.{minor}.{}", vk::api_version_patch(version))
}

/// The contract's error for a failed call.
#[cold]
#[track_caller]
pub(crate) fn error(result: vk::Result, call: &str) -> Error {
    use vk::Result as R;
    let kind = match result {
        R::ERROR_OUT_OF_HOST_MEMORY
        | R::ERROR_OUT_OF_DEVICE_MEMORY
        | R::ERROR_OUT_OF_POOL_MEMORY
        | R::ERROR_FRAGMENTED_POOL
        | R::ERROR_TOO_MANY_OBJECTS
        | R::ERROR_MEMORY_MAP_FAILED => ErrorKind::OutOfMemory,
        R::ERROR_DEVICE_LOST => ErrorKind::DeviceLost,
        R::ERROR_INCOMPATIBLE_DRIVER => ErrorKind::Unavailable,
        R::ERROR_EXTENSION_NOT_PRESENT
        | R::ERROR_FEATURE_NOT_PRESENT
        | R::ERROR_LAYER_NOT_PRESENT
        | R::ERROR_FORMAT_NOT_SUPPORTED => ErrorKind::Unsupported,
        // VkResult is an open set of numbers: whatever else a driver returns is its own failure.
        _ => ErrorKind::Native,
    };
    Error::new(kind, format!("{call} failed: {result:?}"))
}
