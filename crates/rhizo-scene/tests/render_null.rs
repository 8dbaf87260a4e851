//! The renderer's recording on the null device: which passes run, what they count, and that nothing leaks or is
//! destroyed early. No shader runs there, so no pixel is looked at.

use rhizo_rhi::null::{self, NullConfig, NullControl, Op};
use rhizo_rhi::{Device, DeviceDesc, ErrorKind};
use rhizo_scene::camera::CameraChoice;
use rhizo_scene::hdr::{Equirect, Sky};
use rhizo_scene::procedural;
use rhizo_scene::render::{Lights, PictureOptions, Preset, RenderError, RenderOptions, SceneRenderer};
use rhizo_scene::scene::{AlphaMode, Scene};

fn device() -> (Device, NullControl) {
    let (instance, control) = null::instance_with_control(NullConfig::default());
    let device = instance.open(0, &DeviceDesc::default()).expect("the null device opens");
    (device, control.device(0))
}

fn small(preset: Preset) -> RenderOptions {
    RenderOptions { width: 61, height: 37, ..preset.options() }
}

#[test]
fn the_demo_runs_four_passes_and_a_copy() {
    let (device, control) = device();
    let mut renderer = SceneRenderer::new(&device).unwrap();
    let demo = procedural::demo();
    let scene = renderer.upload(&demo, 8).unwrap();
    let sky = renderer.environment(&Sky::default().equirect(128, 64)).unwrap();
    // Cube, irradiance cells, irradiance, roughest level, and one level between it and the mirror.
    assert_eq!(sky.stats.dispatches, 5);
    let view = demo.view(&CameraChoice::Auto).unwrap();
    let first = renderer.render(&scene, &sky, &view, &small(Preset::Default)).unwrap().stats;
    assert_eq!(first.passes, ["shadow", "main", "transparent", "post", "readback"]);
    assert_eq!(first.pass_times_ns.len(), first.passes.len());
    assert!(first.triangles > 50_000 && first.draws > 20, "{first:?}");
    assert_eq!((first.plan_misses, first.clears, first.lights), (1, 3, 1));
    let again = renderer.render(&scene, &sky, &view, &small(Preset::Default)).unwrap().stats;
    assert_eq!((again.plan_hits, again.plan_misses), (1, 0));
    assert_eq!((again.pipeline_misses, again.transient_allocations), (0, 0), "a steady frame makes nothing");
    assert_eq!(again.draws, first.draws);
    drop((renderer, scene, sky));
    device.wait_idle().unwrap();
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn passes_follow_what_the_scene_holds() {
    let (device, _) = device();
    let mut renderer = SceneRenderer::new(&device).unwrap();
    let sky = renderer.environment(&Sky::default().equirect(64, 32)).unwrap();
    let mut demo = procedural::demo();
    let view = demo.view(&CameraChoice::Auto).unwrap();
    let mut passes = |scene: &Scene, options: RenderOptions| {
        let scene = renderer.upload(scene, 1).unwrap();
        renderer.render(&scene, &sky, &view, &options).unwrap().stats.passes
    };
    let unlit = RenderOptions { lights: Lights::Off, ..small(Preset::Default) };
    assert_eq!(passes(&demo, unlit), ["main", "transparent", "post", "readback"]);
    let flat = RenderOptions { shadow_size: 0, ..small(Preset::Default) };
    assert_eq!(passes(&demo, flat), ["main", "transparent", "post", "readback"]);
    for material in &mut demo.materials {
        material.transmission = None;
        if material.alpha_mode == AlphaMode::Blend {
            material.alpha_mode = AlphaMode::Opaque;
        }
    }
    assert_eq!(passes(&demo, small(Preset::Default)), ["shadow", "main", "post", "readback"]);
    assert_eq!(passes(&Scene::default(), small(Preset::ReferenceLit)), ["main", "post", "readback"]);
}

#[test]
fn every_sample_count_and_size_is_recorded_cleanly() {
    let (device, control) = device();
    let mut renderer = SceneRenderer::new(&device).unwrap();
    let demo = procedural::demo();
    let scene = renderer.upload(&demo, 1).unwrap();
    let sky = renderer.environment(&Sky::default().equirect(64, 32)).unwrap();
    let view = demo.view(&CameraChoice::Framed).unwrap();
    for (samples, width, height) in [(1, 1, 1), (2, 7, 3), (4, 64, 64), (8, 33, 65)] {
        let options = RenderOptions { samples, width, height, ..Preset::Default.options() };
        let picture = renderer.render(&scene, &sky, &view, &options).unwrap();
        assert_eq!(picture.rgba8.len(), (width * height * 4) as usize);
    }
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn what_cannot_be_drawn_is_a_typed_error() {
    let (device, _) = device();
    let mut renderer = SceneRenderer::new(&device).unwrap();
    let ask = |renderer: &mut SceneRenderer, options: PictureOptions| {
        renderer.picture(&Scene::default(), &options).expect_err("refused")
    };
    let base = PictureOptions { width: 16, height: 16, ..PictureOptions::default() };
    let huge = ask(&mut renderer, PictureOptions { width: 1 << 20, ..base.clone() });
    assert!(matches!(huge, RenderError::Limit { .. }), "{huge}");
    let odd = ask(&mut renderer, PictureOptions { samples: 3, ..base.clone() });
    assert!(matches!(odd, RenderError::Option { option: "samples", .. }), "{odd}");
    let camera = ask(&mut renderer, PictureOptions { camera: CameraChoice::Named("left".into()), ..base.clone() });
    assert!(matches!(camera, RenderError::Camera(_)), "{camera}");
    for rgb in [vec![], vec![[f32::NAN; 3]; 2], vec![[f32::INFINITY; 3]; 2]] {
        let environment = Some(Equirect { width: 2, height: 1, rgb });
        let bad = ask(&mut renderer, PictureOptions { environment, ..base.clone() });
        assert!(matches!(bad, RenderError::Option { option: "environment", .. }), "{bad}");
    }
}

#[test]
fn a_failure_at_any_step_leaves_a_renderer_that_works() {
    let (device, control) = device();
    let mut renderer = SceneRenderer::new(&device).unwrap();
    let demo = procedural::demo();
    let scene = renderer.upload(&demo, 1).unwrap();
    let sky = renderer.environment(&Sky::default().equirect(64, 32)).unwrap();
    let view = demo.view(&CameraChoice::Auto).unwrap();
    let steps = [Op::CreateTexture, Op::CreateView, Op::CreateTable, Op::CreateRasterPipeline, Op::CreateRecorder];
    for (i, op) in steps.into_iter().chain([Op::WriteBuffer, Op::FinishRecording, Op::Submit]).enumerate() {
        // Another size and sample count each time, so that everything has to be made again.
        let samples = [1, 2, 4, 8][i % 4];
        let options = RenderOptions { samples, width: 20 + i as u32, ..small(Preset::Default) };
        control.fail_next(op, ErrorKind::Native);
        let failed = renderer.render(&scene, &sky, &view, &options);
        control.clear_faults();
        // Recorders come back to their pool, so none may be needed.
        if op != Op::CreateRecorder {
            assert!(failed.is_err(), "{op:?} was not needed");
        }
        renderer.render(&scene, &sky, &view, &options).unwrap_or_else(|e| panic!("after a failed {op:?}: {e}"));
    }
    assert_eq!(control.violations(), Vec::<String>::new());
}
