//! Shaders accepted, refused and hostile.

mod common;
mod compile;
mod hostile;
mod refused;
