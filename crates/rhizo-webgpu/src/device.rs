//! The device: what everything made from it shares, error scopes, and the table of creation calls.

use crate::adapter::Adapter;
use crate::memory::{self, keep};
use crate::queue::{Submissions, WebGpuQueue};
use crate::{binding, buffer, convert, encoder, pipeline, texture};
use rhizo_rhi::backend::{
    BufferRef, DeviceBackend, MemoryReport, Native, NativeComputePipeline, NativePipelineLayout, NativeRasterPipeline,
    NativeTable, NativeView, ObjectKind, ObjectRef, OpenedDevice, QueueBackend, RecorderBackend, TextureRef,
};
use rhizo_rhi::{
    BufferDesc, Calibration, Error, ErrorKind, Format, FormatSupport, QueryKind, QueueInfo, QueueKind, QueueRequest,
    Result, SamplerDesc, ShaderArtifact, ShaderTarget, TableLayoutDesc, TextureDesc,
};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Late errors kept until they are taken; the first ones matter.
const LATE_CAPACITY: usize = 256;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What arrives outside of calls.
#[derive(Default)]
struct Late {
    errors: Mutex<Vec<Error>>,
    lost: OnceLock<String>,
}

impl Late {
    fn push(&self, error: Error) {
        let mut errors = lock(&self.errors);
        if errors.len() < LATE_CAPACITY {
            errors.push(error);
        }
    }
}

/// What device, queue and recorders share.
pub(crate) struct Shared {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    late: Arc<Late>,
    features: wgpu::Features,
    pub(crate) submissions: Mutex<Submissions>,
    /// Index of the last submission.
    pub(crate) last: AtomicU64,
    /// Highest index known to have completed.
    pub(crate) completed: Arc<AtomicU64>,
    /// Finished command buffers by word, until they are submitted or discarded.
    pub(crate) commands: Mutex<HashMap<u64, wgpu::CommandBuffer>>,
    pub(crate) next_commands: AtomicU64,
}

impl Shared {
    /// Runs native calls so that what WebGPU finds wrong with them is their result. Scopes belong to the thread.
    pub(crate) fn scoped<T>(&self, what: &str, call: impl FnOnce() -> T) -> Result<T> {
        self.check_alive()?;
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let value = call();
        let errors = [validation, internal, memory].map(|scope| pollster::block_on(scope.pop()));
        match errors.into_iter().flatten().next() {
            None => Ok(value),
            Some(error) => Err(self.check_alive().err().unwrap_or_else(|| convert::error(what, error))),
        }
    }

    pub(crate) fn check_alive(&self) -> Result<()> {
        match self.late.lost.get() {
            None => Ok(()),
            Some(reason) => Err(Error::new(ErrorKind::DeviceLost, reason.clone())),
        }
    }

    /// What a format can be used for with the device's features.
    pub(crate) fn format_support(&self, format: Format) -> FormatSupport {
        crate::caps::format_support(self.features, format)
    }
}

/// Opens a device. WebGPU has one queue, so one is granted, of the first kind that was asked for.
pub(crate) fn open(adapter: &Adapter, label: &str, queues: QueueRequest) -> Result<OpenedDevice> {
    let kind = if queues.graphics > 0 {
        QueueKind::Graphics
    } else if queues.compute > 0 {
        QueueKind::Compute
    } else if queues.transfer > 0 {
        QueueKind::Transfer
    } else {
        return Err(Error::new(ErrorKind::InvalidArgument, "no queue was asked for").on(label));
    };
    let features = adapter.features();
    let limits = adapter.native_limits();
    let native = wgpu::DeviceDescriptor {
        label: Some(label),
        required_features: features,
        required_limits: limits.clone(),
        ..wgpu::DeviceDescriptor::default()
    };
    let (device, queue) = pollster::block_on(adapter.raw.request_device(&native))
        .map_err(|error| convert::native("requestDevice", error).on(label))?;
    let shared = Arc::new(Shared {
        late: listen(&device),
        device,
        queue,
        features,
        submissions: Mutex::default(),
        last: AtomicU64::new(0),
        completed: Arc::default(),
        commands: Mutex::default(),
        next_commands: AtomicU64::new(1),
    });
    let info = QueueInfo { kind, index: 0, family: 0, timestamp_bits: 0, shared_with: None };
    let queue: Box<dyn QueueBackend> = Box::new(WebGpuQueue { shared: shared.clone() });
    Ok(OpenedDevice {
        device: Box::new(WebGpuDevice { shared }),
        queues: vec![(info, queue)],
        limits: adapter.limits(&limits),
        capabilities: adapter.capabilities(),
    })
}

fn listen(device: &wgpu::Device) -> Arc<Late> {
    let late = Arc::new(Late::default());
    let (errors, lost) = (late.clone(), late.clone());
    device.on_uncaptured_error(Arc::new(move |error| errors.push(convert::error("outside of calls", error))));
    device.set_device_lost_callback(move |reason, message| {
        // The other reason is that the device was destroyed by its owner.
        if reason == wgpu::DeviceLostReason::Unknown && lost.lost.set(message.clone()).is_ok() {
            lost.push(Error::new(ErrorKind::DeviceLost, message));
        }
    });
    late
}

/// The device as the contract sees it.
struct WebGpuDevice {
    shared: Arc<Shared>,
}

fn unsupported<T>(reason: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Unsupported, reason))
}

const NO_TIMELINES: &str = "WebGPU has no timeline semaphores: wait for submissions";
const NO_CACHE: &str = "WebGPU has no pipeline cache";

