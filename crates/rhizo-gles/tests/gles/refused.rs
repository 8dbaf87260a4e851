//! What OpenGL ES 3.0 lacks, or the backend does not translate yet, is refused with kind and reason.

use crate::harness::*;
use rhizo_rhi::*;
use rhizo_shader::ShaderErrorKind;

const NO_COMPUTE: &str = "compute shaders need OpenGL ES 3.1; this backend targets WebGL 2's level (ES 3.0)";

#[track_caller]
fn unsupported<T>(result: Result<T>, reason: &str) {
    let error = result.err().expect("refused");
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.detail().contains(reason), "{error}");
}

#[test]
fn compute_is_refused_with_the_reason() {
    let gpu = Gpu::new();
    let module = module("@compute @workgroup_size(8) fn main() {}");
    let error = module.compile("main", gpu.device.shader_target()).expect_err("not in ES 3.0");
    assert!(matches!(error.kind(), ShaderErrorKind::Unsupported { .. }), "{error}");
    // Written for a newer version, it reaches the device, which refuses it as well.
    let newer = module.compile("main", ShaderTarget::GlslEs { version: 310 }).expect("GLSL ES 3.10");
    unsupported(gpu.device.create_function(&newer), NO_COMPUTE);

    let mut pool = gpu.queue.create_pool();
    let mut recorder = pool.begin("compute").expect("begun");
    drop(recorder.compute_pass(&ComputePassDesc { label: "fill", timestamps: None }));
    unsupported(recorder.finish(), NO_COMPUTE);
    // The pool goes on.
    let commands = pool.begin("again").expect("begun").finish().expect("empty");
    gpu.queue.submit_commands(&[&commands]).expect("submitted");
    gpu.clean();
}

#[test]
fn resources_are_refused_before_any_native_call() {
    let gpu = Gpu::new();
    let buffer = |usage| BufferDesc { label: "b", size_bytes: 16, usage, storage: StorageMode::DeviceLocal };
    unsupported(gpu.device.create_buffer(&buffer(BufferUsage::SHADER_READ)), "storage buffers need OpenGL ES 3.1");
    unsupported(gpu.device.create_buffer(&buffer(BufferUsage::INDIRECT)), "indirect draws need OpenGL ES 3.1");

    let texture = TextureDesc { label: "t", usage: TextureUsage::SHADER_READ, ..TextureDesc::default() };
    let extent = Extent { x: 4, y: 4, z: 4 };
    let volume = TextureDesc { dimension: TextureDimension::D3, extent, ..texture };
    unsupported(gpu.device.create_texture(&volume), "single 2D textures only");
    unsupported(gpu.device.create_texture(&TextureDesc { extent, ..texture }), "single 2D textures only");
    let memoryless = TextureDesc { storage: StorageMode::Memoryless, usage: TextureUsage::COLOR_TARGET, ..texture };
    unsupported(gpu.device.create_texture(&memoryless), "no such memory");
    let twin = TextureDesc { view_formats: &[Format::Rgba8UnormSrgb], ..texture };
    unsupported(gpu.device.create_texture(&twin), "one format");
    let error =
        gpu.device.create_texture(&TextureDesc { format: Format::Bc7RgbaUnorm, ..texture }).expect_err("no BC7");
    assert_eq!((error.kind(), error.clause_id()), (ErrorKind::Unsupported, Some("RHZ-TEXTURE-2")));
    let error = gpu.device.create_texture(&TextureDesc { samples: 4, ..texture }).expect_err("one sample");
    assert_eq!((error.kind(), error.clause_id()), (ErrorKind::Unsupported, Some("RHZ-TEXTURE-2")));

    unsupported(gpu.device.create_sampler(&SamplerDesc { lod_bias: 1.0, ..SamplerDesc::default() }), "have none");
    unsupported(gpu.device.create_query_set("q", QueryKind::Timestamp, 1), "no timestamps");
    unsupported(gpu.device.create_query_set("q", QueryKind::Occlusion, 1), "only whether any sample passed");
    unsupported(gpu.device.create_semaphore("s", SemaphoreKind::Timeline { initial: 0 }), "one queue");
    assert!(gpu.device.create_semaphore("s", SemaphoreKind::Binary).is_ok());
    unsupported(gpu.device.calibrate(&gpu.queue), "no GPU clock");
    let entry = TableEntry {
        slot: 2,
        name: "bodies".into(),
        kind: BindingKind::BufferRead,
        stages: ShaderStages::FRAGMENT,
        count: 1,
        min_size: 0,
    };
    let layout = TableLayoutDesc { label: "l", entries: &[entry] };
    unsupported(gpu.device.create_table_layout(&layout), "slot 2 (\"bodies\"): storage buffers");
    gpu.clean();
}

