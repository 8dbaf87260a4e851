//! The object-safe traits a backend implements; it only translates.
//!
//! Users never see these: the front types are written once above them and hand over arguments they have already
//! checked. The traits are public so that backends can live in their own crates, and outside semantic versioning.
//!
//! # What a backend may rely on
//! Every `…Ref` names a live object that this very backend made; ranges are resolved and inside their resources; usages,
//! states and limits of the contract's clauses hold. The objects implementing these traits are owned by the front types
//! and never handed out, so no other caller exists.

mod command;

pub use command::*;

use crate::binding::{PushRange, SamplerDesc, TableLayoutDesc};
use crate::buffer::BufferDesc;
use crate::caps::{AdapterInfo, Capabilities, FormatSupport};
use crate::device::DeviceDesc;
use crate::error::{Error, Result};
use crate::handle::ObjectId;
use crate::limits::DeviceLimits;
use crate::pipeline::{AttachmentFormats, RenderState, VertexBufferLayout};
use crate::query::{Calibration, QueryKind};
use crate::queue::QueueInfo;
use crate::shader::{BindingKind, ShaderArtifact, ShaderTarget};
use crate::texture::{TextureDesc, ViewKind};
use crate::vocab::{Stages, TextureRange};

/// A native object, in two words whose meaning is the backend's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Native {
    /// What commands name.
    pub word: u64,
    /// What only creation and destruction need.
    pub aux: u64,
}

/// The kinds of native objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// Buffer.
    Buffer,
    /// Texture.
    Texture,
    /// Texture view.
    TextureView,
    /// Sampler.
    Sampler,
    /// Table layout.
    TableLayout,
    /// Pipeline layout.
    PipelineLayout,
    /// Binding table.
    Table,
    /// Shader function.
    Function,
    /// Raster pipeline.
    RasterPipeline,
    /// Compute pipeline.
    ComputePipeline,
    /// Pipeline cache.
    PipelineCache,
    /// Query set.
    QuerySet,
    /// Semaphore.
    Semaphore,
    /// Fence.
    Fence,
}

impl ObjectKind {
    /// The name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buffer => "buffer",
            Self::Texture => "texture",
            Self::TextureView => "texture view",
            Self::Sampler => "sampler",
            Self::TableLayout => "table layout",
            Self::PipelineLayout => "pipeline layout",
            Self::Table => "binding table",
            Self::Function => "function",
            Self::RasterPipeline => "raster pipeline",
            Self::ComputePipeline => "compute pipeline",
            Self::PipelineCache => "pipeline cache",
            Self::QuerySet => "query set",
            Self::Semaphore => "semaphore",
            Self::Fence => "fence",
        }
    }
}

/// Names a live object of the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    /// [`Native::word`].
    pub word: u64,
    /// [`Native::aux`].
    pub aux: u64,
    /// Identity, never reused.
    pub id: ObjectId,
}

/// Names a live buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferRef {
    /// [`Native::word`].
    pub word: u64,
    /// [`Native::aux`].
    pub aux: u64,
    /// Identity, never reused.
    pub id: ObjectId,
    /// Size in bytes.
    pub size: u64,
}

/// Names a live texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureRef {
    /// [`Native::word`].
    pub word: u64,
    /// [`Native::aux`].
    pub aux: u64,
    /// Identity, never reused.
    pub id: ObjectId,
    /// Format.
    pub format: crate::format::Format,
}

/// An instance of one API.
pub trait InstanceBackend: Send + Sync {
    /// Which API this is.
    fn backend(&self) -> crate::instance::Backend;

    /// The adapters, enumerated when the instance was made, in a stable order.
    ///
    /// *Maps to* — Vulkan: `vkEnumeratePhysicalDevices`; D3D12: `IDXGIFactory6::EnumAdapterByGpuPreference`; Metal:
    /// `MTLCopyAllDevices`; WebGPU: `requestAdapter`; GL: the EGL display.
    fn adapters(&self) -> Vec<AdapterInfo>;

