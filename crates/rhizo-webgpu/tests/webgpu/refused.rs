//! What is not done is refused with its reason, and what WebGPU finds wrong becomes an error of the call.

use crate::{module, on_each_driver, submit_and_wait};
use rhizo_rhi::*;

fn assert_refused<T>(result: Result<T>, reason: &str) {
    let error = result.err().unwrap_or_else(|| panic!("accepted, expected: {reason}"));
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.detail().contains(reason), "{error}");
}

#[test]
fn required_native_validation_is_refused() {
    let desc = InstanceDesc { native_validation: NativeValidation::Required, ..InstanceDesc::new(Backend::WebGpu) };
    assert_refused(rhizo_webgpu::instance(&desc), "log");
}

#[test]
fn objects_that_are_not_lowered_are_refused_with_the_reason() {
    on_each_driver(|device, queue| {
        assert_refused(device.create_query_set("set", QueryKind::Timestamp, 4), "queries");
        assert_refused(device.create_semaphore("line", SemaphoreKind::Timeline { initial: 0 }), "timeline");
        assert_refused(device.create_pipeline_cache("cache", &[]), "cache");
        assert_refused(device.calibrate(queue), "clocks");
        let usage = TextureUsage::COLOR_TARGET;
        let layered = TextureDesc { extent: Extent { x: 4, y: 4, z: 2 }, usage, ..TextureDesc::default() };
        let memoryless = TextureDesc { storage: StorageMode::Memoryless, usage, ..TextureDesc::default() };
        assert_refused(device.create_texture(&memoryless), "memoryless");
        let layered = device.create_texture(&layered).unwrap();
        assert_refused(layered.color_target_view(TextureRange::WHOLE), "layered");
        let bias = SamplerDesc { lod_bias: 0.5, ..SamplerDesc::default() };
        assert_refused(device.create_sampler(&bias), "bias");
        let entry = TableEntry {
            slot: 0,
            name: "many".into(),
            kind: BindingKind::Sampler { comparison: false },
            stages: ShaderStages::FRAGMENT,
            count: 8,
            min_size: 0,
        };
        assert_refused(
            device.create_table_layout(&TableLayoutDesc { label: "bindless", entries: &[entry] }),
            "array of 8",
        );
        let capture = device.toggle_gpu_capture(true).unwrap_err();
        assert_eq!(capture.kind(), ErrorKind::Unavailable);
    });
}

#[test]
fn commands_that_are_not_lowered_poison_the_command_buffer() {
    on_each_driver(|device, queue| {
        let usage = TextureUsage::COPY_SOURCE | TextureUsage::COPY_DESTINATION | TextureUsage::COLOR_TARGET;
        let desc =
            TextureDesc { label: "r8", format: Format::R8Unorm, extent: Extent::d2(5, 5), usage, ..Default::default() };
        let texture = device.create_texture(&desc).unwrap();
        let usage = BufferUsage::COPY_SOURCE | BufferUsage::COPY_DESTINATION;
        let desc = BufferDesc { label: "bytes", size_bytes: 64, usage, storage: StorageMode::DeviceLocal };
        let buffer = device.create_buffer(&desc).unwrap();
        let mut pool = queue.create_pool();

        let mut recorder = pool.begin("rows of five bytes").unwrap();
        let (layers, extent) = (TextureLayers::mip(0), Extent::d2(5, 5));
        let region =
            BufferTextureCopy { buffer_offset: 0, row_pitch: 0, rows_per_slice: 0, layers, origin: [0; 3], extent };
        recorder.transfer_pass("copy").copy_texture_to_buffer(&texture, &buffer, &[region]);
        let refused = recorder.finish().map(|_| ());
        assert_eq!(refused.as_ref().unwrap_err().object(), Some("rows of five bytes"));
        assert_refused(refused, "one by one");

        let mut recorder = pool.begin("half a word").unwrap();
        let half = BufferCopy { source_offset: 0, destination_offset: 32, size: 2 };
        recorder.transfer_pass("copy").copy_buffer(&buffer, &buffer, &[half]);
        assert_refused(recorder.finish().map(|_| ()), "words");

        let mut recorder = pool.begin("corner").unwrap();
        let view = texture.color_target_view(TextureRange::WHOLE).unwrap();
        let clear = LoadOp::Clear([1.0; 4]);
        let color = ColorAttachment { view: &view, load: clear, store: StoreOp::Store, resolve: None };
        let colors = [Some(color)];
        drop(recorder.raster_pass(&RasterPassDesc {
            label: "corner",
            colors: &colors,
            area: Some([0, 0, 2, 2]),
            ..RasterPassDesc::default()
        }));
        let refused = recorder.finish().map(|_| ());
        assert_eq!(refused.as_ref().unwrap_err().pass(), Some("corner"));
        assert_refused(refused, "render area");
    });
}