impl DeviceBackend for WebGpuDevice {
    fn shader_target(&self) -> ShaderTarget {
        ShaderTarget::Wgsl
    }

    fn format_support(&self, format: Format) -> FormatSupport {
        self.shared.format_support(format)
    }

    fn create_buffer(&self, desc: &BufferDesc<'_>) -> Result<Native> {
        buffer::Buffer::create(&self.shared, desc).map(keep).map_err(|error| error.on(desc.label))
    }

    fn write_buffer(&self, buffer: BufferRef, offset: u64, data: &[u8]) -> Result<()> {
        memory::buffer(&buffer).write(&self.shared, offset, data)
    }

    fn read_buffer(&self, buffer: BufferRef, offset: u64, into: &mut [u8]) -> Result<()> {
        memory::buffer(&buffer).read(&self.shared, offset, into)
    }

    fn create_texture(&self, desc: &TextureDesc<'_>) -> Result<Native> {
        texture::create(&self.shared, desc).map(keep)
    }

    fn create_view(&self, texture: TextureRef, desc: &NativeView<'_>) -> Result<Native> {
        texture::create_view(&self.shared, texture, desc).map(keep)
    }

    fn create_sampler(&self, desc: &SamplerDesc<'_>) -> Result<Native> {
        texture::create_sampler(&self.shared, desc).map(keep)
    }

    fn create_table_layout(&self, desc: &TableLayoutDesc<'_>) -> Result<Native> {
        binding::create_table_layout(&self.shared, desc).map(keep)
    }

    fn create_pipeline_layout(&self, desc: &NativePipelineLayout<'_>) -> Result<Native> {
        binding::create_pipeline_layout(&self.shared, desc).map(keep)
    }

    fn create_table(&self, desc: &NativeTable<'_>) -> Result<Native> {
        binding::create_table(&self.shared, desc).map(keep)
    }

    fn create_function(&self, artifact: &ShaderArtifact) -> Result<Native> {
        pipeline::create_function(&self.shared, artifact).map(keep)
    }

    fn create_raster_pipeline(&self, desc: &NativeRasterPipeline<'_>) -> Result<Native> {
        pipeline::create_raster(&self.shared, desc).map(keep)
    }

    fn create_compute_pipeline(&self, desc: &NativeComputePipeline<'_>) -> Result<Native> {
        pipeline::create_compute(&self.shared, desc).map(keep)
    }

    fn create_pipeline_cache(&self, _initial: &[u8]) -> Result<Native> {
        unsupported(NO_CACHE)
    }

    fn pipeline_cache_data(&self, _cache: ObjectRef) -> Result<Vec<u8>> {
        unsupported(NO_CACHE)
    }

    fn pipeline_cache_key(&self) -> Vec<u8> {
        Vec::new()
    }

    fn create_query_set(&self, _kind: QueryKind, _count: u32, label: &str) -> Result<Native> {
        unsupported(encoder::NO_QUERIES).map_err(|error| error.on(label))
    }

    fn query_results(&self, _set: ObjectRef, _first: u32, _count: u32, _into: &mut [u64]) -> Result<bool> {
        unsupported(encoder::NO_QUERIES)
    }

    /// A binary semaphore is nothing: the queue's order already does what it says.
    fn create_semaphore(&self, timeline: Option<u64>, label: &str) -> Result<Native> {
        match timeline {
            None => Ok(Native::default()),
            Some(_) => unsupported(NO_TIMELINES).map_err(|error| error.on(label)),
        }
    }

    fn semaphore_value(&self, _semaphore: ObjectRef) -> Result<u64> {
        unsupported(NO_TIMELINES)
    }

    fn signal_semaphore(&self, _semaphore: ObjectRef, _value: u64) -> Result<()> {
        unsupported(NO_TIMELINES)
    }

    fn wait_semaphore(&self, _semaphore: ObjectRef, _value: u64, _timeout_ns: u64) -> Result<bool> {
        unsupported(NO_TIMELINES)
    }

    fn create_recorder(&self, _queue: u32) -> Result<Box<dyn RecorderBackend>> {
        Ok(Box::new(encoder::Recorder::new(self.shared.clone())))
    }

    unsafe fn destroy(&self, kind: ObjectKind, native: Native) {
        // SAFETY: the caller's promise is the same.
        unsafe { memory::free(kind, native) }
    }

    fn wait_idle(&self) -> Result<()> {
        self.shared.check_alive()?;
        let waited = self.shared.device.poll(wgpu::PollType::wait_indefinitely());
        self.shared.check_alive()?;
        waited.map(|_| ()).map_err(|error| convert::poll_error(&error))
    }

    fn calibrate(&self, _queue: u32) -> Result<Calibration> {
        unsupported("WebGPU does not read GPU and CPU clocks together")
    }

    fn memory_report(&self) -> MemoryReport {
        let report = self.shared.device.generate_allocator_report();
        report.map_or(MemoryReport::default(), |report| MemoryReport {
            reserved_bytes: report.total_reserved_bytes,
            used_bytes: report.total_allocated_bytes,
            blocks: u32::try_from(report.blocks.len()).unwrap_or(u32::MAX),
        })
    }

    fn take_errors(&self) -> Vec<Error> {
        std::mem::take(&mut lock(&self.shared.late.errors))
    }

    fn toggle_capture(&self, _start: bool) -> Result<()> {
        Err(Error::new(ErrorKind::Unavailable, "captures are not lowered to WebGPU yet"))
    }
}
