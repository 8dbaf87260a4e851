//! RHZ-DEVICE: every object and every call refuses another device's objects and an earlier generation's.

use crate::support::*;
use rhizo_rhi::*;

/// One call with objects of `theirs` on the device of `own`.
type Call = fn(own: &Rig, theirs: &Things) -> Result<()>;

/// One object of every kind.
struct Things {
    buffer: Buffer,
    upload: Buffer,
    texture: Texture,
    target: ColorTargetView,
    depth: DepthStencilTargetView,
    read: TextureReadView,
    write: TextureWriteView,
    sampler: Sampler,
    table_layout: TableLayout,
    pipeline_layout: PipelineLayout,
    compute: ComputePipeline,
    table: BindingTable,
    raster: RasterPipeline,
    vertex: Function,
    kernel: Function,
    cache: PipelineCache,
    timestamps: QuerySet,
    occlusion: QuerySet,
    binary: Semaphore,
    fence: Fence,
    commands: CommandBuffer,
    submission: SubmissionIndex,
    queue: Queue,
}

const ALL_BUFFER: BufferUsage = BufferUsage::all();

impl Things {
    fn new(rig: &Rig) -> Self {
        let buffer = rig.buffer("buffer", 1024, ALL_BUFFER);
        let usage = TextureUsage::all().difference(TextureUsage::DEPTH_STENCIL_TARGET);
        let texture =
            rig.texture(&TextureDesc { label: "texture", extent: Extent::d2(4, 4), usage, ..Default::default() });
        let compute = rig.compute();
        let table_layout = compute.layout().table(0).unwrap().clone();
        let interface = ShaderInterface { push_constant_size: 16, group_size: [64, 1, 1], ..Default::default() };
        Self {
            upload: rig.stored("upload", 64, BufferUsage::COPY_SOURCE, StorageMode::Upload),
            target: color_view(&texture),
            depth: rig.depth("depth").depth_stencil_target_view(TextureRange::mip(0)).unwrap(),
            read: texture.read_view(&ViewDesc::default()).unwrap(),
            write: texture.write_view(&ViewDesc::default()).unwrap(),
            texture,
            sampler: rig.device.create_sampler(&SamplerDesc { label: "sampler", ..Default::default() }).unwrap(),
            pipeline_layout: compute.layout().clone(),
            table: rig.table(&compute, &buffer),
            buffer,
            table_layout,
            compute,
            raster: rig.raster(ShaderInterface::default(), &[]),
            vertex: rig.function(ShaderStage::Vertex, ShaderInterface::default()),
            kernel: rig.function(ShaderStage::Compute, interface),
            cache: rig.device.create_pipeline_cache("cache", &[]).unwrap().0,
            timestamps: rig.queries(QueryKind::Timestamp, 2),
            occlusion: rig.queries(QueryKind::Occlusion, 2),
            binary: rig.binary("binary"),
            fence: rig.device.create_fence("fence"),
            commands: rig.empty(),
            submission: rig.queue.submit_commands(&[&rig.empty()]).unwrap(),
            queue: rig.queue.clone(),
        }
    }
}

