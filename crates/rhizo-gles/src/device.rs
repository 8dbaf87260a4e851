//! The device: its thread, what lives there, and creation and destruction through it.

use crate::adapter::Facts;
use crate::binding::Table;
use crate::buffer;
use crate::convert;
use crate::encoder::{GlesRecorder, Lists};
use crate::instance::{self, Context, Messages};
use crate::pipeline::{self, Function, Pipeline};
use crate::queue::{GlesQueue, Progress};
use crate::replay::Replay;
use crate::texture::{self, Texture, View};
use glow::HasContext;
use rhizo_rhi::backend::{
    BufferRef, DeviceBackend, Native, NativeComputePipeline, NativePipelineLayout, NativeRasterPipeline, NativeTable,
    NativeView, ObjectKind, ObjectRef, OpenedDevice, RecorderBackend, TextureRef,
};
use rhizo_rhi::{
    BufferDesc, Calibration, DeviceDesc, Error, ErrorKind, Format, FormatSupport, MemoryReport, QueryKind, QueueInfo,
    QueueKind, QueueRequest, Result, SamplerDesc, ShaderArtifact, ShaderTarget, TableLayoutDesc, TextureDesc,
};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing under these locks can be left half done by a panic; a poisoned lock is still good.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[track_caller]
pub(crate) fn unsupported(what: &str, why: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{what}: {why}"))
}

/// The first GL error since the last call; later ones are dropped. A lost context reports for ever, hence the bound.
pub(crate) fn drain(gl: &glow::Context) -> Option<u32> {
    // SAFETY: the context is current on this thread.
    let next = || Some(unsafe { gl.get_error() }).filter(|code| *code != glow::NO_ERROR);
    let first = next();
    let _ = (0..32).map_while(|_| next()).count();
    first
}

/// A GL error as the contract's.
#[track_caller]
pub(crate) fn check(gl: &glow::Context, what: &str) -> Result<()> {
    let Some(code) = drain(gl) else { return Ok(()) };
    let (kind, name) = match code {
        glow::OUT_OF_MEMORY => (ErrorKind::OutOfMemory, "out of memory"),
        glow::CONTEXT_LOST => (ErrorKind::DeviceLost, "context lost"),
        glow::INVALID_ENUM => (ErrorKind::Native, "invalid enum"),
        glow::INVALID_VALUE => (ErrorKind::Native, "invalid value"),
        glow::INVALID_OPERATION => (ErrorKind::Native, "invalid operation"),
        glow::INVALID_FRAMEBUFFER_OPERATION => (ErrorKind::Native, "invalid framebuffer operation"),
        _ => (ErrorKind::Native, "unknown error"),
    };
    Err(Error::new(kind, format!("{what}: OpenGL ES reports {name} ({code:#06x})")))
}

/// What lives on the device's thread, where the context is current.
pub(crate) struct State {
    pub(crate) textures: HashMap<u64, Texture>,
    pub(crate) views: HashMap<u64, View>,
    pub(crate) tables: HashMap<u64, Rc<Table>>,
    pub(crate) functions: HashMap<u64, Function>,
    pub(crate) pipelines: HashMap<u64, Rc<Pipeline>>,
    pub(crate) replay: Replay,
    /// Submissions whose fences have not been seen signalled, oldest first.
    pub(crate) pending: VecDeque<(u64, glow::Fence)>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) debug: bool,
    next: u64,
    /// Last: everything above names objects of it.
    pub(crate) context: Context,
}

impl State {
    fn new(context: Context, debug: bool, progress: Arc<Progress>) -> Result<Self> {
        let replay = Replay::new(&context.gl)?;
        Ok(Self {
            textures: HashMap::new(),
            views: HashMap::new(),
            tables: HashMap::new(),
            functions: HashMap::new(),
            pipelines: HashMap::new(),
            replay,
            pending: VecDeque::new(),
            progress,
            debug,
            next: 0,
            context,
        })
    }

