//! Devices: creation of everything, queues, generations.

use crate::backend::MemoryReport;
use crate::binding::{
    BindingTable, PipelineLayout, PipelineLayoutDesc, Sampler, SamplerDesc, TableDesc, TableLayout, TableLayoutDesc,
};
use crate::buffer::{Buffer, BufferDesc};
use crate::cache::{CacheImport, PipelineCache};
use crate::caps::{AdapterInfo, Capabilities, FormatSupport};
use crate::clause;
use crate::error::{Error, Located, Result};
use crate::format::Format;
use crate::handle::{DeviceKey, DeviceShared, QueueSlot, Reclamation, User};
use crate::instance::{Instance, QueueRequest};
use crate::limits::DeviceLimits;
use crate::pipeline::{ComputePipeline, ComputePipelineDesc, Function, RasterPipeline, RasterPipelineDesc};
use crate::query::{Calibration, QueryKind, QuerySet};
use crate::queue::{Fence, Queue, Semaphore, SemaphoreKind};
use crate::shader::{ShaderArtifact, ShaderTarget};
use crate::texture::{Texture, TextureDesc};
use crate::vocab::QueueKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Describes a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Queues; `None` is what the instance says. Fewer may be granted: see [`Device::queue_count`].
    pub queues: Option<QueueRequest>,
}

/// The state of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceState {
    /// Accepts work.
    Operational,
    /// Lost, for a reason the API does not give.
    Lost,
}

/// A device. Cheap to clone; when the last of devices, queues, pools and command buffers is dropped, it waits until it
/// is idle.
#[derive(Clone)]
pub struct Device {
    user: User,
    instance: Instance,
    adapter: usize,
    desc: Arc<(String, Option<QueueRequest>)>,
    capabilities: Arc<Capabilities>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "device \"{}\" on {}, generation {}", self.user.label, self.adapter().name, self.generation())
    }
}

static DEVICES: AtomicU32 = AtomicU32::new(1);

impl Device {
    #[track_caller]
    pub(crate) fn open(instance: &Instance, adapter: usize, desc: &DeviceDesc<'_>) -> Result<Self> {
        let number = DEVICES.fetch_add(1, Ordering::Relaxed);
        Self::open_generation(instance, adapter, desc, DeviceKey::new(number, 1))
    }

    #[track_caller]
    fn open_generation(instance: &Instance, adapter: usize, desc: &DeviceDesc<'_>, key: DeviceKey) -> Result<Self> {
        let queues = Some(desc.queues.unwrap_or(instance.default_queues()));
        let opened = instance.native().open(adapter, &DeviceDesc { label: desc.label, queues }).located()?;
        let slot = |(info, backend)| QueueSlot { backend, info, last: AtomicU64::new(0) };
        let queues_made = opened.queues.into_iter().map(slot).collect();
        let shared = DeviceShared::new(opened.device, queues_made, key, desc.label, opened.limits);
        Ok(Self {
            user: User::new(&Arc::new(shared)),
            instance: instance.clone(),
            adapter,
            desc: Arc::new((desc.label.to_owned(), desc.queues)),
            capabilities: Arc::new(opened.capabilities),
        })
    }

    /// Opens the next generation of this device; values of this one stay bound to it and fail with
    /// `DEVICE_GENERATION` elsewhere.
    ///
    /// # Errors
    /// As [`Instance::open`].
    #[track_caller]
    pub fn recreate(&self) -> Result<Self> {
        let key = self.user.key;
        if !self.user.is_lost() {
            // Marked lost, work in flight counts as complete and what it uses is freed: it must be over before that.
            let _ = self.user.backend.wait_idle();
        }
        self.user.mark_lost();
        let desc = DeviceDesc { label: &self.desc.0, queues: self.desc.1 };
        Self::open_generation(&self.instance, self.adapter, &desc, DeviceKey::new(key.device(), key.generation() + 1))
    }

    /// The instance it was opened from.
    #[must_use]
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The adapter it was opened on.
    #[must_use]
    pub fn adapter(&self) -> &AdapterInfo {
        &self.instance.adapters()[self.adapter]
    }

