//! What can go wrong while rendering.

use crate::camera::CameraError;

/// A picture that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The graphics API or a broken rule of the contract.
    #[error("{0}")]
    Gpu(#[from] rhizo_rhi::Error),
    /// One of the renderer's own shaders does not compile.
    #[error("{0}")]
    Shader(#[from] rhizo_shader::ShaderError),
    /// The frame layer.
    #[error("{0}")]
    Frame(#[from] rhizo_frame::FrameError),
    /// The frame's graph does not compile.
    #[error("{0}")]
    Graph(#[from] rhizo_graph::CompileError),
    /// The frame's plan could not be carried out.
    #[error("{0}")]
    Run(#[from] rhizo_graph::run::RunError),
    /// The camera does not exist.
    #[error("{0}")]
    Camera(#[from] CameraError),
    /// An option is out of its range.
    #[error("{option} {value}: {reason}")]
    Option {
        /// Which.
        option: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        reason: String,
    },
    /// The device cannot hold or do what the scene needs.
    #[error("{what} needs {needed}, the device has {limit}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// What the scene needs.
        needed: u64,
        /// What there is.
        limit: u64,
    },
    /// The GPU did not finish in time.
    #[error("the GPU did not finish within {seconds} seconds")]
    TimedOut {
        /// How long was waited.
        seconds: u64,
    },
}
