//! What needs a device and has no picture to compare with.

pub(crate) mod assets;
mod capture;
