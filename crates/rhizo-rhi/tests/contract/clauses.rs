//! Every clause of the contract is provoked: one program per clause, checked against the table of clauses.

use crate::support::*;
use rhizo_rhi::*;

/// Breaks one clause and gives the error.
type Program = fn(&Rig) -> Error;

fn refused<T: std::fmt::Debug>(result: Result<T>) -> Error {
    result.expect_err("the program must break its clause")
}

/// Clauses that no safe program can break, and why.
const UNREACHABLE: &[(&Clause, &str)] =
    &[(clause::SUBMIT_INDEX, "indices come from submissions only, and their device is checked before")];

/// Clauses that no check enforces yet, each with what is missing.
const UNENFORCED: &[(&Clause, &str)] =
    &[(clause::RECORDING, "a recorder is consumed by `finish`: calls after it do not compile")];

const RESOURCES: &[(&Clause, Program)] = &[
    (clause::BUFFER_SIZE, |rig| {
        refused(rig.device.create_buffer(&BufferDesc { usage: BUFFER_COPIES, ..BufferDesc::default() }))
    }),
    (clause::BUFFER_USAGE, |rig| refused(rig.buffer("b", 64, BUFFER_COPIES).vertex_view(BufferRange::WHOLE))),
    (clause::BUFFER_RANGE, |rig| {
        refused(rig.buffer("b", 64, BufferUsage::VERTEX).vertex_view(BufferRange::new(60, 8)))
    }),
    (clause::BUFFER_HOST, |rig| refused(rig.buffer("b", 64, BUFFER_COPIES).write(0, &[1]))),
    (clause::BUFFER_HOST_USAGE, |rig| {
        let (usage, storage) = (BufferUsage::VERTEX, StorageMode::Upload);
        refused(rig.device.create_buffer(&BufferDesc { label: "b", size_bytes: 4, usage, storage }))
    }),
    (clause::TEXTURE_DESC, |rig| {
        refused(rig.device.create_texture(&TextureDesc { mips: 2, usage: COPIES, ..TextureDesc::default() }))
    }),
    (clause::TEXTURE_FORMAT, |rig| {
        let (format, usage) = (Format::Bc7RgbaUnorm, TextureUsage::COLOR_TARGET);
        refused(rig.device.create_texture(&TextureDesc { format, usage, ..TextureDesc::default() }))
    }),
    (clause::TEXTURE_USAGE, |rig| refused(rig.target("t").write_view(&ViewDesc::default()))),
    (clause::TEXTURE_RANGE, |rig| refused(rig.target("t").color_target_view(TextureRange::mip(1)))),
    (clause::TEXTURE_VIEW, |rig| {
        let desc = ViewDesc { dimension: Some(ViewDimension::Cube), ..ViewDesc::default() };
        refused(rig.target("t").read_view(&desc))
    }),
    (clause::SAMPLER_DESC, |rig| {
        refused(rig.device.create_sampler(&SamplerDesc { lod_min: f32::NAN, ..SamplerDesc::default() }))
    }),
    (clause::QUERY_RANGE, |rig| refused(rig.queries(QueryKind::Occlusion, 2).results(1, 2))),
    (clause::QUERY_KIND, |rig| refused(rig.queries(QueryKind::Occlusion, 2).try_get_timestamp(0))),
    (clause::DEVICE_MATCH, |rig| {
        let other = AdapterIdentity { uuid: Some([9; 16]), ..AdapterIdentity::default() };
        refused(rig.device.adapter().identity.require_match(&other, "sharing a texture"))
    }),
    (clause::QUEUE_EXISTS, |rig| refused(rig.device.queue(QueueKind::Graphics, 7))),
    (clause::DEVICE_OWNERSHIP, |rig| {
        let other = Rig::new();
        refused(rig.queue.submit_commands(&[&other.empty()]))
    }),
    (clause::DEVICE_GENERATION, |rig| {
        let commands = rig.empty();
        let next = rig.device.recreate().unwrap();
        refused(next.queue(QueueKind::Graphics, 0).unwrap().submit_commands(&[&commands]))
    }),
    (clause::DEVICE_LOST, |rig| {
        drop(rig.device.recreate().unwrap());
        refused(rig.device.wait_idle())
    }),
];