    /// A word no other object of this thread has.
    pub(crate) fn word(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Names an object in captures.
    pub(crate) fn label(&self, kind: u32, name: std::num::NonZeroU32, label: &str) {
        if self.debug && !label.is_empty() {
            // SAFETY: the context is current on this thread, has KHR_debug, and the object was just made.
            unsafe { self.context.gl.object_label(kind, name.get(), Some(shown(label))) };
        }
    }
}

/// The part of a label that is shown: drivers limit the length of names and messages (4096 bytes in Mesa).
pub(crate) fn shown(label: &str) -> &str {
    const MAX_BYTES: usize = 255;
    let end = (0..=label.len().min(MAX_BYTES)).rev().find(|end| label.is_char_boundary(*end)).unwrap_or(0);
    &label[..end]
}

/// Looks an object up; the contract says it is there, and an error beats a panic on this thread if it is not.
pub(crate) fn find<T>(map: &HashMap<u64, T>, word: u64) -> Result<&T> {
    map.get(&word).ok_or_else(|| Error::new(ErrorKind::InvalidState, "an object that was already destroyed is named"))
}

type Job = Box<dyn FnOnce(&mut State) + Send>;

/// The thread a context is current on. Dropping it ends the thread after the jobs sent so far.
pub(crate) struct Thread {
    sender: Option<mpsc::Sender<Job>>,
    handle: Option<std::thread::JoinHandle<()>>,
    pub(crate) progress: Arc<Progress>,
}

impl Thread {
    /// Makes a context on a thread of its own.
    pub(crate) fn start(messages: Option<Messages>) -> Result<(Self, Facts)> {
        let (sender, jobs) = mpsc::channel::<Job>();
        let (answer, answered) = mpsc::sync_channel(1);
        let progress = Arc::new(Progress::default());
        let own = progress.clone();
        let body = move || {
            let _end = own.end_guard();
            let made = Context::new(messages).and_then(|context| {
                let facts = instance::facts(&context)?;
                Ok((State::new(context, facts.debug, own.clone())?, facts))
            });
            match made {
                Ok((mut state, facts)) => {
                    let _ = answer.send(Ok(facts)); // the other end waits
                    run(&mut state, &jobs);
                }
                Err(error) => drop(answer.send(Err(error))),
            }
        };
        let handle = std::thread::Builder::new().name("rhizo-gles".into()).spawn(body);
        let handle = handle.map_err(|e| Error::new(ErrorKind::Unavailable, "a thread for OpenGL ES").because(e))?;
        let thread = Self { sender: Some(sender), handle: Some(handle), progress };
        let facts = answered.recv().map_err(|_| thread.lost())??;
        Ok((thread, facts))
    }

    fn lost(&self) -> Error {
        Error::new(ErrorKind::DeviceLost, "the thread of the OpenGL ES context has ended")
    }

    /// Runs a job there some time after those sent before.
    pub(crate) fn send(&self, job: impl FnOnce(&mut State) + Send + 'static) -> Result<()> {
        let sender = self.sender.as_ref().ok_or_else(|| self.lost())?;
        sender.send(Box::new(job)).map_err(|_| self.lost())
    }

    /// Runs a job there and waits for its answer.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut State) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.send(move |state| drop(answer.send(job(state))))?;
        answered.recv().map_err(|_| self.lost())?
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(handle) = self.handle.take() {
            let _ = handle.join(); // a panic there was already reported as a loss
        }
    }
}

/// Takes jobs; in between, watches the fences of submissions.
fn run(state: &mut State, jobs: &mpsc::Receiver<Job>) {
    loop {
        let job = if state.pending.is_empty() {
            jobs.recv().map_err(|_| TryRecvError::Disconnected)
        } else {
            jobs.try_recv()
        };
        match job {
            Ok(job) => {
                job(state);
                state.poll(0);
            }
            // Short, so that a job that comes meanwhile waits at most this long.
            Err(TryRecvError::Empty) => state.poll(500_000),
            Err(TryRecvError::Disconnected) => return,
        }
    }
}

/// Opens a device over a thread.
pub(crate) fn open(thread: Thread, facts: Facts, desc: &DeviceDesc<'_>) -> Result<OpenedDevice> {
    if desc.queues.unwrap_or(QueueRequest::ONE).graphics == 0 {
        return Err(
            unsupported("a device without a graphics queue", "OpenGL ES has one queue, for graphics").on(desc.label)
        );
    }
    let thread = Arc::new(thread);
    let lists = Arc::new(Lists::default());
    let info = QueueInfo { kind: QueueKind::Graphics, index: 0, family: 0, timestamp_bits: 0, shared_with: None };
    let queue = GlesQueue::new(thread.clone(), lists.clone());
    let (limits, capabilities) = (facts.limits, crate::adapter::capabilities(&facts));
    let device = GlesDevice { thread, facts, lists, used_bytes: AtomicU64::new(0), blocks: AtomicU32::new(0) };
    Ok(OpenedDevice { device: Box::new(device), queues: vec![(info, Box::new(queue))], limits, capabilities })
}

/// The device. Its state lives on the thread; this end sends jobs.
pub(crate) struct GlesDevice {
    thread: Arc<Thread>,
    facts: Facts,
    lists: Arc<Lists>,
    used_bytes: AtomicU64,
    blocks: AtomicU32,
}

impl GlesDevice {
    /// Counts memory asked for; [`Native::aux`] keeps the size for the way back.
    fn counted(&self, native: Native) -> Native {
        self.used_bytes.fetch_add(native.aux, Ordering::Relaxed);
        self.blocks.fetch_add(1, Ordering::Relaxed);
        native
    }
}

