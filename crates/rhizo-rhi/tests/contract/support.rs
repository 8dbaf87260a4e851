//! What the tests share: a null device that must end clean, and short ways to make objects.

use rhizo_rhi::null::{self, NullConfig, NullControl, Policy};
use rhizo_rhi::*;

/// Fails the test unless everything ended freed, once and in order.
struct EndsClean {
    control: NullControl,
    leaks: bool,
}

impl Drop for EndsClean {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        assert_eq!(self.control.violations(), Vec::<String>::new());
        for device in (0..self.control.devices_opened()).map(|i| self.control.device(i)) {
            if !self.leaks {
                assert_eq!(device.live(), [], "live when the device is gone");
                assert_eq!(device.live_recorders(), 0, "recorders when the device is gone");
            }
        }
    }
}

/// A null device with one queue of each kind, its graphics queue and a pool for it.
pub struct Rig {
    pub control: NullControl,
    pub instance: Instance,
    pub device: Device,
    pub queue: Queue,
    // Last, so that it is dropped after all of the above.
    end: EndsClean,
}

impl Rig {
    pub fn new() -> Self {
        Self::with(NullConfig::default())
    }

    pub fn manual() -> Self {
        Self::with(NullConfig { policy: Policy::Manual, ..NullConfig::default() })
    }

    pub fn with(config: NullConfig) -> Self {
        let (instance, control) = null::instance_with_control(config);
        let device = instance.open(0, &DeviceDesc { label: "device", queues: None }).unwrap();
        let queue = device.queue(QueueKind::Graphics, 0).unwrap();
        let end = EndsClean { control: control.clone(), leaks: false };
        Self { control, instance, device, queue, end }
    }

    /// The test forgets something on purpose.
    pub fn expect_leaks(&mut self) {
        self.end.leaks = true;
    }

    pub fn queue(&self, kind: QueueKind) -> Queue {
        self.device.queue(kind, 0).unwrap()
    }