fn entry(slot: u32) -> TableEntry {
    let kind = BindingKind::BufferWrite;
    TableEntry { slot, name: format!("s{slot}"), kind, stages: ShaderStages::COMPUTE, count: 1, min_size: 16 }
}

fn layout_of(rig: &Rig, entries: &[TableEntry]) -> Result<TableLayout> {
    rig.device.create_table_layout(&TableLayoutDesc { label: "layout", entries })
}

fn table_of(rig: &Rig, writes: &[TableWrite<'_>]) -> Result<BindingTable> {
    let layout = layout_of(rig, &[entry(0)]).unwrap();
    rig.device.create_table(&TableDesc { label: "table", layout: &layout, writes })
}

fn dispatch(rig: &Rig, commands: impl FnOnce(&mut BoundCompute<'_>)) -> Error {
    let pipeline = rig.compute();
    refused(rig.record(|r| commands(&mut r.compute_pass(&ComputePassDesc::default()).bind(&pipeline))))
}

const BINDINGS: &[(&Clause, Program)] = &[
    (clause::TABLE_LAYOUT, |rig| refused(layout_of(rig, &[entry(0), entry(0)]))),
    (clause::TABLE_WRITE, |rig| {
        let small = rig.buffer("b", 8, BufferUsage::SHADER_WRITE).write_view(BufferRange::WHOLE).unwrap();
        refused(table_of(rig, &[TableWrite::new(0, Binding::BufferWrite(&small))]))
    }),
    (clause::TABLE_COMPLETE, |rig| refused(table_of(rig, &[]))),
    (clause::TABLE_COMPATIBLE, |rig| {
        let (a, b) = (rig.compute(), rig.compute());
        let table = rig.table(&b, &rig.buffer("b", 64, BufferUsage::SHADER_WRITE));
        refused(rig.record(|r| {
            r.compute_pass(&ComputePassDesc::default()).bind(&a).set_tables(0, &[&table], &[]);
        }))
    }),
    (clause::DYNAMIC_OFFSETS, |rig| {
        let pipeline = rig.compute();
        let table = rig.table(&pipeline, &rig.buffer("b", 64, BufferUsage::SHADER_WRITE));
        refused(rig.record(|r| {
            r.compute_pass(&ComputePassDesc::default()).bind(&pipeline).set_tables(0, &[&table], &[256]);
        }))
    }),
    (clause::PIPELINE_LAYOUT, |rig| {
        let push = Some(PushRange { stages: ShaderStages::COMPUTE, size_bytes: 1 << 20 });
        refused(rig.device.create_pipeline_layout(&PipelineLayoutDesc { push, ..PipelineLayoutDesc::default() }))
    }),
    (clause::PUSH_RANGE, |rig| dispatch(rig, |bound| bound.push_constants(8, &[0; 12]))),
];

fn raster_of(rig: &Rig, vertex: ShaderInterface, change: impl FnOnce(&mut RasterPipelineDesc<'_>)) -> Error {
    let vertex = rig.function(ShaderStage::Vertex, vertex);
    let fragment = rig.function(ShaderStage::Fragment, writes_color());
    let mut desc = plain(&vertex, &fragment);
    change(&mut desc);
    refused(rig.device.create_raster_pipeline(&desc))
}

fn compute_of(rig: &Rig, stage: ShaderStage, layout: Option<&PipelineLayout>, group_size: [u32; 3]) -> Error {
    let function = rig.function(stage, storage_interface());
    let desc = ComputePipelineDesc { label: "c", layout, function: &function, group_size, cache: None };
    refused(rig.device.create_compute_pipeline(&desc))
}

const PIPELINES: &[(&Clause, Program)] = &[
    (clause::FUNCTION_TARGET, |rig| {
        let (stage, payload) = (ShaderStage::Vertex, ShaderPayload::Wgsl(String::new()));
        // SAFETY: the null device never looks at the payload.
        let artifact = unsafe { ShaderArtifact::from_validated("f", "main", stage, payload, Default::default()) };
        refused(rig.device.create_function(&artifact))
    }),
    (clause::FUNCTION_STAGE, |rig| compute_of(rig, ShaderStage::Vertex, None, [64, 1, 1])),
    (clause::PIPELINE_BINDING, |rig| {
        let layout = rig.device.create_pipeline_layout(&PipelineLayoutDesc::default()).unwrap();
        compute_of(rig, ShaderStage::Compute, Some(&layout), [64, 1, 1])
    }),
    (clause::PIPELINE_VERTEX, |rig| {
        let inputs = vec![variable(0, ScalarClass::Float)];
        raster_of(rig, ShaderInterface { inputs, ..ShaderInterface::default() }, |_| {})
    }),
    (clause::PIPELINE_TARGETS, |rig| {
        raster_of(rig, ShaderInterface::default(), |desc| desc.targets.colors = &[Some(Format::R32Uint)])
    }),
    (clause::PIPELINE_STATE, |rig| {
        raster_of(rig, ShaderInterface::default(), |desc| desc.state.depth = Some(DepthState::default()))
    }),
    (clause::GROUP_SIZE, |rig| compute_of(rig, ShaderStage::Compute, None, [32, 1, 1])),
];

fn over_target(rig: &Rig, commands: impl FnOnce(&mut RasterPass<'_>)) -> Error {
    let target = rig.target("t");
    let view = color_view(&target);
    refused(rig.record(|r| in_pass(r, &view, commands)))
}

const PASSES: &[(&Clause, Program)] = &[
    (clause::PASS_OPEN, |rig| refused(rig.record(|r| std::mem::forget(r.transfer_pass("t"))))),
    (clause::POOL_QUEUE, |rig| {
        let transfer = rig.queue(QueueKind::Transfer);
        refused(rig.record_on(&transfer, |r| drop(r.compute_pass(&ComputePassDesc::default()))))
    }),
    (clause::CAPABILITY, |rig| {
        let families = vec![null::NullFamily { kind: QueueKind::Compute, count: 1, timestamp_bits: 0 }];
        let queues = QueueRequest { graphics: 0, compute: 1, transfer: 0 };
        let instance = null::instance(null::NullConfig { families, queues, ..null::NullConfig::default() });
        let device = instance.open(0, &DeviceDesc::default()).unwrap();
        let set = device.create_query_set("q", QueryKind::Timestamp, 1).unwrap();
        let queue = device.queue(QueueKind::Compute, 0).unwrap();
        refused(rig.record_on(&queue, |r| r.write_timestamp(&set, 0)))
    }),
    (clause::GROUP_BALANCE, |rig| refused(rig.record(|r| r.push_group("open")))),
    (clause::PASS_ATTACHMENT, |rig| refused(rig.record(|r| drop(r.raster_pass(&RasterPassDesc::default()))))),
    (clause::PASS_ABI, |rig| {
        let pipeline = rig.raster(ShaderInterface::default(), &[]);
        let depth = rig.depth("d").depth_stencil_target_view(TextureRange::mip(0)).unwrap();
        let ops = DepthOps::default();
        let depth_stencil = Some(DepthStencilAttachment { view: &depth, depth: ops, stencil: ops });
        refused(rig.record(|r| {
            let mut pass = r.raster_pass(&RasterPassDesc { depth_stencil, ..RasterPassDesc::default() });
            pass.bind(&pipeline).draw(3, 1, 0, 0);
        }))
    }),
    (clause::PASS_READ_ONLY, |rig| {
        let depth = rig.depth("d").depth_stencil_target_view(TextureRange::mip(0)).unwrap();
        let depth_ops = DepthOps { read_only: true, ..DepthOps::default() };
        let depth_stencil =
            Some(DepthStencilAttachment { view: &depth, depth: depth_ops, stencil: DepthOps::default() });
        refused(rig.record(|r| {
            drop(r.raster_pass(&RasterPassDesc { depth_stencil, ..RasterPassDesc::default() }));
        }))
    }),
    (clause::DRAW_BOUND, |rig| {
        let pipeline = rig.raster(ShaderInterface::default(), &[]);
        over_target(rig, |pass| pass.bind(&pipeline).draw_indexed(0, 1, 0, 0, 0))
    }),
    (clause::DRAW_RANGE, |rig| {
        let pipeline = rig.raster(ShaderInterface::default(), &[]);
        let indices = rig.buffer("i", 12, BufferUsage::INDEX);
        let view = indices.index_view(BufferRange::WHOLE, IndexFormat::U32).unwrap();
        over_target(rig, |pass| {
            let mut bound = pass.bind(&pipeline);
            bound.set_index_buffer(&view);
            bound.draw_indexed(4, 1, 0, 0, 0);
        })
    }),
    (clause::VIEWPORT, |rig| over_target(rig, |pass| pass.set_viewports(&[]))),
    (clause::QUERY_NESTING, |rig| over_target(rig, |pass| pass.begin_occlusion(0))),
];

fn copies(rig: &Rig, commands: impl FnOnce(&mut TransferPass<'_>)) -> Error {
    refused(rig.record(|r| commands(&mut r.transfer_pass("copies"))))
}

fn barrier(rig: &Rig, change: impl FnOnce(&mut TextureBarrier<'_>)) -> Error {
    let texture = rig.target("t");
    let mut barrier = TextureBarrier {
        texture: &texture,
        range: TextureRange::WHOLE,
        before: Scope::NONE,
        before_layout: Layout::Undefined,
        after: Scope::NONE,
        after_layout: Layout::General,
        queues: None,
    };
    change(&mut barrier);
    refused(rig.record(|r| r.barriers(&Barriers { textures: &[barrier], ..Barriers::default() })))
}

const COMMANDS: &[(&Clause, Program)] = &[
    (clause::COPY_RANGE, |rig| {
        let b = rig.buffer("b", 64, BUFFER_COPIES);
        copies(rig, |pass| pass.fill_buffer(&b, BufferRange::new(2, 4), 0))
    }),
    (clause::COPY_FORMAT, |rig| {
        let (color, depth) = (rig.target("c"), rig.depth("d"));
        let layers = TextureLayers::mip(0);
        let (source, destination, extent) = (layers, layers, Extent::d2(1, 1));
        let copy = TextureCopy { source, source_origin: [0; 3], destination, destination_origin: [0; 3], extent };
        copies(rig, |pass| pass.copy_texture(&color, &depth, &[copy]))
    }),
    (clause::COPY_OVERLAP, |rig| {
        let b = rig.buffer("b", 64, BUFFER_COPIES);
        let copy = BufferCopy { source_offset: 0, destination_offset: 8, size: 16 };
        copies(rig, |pass| pass.copy_buffer(&b, &b, &[copy]))
    }),
    (clause::BLIT_FORMAT, |rig| {
        let desc = TextureDesc { format: Format::R32Uint, usage: COPIES, mips: 1, ..TextureDesc::default() };
        let (a, b) = (rig.texture(&desc), rig.texture(&TextureDesc { format: Format::R32Float, ..desc }));
        copies(rig, |pass| pass.blit(&a, &b, &[], BlitFilter::Nearest))
    }),
    (clause::BARRIER_SCOPE, |rig| barrier(rig, |b| b.after = Scope::new(Stages::COMPUTE, Access::RENDER_TARGET_WRITE))),
    (clause::BARRIER_LAYOUT, |rig| barrier(rig, |b| b.after_layout = Layout::Undefined)),
    (clause::BARRIER_QUEUES, |rig| barrier(rig, |b| b.queues = Some(HandOver { source: 1, destination: 2 }))),
];

fn submit(rig: &Rig, submission: &Submission<'_>) -> Error {
    refused(rig.queue.submit(submission))
}

const QUEUES: &[(&Clause, Program)] = &[
    (clause::SUBMIT_EMPTY, |rig| submit(rig, &Submission::default())),
    (clause::SUBMIT_STATE, |rig| {
        let commands = rig.empty();
        rig.queue.submit_commands(&[&commands]).unwrap();
        submit(rig, &Submission { commands: &[&commands], ..Submission::default() })
    }),
    (clause::SUBMIT_QUEUE, |rig| refused(rig.queue(QueueKind::Compute).submit_commands(&[&rig.empty()]))),
    (clause::SUBMIT_DUPLICATE, |rig| {
        let commands = rig.empty();
        submit(rig, &Submission { commands: &[&commands, &commands], ..Submission::default() })
    }),
    (clause::SUBMIT_STAGES, |rig| {
        let t = rig.timeline("t", 1);
        let waits = [SemaphoreWait { stages: Stages::empty(), ..wait(&t, 1) }];
        submit(rig, &Submission { waits: &waits, ..Submission::default() })
    }),
    (clause::DEADLOCK, |rig| {
        let t = rig.timeline("t", 0);
        rig.queue.submit(&Submission { waits: &[wait(&t, 1)], ..Submission::default() }).unwrap();
        let error = refused(rig.device.wait_idle());
        t.signal(1).unwrap();
        error
    }),
    (clause::FENCE_STATE, |rig| {
        let fence = rig.device.create_fence("f");
        let submission = Submission { fence: Some(&fence), ..Submission::default() };
        rig.queue.submit(&submission).unwrap();
        submit(rig, &submission)
    }),
    (clause::SEMAPHORE_STATE, |rig| refused(rig.binary("s").reserve_wait(&rig.queue))),
    (clause::SEMAPHORE_RESERVED, |rig| {
        let s = rig.binary("s");
        let _held = s.reserve_signal(&rig.queue).unwrap();
        refused(s.reserve_signal(&rig.queue))
    }),
    (clause::TIMELINE_VALUE, |rig| refused(rig.timeline("t", 4).signal(4))),
    (clause::SEMAPHORE_KIND, |rig| refused(rig.binary("s").value())),
];

fn programs() -> impl Iterator<Item = &'static (&'static Clause, Program)> {
    [RESOURCES, BINDINGS, PIPELINES, PASSES, COMMANDS, QUEUES].into_iter().flatten()
}

#[test]
fn each_program_breaks_its_clause_and_no_other() {
    let mut wrong = Vec::new();
    for (clause, program) in programs() {
        let error = program(&Rig::new());
        if error.clause_id() != Some(clause.id) || error.kind() != clause.kind {
            wrong.push(format!("{}: {error}", clause.id));
        }
        assert!(error.site().file().starts_with(test_folder()), "the place is not the caller's: {error:?}");
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Where the callers of this program lie.
fn test_folder() -> &'static str {
    file!().trim_end_matches("clauses.rs")
}

#[test]
fn every_clause_is_provoked_or_listed_with_a_reason() {
    let provoked: Vec<&str> = programs().map(|(clause, _)| clause.id).collect();
    let excused = UNREACHABLE.iter().chain(UNENFORCED);
    let excused: Vec<&str> = excused.inspect(|(_, why)| assert!(!why.is_empty())).map(|(c, _)| c.id).collect();
    for clause in clause::ALL {
        let times = provoked.iter().chain(&excused).filter(|id| **id == clause.id).count();
        assert_eq!(times, 1, "{}: {}", clause.id, clause.rule);
    }
}
