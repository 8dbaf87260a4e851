//! A steady frame (record, submit, drop) allocates nothing on the heap.
//!
//! Alone in its program, because it replaces the allocator. The allocations of the thread that records are counted: the
//! test runner's own thread allocates at times of its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rhizo_rhi::null::{self, NullConfig, Policy};
use rhizo_rhi::*;
use std::alloc::{GlobalAlloc, Layout as MemoryLayout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    // Constant and without a destructor: reaching it allocates nothing, at any time of a thread's life.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches no memory it hands out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: MemoryLayout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: MemoryLayout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and `memory` came from `System`.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: MemoryLayout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `realloc`, and `memory` came from `System`.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What a frame uses, made once.
struct Scene {
    device: Device,
    queue: Queue,
    upload: Buffer,
    data: Buffer,
    target: Texture,
    view: ColorTargetView,
    raster: RasterPipeline,
    compute: ComputePipeline,
    table: BindingTable,
    vertices: VertexBufferView,
    indices: IndexBufferView,
    timestamps: QuerySet,
    timeline: Semaphore,
    fence: Fence,
}

fn function(device: &Device, stage: ShaderStage, interface: ShaderInterface) -> Function {
    let payload = ShaderPayload::Spirv(vec![0]);
    // SAFETY: the null device never looks at the payload.
    let artifact = unsafe { ShaderArtifact::from_validated("f", "main", stage, payload, interface) };
    device.create_function(&artifact).unwrap()
}

fn pipelines(device: &Device) -> (RasterPipeline, ComputePipeline) {
    let variable =
        |name: &str| ShaderVariable { location: 0, name: name.into(), scalar: ScalarClass::Float, components: 4 };
    let inputs =
        ShaderInterface { inputs: vec![variable("position")], push_constant_size: 16, ..ShaderInterface::default() };
    let outputs = ShaderInterface { outputs: vec![variable("color")], ..ShaderInterface::default() };
    let (vertex, fragment) =
        (function(device, ShaderStage::Vertex, inputs), function(device, ShaderStage::Fragment, outputs));
    let attribute = VertexAttribute { location: 0, offset: 0, format: VertexFormat::Float32x4 };
    let raster = RasterPipelineDesc {
        label: "raster",
        layout: None,
        vertex: &vertex,
        fragment: Some(&fragment),
        buffers: &[VertexBufferLayout { stride: 16, step: VertexStep::Vertex, attributes: &[attribute] }],
        state: RenderState::default(),
        targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
        cache: None,
    };
    let kind = BindingKind::BufferWrite;
    let binding = ShaderBinding { group: 0, slot: 0, name: "data".into(), kind, count: 1, min_size: 16 };
    let interface = ShaderInterface { bindings: vec![binding], group_size: [64, 1, 1], ..ShaderInterface::default() };
    let kernel = function(device, ShaderStage::Compute, interface);
    let compute =
        ComputePipelineDesc { label: "c", layout: None, function: &kernel, group_size: [64, 1, 1], cache: None };
    (device.create_raster_pipeline(&raster).unwrap(), device.create_compute_pipeline(&compute).unwrap())
}

impl Scene {
    fn new(policy: Policy) -> Self {
        let instance = null::instance(NullConfig { policy, log: false, ..NullConfig::default() });
        let device = instance.open(0, &DeviceDesc::default()).unwrap();
        let buffer = |usage, storage| {
            device.create_buffer(&BufferDesc { label: "buffer", size_bytes: 4096, usage, storage }).unwrap()
        };
        let (raster, compute) = pipelines(&device);
        let data = buffer(BufferUsage::all(), StorageMode::DeviceLocal);
        let view = data.write_view(BufferRange::WHOLE).unwrap();
        let layout = compute.layout().table(0).unwrap();
        let writes = [TableWrite::new(0, Binding::BufferWrite(&view))];
        let table = device.create_table(&TableDesc { label: "table", layout, writes: &writes }).unwrap();
        let usage = TextureUsage::COLOR_TARGET | TextureUsage::COPY_DESTINATION;
        let target =
            device.create_texture(&TextureDesc { extent: Extent::d2(8, 8), usage, ..TextureDesc::default() }).unwrap();
        Self {
            queue: device.queue(QueueKind::Graphics, 0).unwrap(),
            upload: buffer(BufferUsage::COPY_SOURCE, StorageMode::Upload),
            view: target.color_target_view(TextureRange::mip(0)).unwrap(),
            target,
            raster,
            compute,
            table,
            vertices: data.vertex_view(BufferRange::WHOLE).unwrap(),
            indices: data.index_view(BufferRange::WHOLE, IndexFormat::U16).unwrap(),
            data,
            timestamps: device.create_query_set("t", QueryKind::Timestamp, 2).unwrap(),
            timeline: device.create_semaphore("timeline", SemaphoreKind::Timeline { initial: 0 }).unwrap(),
            fence: device.create_fence("fence"),
            device,
        }
    }

    fn record(&self, recorder: &mut Recorder<'_>) {
        recorder.push_group("FrameRendering");
        {
            let mut pass = recorder.transfer_pass("upload");
            let copy = BufferCopy { source_offset: 0, destination_offset: 0, size: 4096 };
            pass.copy_buffer(&self.upload, &self.data, &[copy]);
            pass.clear_color(&self.target, TextureRange::WHOLE, [0.0; 4]);
        }
        let before = Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE);
        let after = Scope::new(Stages::COMPUTE, Access::SHADER_WRITE);
        recorder.barriers(&Barriers { global: &[GlobalBarrier { before, after }], ..Barriers::default() });
        {
            let timestamps = Some(PassTimestamps { set: &self.timestamps, begin: Some(0), end: Some(1) });
            let mut pass = recorder.compute_pass(&ComputePassDesc { label: "simulate", timestamps });
            let mut bound = pass.bind(&self.compute);
            bound.set_tables(0, &[&self.table], &[]);
            bound.dispatch([4, 1, 1]);
        }
        let load = LoadOp::Clear([0.0; 4]);
        let colors = [Some(ColorAttachment { view: &self.view, load, store: StoreOp::Store, resolve: None })];
        {
            let desc = RasterPassDesc { label: "main", colors: &colors, ..RasterPassDesc::default() };
            let mut pass = recorder.raster_pass(&desc);
            let mut bound = pass.bind(&self.raster);
            bound.set_vertex_buffer(0, &self.vertices);
            bound.set_index_buffer(&self.indices);
            for i in 0..100_u32 {
                bound.push_constants(0, &[i as u8; 16]);
                bound.draw_indexed(3, 1, 0, 0, i);
            }
        }
        recorder.pop_group();
    }

    fn frame(&self, pool: &mut CommandPool, number: u64) {
        self.upload.write(0, &number.to_le_bytes()).unwrap();
        let mut recorder = pool.begin("frame").unwrap();
        self.record(&mut recorder);
        let commands = recorder.finish().unwrap();
        let signals = [SemaphoreSignal { semaphore: &self.timeline, value: number, reservation: None }];
        let fence = Some(&self.fence);
        let submission = Submission { commands: &[&commands], signals: &signals, fence, ..Submission::default() };
        self.queue.submit(&submission).unwrap();
        drop(commands);
        assert_eq!(self.fence.wait(u64::MAX).unwrap(), FenceWait::Signaled);
        self.fence.reset().unwrap();
        self.device.collect();
    }
}

#[test]
fn a_steady_frame_allocates_nothing() {
    for policy in [Policy::Immediate, Policy::Fifo, Policy::Manual] {
        let scene = Scene::new(policy);
        let mut pool = scene.queue.create_pool();
        (1..=8).for_each(|number| scene.frame(&mut pool, number));
        let before = ALLOCATIONS.get();
        drop(std::hint::black_box(Box::new(0_u8)));
        let control = ALLOCATIONS.get() - before;
        assert_eq!(control, 1, "the counter counts");
        let before = ALLOCATIONS.get();
        (9..=108).for_each(|number| scene.frame(&mut pool, number));
        let allocations = ALLOCATIONS.get() - before;
        assert_eq!(allocations, 0, "in 100 frames, {policy:?}");
    }
}