const ONE_QUEUE: &str = "OpenGL ES has one queue, which runs submissions in order; wait for a submission index instead";

impl DeviceBackend for GlesDevice {
    fn shader_target(&self) -> ShaderTarget {
        ShaderTarget::GlslEs { version: 300 }
    }

    fn format_support(&self, format: Format) -> FormatSupport {
        self.facts.format(format)
    }

    fn create_buffer(&self, desc: &BufferDesc<'_>) -> Result<Native> {
        buffer::refuse(desc)?;
        let (label, size, usage, storage) = (desc.label.to_owned(), desc.size_bytes, desc.usage, desc.storage);
        let made = self.thread.call(move |state| buffer::create(state, &label, size, usage, storage))?;
        Ok(self.counted(made))
    }

    fn write_buffer(&self, buffer: BufferRef, offset: u64, data: &[u8]) -> Result<()> {
        let data = data.to_vec();
        self.thread.send(move |state| {
            let written = buffer::write(state, buffer.word, offset, &data);
            state.progress.report(written);
        })
    }

    fn read_buffer(&self, buffer: BufferRef, offset: u64, into: &mut [u8]) -> Result<()> {
        let size = into.len();
        let data = self.thread.call(move |state| buffer::read(state, buffer.word, offset, size))?;
        into.copy_from_slice(&data);
        Ok(())
    }

    fn create_texture(&self, desc: &TextureDesc<'_>) -> Result<Native> {
        let texture = texture::plan(desc, self.facts.readable(desc.format))?;
        let label = desc.label.to_owned();
        let made = self.thread.call(move |state| texture::create(state, &label, texture))?;
        Ok(self.counted(made))
    }

    fn create_view(&self, texture: TextureRef, desc: &NativeView<'_>) -> Result<Native> {
        let view = texture::plan_view(texture, desc)?;
        self.thread.call(move |state| texture::create_view(state, texture.word, view))
    }

    fn create_sampler(&self, desc: &SamplerDesc<'_>) -> Result<Native> {
        crate::binding::refuse_sampler(desc)?;
        let label = desc.label.to_owned();
        let desc = SamplerDesc { label: "", ..*desc };
        self.thread.call(move |state| crate::binding::create_sampler(state, &label, &desc))
    }

    fn create_table_layout(&self, desc: &TableLayoutDesc<'_>) -> Result<Native> {
        crate::binding::refuse_layout(desc)?;
        Ok(Native::default()) // tables carry what binding needs
    }

    fn create_pipeline_layout(&self, _desc: &NativePipelineLayout<'_>) -> Result<Native> {
        Ok(Native::default()) // units and blocks are numbered per program
    }

    fn create_table(&self, desc: &NativeTable<'_>) -> Result<Native> {
        let (table, label) = (Table::new(desc.writes), desc.label.to_owned());
        self.thread.call(move |state| {
            let views = table.views().map(|word| find(&state.views, word).copied()).collect::<Result<Vec<_>>>()?;
            texture::check_together(&views).map_err(|e| e.on(label))?;
            let word = state.word();
            state.tables.insert(word, Rc::new(table));
            Ok(Native { word, aux: 0 })
        })
    }

    fn create_function(&self, artifact: &ShaderArtifact) -> Result<Native> {
        let plan = pipeline::plan_function(artifact)?;
        self.thread.call(move |state| pipeline::create_function(state, plan))
    }

    fn create_raster_pipeline(&self, desc: &NativeRasterPipeline<'_>) -> Result<Native> {
        let plan = pipeline::plan(desc, &self.facts)?;
        self.thread.call(move |state| pipeline::create(state, plan))
    }

    fn create_compute_pipeline(&self, desc: &NativeComputePipeline<'_>) -> Result<Native> {
        let why = "compute shaders need OpenGL ES 3.1; this backend targets WebGL 2's level (ES 3.0)";
        Err(Error::new(ErrorKind::Unsupported, why).on(desc.label))
    }

    fn create_pipeline_cache(&self, _initial: &[u8]) -> Result<Native> {
        Err(unsupported("a pipeline cache", "OpenGL ES and WebGL 2 have none that is portable"))
    }

    fn pipeline_cache_data(&self, _cache: ObjectRef) -> Result<Vec<u8>> {
        Err(unsupported("a pipeline cache", "OpenGL ES and WebGL 2 have none that is portable"))
    }

    fn pipeline_cache_key(&self) -> Vec<u8> {
        format!("{}, {}", self.facts.info.name, self.facts.info.driver).into_bytes()
    }