    /// The full capability report of an adapter.
    fn capabilities(&self, adapter: usize) -> Result<Capabilities>;

    /// Opens a device with the queues asked for, or as many as there are.
    ///
    /// *Maps to* — Vulkan: `vkCreateDevice`; D3D12: `D3D12CreateDevice`; Metal: the device itself; WebGPU:
    /// `requestDevice`; GL: a surfaceless context.
    fn open(&self, adapter: usize, desc: &DeviceDesc<'_>) -> Result<OpenedDevice>;

    /// Messages of the native validation layers since the last call, errors of the program that caused them.
    fn take_messages(&self) -> Vec<NativeMessage>;
}

/// One message of a native validation layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeMessage {
    /// Whether the layer calls it an error (else a warning).
    pub error: bool,
    /// The layer's name for the rule, e.g. `VUID-…` or `SYNC-HAZARD-…`.
    pub id: String,
    /// The text.
    pub text: String,
}

/// What [`InstanceBackend::open`] gives.
pub struct OpenedDevice {
    /// The device.
    pub device: Box<dyn DeviceBackend>,
    /// Its queues, grouped by kind.
    pub queues: Vec<(QueueInfo, Box<dyn QueueBackend>)>,
    /// Limits.
    pub limits: DeviceLimits,
    /// Capabilities.
    pub capabilities: Capabilities,
}

/// A device: creation, destruction and host access.
pub trait DeviceBackend: Send + Sync {
    /// The shader language and version it takes.
    fn shader_target(&self) -> ShaderTarget;

    /// What a format can be used for.
    ///
    /// *Maps to* — Vulkan: `vkGetPhysicalDeviceFormatProperties2`; D3D12: `CheckFeatureSupport(FORMAT_SUPPORT)`; Metal:
    /// feature set tables; WebGPU: the specification's table and features; GL: the version's tables and extensions.
    fn format_support(&self, format: crate::format::Format) -> FormatSupport;

