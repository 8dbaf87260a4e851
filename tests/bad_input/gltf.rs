//! The Khronos validator's files, most of them broken: each is refused with a typed error or draws, whatever it holds.

use crate::gpu::assets::gltf_files;
use rhizo::scene::camera::CameraChoice;
use rhizo::scene::hdr::Sky;
use rhizo::scene::import::{ImportError, Limits, import};
use rhizo::scene::render::{Preset, RenderOptions, SceneRenderer};
use rhizo::scene::scene::Scene;
use rhizo_testkit::gpu::{Gpu, each_driver};
use rhizo_testkit::paths::shared_dir;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// For one file of a few kilobytes, on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// What reading each file gives.
fn read_all(files: &[PathBuf]) -> Vec<(&Path, Result<Scene, ImportError>)> {
    let mut limits = Limits::default();
    limits.max_total_bytes = 1 << 24;
    let mut read = Vec::new();
    for file in files {
        let started = Instant::now();
        let result = import(file, &limits);
        assert!(started.elapsed() < TIME_LIMIT, "{} took {:?}", file.display(), started.elapsed());
        read.push((file.as_path(), result));
    }
    read
}

/// Draws what could be read; the drawing may be refused too, in words.
fn draw_all(gpu: &Gpu, scenes: &[(&Path, &Scene)]) {
    let mut renderer = SceneRenderer::new(&gpu.device).unwrap();
    let sky = renderer.environment(&Sky::default().equirect(16, 8)).unwrap();
    let options = RenderOptions { width: 16, height: 16, shadow_size: 64, ..Preset::Default.options() };
    let mut refused = Vec::new();
    for (file, scene) in scenes {
        let started = Instant::now();
        let mut draw = || {
            let view = scene.view(&CameraChoice::Auto).map_err(|e| e.to_string())?;
            let uploaded = renderer.upload(scene, 1).map_err(|e| e.to_string())?;
            renderer.render(&uploaded, &sky, &view, &options).map_err(|e| e.to_string())
        };
        match draw() {
            Ok(picture) => assert_eq!(picture.rgba8.len(), 16 * 16 * 4),
            Err(reason) => refused.push(format!("{}: {reason}", file.display())),
        }
        assert!(started.elapsed() < TIME_LIMIT, "{} took {:?}", file.display(), started.elapsed());
    }
    assert!(refused.is_empty(), "read, but not drawn on {}:\n{}", gpu.driver, refused.join("\n"));
}

#[test]
fn every_bad_file_is_refused_or_draws() {
    let shared = match shared_dir() {
        Ok(shared) => shared,
        Err(reason) => rhizo_testkit::skip!("{reason}"),
    };
    let files = gltf_files(&shared.join("assets/gltf-bad"));
    assert!(files.len() > 150, "only {} files found", files.len());
    let read = read_all(&files);
    for (file, result) in &read {
        let Err(error) = result else { continue };
        assert_eq!(error.file, *file);
        assert!(error.json_path.is_empty() || error.json_path.starts_with('/'), "{error}");
        assert!(!error.reason.to_string().is_empty() && !error.to_string().contains('\n'), "{error}");
    }
    let scenes: Vec<_> = read.iter().filter_map(|(file, result)| Some((*file, result.as_ref().ok()?))).collect();
    assert!(scenes.len() > 30 && files.len() - scenes.len() > 80, "{} of {} load", scenes.len(), files.len());
    println!("{} of {} files load and draw, the others are refused", scenes.len(), files.len());
    each_driver("bad_input::gltf::every_bad_file_is_refused_or_draws", |gpu| draw_all(gpu, &scenes));
}