    pub fn record_on(&self, queue: &Queue, commands: impl FnOnce(&mut Recorder<'_>)) -> Result<CommandBuffer> {
        let mut pool = queue.create_pool();
        let mut recorder = pool.begin("commands")?;
        commands(&mut recorder);
        recorder.finish()
    }

    pub fn record(&self, commands: impl FnOnce(&mut Recorder<'_>)) -> Result<CommandBuffer> {
        self.record_on(&self.queue, commands)
    }

    pub fn empty(&self) -> CommandBuffer {
        self.record(|_| {}).unwrap()
    }

    pub fn buffer(&self, label: &str, size_bytes: u64, usage: BufferUsage) -> Buffer {
        self.stored(label, size_bytes, usage, StorageMode::DeviceLocal)
    }

    pub fn stored(&self, label: &str, size_bytes: u64, usage: BufferUsage, storage: StorageMode) -> Buffer {
        self.device.create_buffer(&BufferDesc { label, size_bytes, usage, storage }).unwrap()
    }

    pub fn texture(&self, desc: &TextureDesc<'_>) -> Texture {
        self.device.create_texture(desc).unwrap()
    }

    pub fn target(&self, label: &str) -> Texture {
        let usage = TextureUsage::COLOR_TARGET | COPIES | TextureUsage::SHADER_READ;
        self.texture(&TextureDesc { label, extent: Extent::d2(4, 4), usage, ..TextureDesc::default() })
    }

    pub fn depth(&self, label: &str) -> Texture {
        let format = Format::Depth32FloatStencil8;
        let usage = TextureUsage::DEPTH_STENCIL_TARGET | COPIES;
        self.texture(&TextureDesc { label, format, extent: Extent::d2(4, 4), usage, ..TextureDesc::default() })
    }

    pub fn function(&self, stage: ShaderStage, interface: ShaderInterface) -> Function {
        self.device.create_function(&artifact(stage, interface)).unwrap()
    }

    /// A pipeline for [`Rig::target`] without inputs.
    pub fn raster(&self, vertex: ShaderInterface, buffers: &[VertexBufferLayout<'_>]) -> RasterPipeline {
        let vertex = self.function(ShaderStage::Vertex, vertex);
        let fragment = self.function(ShaderStage::Fragment, writes_color());
        self.device.create_raster_pipeline(&RasterPipelineDesc { buffers, ..plain(&vertex, &fragment) }).unwrap()
    }

    /// A compute pipeline of 64 threads with one storage buffer in table 0 and 16 bytes of push constants.
    pub fn compute(&self) -> ComputePipeline {
        let function = self.function(ShaderStage::Compute, storage_interface());
        let desc = ComputePipelineDesc {
            label: "compute",
            layout: None,
            function: &function,
            group_size: [64, 1, 1],
            cache: None,
        };
        self.device.create_compute_pipeline(&desc).unwrap()
    }

    /// A table for [`Rig::compute`].
    pub fn table(&self, pipeline: &ComputePipeline, buffer: &Buffer) -> BindingTable {
        let view = buffer.write_view(BufferRange::WHOLE).unwrap();
        let writes = [TableWrite::new(0, Binding::BufferWrite(&view))];
        let layout = pipeline.layout().table(0).unwrap();
        self.device.create_table(&TableDesc { label: "table", layout, writes: &writes }).unwrap()
    }

    pub fn binary(&self, label: &str) -> Semaphore {
        self.device.create_semaphore(label, SemaphoreKind::Binary).unwrap()
    }

    pub fn timeline(&self, label: &str, initial: u64) -> Semaphore {
        self.device.create_semaphore(label, SemaphoreKind::Timeline { initial }).unwrap()
    }

    pub fn queries(&self, kind: QueryKind, count: u32) -> QuerySet {
        self.device.create_query_set("queries", kind, count).unwrap()
    }
}

pub const COPIES: TextureUsage = TextureUsage::COPY_SOURCE.union(TextureUsage::COPY_DESTINATION);
pub const BUFFER_COPIES: BufferUsage = BufferUsage::COPY_SOURCE.union(BufferUsage::COPY_DESTINATION);

pub fn artifact(stage: ShaderStage, interface: ShaderInterface) -> ShaderArtifact {
    // SAFETY: the null device never looks at the payload.
    unsafe { ShaderArtifact::from_validated(stage.name(), "main", stage, ShaderPayload::Spirv(vec![0]), interface) }
}

pub fn variable(location: u32, scalar: ScalarClass) -> ShaderVariable {
    ShaderVariable { location, name: format!("v{location}"), scalar, components: 4 }
}

pub fn writes_color() -> ShaderInterface {
    ShaderInterface { outputs: vec![variable(0, ScalarClass::Float)], ..ShaderInterface::default() }
}

pub fn storage_binding() -> ShaderBinding {
    ShaderBinding { group: 0, slot: 0, name: "data".into(), kind: BindingKind::BufferWrite, count: 1, min_size: 16 }
}

pub fn storage_interface() -> ShaderInterface {
    ShaderInterface {
        bindings: vec![storage_binding()],
        push_constant_size: 16,
        group_size: [64, 1, 1],
        ..ShaderInterface::default()
    }
}

pub const COLOR: &[Option<Format>] = &[Some(Format::Rgba8Unorm)];

pub fn plain<'a>(vertex: &'a Function, fragment: &'a Function) -> RasterPipelineDesc<'a> {
    RasterPipelineDesc {
        label: "raster",
        layout: None,
        vertex,
        fragment: Some(fragment),
        buffers: &[],
        state: RenderState::default(),
        targets: AttachmentFormats { colors: COLOR, ..AttachmentFormats::default() },
        cache: None,
    }
}

pub fn color_view(texture: &Texture) -> ColorTargetView {
    texture.color_target_view(TextureRange::mip(0)).unwrap()
}

pub fn color(view: &ColorTargetView) -> Option<ColorAttachment<'_>> {
    Some(ColorAttachment { view, load: LoadOp::Clear([1.0, 0.0, 0.0, 1.0]), store: StoreOp::Store, resolve: None })
}

/// Runs `commands` in a raster pass over the view.
pub fn in_pass(recorder: &mut Recorder<'_>, view: &ColorTargetView, commands: impl FnOnce(&mut RasterPass<'_>)) {
    let colors = [color(view)];
    commands(&mut recorder.raster_pass(&RasterPassDesc { label: "main", colors: &colors, ..Default::default() }));
}

pub fn signal(semaphore: &Semaphore, value: u64) -> SemaphoreSignal<'_> {
    SemaphoreSignal { semaphore, value, reservation: None }
}

pub fn wait(semaphore: &Semaphore, value: u64) -> SemaphoreWait<'_> {
    SemaphoreWait { semaphore, value, stages: Stages::ALL, reservation: None }
}

pub fn after(submission: SubmissionIndex) -> SubmissionWait {
    SubmissionWait { submission, stages: Stages::ALL }
}

/// The clause that a result breaks.
#[track_caller]
pub fn broken<T: std::fmt::Debug>(result: Result<T>) -> &'static str {
    let error = result.expect_err("the call must be refused");
    error.clause_id().unwrap_or_else(|| panic!("no clause: {error}"))
}
