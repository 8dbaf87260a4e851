//! Timestamps, occlusion, statistics, calibration.

use crate::support::*;
use rhizo_rhi::*;

const TRIANGLE: &str = "
@vertex fn vs(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i / 2u) * 4.0 - 1.0, f32(i % 2u) * 4.0 - 1.0, 0.5, 1.0);
}
@fragment fn fs() -> @location(0) vec4f { return vec4f(1.0); }";

fn pipeline(gpu: &Gpu) -> RasterPipeline {
    let (vertex, fragment) = (gpu.function(TRIANGLE, "vs"), gpu.function(TRIANGLE, "fs"));
    let desc = RasterPipelineDesc {
        label: "fill",
        layout: None,
        vertex: &vertex,
        fragment: Some(&fragment),
        buffers: &[],
        state: RenderState::default(),
        targets: AttachmentFormats { colors: &[Some(Format::Rgba8Unorm)], ..AttachmentFormats::default() },
        cache: None,
    };
    gpu.device.create_raster_pipeline(&desc).unwrap()
}

#[test]
fn timestamps_grow_through_passes_and_resolve_into_buffers() {
    on_each(|gpu| {
        let set = gpu.device.create_query_set("times", QueryKind::Timestamp, 4).unwrap();
        assert_eq!(set.try_get_timestamp(0).unwrap(), None, "not written yet");
        let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
        let view = target.color_target_view(TextureRange::WHOLE).unwrap();
        let back = gpu.readback(32);
        gpu.run(|r| {
            r.barriers(&textures(&[discard_into(&target, COLOR_WRITE, Layout::RenderTarget)]));
            let stamps = |begin, end| Some(PassTimestamps { set: &set, begin: Some(begin), end: Some(end) });
            let colors = [clear(&view, [0.0; 4])];
            drop(r.raster_pass(&RasterPassDesc { colors: &colors, timestamps: stamps(0, 1), ..Default::default() }));
            drop(r.compute_pass(&ComputePassDesc { label: "empty", timestamps: stamps(2, 3) }));
            r.transfer_pass("resolve").resolve_queries(&set, 0, 4, &back, 0);
        });
        let ticks = set.results(0, 4).unwrap().unwrap();
        assert!(ticks.windows(2).all(|w| w[0] <= w[1]) && ticks[0] > 0, "{ticks:?}");
        let resolved: Vec<u64> =
            read(&back).chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
        assert_eq!(resolved, ticks);
    });
}

#[test]
fn occlusion_counts_the_samples_that_passed() {
    on_each(|gpu| {
        let set = gpu.device.create_query_set("samples", QueryKind::Occlusion, 2).unwrap();
        let pipeline = pipeline(gpu);
        let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
        let view = target.color_target_view(TextureRange::WHOLE).unwrap();
        gpu.run(|r| {
            r.barriers(&textures(&[discard_into(&target, COLOR_WRITE, Layout::RenderTarget)]));
            let colors = [clear(&view, [0.0; 4])];
            let mut pass =
                r.raster_pass(&RasterPassDesc { colors: &colors, occlusion: Some(&set), ..Default::default() });
            pass.begin_occlusion(0);
            pass.bind(&pipeline).draw(3, 1, 0, 0);
            pass.end_occlusion();
            pass.set_scissors(&[[0, 0, 3, 2]]);
            pass.begin_occlusion(1);
            pass.bind(&pipeline).draw(3, 1, 0, 0);
            pass.end_occlusion();
        });
        assert_eq!(set.try_get_occlusion(0).unwrap(), Some(64));
        assert_eq!(set.try_get_occlusion(1).unwrap(), Some(6));
    });
}

#[test]
fn statistics_count_what_passes_do_or_are_refused() {
    on_each(|gpu| {
        let which = Statistics::INPUT_VERTICES | Statistics::VERTEX_INVOCATIONS | Statistics::FRAGMENT_INVOCATIONS;
        let set = gpu.device.create_query_set("statistics", QueryKind::Statistics(which), 1);
        let set = match set {
            Ok(set) => set,
            Err(error) => {
                // SwiftShader has none and says so.
                assert_eq!(error.kind(), ErrorKind::Unsupported);
                assert!(error.detail().contains("pipelineStatisticsQuery"), "{error}");
                assert_eq!(gpu.driver, rhizo_testkit::drivers::TestDriver::SwiftShader);
                return;
            }
        };
        let pipeline = pipeline(gpu);
        let target = gpu.target(Format::Rgba8Unorm, (8, 8), 1, TextureUsage::empty());
        let view = target.color_target_view(TextureRange::WHOLE).unwrap();
        gpu.run(|r| {
            r.barriers(&textures(&[discard_into(&target, COLOR_WRITE, Layout::RenderTarget)]));
            r.begin_statistics(&set, 0);
            let colors = [clear(&view, [0.0; 4])];
            let mut pass = r.raster_pass(&RasterPassDesc { colors: &colors, ..Default::default() });
            pass.bind(&pipeline).draw(3, 1, 0, 0);
            drop(pass);
            r.end_statistics();
        });
        let counted = set.try_get_statistics(0).unwrap().unwrap();
        assert_eq!(counted[0], (Statistics::INPUT_VERTICES, 3));
        assert!(counted[1].1 >= 3, "{counted:?}");
        assert!(counted[2].1 >= 64, "{counted:?}");
    });
}

#[test]
fn unbalanced_statistics_are_refused() {
    on_each(|gpu| {
        let which = QueryKind::Statistics(Statistics::FRAGMENT_INVOCATIONS);
        let Ok(set) = gpu.device.create_query_set("statistics", which, 1) else { return };
        let mut pool = gpu.queue.create_pool();
        let mut recorder = pool.begin("unbalanced").unwrap();
        recorder.begin_statistics(&set, 0);
        assert_eq!(recorder.finish().unwrap_err().clause_id(), Some("RHZ-QUERY-3"));
        let mut recorder = pool.begin("unbalanced").unwrap();
        recorder.end_statistics();
        assert_eq!(recorder.finish().unwrap_err().clause_id(), Some("RHZ-QUERY-3"));
    });
}

#[test]
fn clocks_are_tied_or_refused() {
    on_each(|gpu| match (gpu.device.calibrate(&gpu.queue), gpu.device.calibrate(&gpu.queue)) {
        (Ok(a), Ok(b)) => {
            assert!(a.frequency_hz > 0.0);
            assert!(b.gpu_ticks >= a.gpu_ticks && b.cpu_ns >= a.cpu_ns, "{a:?} {b:?}");
        }
        (Err(error), _) | (_, Err(error)) => {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(error.detail().contains("calibrated_timestamps"), "{error}");
        }
    });
}