    /// Creates a buffer with its own memory.
    ///
    /// *Maps to* — Vulkan: `vkCreateBuffer` + sub-allocated memory; D3D12: `CreateCommittedResource`; Metal:
    /// `newBufferWithLength`; WebGPU: `createBuffer`; GL: `glBufferData`.
    fn create_buffer(&self, desc: &BufferDesc<'_>) -> Result<Native>;

    /// Copies bytes into an upload or device-upload buffer; the caller holds the buffer's host lock.
    ///
    /// *Maps to* — Vulkan, D3D12, Metal: persistent mapping; WebGPU: `writeBuffer`; GL: `glBufferSubData`.
    fn write_buffer(&self, buffer: BufferRef, offset: u64, data: &[u8]) -> Result<()>;

    /// Copies bytes out of a readback buffer; the caller holds the buffer's host lock.
    ///
    /// *Maps to* — Vulkan, D3D12, Metal: persistent mapping; WebGPU: `mapAsync`; GL: `glMapBufferRange`.
    fn read_buffer(&self, buffer: BufferRef, offset: u64, into: &mut [u8]) -> Result<()>;

    /// Creates a texture with its own memory.
    ///
    /// *Maps to* — Vulkan: `vkCreateImage`; D3D12: `CreateCommittedResource`; Metal: `newTextureWithDescriptor`; WebGPU:
    /// `createTexture`; GL: `glTexStorage*` or a renderbuffer.
    fn create_texture(&self, desc: &TextureDesc<'_>) -> Result<Native>;

    /// Creates a view.
    ///
    /// *Maps to* — Vulkan: `vkCreateImageView`; D3D12: a CPU descriptor; Metal: `newTextureViewWithPixelFormat`; WebGPU:
    /// `createView`; GL: the texture with base and maximum level, or a framebuffer attachment.
    fn create_view(&self, texture: TextureRef, desc: &NativeView<'_>) -> Result<Native>;

    /// Creates a sampler.
    ///
    /// *Maps to* — Vulkan: `vkCreateSampler`; D3D12: a sampler descriptor; Metal: `newSamplerStateWithDescriptor`;
    /// WebGPU: `createSampler`; GL: `glGenSamplers`.
    fn create_sampler(&self, desc: &SamplerDesc<'_>) -> Result<Native>;

    /// Creates a table layout.
    ///
    /// *Maps to* — Vulkan: `vkCreateDescriptorSetLayout`; D3D12: ranges of a root parameter; Metal: argument-buffer
    /// offsets; WebGPU: `createBindGroupLayout`; GL: nothing.
    fn create_table_layout(&self, desc: &TableLayoutDesc<'_>) -> Result<Native>;

    /// Creates a pipeline layout.
    ///
    /// *Maps to* — Vulkan: `vkCreatePipelineLayout`; D3D12: a root signature; Metal: buffer indices; WebGPU:
    /// `createPipelineLayout`; GL: unit numbers.
    fn create_pipeline_layout(&self, desc: &NativePipelineLayout<'_>) -> Result<Native>;

    /// Creates and fills a table.
    ///
    /// *Maps to* — Vulkan: `vkAllocateDescriptorSets` + `vkUpdateDescriptorSets`; D3D12: descriptors copied into the
    /// shader-visible heap; Metal: an argument buffer; WebGPU: `createBindGroup`; GL: a list of binds.
    fn create_table(&self, desc: &NativeTable<'_>) -> Result<Native>;

    /// Creates a function.
    ///
    /// *Maps to* — Vulkan: `vkCreateShaderModule`; D3D12: the bytecode; Metal: `newFunctionWithName`; WebGPU:
    /// `createShaderModule`; GL: `glCompileShader`.
    fn create_function(&self, artifact: &ShaderArtifact) -> Result<Native>;

    /// Creates a raster pipeline.
    ///
    /// *Maps to* — Vulkan: `vkCreateGraphicsPipelines`; D3D12: `CreateGraphicsPipelineState`; Metal:
    /// `newRenderPipelineState` + depth-stencil state; WebGPU: `createRenderPipeline`; GL: a linked program and state.
    fn create_raster_pipeline(&self, desc: &NativeRasterPipeline<'_>) -> Result<Native>;

    /// Creates a compute pipeline.
    ///
    /// *Maps to* — Vulkan: `vkCreateComputePipelines`; D3D12: `CreateComputePipelineState`; Metal:
    /// `newComputePipelineState`; WebGPU: `createComputePipeline`; GL: a linked program (3.1).
    fn create_compute_pipeline(&self, desc: &NativeComputePipeline<'_>) -> Result<Native>;

    /// Creates a pipeline cache from bytes that an earlier export gave and whose header already matched.
    ///
    /// *Maps to* — Vulkan: `vkCreatePipelineCache`; D3D12: a pipeline library; Metal: a binary archive; WebGPU, GL: none.
    fn create_pipeline_cache(&self, initial: &[u8]) -> Result<Native>;

    /// The driver's bytes of a cache.
    fn pipeline_cache_data(&self, cache: ObjectRef) -> Result<Vec<u8>>;

    /// Identifies driver, device and version: caches with another key are never handed to the driver.
    fn pipeline_cache_key(&self) -> Vec<u8>;

    /// Creates a query set.
    ///
    /// *Maps to* — Vulkan: `vkCreateQueryPool`; D3D12: `CreateQueryHeap`; Metal: counter sample buffer or visibility
    /// buffer; WebGPU: `createQuerySet`; GL: `glGenQueries`.
    fn create_query_set(&self, kind: QueryKind, count: u32, label: &str) -> Result<Native>;

    /// Reads results without waiting: `stride` words per query into `into`; false when one is not ready.
    ///
    /// *Maps to* — Vulkan: `vkGetQueryPoolResults`; others: a resolve into a readback buffer kept by the backend.
    fn query_results(&self, set: ObjectRef, first: u32, count: u32, into: &mut [u64]) -> Result<bool>;

    /// Creates a semaphore; `timeline` gives the initial value of a timeline, None a binary one.
    ///
    /// *Maps to* — Vulkan: `vkCreateSemaphore`; D3D12: `CreateFence`; Metal: `newEvent`/`newSharedEvent`; WebGPU: the
    /// single queue's order; GL: `glFenceSync` on the single queue.
    fn create_semaphore(&self, timeline: Option<u64>, label: &str) -> Result<Native>;

    /// The value a timeline has reached.
    fn semaphore_value(&self, semaphore: ObjectRef) -> Result<u64>;

    /// Signals a timeline from the CPU.
    fn signal_semaphore(&self, semaphore: ObjectRef, value: u64) -> Result<()>;

    /// Waits for a timeline value; false on time-out.
    fn wait_semaphore(&self, semaphore: ObjectRef, value: u64, timeout_ns: u64) -> Result<bool>;

    /// Makes what commands of one buffer are recorded with.
    ///
    /// *Maps to* — Vulkan: a `VkCommandPool` with one buffer; D3D12: allocator + list; Metal: `MTLCommandBuffer`; WebGPU:
    /// `createCommandEncoder`; GL: a list replayed at submit.
    fn create_recorder(&self, queue: u32) -> Result<Box<dyn RecorderBackend>>;

    /// Frees a native object.
    ///
    /// # Safety
    /// The object came from this backend, is passed here once, and no work in flight or recorded can reach it.
    unsafe fn destroy(&self, kind: ObjectKind, native: Native);

    /// Waits until every queue is idle.
    fn wait_idle(&self) -> Result<()>;

    /// Waits until every queue is idle when nobody can submit any more. Work that waits for a semaphore value which then
    /// nobody will signal must not hold this up for ever.
    fn close(&self) -> Result<()> {
        self.wait_idle()
    }

    /// Ties GPU ticks of a queue to a CPU clock.
    fn calibrate(&self, queue: u32) -> Result<Calibration>;

    /// Bytes the backend took from the driver and how many are in use.
    fn memory_report(&self) -> MemoryReport;

    /// Late errors since the last call.
    fn take_errors(&self) -> Vec<Error>;

    /// Starts or ends a capture; an error says why there is none.
    fn toggle_capture(&self, start: bool) -> Result<()>;
}

/// Memory a backend holds.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MemoryReport {
    /// Bytes taken from the driver.
    pub reserved_bytes: u64,
    /// Bytes of them in use by resources.
    pub used_bytes: u64,
    /// Number of driver allocations.
    pub blocks: u32,
}

/// A queue.
pub trait QueueBackend: Send + Sync {
    /// Submits; on error nothing was enqueued. Returns the submission's index: indices start at 1 and grow by one.
    ///
    /// *Maps to* — Vulkan: `vkQueueSubmit2`; D3D12: `Wait`, `ExecuteCommandLists`, `Signal`; Metal: `encodeWaitForEvent`,
    /// `commit`; WebGPU: `queue.submit`; GL: replay and `glFenceSync`.
    fn submit(&self, submission: &NativeSubmission<'_>) -> Result<u64>;

    /// The highest index whose work has completed.
    fn completed(&self) -> u64;

    /// Waits until an index has completed; false on time-out.
    fn wait(&self, index: u64, timeout_ns: u64) -> Result<bool>;
}

/// Arguments of [`QueueBackend::submit`].
pub struct NativeSubmission<'a> {
    /// Words that [`RecorderBackend::finish`] gave.
    pub commands: &'a [u64],
    /// Semaphores to wait for, value (timelines) and stages that wait.
    pub waits: &'a [(ObjectRef, u64, Stages)],
    /// Submissions of other queues to wait for: queue, index, stages that wait.
    pub after: &'a [(u32, u64, Stages)],
    /// Semaphores to signal, with the value for timelines.
    pub signals: &'a [(ObjectRef, u64)],
}

/// Arguments of [`DeviceBackend::create_view`].
pub struct NativeView<'a> {
    /// Name.
    pub label: &'a str,
    /// How the view is used.
    pub kind: ViewKind,
    /// Dimension.
    pub dimension: crate::shader::ViewDimension,
    /// Format.
    pub format: crate::format::Format,
    /// Resolved range.
    pub range: TextureRange,
    /// Which component each of r, g, b, a reads.
    pub swizzle: crate::texture::Swizzle,
}

/// Arguments of [`DeviceBackend::create_pipeline_layout`].
pub struct NativePipelineLayout<'a> {
    /// Name.
    pub label: &'a str,
    /// Table layouts by index.
    pub tables: &'a [Option<ObjectRef>],
    /// Push-constant range, if any.
    pub push: Option<PushRange>,
}

/// Arguments of [`DeviceBackend::create_table`].
pub struct NativeTable<'a> {
    /// Name.
    pub label: &'a str,
    /// Its layout.
    pub layout: ObjectRef,
    /// Every slot's contents, in the order of the layout's entries and array indices.
    pub writes: &'a [NativeWrite],
}

/// One descriptor.
#[derive(Clone, Copy, Debug)]
pub struct NativeWrite {
    /// Slot.
    pub slot: u32,
    /// Array index.
    pub index: u32,
    /// Kind of the slot.
    pub kind: BindingKind,
    /// What is bound.
    pub resource: NativeBinding,
}

/// What a descriptor names.
#[derive(Clone, Copy, Debug)]
pub enum NativeBinding {
    /// A buffer range.
    Buffer {
        /// Buffer.
        buffer: BufferRef,
        /// First byte.
        offset: u64,
        /// Bytes.
        size: u64,
    },
    /// A texture view.
    View {
        /// View.
        view: ObjectRef,
        /// The layout the texture is in when shaders read it.
        layout: crate::vocab::Layout,
    },
    /// A sampler.
    Sampler(ObjectRef),
}

/// A function with its stage.
#[derive(Clone, Copy)]
pub struct NativeFunction<'a> {
    /// The function.
    pub function: ObjectRef,
    /// Entry point in the payload.
    pub entry: &'a str,
}

/// Arguments of [`DeviceBackend::create_raster_pipeline`].
pub struct NativeRasterPipeline<'a> {
    /// Name.
    pub label: &'a str,
    /// Layout.
    pub layout: ObjectRef,
    /// Vertex function.
    pub vertex: NativeFunction<'a>,
    /// Fragment function.
    pub fragment: Option<NativeFunction<'a>>,
    /// Vertex buffers.
    pub buffers: &'a [VertexBufferLayout<'a>],
    /// Fixed-function state.
    pub state: &'a RenderState<'a>,
    /// Attachments.
    pub targets: &'a AttachmentFormats<'a>,
    /// Cache.
    pub cache: Option<ObjectRef>,
}

/// Arguments of [`DeviceBackend::create_compute_pipeline`].
pub struct NativeComputePipeline<'a> {
    /// Name.
    pub label: &'a str,
    /// Layout.
    pub layout: ObjectRef,
    /// Function.
    pub function: NativeFunction<'a>,
    /// Cache.
    pub cache: Option<ObjectRef>,
}

/// Names a live pipeline layout where tables and push constants are set. Two words, so that it travels in registers: it
/// is an argument of the hottest calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutRef {
    /// [`Native::word`] of the pipeline layout.
    pub word: u64,
    /// [`Native::aux`] of the pipeline layout: what the backend wants to have at hand there (Vulkan: the native stages of
    /// the push-constant range).
    pub aux: u64,
}
