//! The irradiance of an environment was summed with one direction for each of its texels. Around a pole an image of 4 x 2
//! has four texels at 45 degrees latitude, so surfaces that face up got 1.4 times their light.

use rhizo::scene::camera::CameraChoice;
use rhizo::scene::hdr::Equirect;
use rhizo::scene::procedural;
use rhizo::scene::render::{Preset, RenderOptions, SceneRenderer};
use rhizo_testkit::gpu::each_driver;

#[test]
fn the_same_light_in_any_number_of_texels() {
    let demo = procedural::demo();
    let view = demo.view(&CameraChoice::Auto).unwrap();
    // Without lights: the environment alone.
    let options = RenderOptions { width: 64, height: 64, ..Preset::ReferenceEnv.options() };
    let test = "regression::small_environment_overexposes_the_poles::the_same_light_in_any_number_of_texels";
    each_driver(test, |gpu| {
        let mut renderer = SceneRenderer::new(&gpu.device).unwrap();
        let scene = renderer.upload(&demo, 1).unwrap();
        let mut draw = |width: u32, height: u32| {
            let image = Equirect { width, height, rgb: vec![[0.25; 3]; (width * height) as usize] };
            let environment = renderer.environment(&image).unwrap();
            renderer.render(&scene, &environment, &view, &options).unwrap().rgba8
        };
        let fine = draw(512, 256);
        for (width, height) in [(1, 1), (2, 1), (4, 2), (7, 3), (100, 50), (130, 65)] {
            let coarse = draw(width, height);
            let apart = fine.iter().zip(&coarse).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(apart <= Some(1), "{apart:?} steps of 255 apart with {width} x {height} on {}", gpu.driver);
        }
    });
}