    /// Its generation, from 1.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.user.key.generation()
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> DeviceState {
        if self.user.is_lost() { DeviceState::Lost } else { DeviceState::Operational }
    }

    /// The hot limits.
    #[must_use]
    pub fn limits(&self) -> &DeviceLimits {
        &self.user.limits
    }

    /// The full capability report.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The language shaders are compiled to.
    #[must_use]
    pub fn shader_target(&self) -> ShaderTarget {
        self.user.backend.shader_target()
    }

    /// What a format can be used for.
    #[must_use]
    pub fn format_support(&self, format: Format) -> FormatSupport {
        self.user.backend.format_support(format)
    }

    /// Queues of a kind that were granted.
    #[must_use]
    pub fn queue_count(&self, kind: QueueKind) -> u32 {
        self.user.queues.iter().filter(|q| q.info.kind == kind).count() as u32
    }

    /// A queue by kind and index.
    ///
    /// # Errors
    /// `QUEUE_EXISTS`.
    #[track_caller]
    pub fn queue(&self, kind: QueueKind, index: u32) -> Result<Queue> {
        let found = self.user.queues.iter().position(|q| q.info.kind == kind && q.info.index == index);
        let found = found.ok_or_else(|| {
            let detail = format!("{} queue {index} of {}", kind.name(), self.queue_count(kind));
            Error::clause(clause::QUEUE_EXISTS, detail).on(&*self.user.label)
        });
        let found = found.located()?;
        Ok(Queue::new(self.user.clone(), found as u32))
    }

    /// Creates a buffer. *Maps to*: see `DeviceBackend::create_buffer`.
    ///
    /// # Errors
    /// `BUFFER_SIZE`, `BUFFER_HOST_USAGE`, out of memory, `DEVICE_LOST`.
    #[track_caller]
    pub fn create_buffer(&self, desc: &BufferDesc<'_>) -> Result<Buffer> {
        Buffer::create(&self.user, desc).located()
    }

    /// Creates a texture; its layout is undefined. *Maps to*: see `DeviceBackend::create_texture`.
    ///
    /// # Errors
    /// `TEXTURE_DESC`, `TEXTURE_FORMAT`, out of memory, `DEVICE_LOST`.
    #[track_caller]
    pub fn create_texture(&self, desc: &TextureDesc<'_>) -> Result<Texture> {
        Texture::create(&self.user, desc).located()
    }

    /// Creates a sampler. *Maps to*: see `DeviceBackend::create_sampler`.
    ///
    /// # Errors
    /// `SAMPLER_DESC`, `DEVICE_LOST`.
    #[track_caller]
    pub fn create_sampler(&self, desc: &SamplerDesc<'_>) -> Result<Sampler> {
        Sampler::create(&self.user, desc).located()
    }

    /// Creates a table layout. *Maps to*: see `DeviceBackend::create_table_layout`.
    ///
    /// # Errors
    /// `TABLE_LAYOUT`, `DEVICE_LOST`.
    #[track_caller]
    pub fn create_table_layout(&self, desc: &TableLayoutDesc<'_>) -> Result<TableLayout> {
        TableLayout::create(&self.user, desc, false).located()
    }

    /// Creates a pipeline layout. *Maps to*: see `DeviceBackend::create_pipeline_layout`.
    ///
    /// # Errors
    /// `PIPELINE_LAYOUT`, `DEVICE_LOST`.
    #[track_caller]
    pub fn create_pipeline_layout(&self, desc: &PipelineLayoutDesc<'_>) -> Result<PipelineLayout> {
        PipelineLayout::create(&self.user, desc).located()
    }

    /// Creates and fills a table. *Maps to*: see `DeviceBackend::create_table`.
    ///
    /// # Errors
    /// `TABLE_WRITE`, `TABLE_COMPLETE`, out of memory, `DEVICE_LOST`.
    #[track_caller]
    pub fn create_table(&self, desc: &TableDesc<'_>) -> Result<BindingTable> {
        BindingTable::create(&self.user, desc).located()
    }

