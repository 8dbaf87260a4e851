//! The null device: records every command as data, executes copies, fills and clears on CPU memory and nothing else.
//!
//! It exists for tests that say so. Its queues are logical clocks that run submissions at once or under a [`Policy`]; a
//! [`NullControl`] advances them, injects failures, and reads what was recorded and executed. It checks what backends
//! rely on: an object is destroyed once, after every recorded or pending use and after every object that names it. Each
//! breach is kept in [`NullControl::violations`], so that a test which ends without one has shown the reclamation by
//! epoch to be right for its run.
//!
//! Shaders, blits, resolves and draws are recorded and not executed; occlusion results are 0; timestamps are ticks of
//! the logical clock. It qualifies no capability.

mod command;
mod control;
mod device;
mod encode;
mod execute;
mod queue;
mod recorder;
mod state;

pub use command::{Label, NullCommand};
pub use control::{NullControl, Step};

use crate::error::ErrorKind;
use crate::instance::{Instance, QueueRequest};
use crate::limits::DeviceLimits;
use crate::shader::ShaderTarget;
use crate::vocab::QueueKind;

/// Nanoseconds of the logical clock that one submission takes.
pub const STEP_NS: u64 = 1_000;

/// A family of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NullFamily {
    /// What its queues can do.
    pub kind: QueueKind,
    /// How many there are.
    pub count: u32,
    /// Bits of a timestamp that count; 0 when its queues have none.
    pub timestamp_bits: u32,
}

/// When submitted work runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Policy {
    /// At submission, as soon as what it waits for has happened.
    #[default]
    Immediate,
    /// Only by [`NullControl::step`], and when something waits without a time limit. Limited waits time out at once.
    Manual,
    /// One submission, the oldest that can run, with each poll or submission.
    Fifo,
    /// As `Fifo`, a random queue that can run, from this seed.
    Random(u64),
    /// As `Fifo`, the queue of this position last.
    Starve(u32),
}

/// What the null instance offers.
#[derive(Clone, Debug)]
pub struct NullConfig {
    /// Families, in order of their number.
    pub families: Vec<NullFamily>,
    /// When work runs.
    pub policy: Policy,
    /// Keeps the text of what was executed, see [`NullControl::log`]. Without it a steady frame allocates nothing.
    pub log: bool,
    /// Bytes of all buffers and textures; beyond it creation is out of memory.
    pub memory_bytes: u64,
    /// The language functions are made from; the code itself is never looked at.
    pub shader_target: ShaderTarget,
    /// Limits.
    pub limits: DeviceLimits,
    /// Queues that devices open with unless they say otherwise.
    pub queues: QueueRequest,
    /// Number of equal adapters.
    pub adapters: u32,
}

impl Default for NullConfig {
    fn default() -> Self {
        let family = |kind, count, timestamp_bits| NullFamily { kind, count, timestamp_bits };
        Self {
            families: vec![
                family(QueueKind::Graphics, 2, 64),
                family(QueueKind::Compute, 2, 64),
                family(QueueKind::Transfer, 1, 0),
            ],
            policy: Policy::Immediate,
            log: true,
            memory_bytes: 1 << 30,
            shader_target: ShaderTarget::Spirv { version: (1, 5) },
            limits: LIMITS,
            queues: QueueRequest::EACH,
            adapters: 1,
        }
    }
}

/// The limits of the null device: those of a common discrete adapter, with alignments that catch mistakes.
pub const LIMITS: DeviceLimits = DeviceLimits {
    uniform_alignment_bytes: 256,
    storage_alignment_bytes: 64,
    texture_copy_alignment_bytes: 16,
    row_alignment_bytes: 4,
    max_samples: 8,
    max_bound_textures: 128,
    min_subgroup_size: 32,
    max_subgroup_size: 32,
    max_compute_threads: 1024,
    max_compute_group: [1024, 1024, 64],
    max_dispatch: [65_535; 3],
    max_group_shared_bytes: 32 << 10,
    max_vertex_bindings: 16,
    max_color_attachments: 8,
    max_texture_2d: 16_384,
    max_texture_cube: 16_384,
    max_texture_3d: 2_048,
    max_texture_layers: 2_048,
    max_push_constant_bytes: 128,
    max_tables: 4,
    max_viewports: 16,
    max_constant_range_bytes: 64 << 10,
    max_storage_range_bytes: 128 << 20,
    max_buffer_bytes: 256 << 20,
    max_anisotropy: 16,
};

/// Calls of the backend that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the call of its name")]
pub enum Op {
    Open,
    CreateBuffer,
    CreateTexture,
    CreateView,
    CreateSampler,
    CreateTableLayout,
    CreatePipelineLayout,
    CreateTable,
    CreateFunction,
    CreateRasterPipeline,
    CreateComputePipeline,
    CreatePipelineCache,
    CreateQuerySet,
    CreateSemaphore,
    CreateRecorder,
    WriteBuffer,
    ReadBuffer,
    QueryResults,
    SignalSemaphore,
    BeginRecording,
    FinishRecording,
    Submit,
    Wait,
    WaitIdle,
}

/// A failure to come: the `countdown`-th call of `op` from now fails with `kind`.
#[derive(Clone, Copy, Debug)]
struct Fault {
    op: Op,
    countdown: u32,
    kind: ErrorKind,
}

/// A null instance.
#[must_use]
pub fn instance(config: NullConfig) -> Instance {
    instance_with_control(config).0
}

/// A null instance and the handle that drives and inspects it.
#[must_use]
pub fn instance_with_control(config: NullConfig) -> (Instance, NullControl) {
    let queues = config.queues;
    let (backend, control) = device::NullInstance::new(config);
    (Instance::from_backend(Box::new(backend), queues), control)
}