    fn create_query_set(&self, kind: QueryKind, _count: u32, label: &str) -> Result<Native> {
        let why = match kind {
            QueryKind::Timestamp => "OpenGL ES 3.0 has no timestamps",
            QueryKind::Occlusion => {
                "OpenGL ES 3.0 tells only whether any sample passed, and the backend does not translate that yet"
            }
            QueryKind::Statistics(_) => "OpenGL ES 3.0 counts none of them",
        };
        Err(unsupported(&format!("queries of kind {kind:?}"), why).on(label))
    }

    fn query_results(&self, _set: ObjectRef, _first: u32, _count: u32, _into: &mut [u64]) -> Result<bool> {
        Err(unsupported("query results", "no query set can be made"))
    }

    fn create_semaphore(&self, timeline: Option<u64>, label: &str) -> Result<Native> {
        match timeline {
            // One queue in order: a signal has happened before any later submission waits for it.
            None => Ok(Native::default()),
            Some(_) => Err(unsupported("a timeline semaphore", ONE_QUEUE).on(label)),
        }
    }

    fn semaphore_value(&self, _semaphore: ObjectRef) -> Result<u64> {
        Err(unsupported("a timeline semaphore", ONE_QUEUE))
    }

    fn signal_semaphore(&self, _semaphore: ObjectRef, _value: u64) -> Result<()> {
        Err(unsupported("a timeline semaphore", ONE_QUEUE))
    }

    fn wait_semaphore(&self, _semaphore: ObjectRef, _value: u64, _timeout_ns: u64) -> Result<bool> {
        Err(unsupported("a timeline semaphore", ONE_QUEUE))
    }

    fn create_recorder(&self, _queue: u32) -> Result<Box<dyn RecorderBackend>> {
        Ok(Box::new(GlesRecorder::new(self.lists.clone(), self.facts.version)))
    }

    unsafe fn destroy(&self, kind: ObjectKind, native: Native) {
        if matches!(kind, ObjectKind::Buffer | ObjectKind::Texture) {
            self.used_bytes.fetch_sub(native.aux, Ordering::Relaxed);
            self.blocks.fetch_sub(1, Ordering::Relaxed);
        }
        // A thread that has ended took its objects along.
        let _ = self.thread.send(move |state| destroy(state, kind, native.word));
    }

    fn wait_idle(&self) -> Result<()> {
        self.thread.call(|state| {
            // SAFETY: the context is current on this thread.
            unsafe { state.context.gl.finish() };
            state.poll(0);
            // An error here is that of an earlier call, and no reason to call the wait failed.
            state.progress.report(check(&state.context.gl, "before waiting until idle"));
            state.progress.check_alive()
        })
    }

    fn calibrate(&self, _queue: u32) -> Result<Calibration> {
        Err(unsupported("clock calibration", "OpenGL ES 3.0 has no GPU clock"))
    }

    fn memory_report(&self) -> MemoryReport {
        let used = self.used_bytes.load(Ordering::Relaxed);
        MemoryReport { reserved_bytes: used, used_bytes: used, blocks: self.blocks.load(Ordering::Relaxed) }
    }

    fn take_errors(&self) -> Vec<Error> {
        self.thread.progress.take_errors()
    }

    fn toggle_capture(&self, _start: bool) -> Result<()> {
        Err(Error::new(ErrorKind::Unavailable, "no capture tool is driven by the OpenGL ES backend yet"))
    }
}

fn destroy(state: &mut State, kind: ObjectKind, word: u64) {
    let gl = &state.context.gl;
    match kind {
        ObjectKind::Buffer => buffer::destroy(gl, word),
        ObjectKind::Texture => {
            if let Some(texture) = state.textures.remove(&word) {
                texture::destroy(gl, &texture);
            }
        }
        ObjectKind::TextureView => drop(state.views.remove(&word)),
        ObjectKind::Sampler => crate::binding::destroy_sampler(gl, word),
        ObjectKind::Table => drop(state.tables.remove(&word)),
        ObjectKind::Function => {
            if let Some(function) = state.functions.remove(&word) {
                pipeline::destroy_function(gl, &function);
            }
        }
        ObjectKind::RasterPipeline => {
            if let Some(pipeline) = state.pipelines.remove(&word) {
                pipeline::destroy(gl, &pipeline);
            }
        }
        ObjectKind::TableLayout
        | ObjectKind::PipelineLayout
        | ObjectKind::ComputePipeline
        | ObjectKind::PipelineCache
        | ObjectKind::QuerySet
        | ObjectKind::Semaphore
        | ObjectKind::Fence => {} // nothing native was made
    }
}

/// Whether a format has numbers here at all; a reason for messages otherwise.
pub(crate) fn translated(format: Format) -> Result<convert::GlFormat> {
    convert::format(format)
        .ok_or_else(|| unsupported(format.name(), "OpenGL ES 3.0 has no such format, or not yet here"))
}