/// WebGPU forbids reading and writing one buffer in one dispatch through two bindings; the contract leaves it to
/// barriers and to full validation, so here it is WebGPU that objects.
#[test]
fn what_webgpu_finds_wrong_is_the_error_of_finish() {
    const SOURCE: &str = "
@group(0) @binding(0) var<storage, read> source: array<u32, 16>;
@group(0) @binding(1) var<storage, read_write> sum: array<u32, 16>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) { sum[i] = source[i] + 1u; }";
    on_each_driver(|device, queue| {
        let function = module("both", SOURCE).compile("main", device.shader_target()).unwrap();
        let function = device.create_function(&function).unwrap();
        let desc = ComputePipelineDesc {
            label: "both",
            layout: None,
            function: &function,
            group_size: [16, 1, 1],
            cache: None,
        };
        let pipeline = device.create_compute_pipeline(&desc).unwrap();
        let usage = BufferUsage::SHADER_READ | BufferUsage::SHADER_WRITE;
        let desc = BufferDesc { label: "both", size_bytes: 64, usage, storage: StorageMode::DeviceLocal };
        let (first, second) = (device.create_buffer(&desc).unwrap(), device.create_buffer(&desc).unwrap());
        let record = |source: &Buffer| {
            let (from, to) =
                (source.read_view(BufferRange::WHOLE).unwrap(), first.write_view(BufferRange::WHOLE).unwrap());
            let writes = [
                TableWrite { slot: 0, index: 0, binding: Binding::BufferRead(&from) },
                TableWrite { slot: 1, index: 0, binding: Binding::BufferWrite(&to) },
            ];
            let layout = pipeline.layout().table(0).unwrap();
            let table = device.create_table(&TableDesc { label: "both", layout, writes: &writes }).unwrap();
            let mut pool = queue.create_pool();
            let mut recorder = pool.begin("both").unwrap();
            {
                let mut pass = recorder.compute_pass(&ComputePassDesc::default());
                let mut bound = pass.bind(&pipeline);
                bound.set_tables(0, &[&table], &[]);
                bound.dispatch([1, 1, 1]);
            }
            recorder.finish()
        };
        let error = record(&first).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Native, "{error}");
        assert_eq!(error.object(), Some("both"));
        assert!(std::error::Error::source(&error).is_some_and(|source| source.is::<wgpu::Error>()), "{error}");
        submit_and_wait(queue, &record(&second).unwrap());
    });
}

#[test]
fn facts_say_what_is_refused_and_what_is_not() {
    on_each_driver(|device, _| {
        let capabilities = device.capabilities();
        capabilities.require(&[Fact::RasterPasses, Fact::ComputePipelines, Fact::PushConstants]).unwrap();
        let queries = device.create_query_set("set", QueryKind::Occlusion, 1).unwrap_err();
        let fact = capabilities.require(&[Fact::OcclusionQueries]).unwrap_err();
        assert!(fact.detail().contains(queries.detail()), "{fact} does not give the reason of {queries}");
        assert!(capabilities.support(Fact::OcclusionQueries).is_available(), "WebGPU has them; this backend not yet");
        assert!(capabilities.support(Fact::TimestampQueries).is_available(), "both software drivers have timestamps");
        for info in Format::all() {
            assert_eq!(capabilities.format(info.format), device.format_support(info.format), "{}", info.name);
        }
        let push = capabilities.limit(LimitKind::PushConstants);
        assert_eq!(push, Some(u64::from(device.limits().max_push_constant_bytes)));
    });
}
