//! Adapters, devices, generations, caches, memory.

use crate::support::*;
use rhizo_rhi::*;

const NOTHING: &str = "@compute @workgroup_size(1) fn nothing() {}";

#[test]
fn this_machine_can_run_the_backend() {
    drop(instance()); // points the loader at the drivers
    assert_eq!(rhizo_vulkan::support(), Ok(()));
}

#[test]
fn adapters_say_who_they_are() {
    on_each(|gpu| {
        let adapter = gpu.device.adapter();
        assert_eq!(adapter.kind, AdapterKind::Software);
        assert!(adapter.identity.uuid.is_some());
        assert!(adapter.api.starts_with("Vulkan 1."), "{}", adapter.api);
        assert!(!adapter.driver.is_empty());
        assert!(adapter.queues.contains(&(QueueKind::Graphics, 1)), "{:?}", adapter.queues);
        let instance = &gpu.instance;
        assert!(instance.choose_adapter(PowerPreference::High, false).is_err(), "software is never picked silently");
        assert!(instance.choose_adapter(PowerPreference::High, true).is_ok());
    });
}

#[test]
fn a_small_program_costs_a_few_mebibytes() {
    on_each(|gpu| {
        let buffer = gpu.buffer(256, BufferUsage::VERTEX, StorageMode::DeviceLocal);
        let target = gpu.target(Format::Rgba8Unorm, (64, 64), 1, TextureUsage::empty());
        let back = gpu.readback(64 * 64 * 4);
        let (report, _) = gpu.device.memory_report();
        assert!(report.used_bytes >= 256 + 2 * 64 * 64 * 4, "{report:?}");
        assert!(report.reserved_bytes <= 16 << 20, "{report:?}");
        drop((buffer, target, back));
        gpu.device.collect();
        assert_eq!(gpu.device.memory_report().0.used_bytes, 0);
    });
}

#[test]
fn pipeline_caches_are_exported_and_imported_by_the_same_driver_only() {
    on_each(|gpu| {
        let (cache, import) = gpu.device.create_pipeline_cache("cache", &[]).unwrap();
        assert!(matches!(import, CacheImport::Skipped { .. }));
        let function = gpu.function(NOTHING, "nothing");
        let desc = ComputePipelineDesc {
            label: "cached",
            layout: None,
            function: &function,
            group_size: [1, 1, 1],
            cache: Some(&cache),
        };
        gpu.device.create_compute_pipeline(&desc).unwrap();
        let bytes = cache.export().unwrap();
        let (again, import) = gpu.device.create_pipeline_cache("again", &bytes).unwrap();
        assert!(matches!(import, CacheImport::Imported { bytes } if bytes > 0), "{import:?}");
        gpu.device.create_compute_pipeline(&ComputePipelineDesc { cache: Some(&again), ..desc }).unwrap();
        let mut broken = bytes;
        let middle = broken.len() / 2;
        broken[middle] ^= 1;
        let (_, import) = gpu.device.create_pipeline_cache("broken", &broken).unwrap();
        assert!(matches!(import, CacheImport::Skipped { reason } if reason.contains("corrupt")));
    });
}

#[test]
fn caches_of_one_driver_are_skipped_by_the_other() {
    let [a, b] = rhizo_testkit::drivers::TestDriver::SOFTWARE.map(|d| Gpu::open(d, QueueRequest::ONE));
    let bytes = a.device.create_pipeline_cache("a", &[]).unwrap().0.export().unwrap();
    let (_, import) = b.device.create_pipeline_cache("b", &bytes).unwrap();
    assert!(matches!(import, CacheImport::Skipped { reason } if reason.contains("another driver")));
    a.finish();
    b.finish();
}

#[test]
fn the_next_generation_refuses_values_of_the_last() {
    on_each(|gpu| {
        let old = gpu.readback(16);
        let device = gpu.device.recreate().unwrap();
        assert_eq!(device.generation(), 2);
        let queue = device.queue(QueueKind::Graphics, 0).unwrap();
        let mut pool = queue.create_pool();
        let mut recorder = pool.begin("stale").unwrap();
        recorder.transfer_pass("fill").fill_buffer(&old, BufferRange::WHOLE, 1);
        assert_eq!(recorder.finish().unwrap_err().kind(), ErrorKind::StaleGeneration);
    });
}

#[test]
fn any_order_of_drops_is_fine() {
    on_each(|gpu| {
        let instance = instance();
        let device = {
            let at = instance.adapters().iter().position(|a| a.name == gpu.device.adapter().name).unwrap();
            instance.open(at, &DeviceDesc { label: "dropped early", queues: None }).unwrap()
        };
        let desc = BufferDesc {
            label: "outlives everything",
            size_bytes: 64,
            usage: BufferUsage::COPY_SOURCE,
            storage: StorageMode::Upload,
        };
        let buffer = device.create_buffer(&desc).unwrap();
        let queue = device.queue(QueueKind::Graphics, 0).unwrap();
        let mut pool = queue.create_pool();
        let commands = pool.begin("never submitted").unwrap().finish().unwrap();
        drop((instance, device, queue, pool));
        buffer.write(0, &[1; 64]).unwrap();
        drop(buffer);
        drop(commands);
    });
}

#[test]
fn impossible_textures_are_refused_with_a_reason() {
    on_each(|gpu| {
        // No software driver has ASTC render targets.
        let format = Format::Astc4x4Unorm;
        let usage = TextureUsage::COLOR_TARGET;
        let desc = TextureDesc { label: "impossible", format, extent: Extent::d2(8, 8), usage, ..Default::default() };
        let error = gpu.device.create_texture(&desc).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.object(), Some("impossible"));
    });
}

#[test]
fn a_missing_queue_kind_is_an_error_of_the_request() {
    on_each(|gpu| {
        let none = QueueRequest { graphics: 0, compute: 0, transfer: 0 };
        let at = gpu.instance.adapters().iter().position(|a| a.name == gpu.device.adapter().name).unwrap();
        let error = gpu.instance.open(at, &DeviceDesc { label: "none", queues: Some(none) }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    });
}

/// Without an attached tool the reason is given. Under RenderDoc a pass inside a group is captured.
#[test]
fn captures_need_an_attached_tool() {
    let gpu = Gpu::open(rhizo_testkit::drivers::TestDriver::Lavapipe, QueueRequest::ONE);
    let attached = std::env::var_os("ENABLE_VULKAN_RENDERDOC_CAPTURE").is_some();
    match gpu.device.toggle_gpu_capture(true) {
        Err(error) => {
            assert!(!attached, "{error}");
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            assert!(error.detail().contains("RenderDoc"), "{error}");
        }
        Ok(()) => {
            assert!(attached);
            let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
            let view = target.color_target_view(TextureRange::WHOLE).unwrap();
            gpu.run(|r| {
                r.push_group("FrameRendering");
                r.barriers(&textures(&[discard_into(&target, COLOR_WRITE, Layout::RenderTarget)]));
                let colors = [clear(&view, [1.0; 4])];
                drop(r.raster_pass(&RasterPassDesc { label: "captured pass", colors: &colors, ..Default::default() }));
                r.pop_group();
            });
            gpu.device.toggle_gpu_capture(false).unwrap();
        }
    }
    gpu.finish();
}
