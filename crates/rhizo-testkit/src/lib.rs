//! What Rhizo's tests share: finding drivers and assets, loud skips, picture comparison.
//!
//! With `default-features = false` it holds only what `cargo xtask` needs, over `std` and `serde_json`.
#![forbid(unsafe_code)]

pub mod drivers;
#[cfg(feature = "flip")]
pub mod flip;
pub mod flip_report;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod paths;
pub mod skips;
