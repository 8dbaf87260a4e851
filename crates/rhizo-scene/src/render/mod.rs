//! Scenes to pictures: upload, image-based light, shadow, main, transparent and post passes.
//!
//! ```no_run
//! use rhizo_scene::render::{Preset, SceneRenderer};
//! use rhizo_scene::{camera::CameraChoice, hdr::Sky, procedural};
//!
//! # fn picture(device: &rhizo_rhi::Device) -> Result<(), rhizo_scene::render::RenderError> {
//! let mut renderer = SceneRenderer::new(device)?;
//! let demo = procedural::demo();
//! let scene = renderer.upload(&demo, 1)?;
//! let sky = renderer.environment(&Sky::default().equirect(1024, 512))?;
//! let view = demo.view(&CameraChoice::Auto)?;
//! let picture = renderer.render(&scene, &sky, &view, &Preset::Default.options())?;
//! assert_eq!(picture.rgba8.len(), 512 * 512 * 4);
//! # Ok(())
//! # }
//! ```
//!
//! # Spaces
//! 1: frame and pass; 2: material; 3: the draw, whose transform travels in push constants.

mod environment;
mod error;
mod frame;
mod frame_graph;
mod gpu_scene;
mod material;
mod options;
mod passes;
mod picture;
mod pipelines;
mod renderer;
mod shaders;
mod stats;
mod tables;
mod timing;
mod upload;

pub use environment::Environment;
pub use error::RenderError;
pub use gpu_scene::GpuScene;
pub use options::{
    Background, Lights, Preset, REFERENCE_AMBIENT, REFERENCE_BACKGROUND, REFERENCE_LIGHT, REFERENCE_SPLIT_SUM_MARGIN,
    RenderOptions, ToneMapping,
};
pub use picture::PictureOptions;
pub use renderer::{Picture, SceneRenderer};
pub use stats::RenderStats;

use renderer::wait;
