//! The filtering of an environment sampled a cube in a compute pass, where SwiftShader reads the frame around each face
//! without bringing it up to date: lobes near an edge held whatever the memory had held, mostly of an earlier environment.

use rhizo::scene::camera::CameraChoice;
use rhizo::scene::hdr::Equirect;
use rhizo::scene::procedural;
use rhizo::scene::render::{Preset, RenderOptions, SceneRenderer};
use rhizo_testkit::gpu::each_driver;

#[test]
fn an_environment_does_not_depend_on_earlier_ones() {
    let demo = procedural::demo();
    let view = demo.view(&CameraChoice::Auto).unwrap();
    let options = RenderOptions { width: 64, height: 64, ..Preset::ReferenceEnv.options() };
    // Brightness changes from one to the next, so that what is left over shows.
    let image = |radiance: f32| Equirect { width: 130, height: 65, rgb: vec![[radiance; 3]; 130 * 65] };
    each_driver("regression::stale_cube_edges::an_environment_does_not_depend_on_earlier_ones", |gpu| {
        let mut renderer = SceneRenderer::new(&gpu.device).unwrap();
        let scene = renderer.upload(&demo, 1).unwrap();
        let mut first = None;
        for i in 0..8 {
            let environment = renderer.environment(&image(if i % 2 == 0 { 0.25 } else { 200.0 })).unwrap();
            let picture = renderer.render(&scene, &environment, &view, &options).unwrap().rgba8;
            if i % 2 == 0 {
                let first = first.get_or_insert_with(|| picture.clone());
                let differing = first.iter().zip(&picture).filter(|(a, b)| a != b).count();
                assert_eq!(differing, 0, "bytes of picture {i} differ from those of the first on {}", gpu.driver);
            }
        }
    });
}
