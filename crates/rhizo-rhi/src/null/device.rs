//! The null instance and device.

use super::control::NullControl;
use super::queue::NullQueue;
use super::recorder::{NullRecorder, SLOT_BITS};
use super::state::{Body, Phase, Plane, Recording, Shared, State, TextureData, due_fault};
use super::{NullConfig, Op, STEP_NS};
use crate::backend::{
    BufferRef, DeviceBackend, InstanceBackend, MemoryReport, Native, NativeBinding, NativeComputePipeline,
    NativeMessage, NativePipelineLayout, NativeRasterPipeline, NativeTable, NativeView, ObjectKind, ObjectRef,
    OpenedDevice, QueueBackend, RecorderBackend, TextureRef,
};
use crate::binding::{SamplerDesc, TableLayoutDesc};
use crate::buffer::BufferDesc;
use crate::caps::{AdapterIdentity, AdapterInfo, AdapterKind, Capabilities, FormatSupport};
use crate::device::DeviceDesc;
use crate::error::{Error, ErrorKind, Result};
use crate::format::{Format, FormatClass};
use crate::handle::lock;
use crate::instance::{Backend, QueueRequest};
use crate::query::{Calibration, QueryKind};
use crate::queue::QueueInfo;
use crate::shader::{ShaderArtifact, ShaderTarget};
use crate::texture::{TextureDesc, TextureDimension};
use crate::vocab::{Aspects, QueueKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

pub(super) struct NullInstance {
    config: Arc<NullConfig>,
    control: NullControl,
}

impl NullInstance {
    pub(super) fn new(config: NullConfig) -> (Self, NullControl) {
        let control = NullControl::new();
        (Self { config: Arc::new(config), control: control.clone() }, control)
    }

    fn count(&self, kind: QueueKind) -> u32 {
        self.config.families.iter().filter(|f| f.kind == kind).map(|f| f.count).sum()
    }

    /// The queues granted: of each kind as many as asked for and there are, families in order.
    fn grant(&self, request: QueueRequest) -> Vec<QueueInfo> {
        let mut granted = Vec::new();
        let wanted = [request.graphics, request.compute, request.transfer];
        for (kind, wanted) in QueueKind::ALL.into_iter().zip(wanted) {
            let of_kind = self.config.families.iter().enumerate().filter(|(_, f)| f.kind == kind);
            let all = of_kind.flat_map(|(family, f)| (0..f.count).map(move |_| (family as u32, f.timestamp_bits)));
            for (index, (family, timestamp_bits)) in all.take(wanted as usize).enumerate() {
                granted.push(QueueInfo { kind, index: index as u32, family, timestamp_bits, shared_with: None });
            }
        }
        granted
    }
}

impl InstanceBackend for NullInstance {
    fn backend(&self) -> Backend {
        Backend::Null
    }

    fn adapters(&self) -> Vec<AdapterInfo> {
        let adapter = |number: u32| {
            let mut uuid = *b"rhizo null dev 0";
            uuid[15] = uuid[15].wrapping_add(number as u8);
            AdapterInfo {
                name: format!("null {number}"),
                kind: AdapterKind::Software,
                identity: AdapterIdentity { vendor: 0, device: number, uuid: Some(uuid), luid: None },
                driver: "rhizo null 1".into(),
                api: "null".into(),
                queues: QueueKind::ALL.into_iter().map(|kind| (kind, self.count(kind))).collect(),
                unusable: None,
            }
        };
        (0..self.config.adapters).map(adapter).collect()
    }

    fn capabilities(&self, _adapter: usize) -> Result<Capabilities> {
        Ok(Capabilities::default())
    }

    fn open(&self, _adapter: usize, desc: &DeviceDesc<'_>) -> Result<OpenedDevice> {
        if let Some(kind) = due_fault(&self.control.faults, Op::Open) {
            return Err(Error::new(kind, "injected failure of Open").on(desc.label));
        }
        let infos = self.grant(desc.queues.unwrap_or(self.config.queues));
        let shared = Arc::new(Shared {
            config: self.config.clone(),
            state: Mutex::new(State::new(infos.len(), self.config.policy)),
            lost: AtomicBool::new(false),
            deadlocked: AtomicBool::new(false),
            violations: self.control.violations.clone(),
            faults: self.control.faults.clone(),
        });
        self.control.opened(&shared);
        let queue = |queue| Box::new(NullQueue { shared: shared.clone(), queue }) as Box<dyn QueueBackend>;
        Ok(OpenedDevice {
            queues: infos.iter().cloned().zip(0..).map(|(info, i)| (info, queue(i))).collect(),
            device: Box::new(NullDevice { shared: shared.clone(), infos }),
            limits: self.config.limits,
            capabilities: Capabilities::default(),
        })
    }

    fn take_messages(&self) -> Vec<NativeMessage> {
        Vec::new()
    }
}

struct NullDevice {
    shared: Arc<Shared>,
    infos: Vec<QueueInfo>,
}

impl NullDevice {
    fn plain(&self, op: Op, kind: ObjectKind, label: &str, refs: impl IntoIterator<Item = u64>) -> Result<Native> {
        self.shared.fault(op)?;
        self.shared.add(kind, label, Body::Plain, 0, refs)
    }

    /// Bytes of a live buffer, by its word; a dead one is a breach.
    fn with_buffer<T>(&self, buffer: BufferRef, use_bytes: impl FnOnce(&mut [u8]) -> Option<T>) -> Result<T> {
        let mut state = lock(&self.shared.state);
        let body = state.objects.get_mut(&buffer.word).map(|object| &mut object.body);
        let done = if let Some(Body::Buffer(bytes)) = body { use_bytes(bytes) } else { None };
        done.ok_or_else(|| {
            let detail = format!("host access to buffer #{}: not alive or out of range", buffer.word);
            self.shared.violation(detail.clone());
            Error::new(ErrorKind::Native, detail)
        })
    }
}

impl Drop for NullDevice {
    fn drop(&mut self) {
        let state = lock(&self.shared.state);
        for object in state.objects.values() {
            self.shared.violation(format!(
                "{} \"{}\" still alive when its device went",
                object.kind.name(),
                object.label
            ));
        }
        for recording in &state.recordings {
            let recording = lock(recording);
            if recording.phase != Phase::Gone {
                self.shared.violation(format!("recorder of \"{}\" still alive when its device went", recording.label));
            }
        }
    }
}

fn texture_data(desc: &TextureDesc<'_>) -> TextureData {
    let is_3d = desc.dimension == TextureDimension::D3;
    let layers = if is_3d { 1 } else { desc.extent.z };
    let mut data =
        TextureData { format: desc.format, extent: desc.extent, is_3d, layers, planes: smallvec::SmallVec::new() };
    for aspect in desc.format.aspects().iter() {
        let texel = desc.format.copy_block_bytes(aspect) as usize * desc.samples as usize;
        let size = |mip| {
            let [columns, rows, depth] = data.blocks(mip);
            columns * rows * depth * texel
        };
        let subresources = (0..desc.mips).flat_map(|mip| (0..layers).map(move |_| mip)).map(|mip| vec![0; size(mip)]);
        let plane = Plane { aspect, texel, subresources: subresources.collect() };
        data.planes.push(plane);
    }
    data
}

impl DeviceBackend for NullDevice {
    fn shader_target(&self) -> ShaderTarget {
        self.shared.config.shader_target
    }

    fn format_support(&self, format: Format) -> FormatSupport {
        let info = format.info();
        let (depth, block) = (format.is_depth_stencil(), format.is_compressed());
        let integer = matches!(info.class, FormatClass::Uint | FormatClass::Sint);
        let plain = !depth && !block && format != Format::Rgb9e5Float;
        FormatSupport {
            sampled: true,
            filterable: !integer && !depth,
            renderable: plain || depth,
            blendable: plain && !integer,
            storage_read: plain && !info.srgb,
            storage_write: plain && !info.srgb,
            storage_atomic: matches!(format, Format::R32Uint | Format::R32Sint),
            vertex: plain && !info.srgb,
            copy: true,
            blit_source: !block,
            blit_destination: plain,
            resolve: plain && !integer,
            linear_mips: plain && !integer,
            sample_mask: if block { 1 } else { 0b1111 },
        }
    }

    fn create_buffer(&self, desc: &BufferDesc<'_>) -> Result<Native> {
        self.shared.fault(Op::CreateBuffer)?;
        let size = usize::try_from(desc.size_bytes)
            .map_err(|_| Error::new(ErrorKind::OutOfMemory, "larger than the address space"))?;
        self.shared.add(ObjectKind::Buffer, desc.label, Body::Buffer(vec![0; size]), desc.size_bytes, [])
    }

    fn write_buffer(&self, buffer: BufferRef, offset: u64, data: &[u8]) -> Result<()> {
        self.shared.fault(Op::WriteBuffer)?;
        let at = offset as usize;
        self.with_buffer(buffer, |bytes| bytes.get_mut(at..at + data.len()).map(|bytes| bytes.copy_from_slice(data)))
    }

    fn read_buffer(&self, buffer: BufferRef, offset: u64, into: &mut [u8]) -> Result<()> {
        self.shared.fault(Op::ReadBuffer)?;
        let at = offset as usize;
        self.with_buffer(buffer, |bytes| bytes.get(at..at + into.len()).map(|bytes| into.copy_from_slice(bytes)))
    }

    fn create_texture(&self, desc: &TextureDesc<'_>) -> Result<Native> {
        self.shared.fault(Op::CreateTexture)?;
        // Counted before anything is allocated: a mip chain is less than twice its first level.
        let texel = u64::from(desc.format.info().block_bytes) * u64::from(desc.samples);
        let first = desc.format.row_bytes(desc.extent.x) / u64::from(desc.format.info().block_bytes)
            * u64::from(desc.format.rows(desc.extent.y))
            * u64::from(desc.extent.z)
            * texel;
        if first > self.shared.config.memory_bytes {
            return Err(Error::new(ErrorKind::OutOfMemory, format!("{first} bytes for \"{}\"", desc.label)));
        }
        let data = texture_data(desc);
        let bytes = data.planes.iter().flat_map(|p| &p.subresources).map(|s| s.len() as u64).sum();
        self.shared.add(ObjectKind::Texture, desc.label, Body::Texture(data), bytes, [])
    }

    fn create_view(&self, texture: TextureRef, desc: &NativeView<'_>) -> Result<Native> {
        self.shared.fault(Op::CreateView)?;
        let body = Body::View { texture: texture.word, format: desc.format, range: desc.range };
        self.shared.add(ObjectKind::TextureView, desc.label, body, 0, [texture.word])
    }

    fn create_sampler(&self, desc: &SamplerDesc<'_>) -> Result<Native> {
        self.plain(Op::CreateSampler, ObjectKind::Sampler, desc.label, [])
    }

    fn create_table_layout(&self, desc: &TableLayoutDesc<'_>) -> Result<Native> {
        self.plain(Op::CreateTableLayout, ObjectKind::TableLayout, desc.label, [])
    }

    fn create_pipeline_layout(&self, desc: &NativePipelineLayout<'_>) -> Result<Native> {
        let tables = desc.tables.iter().flatten().map(|table| table.word);
        self.plain(Op::CreatePipelineLayout, ObjectKind::PipelineLayout, desc.label, tables)
    }

    fn create_table(&self, desc: &NativeTable<'_>) -> Result<Native> {
        let word = |binding: &NativeBinding| match binding {
            NativeBinding::Buffer { buffer, .. } => buffer.word,
            NativeBinding::View { view, .. } => view.word,
            NativeBinding::Sampler(sampler) => sampler.word,
        };
        let refs = desc.writes.iter().map(|w| word(&w.resource)).chain([desc.layout.word]);
        self.plain(Op::CreateTable, ObjectKind::Table, desc.label, refs)
    }

    fn create_function(&self, artifact: &ShaderArtifact) -> Result<Native> {
        self.plain(Op::CreateFunction, ObjectKind::Function, artifact.label(), [])
    }

    fn create_raster_pipeline(&self, desc: &NativeRasterPipeline<'_>) -> Result<Native> {
        let fragment = desc.fragment.map(|f| f.function.word);
        let refs = [desc.layout.word, desc.vertex.function.word].into_iter().chain(fragment);
        self.plain(Op::CreateRasterPipeline, ObjectKind::RasterPipeline, desc.label, refs)
    }

    fn create_compute_pipeline(&self, desc: &NativeComputePipeline<'_>) -> Result<Native> {
        let refs = [desc.layout.word, desc.function.function.word];
        self.plain(Op::CreateComputePipeline, ObjectKind::ComputePipeline, desc.label, refs)
    }

    fn create_pipeline_cache(&self, initial: &[u8]) -> Result<Native> {
        self.shared.fault(Op::CreatePipelineCache)?;
        self.shared.add(ObjectKind::PipelineCache, "", Body::Cache(initial.to_vec()), 0, [])
    }

    fn pipeline_cache_data(&self, cache: ObjectRef) -> Result<Vec<u8>> {
        match lock(&self.shared.state).objects.get(&cache.word).map(|object| &object.body) {
            Some(Body::Cache(data)) => Ok(data.clone()),
            _ => Err(Error::new(ErrorKind::Native, "no such cache")),
        }
    }

    fn pipeline_cache_key(&self) -> Vec<u8> {
        b"rhizo null 1".to_vec()
    }

    fn create_query_set(&self, kind: QueryKind, count: u32, label: &str) -> Result<Native> {
        self.shared.fault(Op::CreateQuerySet)?;
        self.shared.add(ObjectKind::QuerySet, label, Body::queries(kind, count), 0, [])
    }

    fn query_results(&self, set: ObjectRef, first: u32, count: u32, into: &mut [u64]) -> Result<bool> {
        self.shared.fault(Op::QueryResults)?;
        let mut state = lock(&self.shared.state);
        let Some((words, results)) = state.query_slots(set.word) else {
            return Err(Error::new(ErrorKind::Native, "no such query set"));
        };
        let results = &results[first as usize * words..(first + count) as usize * words];
        for (into, result) in into.iter_mut().zip(results) {
            let Some(result) = result else { return Ok(false) };
            *into = *result;
        }
        Ok(true)
    }

    fn create_semaphore(&self, timeline: Option<u64>, label: &str) -> Result<Native> {
        self.shared.fault(Op::CreateSemaphore)?;
        let body = timeline.map_or(Body::Binary(false), Body::Timeline);
        self.shared.add(ObjectKind::Semaphore, label, body, 0, [])
    }

    fn semaphore_value(&self, semaphore: ObjectRef) -> Result<u64> {
        match lock(&self.shared.state).objects.get(&semaphore.word).map(|object| &object.body) {
            Some(Body::Timeline(value)) => Ok(*value),
            _ => Err(Error::new(ErrorKind::Native, "no such timeline")),
        }
    }

    fn signal_semaphore(&self, semaphore: ObjectRef, value: u64) -> Result<()> {
        self.shared.fault(Op::SignalSemaphore)?;
        let mut state = lock(&self.shared.state);
        self.shared.signal(&mut state, semaphore.word, value);
        self.shared.deadlocked.store(false, Ordering::Release);
        if state.policy == super::Policy::Immediate {
            while self.shared.step_any(&mut state) {}
        }
        Ok(())
    }

    fn wait_semaphore(&self, semaphore: ObjectRef, value: u64, timeout_ns: u64) -> Result<bool> {
        self.shared.fault(Op::Wait)?;
        let target = || format!("{value} of the timeline waited for");
        self.shared.wait_until(timeout_ns, target, |state| state.signalled(semaphore.word, value))
    }

    fn create_recorder(&self, _queue: u32) -> Result<Box<dyn RecorderBackend>> {
        self.shared.fault(Op::CreateRecorder)?;
        let mut state = lock(&self.shared.state);
        let free = state.recordings.iter().position(|r| lock(r).phase == Phase::Gone);
        let slot = free.unwrap_or(state.recordings.len());
        if slot >> SLOT_BITS != 0 {
            return Err(Error::new(ErrorKind::OutOfMemory, format!("{slot} recorders")));
        }
        if free.is_none() {
            state.recordings.push(Arc::new(Mutex::new(Recording::new())));
        }
        let recording = state.recordings[slot].clone();
        lock(&recording).phase = Phase::Idle;
        Ok(Box::new(NullRecorder { shared: self.shared.clone(), recording, slot }))
    }

    unsafe fn destroy(&self, kind: ObjectKind, native: Native) {
        self.shared.remove(kind, native.word);
    }

    fn wait_idle(&self) -> Result<()> {
        self.shared.fault(Op::WaitIdle)?;
        let idle = |state: &State| state.queues.iter().all(|queue| queue.pending.is_empty());
        self.shared.wait_until(u64::MAX, || "the idle state".to_owned(), idle).map(|_| ())
    }

    fn calibrate(&self, queue: u32) -> Result<Calibration> {
        let info = &self.infos[queue as usize];
        if info.timestamp_bits == 0 {
            let detail = format!("{} queues have no timestamps", info.kind.name());
            return Err(Error::new(ErrorKind::Unsupported, detail));
        }
        let ticks = lock(&self.shared.state).ticks;
        Ok(Calibration {
            queue: info.kind,
            index: info.index,
            gpu_ticks: ticks,
            cpu_ns: ticks * STEP_NS,
            frequency_hz: 1e9 / STEP_NS as f64,
            max_deviation_ns: 0,
        })
    }

    fn memory_report(&self) -> MemoryReport {
        let state = lock(&self.shared.state);
        let resource = |object: &&super::state::Object| object.bytes > 0;
        MemoryReport {
            reserved_bytes: state.used_bytes,
            used_bytes: state.used_bytes,
            blocks: state.objects.values().filter(resource).count() as u32,
        }
    }

    fn take_errors(&self) -> Vec<Error> {
        Vec::new()
    }

    fn toggle_capture(&self, _start: bool) -> Result<()> {
        Err(Error::new(ErrorKind::Unavailable, "no capture tool attaches to the null device"))
    }
}

impl TextureData {
    /// Columns and rows of blocks, and slices, of a mip level.
    pub(super) fn blocks(&self, mip: u32) -> [usize; 3] {
        let e = self.extent.mip(mip, self.is_3d);
        let (width, height) = self.format.info().block;
        let depth = if self.is_3d { e.z } else { 1 };
        [e.x.div_ceil(u32::from(width)) as usize, e.y.div_ceil(u32::from(height)) as usize, depth as usize]
    }

    /// The plane of an aspect; the first when none is named.
    pub(super) fn plane(&self, aspects: Aspects) -> Option<usize> {
        self.planes.iter().position(|plane| aspects.is_empty() || aspects.contains(plane.aspect))
    }
}
