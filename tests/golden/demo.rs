//! The built-in scene: its picture on both drivers, and the plan of its frame.

use super::{blessing, golden_file, opaque};
use image::RgbImage;
use rhizo::scene::camera::CameraChoice;
use rhizo::scene::hdr::Sky;
use rhizo::scene::procedural;
use rhizo::scene::render::{Picture, Preset, RenderOptions, SceneRenderer};
use rhizo::scene::scene::{AlphaMode, Scene};
use rhizo_testkit::drivers::TestDriver;
use rhizo_testkit::flip::{Report, load_rgb8};
use rhizo_testkit::flip_report::FlipResult;
use rhizo_testkit::gpu::{Gpu, each_driver};

/// The golden picture is lavapipe's, so there is nothing to differ but its version.
const SAME_DRIVER: f64 = 0.005;
/// SwiftShader chooses mip levels and rounds filtered texels differently: 0.025 was measured, spread evenly over the
/// ground. [`faults_are_above_the_limits`] shows that this is still below what a fault gives.
const OTHER_DRIVER: f64 = 0.03;

fn options() -> RenderOptions {
    RenderOptions { width: 320, height: 180, ..Preset::Default.options() }
}

/// Draws a scene as `rhizo demo` does, without anisotropic filtering, which drivers are free to do in their own way.
fn draw(gpu: &Gpu, scenes: &[&Scene]) -> Vec<(Picture, String)> {
    let mut renderer = SceneRenderer::new(&gpu.device).unwrap();
    let sky = renderer.environment(&Sky { sun_irradiance: 0.0, ..Sky::default() }.equirect(512, 256)).unwrap();
    let mut draw = |scene: &Scene| {
        let view = scene.view(&CameraChoice::Auto).unwrap();
        let uploaded = renderer.upload(scene, 1).unwrap();
        let picture = renderer.render(&uploaded, &sky, &view, &options()).unwrap();
        let (graph, plan) = renderer.last_plan().unwrap();
        (picture, rhizo::graph::dump::text(graph, plan))
    };
    scenes.iter().map(|scene| draw(scene)).collect()
}

fn picture_of(picture: &Picture) -> RgbImage {
    opaque(picture.width, picture.height, picture.rgba8.clone())
}

#[test]
fn the_demo_looks_as_it_did() {
    let demo = procedural::demo();
    each_driver("golden::demo::the_demo_looks_as_it_did", |gpu| {
        let drawn = draw(gpu, &[&demo]);
        let (picture, plan) = &drawn[0];
        let name = format!("demo.vulkan-{}", gpu.driver).to_lowercase();
        let result = compare(&name, &picture_of(picture), &gpu.driver);
        println!("{name}: mean FLIP {:.5}, max {:.3}", result.mean, result.max);
        assert!(result.passes(), "{name}: mean FLIP {:.4}; see out/flip/index.html", result.mean);
        assert_text(plan, "demo_plan.txt");
        let stats = &picture.stats;
        assert_eq!(stats.passes, ["shadow", "main", "transparent", "post", "readback"]);
        assert!(stats.draws > 20 && stats.triangles > 30_000, "{stats:?}");
    });
}

/// Compares with the golden picture, or makes it, if it is this driver's to make.
fn compare(name: &str, picture: &RgbImage, driver: &TestDriver) -> FlipResult {
    let (report, golden) = (Report::of_workspace(), golden_file("demo.png"));
    if *driver == TestDriver::Lavapipe {
        return report.check_golden(name, &golden, picture, SAME_DRIVER).unwrap();
    }
    report.record(name, &load_rgb8(&golden).unwrap(), picture, OTHER_DRIVER).unwrap()
}

/// The limits are worth something: pictures with one thing missing are above them.
#[test]
fn faults_are_above_the_limits() {
    let demo = procedural::demo();
    let mut no_glass = demo.clone();
    no_glass.instances.retain(|instance| {
        let primitives = &demo.meshes[instance.mesh].primitives;
        !primitives.iter().any(|p| demo.materials[p.material].alpha_mode == AlphaMode::Blend)
    });
    assert!(no_glass.instances.len() < demo.instances.len(), "the demo has something transparent");
    let mut dark = demo.clone();
    dark.lights.iter_mut().for_each(|light| light.intensity = 0.0);
    each_driver("golden::demo::faults_are_above_the_limits", |gpu| {
        let limit = if gpu.driver == TestDriver::Lavapipe { SAME_DRIVER } else { OTHER_DRIVER };
        let golden = load_rgb8(&golden_file("demo.png")).unwrap();
        for ((picture, _), what) in draw(gpu, &[&no_glass, &dark]).iter().zip(["glass", "light"]) {
            let found = rhizo_testkit::flip::compare(&golden, &picture_of(picture)).unwrap();
            println!("{}: without {what}: mean FLIP {:.4}", gpu.driver, found.mean);
            assert!(f64::from(found.mean) > limit, "{}: {:.4} without {what}", gpu.driver, found.mean);
        }
    });
}

/// Main always; transparent only with transparent objects; shadow only with casting lights.
#[test]
fn passes_exist_only_when_something_needs_them() {
    let demo = procedural::demo();
    let mut solid = demo.clone();
    for material in &mut solid.materials {
        (material.alpha_mode, material.transmission) = (AlphaMode::Opaque, None);
    }
    let mut dark = demo.clone();
    for node in &mut dark.nodes {
        node.light = None;
    }
    let mut plain = solid.clone();
    plain.nodes.clone_from(&dark.nodes);
    let wanted: [(&Scene, &[&str]); 5] = [
        (&demo, &["shadow", "main", "transparent", "post", "readback"]),
        (&solid, &["shadow", "main", "post", "readback"]),
        (&dark, &["main", "transparent", "post", "readback"]),
        (&plain, &["main", "post", "readback"]),
        (&Scene::default(), &["main", "post", "readback"]),
    ];
    each_driver("golden::demo::passes_exist_only_when_something_needs_them", |gpu| {
        let scenes = wanted.map(|(scene, _)| scene);
        for (i, ((picture, plan), (_, passes))) in draw(gpu, &scenes).iter().zip(&wanted).enumerate() {
            assert_eq!(picture.stats.passes, *passes, "scene {i} on {}", gpu.driver);
            for name in ["shadow", "main", "transparent"] {
                let planned = plan.lines().any(|line| line.trim_start().starts_with("pass ") && line.contains(name));
                assert_eq!(planned, passes.contains(&name), "pass `{name}` of scene {i}:\n{plan}");
            }
        }
    });
}

/// Compares line by line, so that a failure reads as a change of the plan.
fn assert_text(found: &str, file: &str) {
    let path = golden_file(file);
    if blessing() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    let (found_lines, expected_lines): (Vec<_>, Vec<_>) = (found.lines().collect(), expected.lines().collect());
    for (i, line) in found_lines.iter().enumerate() {
        let wanted = expected_lines.get(i).copied().unwrap_or("(nothing)");
        assert_eq!(*line, wanted, "line {} of:\n{found}", i + 1);
    }
    assert_eq!(found_lines.len(), expected_lines.len(), "{found}");
}