#[test]
fn pipeline_state_is_refused_before_any_native_call() {
    let gpu = Gpu::new();
    let module = module(
        "@vertex fn vs() -> @builtin(position) vec4f { return vec4f(0.0); }
        struct Out { @location(0) a: vec4f, @location(1) b: vec4f };
        @fragment fn fs() -> Out { return Out(vec4f(1.0), vec4f(1.0)); }",
    );
    let (vertex, fragment) = (gpu.function(&module, "vs"), gpu.function(&module, "fs"));
    let create = |state: RenderState<'_>| {
        gpu.device.create_raster_pipeline(&RasterPipelineDesc {
            label: "p",
            layout: None,
            vertex: &vertex,
            fragment: Some(&fragment),
            buffers: &[],
            state,
            targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm); 2], ..AttachmentFormats::default() },
            cache: None,
        })
    };
    let plain = RenderState::default();
    assert!(create(plain).is_ok());
    unsupported(create(RenderState { fill: FillMode::Wireframe, ..plain }), "no polygon mode");
    unsupported(create(RenderState { depth_clamp: true, ..plain }), "depth clamping");
    unsupported(create(RenderState { sample_mask: 1, ..plain }), "OpenGL ES 3.1");
    unsupported(create(RenderState { topology: Topology::Points, ..plain }), "point size");
    let targets = [TargetState { blend: Some(BlendState::ALPHA), ..TargetState::default() }];
    unsupported(create(RenderState { targets: &targets, ..plain }), "need OpenGL ES 3.2");
    assert!(create(RenderState { targets: &[targets[0]; 2], ..plain }).is_ok());
    gpu.clean();
}

#[test]
fn commands_that_are_not_translated_poison_the_recording() {
    let gpu = Gpu::new();
    let usage = TextureUsage::COPY_SOURCE | TextureUsage::COPY_DESTINATION;
    let (a, b) = (gpu.texture(Format::Rgba8Unorm, (4, 4), usage), gpu.texture(Format::Rgba8Unorm, (4, 4), usage));
    let mut pool = gpu.queue.create_pool();
    let mut recorder = pool.begin("copy").expect("begun");
    recorder.transfer_pass("copy").copy_whole(&a, &b);
    unsupported(recorder.finish(), "a copy between textures");
    let mut recorder = pool.begin("clear").expect("begun");
    recorder.transfer_pass("clear").clear_color(&a, TextureRange::WHOLE, [0.0; 4]);
    unsupported(recorder.finish(), "a clear outside passes");
    let mut recorder = pool.begin("blit").expect("begun");
    recorder.transfer_pass("blit").blit(&a, &b, &[], BlitFilter::Nearest);
    let error = recorder.finish().expect_err("no blits");
    assert_eq!((error.kind(), error.clause_id()), (ErrorKind::Unsupported, Some("RHZ-TRANSFER-4")), "{error}");
    gpu.clean();
}

#[test]
fn a_device_without_a_graphics_queue_is_refused_and_others_are_reported_as_not_granted() {
    let gpu = Gpu::new();
    let queues = Some(QueueRequest { graphics: 0, compute: 1, transfer: 0 });
    unsupported(gpu.instance.open(0, &DeviceDesc { label: "d", queues }), "one queue");
    let device = gpu.instance.open(0, &DeviceDesc { label: "d", queues: Some(QueueRequest::EACH) }).expect("a device");
    assert_eq!(QueueKind::ALL.map(|kind| device.queue_count(kind)), [1, 0, 0]);
    gpu.clean();
}

#[test]
fn the_report_gives_reasons_and_agrees_with_the_device() {
    let gpu = Gpu::new();
    let report = gpu.device.capabilities();
    assert_eq!(*report, gpu.instance.capabilities(0).expect("a report"));
    report.require(&[Fact::RasterPasses, Fact::PushConstants, Fact::RobustBuffers]).expect("offered");
    unsupported(report.require(&[Fact::ComputePipelines]), "compute.pipelines");
    for entry in report.entries() {
        assert!(entry.lowered == "direct" || entry.reason.is_some_and(|reason| !reason.is_empty()), "{entry:?}");
    }
    for (format, support) in report.formats() {
        assert_eq!(support, gpu.device.format_support(format), "{format}");
    }
    println!("{}", report.report());
    gpu.clean();
}