    /// Creates a function from a validated shader. *Maps to*: see `DeviceBackend::create_function`.
    ///
    /// # Errors
    /// `FUNCTION_TARGET`, `DEVICE_LOST`, native failures.
    #[track_caller]
    pub fn create_function(&self, artifact: &ShaderArtifact) -> Result<Function> {
        Function::create(&self.user, artifact).located()
    }

    /// Creates a raster pipeline. *Maps to*: see `DeviceBackend::create_raster_pipeline`.
    ///
    /// # Errors
    /// `PIPELINE_*`, `FUNCTION_STAGE`, `DEVICE_LOST`, native failures.
    #[track_caller]
    pub fn create_raster_pipeline(&self, desc: &RasterPipelineDesc<'_>) -> Result<RasterPipeline> {
        RasterPipeline::create(&self.user, desc).located()
    }

    /// Creates a compute pipeline. *Maps to*: see `DeviceBackend::create_compute_pipeline`.
    ///
    /// # Errors
    /// `PIPELINE_*`, `GROUP_SIZE`, `FUNCTION_STAGE`, `DEVICE_LOST`, native failures.
    #[track_caller]
    pub fn create_compute_pipeline(&self, desc: &ComputePipelineDesc<'_>) -> Result<ComputePipeline> {
        ComputePipeline::create(&self.user, desc).located()
    }

    /// Creates a pipeline cache from bytes of an earlier export (empty for a new one), which are never trusted.
    ///
    /// # Errors
    /// `DEVICE_LOST`, native failures; bytes that don't fit are skipped with a reason, not an error.
    #[track_caller]
    pub fn create_pipeline_cache(&self, label: &str, bytes: &[u8]) -> Result<(PipelineCache, CacheImport)> {
        PipelineCache::create(&self.user, label, bytes).located()
    }

    /// Creates `count` query slots. *Maps to*: see `DeviceBackend::create_query_set`.
    ///
    /// # Errors
    /// `QUERY_RANGE`, `Unsupported`, `DEVICE_LOST`.
    #[track_caller]
    pub fn create_query_set(&self, label: &str, kind: QueryKind, count: u32) -> Result<QuerySet> {
        QuerySet::create(&self.user, label, kind, count).located()
    }

    /// Creates a fence, ready.
    #[must_use]
    pub fn create_fence(&self, label: &str) -> Fence {
        Fence::create(&self.user, label)
    }

    /// Creates a semaphore. *Maps to*: see `DeviceBackend::create_semaphore`.
    ///
    /// # Errors
    /// `Unsupported`, `DEVICE_LOST`, native failures.
    #[track_caller]
    pub fn create_semaphore(&self, label: &str, kind: SemaphoreKind) -> Result<Semaphore> {
        Semaphore::create(&self.user, label, kind).located()
    }

    /// Frees what was dropped and can no longer be used. Submissions do this as well.
    pub fn collect(&self) {
        self.user.collect();
    }

    /// Waits until every queue is idle.
    ///
    /// # Errors
    /// `DEVICE_LOST`.
    #[track_caller]
    pub fn wait_idle(&self) -> Result<()> {
        self.user.check_alive()?;
        self.user.native(self.user.backend.wait_idle())?;
        self.user.collect();
        Ok(())
    }

    /// Ties GPU ticks of a queue to the CPU clock; repeat every few frames.
    ///
    /// # Errors
    /// `Unsupported` with the reason.
    #[track_caller]
    pub fn calibrate(&self, queue: &Queue) -> Result<Calibration> {
        self.user.check_alive()?;
        queue.check_device(self.user.key)?;
        self.user.native(self.user.backend.calibrate(queue.position()))
    }

    /// Memory held, and what waits to be freed.
    #[must_use]
    pub fn memory_report(&self) -> (MemoryReport, Reclamation) {
        (self.user.backend.memory_report(), self.user.reclamation())
    }

    /// Errors that arrived late: native layers, losses.
    #[must_use]
    pub fn take_errors(&self) -> Vec<Error> {
        self.user.take_errors()
    }

    /// Starts or ends a capture by an attached tool.
    ///
    /// # Errors
    /// `Unavailable`: no tool is attached, and why.
    pub fn toggle_gpu_capture(&self, start: bool) -> Result<()> {
        self.user.backend.toggle_capture(start)
    }
}
