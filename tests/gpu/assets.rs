//! Every shared model draws on every driver.

use rhizo::scene::camera::CameraChoice;
use rhizo::scene::hdr::Sky;
use rhizo::scene::import::{Limits, import};
use rhizo::scene::render::{Preset, RenderOptions, SceneRenderer};
use rhizo_testkit::gpu::{Gpu, each_driver};
use rhizo_testkit::paths::shared_dir;
use std::path::{Path, PathBuf};

/// Models of which nothing can be seen, and why. They must draw without an error all the same.
const INVISIBLE: &[(&str, &str)] =
    &[("gltf-rs/non_sparse_accessor_without_buffer_view.gltf", "its one triangle has three corners in one point")];

/// All `.gltf` and `.glb` files below a folder, sorted.
pub(crate) fn gltf_files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "gltf" || e == "glb") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn draw_all(gpu: &Gpu, files: &[PathBuf]) {
    let mut renderer = SceneRenderer::new(&gpu.device).unwrap();
    let sky = renderer.environment(&Sky::default().equirect(64, 32)).unwrap();
    // Before a constant background, what is drawn can be told from what is not.
    let background = RenderOptions { width: 96, height: 96, ..Preset::ReferenceEnv.options() };
    let options = RenderOptions { lights: Default::default(), shadow_size: 256, ..background };
    for file in files {
        let scene = import(file, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        let view = scene.view(&CameraChoice::Framed).unwrap();
        let uploaded = renderer.upload(&scene, 4).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let picture = renderer.render(&uploaded, &sky, &view, &options);
        let picture = picture.unwrap_or_else(|e| panic!("{} on {}: {e}", file.display(), gpu.driver));
        let first = &picture.rgba8[..4];
        let drawn = picture.rgba8.chunks_exact(4).filter(|texel| *texel != first).count();
        let invisible = INVISIBLE.iter().any(|(name, _)| file.ends_with(name));
        assert!(picture.stats.draws > 0, "{} on {}: no draw", file.display(), gpu.driver);
        assert_eq!(drawn < 50, invisible, "{} on {}: {drawn} texels drawn", file.display(), gpu.driver);
    }
}

#[test]
fn every_shared_model_draws() {
    let shared = match shared_dir() {
        Ok(shared) => shared,
        Err(reason) => rhizo_testkit::skip!("{reason}"),
    };
    let files = gltf_files(&shared.join("assets/gltf"));
    assert!(files.len() >= 20, "only {} models found", files.len());
    each_driver("gpu::assets::every_shared_model_draws", |gpu| draw_all(gpu, &files));
}
