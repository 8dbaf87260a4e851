//! Scenes: what is drawn, read from files or generated, as plain data.
//!
//! - [`scene`]: the data model a renderer uploads;
//! - [`import`]: glTF 2.0 files to a [`Scene`](scene::Scene);
//! - [`camera`]: views of a scene: its own cameras, or an orbit around what is in it;
//! - [`hdr`]: environments, from Radiance files or an analytic sky;
//! - [`procedural`]: the built-in demo scene;
//! - [`render`]: the renderer, over `rhizo-graph` and `rhizo-frame`.
//!
//! Only [`render`] knows of devices, and it is given one. World space is right-handed, +Y up; matrices are column-major and multiply column
//! vectors; depth is reversed (near 1, far 0).

#![forbid(unsafe_code)]

pub mod camera;
pub mod hdr;
pub mod import;
pub mod procedural;
pub mod render;
pub mod scene;

mod tangent;