fn recorded(own: &Rig, commands: impl FnOnce(&mut Recorder<'_>)) -> Result<()> {
    own.record(commands).map(|_| ())
}

fn copy(own: &Rig, commands: impl FnOnce(&mut TransferPass<'_>)) -> Result<()> {
    recorded(own, |r| commands(&mut r.transfer_pass("copies")))
}

fn draw(own: &Rig, commands: impl FnOnce(&mut BoundRaster<'_>)) -> Result<()> {
    let (target, pipeline) = (own.target("own"), own.raster(ShaderInterface::default(), &[]));
    let view = color_view(&target);
    recorded(own, |r| in_pass(r, &view, |pass| commands(&mut pass.bind(&pipeline))))
}

fn region() -> BufferTextureCopy {
    BufferTextureCopy {
        buffer_offset: 0,
        row_pitch: 0,
        rows_per_slice: 0,
        layers: TextureLayers::mip(0),
        origin: [0; 3],
        extent: Extent::d2(1, 1),
    }
}

fn texel() -> TextureCopy {
    TextureCopy {
        source: TextureLayers::mip(0),
        source_origin: [0; 3],
        destination: TextureLayers::mip(0),
        destination_origin: [0; 3],
        extent: Extent::d2(1, 1),
    }
}

const BYTES: BufferCopy = BufferCopy { source_offset: 0, destination_offset: 0, size: 4 };
const BLIT: TextureBlit = TextureBlit {
    source: TextureLayers::mip(0),
    source_box: [[0; 3], [1; 3]],
    destination: TextureLayers::mip(0),
    destination_box: [[0; 3], [1; 3]],
};

const TRANSFERS: &[(&str, Call)] = &[
    ("copy_buffer source", |own, t| {
        let to = own.buffer("to", 64, BUFFER_COPIES);
        copy(own, |p| p.copy_buffer(&t.upload, &to, &[BYTES]))
    }),
    ("copy_buffer destination", |own, t| {
        let from = own.buffer("from", 64, BUFFER_COPIES);
        copy(own, |p| p.copy_buffer(&from, &t.buffer, &[BYTES]))
    }),
    ("copy_buffer_to_texture source", |own, t| {
        copy(own, |p| p.copy_buffer_to_texture(&t.buffer, &own.target("own"), &[region()]))
    }),
    ("copy_buffer_to_texture destination", |own, t| {
        copy(own, |p| p.copy_buffer_to_texture(&own.buffer("own", 64, BUFFER_COPIES), &t.texture, &[region()]))
    }),
    ("copy_texture_to_buffer source", |own, t| {
        copy(own, |p| p.copy_texture_to_buffer(&t.texture, &own.buffer("own", 64, BUFFER_COPIES), &[region()]))
    }),
    ("copy_texture_to_buffer destination", |own, t| {
        copy(own, |p| p.copy_texture_to_buffer(&own.target("own"), &t.buffer, &[region()]))
    }),
    ("copy_texture source", |own, t| copy(own, |p| p.copy_texture(&t.texture, &own.target("own"), &[texel()]))),
    ("copy_texture destination", |own, t| copy(own, |p| p.copy_texture(&own.target("own"), &t.texture, &[texel()]))),
    ("copy_whole", |own, t| copy(own, |p| p.copy_whole(&t.texture, &own.target("own")))),
    ("blit source", |own, t| copy(own, |p| p.blit(&t.texture, &own.target("o"), &[BLIT], BlitFilter::Nearest))),
    ("blit destination", |own, t| copy(own, |p| p.blit(&own.target("o"), &t.texture, &[BLIT], BlitFilter::Nearest))),
    ("generate_mips", |own, t| {
        copy(own, |p| p.generate_mips(&t.texture, (Scope::NONE, Layout::Undefined), Scope::NONE))
    }),
    ("resolve source", |own, t| copy(own, |p| p.resolve(&t.texture, &own.target("own"), &[texel()]))),
    ("resolve destination", |own, t| copy(own, |p| p.resolve(&own.target("own"), &t.texture, &[texel()]))),
    ("fill_buffer", |own, t| copy(own, |p| p.fill_buffer(&t.buffer, BufferRange::WHOLE, 0))),
    ("clear_color", |own, t| copy(own, |p| p.clear_color(&t.texture, TextureRange::WHOLE, [0.0; 4]))),
    ("resolve_queries set", |own, t| {
        copy(own, |p| p.resolve_queries(&t.timestamps, 0, 1, &own.buffer("own", 64, ALL_BUFFER), 0))
    }),
    ("resolve_queries destination", |own, t| {
        copy(own, |p| p.resolve_queries(&own.queries(QueryKind::Timestamp, 1), 0, 1, &t.buffer, 0))
    }),
    ("buffer barrier", |own, t| {
        let (range, before, after) = (BufferRange::WHOLE, Scope::NONE, Scope::NONE);
        let barrier = BufferBarrier { buffer: &t.buffer, range, before, after, queues: None };
        recorded(own, |r| r.barriers(&Barriers { buffers: &[barrier], ..Barriers::default() }))
    }),
    ("texture barrier", |own, t| {
        let barrier = TextureBarrier {
            texture: &t.texture,
            range: TextureRange::WHOLE,
            before: Scope::NONE,
            before_layout: Layout::Undefined,
            after: Scope::NONE,
            after_layout: Layout::General,
            queues: None,
        };
        recorded(own, |r| r.barriers(&Barriers { textures: &[barrier], ..Barriers::default() }))
    }),
];

const PASSES: &[(&str, Call)] = &[
    ("write_timestamp", |own, t| recorded(own, |r| r.write_timestamp(&t.timestamps, 0))),
    ("begin_statistics", |own, t| recorded(own, |r| r.begin_statistics(&t.occlusion, 0))),
    ("compute pass timestamps", |own, t| {
        let timestamps = Some(PassTimestamps { set: &t.timestamps, begin: Some(0), end: None });
        recorded(own, |r| drop(r.compute_pass(&ComputePassDesc { label: "c", timestamps })))
    }),
    ("colour attachment", |own, t| recorded(own, |r| in_pass(r, &t.target, |_| {}))),
    ("resolve attachment", |own, t| {
        let desc = TextureDesc {
            samples: 4,
            extent: Extent::d2(4, 4),
            usage: TextureUsage::COLOR_TARGET,
            ..Default::default()
        };
        let view = color_view(&own.texture(&desc));
        let colors = [color(&view).map(|c| ColorAttachment { resolve: Some(&t.target), ..c })];
        recorded(own, |r| drop(r.raster_pass(&RasterPassDesc { colors: &colors, ..Default::default() })))
    }),
    ("depth-stencil attachment", |own, t| {
        let ops = DepthOps::default();
        let depth_stencil = Some(DepthStencilAttachment { view: &t.depth, depth: ops, stencil: ops });
        recorded(own, |r| drop(r.raster_pass(&RasterPassDesc { depth_stencil, ..Default::default() })))
    }),
    ("raster pass timestamps and occlusion", |own, t| {
        let target = own.target("own");
        let view = color_view(&target);
        let colors = [color(&view)];
        let occlusion = Some(&t.occlusion);
        recorded(own, |r| drop(r.raster_pass(&RasterPassDesc { colors: &colors, occlusion, ..Default::default() })))
    }),
    ("bind raster", |own, t| {
        let target = own.target("own");
        recorded(own, |r| in_pass(r, &color_view(&target), |p| _ = p.bind(&t.raster)))
    }),
    ("set_vertex_buffer", |own, t| {
        draw(own, |b| b.set_vertex_buffer(0, &t.buffer.vertex_view(BufferRange::WHOLE).unwrap()))
    }),
    ("set_index_buffer", |own, t| {
        draw(own, |b| b.set_index_buffer(&t.buffer.index_view(BufferRange::WHOLE, IndexFormat::U16).unwrap()))
    }),
    ("draw_indirect", |own, t| draw(own, |b| b.draw_indirect(&t.buffer, 0, 1, 16))),
    ("draw_indexed_indirect", |own, t| {
        let own_indices = own.buffer("own", 64, BufferUsage::INDEX);
        draw(own, |b| {
            b.set_index_buffer(&own_indices.index_view(BufferRange::WHOLE, IndexFormat::U16).unwrap());
            b.draw_indexed_indirect(&t.buffer, 0, 1, 20);
        })
    }),
    ("raster set_tables", |own, t| draw(own, |b| b.set_tables(0, &[&t.table], &[]))),
    ("bind compute", |own, t| recorded(own, |r| _ = r.compute_pass(&ComputePassDesc::default()).bind(&t.compute))),
    ("compute set_tables", |own, t| {
        let pipeline = own.compute();
        recorded(own, |r| r.compute_pass(&ComputePassDesc::default()).bind(&pipeline).set_tables(0, &[&t.table], &[]))
    }),
    ("dispatch_indirect", |own, t| {
        let pipeline = own.compute();
        let table = own.table(&pipeline, &own.buffer("own", 64, BufferUsage::SHADER_WRITE));
        recorded(own, |r| {
            let mut pass = r.compute_pass(&ComputePassDesc::default());
            let mut bound = pass.bind(&pipeline);
            bound.set_tables(0, &[&table], &[]);
            bound.dispatch_indirect(&t.buffer, 0);
        })
    }),
];

fn entry(kind: BindingKind) -> TableEntry {
    TableEntry { slot: 0, name: "x".into(), kind, stages: ShaderStages::ALL, count: 1, min_size: 0 }
}

fn table_of(own: &Rig, kind: BindingKind, binding: Binding<'_>) -> Result<()> {
    let layout = own.device.create_table_layout(&TableLayoutDesc { label: "own", entries: &[entry(kind)] }).unwrap();
    let writes = [TableWrite::new(0, binding)];
    own.device.create_table(&TableDesc { label: "own", layout: &layout, writes: &writes }).map(|_| ())
}

const SAMPLED: BindingKind =
    BindingKind::Texture { sample: SampleType::Float, dimension: ViewDimension::D2, multisampled: false };
const STORED: BindingKind =
    BindingKind::StorageTexture { format: Format::Rgba8Unorm, dimension: ViewDimension::D2, read: true, write: true };

fn compute_of(
    own: &Rig,
    layout: Option<&PipelineLayout>,
    function: &Function,
    cache: Option<&PipelineCache>,
) -> Result<()> {
    let desc = ComputePipelineDesc { label: "own", layout, function, group_size: [64, 1, 1], cache };
    own.device.create_compute_pipeline(&desc).map(|_| ())
}

const CREATIONS: &[(&str, Call)] = &[
    ("table layout of a table", |own, t| {
        own.device.create_table(&TableDesc { label: "own", layout: &t.table_layout, writes: &[] }).map(|_| ())
    }),
    ("constant buffer of a table", |own, t| {
        let view = t.buffer.constant_view(BufferRange::new(0, 256)).unwrap();
        table_of(own, BindingKind::Constant { dynamic: false }, Binding::Constant(&view))
    }),
    ("read buffer of a table", |own, t| {
        table_of(own, BindingKind::BufferRead, Binding::BufferRead(&t.buffer.read_view(BufferRange::WHOLE).unwrap()))
    }),
    ("write buffer of a table", |own, t| {
        table_of(own, BindingKind::BufferWrite, Binding::BufferWrite(&t.buffer.write_view(BufferRange::WHOLE).unwrap()))
    }),
    ("texture of a table", |own, t| table_of(own, SAMPLED, Binding::Texture(&t.read))),
    ("storage texture of a table", |own, t| table_of(own, STORED, Binding::StorageTexture(&t.write))),
    ("sampler of a table", |own, t| {
        table_of(own, BindingKind::Sampler { comparison: false }, Binding::Sampler(&t.sampler))
    }),
    ("table layout of a pipeline layout", |own, t| {
        let desc = PipelineLayoutDesc { tables: &[Some(&t.table_layout)], ..PipelineLayoutDesc::default() };
        own.device.create_pipeline_layout(&desc).map(|_| ())
    }),
    ("vertex function", |own, t| {
        let fragment = own.function(ShaderStage::Fragment, writes_color());
        own.device.create_raster_pipeline(&plain(&t.vertex, &fragment)).map(|_| ())
    }),
    ("compute function", |own, t| compute_of(own, None, &t.kernel, None)),
    ("layout of a compute pipeline", |own, t| {
        let interface = ShaderInterface { group_size: [64, 1, 1], ..ShaderInterface::default() };
        compute_of(own, Some(&t.pipeline_layout), &own.function(ShaderStage::Compute, interface), None)
    }),
    ("cache of a compute pipeline", |own, t| {
        let interface = ShaderInterface { group_size: [64, 1, 1], ..ShaderInterface::default() };
        compute_of(own, None, &own.function(ShaderStage::Compute, interface), Some(&t.cache))
    }),
    ("cache of a raster pipeline", |own, t| {
        let vertex = own.function(ShaderStage::Vertex, ShaderInterface::default());
        let fragment = own.function(ShaderStage::Fragment, writes_color());
        let desc = RasterPipelineDesc { cache: Some(&t.cache), ..plain(&vertex, &fragment) };
        own.device.create_raster_pipeline(&desc).map(|_| ())
    }),
];

const QUEUES: &[(&str, Call)] = &[
    ("submitted command buffer", |own, t| own.queue.submit_commands(&[&t.commands]).map(|_| ())),
    ("waited-for semaphore", |own, t| {
        own.queue.submit(&Submission { waits: &[wait(&t.binary, 0)], ..Submission::default() }).map(|_| ())
    }),
    ("signalled semaphore", |own, t| {
        own.queue.submit(&Submission { signals: &[signal(&t.binary, 0)], ..Submission::default() }).map(|_| ())
    }),
    ("fence", |own, t| own.queue.submit(&Submission { fence: Some(&t.fence), ..Submission::default() }).map(|_| ())),
    ("submission to wait for on the GPU", |own, t| {
        own.queue.submit(&Submission { after: &[after(t.submission)], ..Submission::default() }).map(|_| ())
    }),
    ("submission to wait for on the CPU", |own, t| own.queue.wait(t.submission, 0).map(|_| ())),
    ("queue of a reservation", |own, t| own.binary("own").reserve_signal(&t.queue).map(|_| ())),
    ("calibrated queue", |own, t| own.device.calibrate(&t.queue).map(|_| ())),
];

fn every_call(own: &Rig, things: &Things, expected: &Clause) {
    for (name, call) in [TRANSFERS, PASSES, CREATIONS, QUEUES].concat() {
        let error = call(own, things).expect_err(name);
        assert_eq!(error.clause_id(), Some(expected.id), "{name}: {error}");
        assert_eq!(error.kind(), expected.kind, "{name}");
    }
}

#[test]
fn objects_of_another_device_are_refused_by_every_call() {
    let (own, other) = (Rig::new(), Rig::new());
    every_call(&own, &Things::new(&other), clause::DEVICE_OWNERSHIP);
}

#[test]
fn objects_of_another_device_of_the_same_adapter_are_refused() {
    let own = Rig::new();
    let device = own.instance.open(0, &DeviceDesc::default()).unwrap();
    let buffer =
        device.create_buffer(&BufferDesc { size_bytes: 64, usage: BUFFER_COPIES, ..Default::default() }).unwrap();
    let refused = copy(&own, |p| p.fill_buffer(&buffer, BufferRange::WHOLE, 0));
    assert_eq!(broken(refused), clause::DEVICE_OWNERSHIP.id);
}

#[test]
fn objects_of_an_earlier_generation_are_refused_by_every_call() {
    let mut rig = Rig::new();
    let things = Things::new(&rig);
    rig.device = rig.device.recreate().unwrap();
    rig.queue = rig.device.queue(QueueKind::Graphics, 0).unwrap();
    every_call(&rig, &things, clause::DEVICE_GENERATION);
    assert!(rig.queue.is_complete(things.submission), "an earlier generation's work is over");
}

#[test]
fn a_foreign_submission_is_never_complete_and_never_panics() {
    let queues = QueueRequest { graphics: 1, compute: 2, transfer: 1 };
    let other = Rig::with(null::NullConfig { queues, ..null::NullConfig::default() });
    let own = Rig::with(null::NullConfig { queues: QueueRequest::ONE, ..null::NullConfig::default() });
    let last = other.queue(QueueKind::Transfer);
    let index = last.submit_commands(&[&other.record_on(&last, |_| {}).unwrap()]).unwrap();
    assert!(last.is_complete(index));
    assert!(!own.queue.is_complete(index));
}

#[test]
fn a_lost_device_refuses_creation_recording_submission_and_waiting() {
    let rig = Rig::new();
    let things = Things::new(&rig);
    let mut pool = rig.queue.create_pool();
    drop(rig.device.recreate().unwrap());
    let d = &rig.device;
    let calls: Vec<Result<()>> = vec![
        d.create_buffer(&BufferDesc { size_bytes: 1, usage: BUFFER_COPIES, ..Default::default() }).map(|_| ()),
        d.create_texture(&TextureDesc::default()).map(|_| ()),
        d.create_sampler(&SamplerDesc::default()).map(|_| ()),
        d.create_table_layout(&TableLayoutDesc { label: "", entries: &[] }).map(|_| ()),
        d.create_pipeline_layout(&PipelineLayoutDesc::default()).map(|_| ()),
        d.create_function(&artifact(ShaderStage::Vertex, ShaderInterface::default())).map(|_| ()),
        d.create_pipeline_cache("", &[]).map(|_| ()),
        d.create_query_set("", QueryKind::Occlusion, 1).map(|_| ()),
        d.create_semaphore("", SemaphoreKind::Binary).map(|_| ()),
        d.wait_idle(),
        d.calibrate(&rig.queue).map(|_| ()),
        pool.begin("").map(|_| ()),
        rig.queue.submit_commands(&[&things.commands]).map(|_| ()),
        rig.queue.wait(things.submission, 0).map(|_| ()),
        things.texture.read_view(&ViewDesc::default()).map(|_| ()),
        things.upload.write(0, &[1]),
        things.timestamps.results(0, 1).map(|_| ()),
        things.binary.reserve_signal(&rig.queue).map(|_| ()),
        things.cache.export().map(|_| ()),
    ];
    for (i, result) in calls.into_iter().enumerate() {
        let error = result.expect_err("a lost device accepts no work");
        assert_eq!(error.clause_id(), Some(clause::DEVICE_LOST.id), "call {i}: {error}");
    }
    assert_eq!(d.state(), DeviceState::Lost);
}
