//! Scenes to pictures.
mod error;
mod shaders;
pub use error::RenderError;
