//! The shared assets in both reference set-ups, beside the pictures of an independent renderer. What the pictures show
//! and where their maker departs from the plain formulas: `shared/assets/reference/README.md`; ours are compared with
//! its set `plain/`.

use super::opaque;
use rhizo::scene::camera::CameraChoice;
use rhizo::scene::hdr::{self, Equirect};
use rhizo::scene::import::{Limits, import};
use rhizo::scene::render::{Environment, Preset, REFERENCE_AMBIENT, RenderOptions, SceneRenderer};
use rhizo_testkit::drivers::TestDriver;
use rhizo_testkit::flip::{Report, load_rgb8};
use rhizo_testkit::flip_report::FlipResult;
use rhizo_testkit::gpu::{self, Gpu};
use rhizo_testkit::paths::shared_dir;
use std::path::Path;
use std::time::Instant;

/// Mean FLIP of a picture that needs no explanation.
const LIMIT: f64 = 0.05;

/// Pictures above [`LIMIT`], each with a bound somewhat above what was measured, and why. One that gets below the limit
/// fails the test until its row goes.
const OUTLIERS: &[(&str, f64, &str)] = &[];

/// Drawn on the second driver as well: textures and blending, a skin's flat facets, large plain faces.
const ON_BOTH: [&str; 3] = ["FlightHelmet", "Fox", "tile"];

/// The three pictures of an asset: suffix, set-up, exposure.
const PICTURES: [(&str, Preset, f32); 3] =
    [("lit", Preset::ReferenceLit, 1.0), ("env", Preset::ReferenceEnv, 1.0), ("env-2ev", Preset::ReferenceEnv, 0.25)];

struct Studio {
    renderer: SceneRenderer,
    uniform: Environment,
    beach: Environment,
    driver: TestDriver,
}

impl Studio {
    fn new(gpu: &Gpu, assets: &Path) -> Self {
        let mut renderer = SceneRenderer::new(&gpu.device).unwrap();
        let uniform = Equirect { width: 4, height: 2, rgb: vec![[REFERENCE_AMBIENT; 3]; 8] };
        let uniform = renderer.environment(&uniform).unwrap();
        let beach = hdr::load(&assets.join("environment/spiaggia_di_mondello_1k.hdr")).unwrap();
        let beach = renderer.environment(&beach).unwrap();
        Self { renderer, uniform, beach, driver: gpu.driver.clone() }
    }

    /// Draws an asset's pictures and compares them.
    fn compare(&mut self, assets: &Path, asset: &str, file: &str) -> Vec<FlipResult> {
        let path = assets.join("gltf").join(file);
        let scene = import(&path, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        let view = scene.view(&CameraChoice::Framed).unwrap();
        let uploaded = self.renderer.upload(&scene, 1).unwrap();
        let mut draw = |(suffix, preset, exposure): (&str, Preset, f32)| {
            let options = RenderOptions { exposure, ..preset.options() };
            let sky = if preset == Preset::ReferenceLit { &self.uniform } else { &self.beach };
            let picture = self.renderer.render(&uploaded, sky, &view, &options).unwrap();
            let reference = load_rgb8(&assets.join(format!("reference/plain/{asset}.{suffix}.png"))).unwrap();
            let name = format!("reference.{asset}.{suffix}.{}", self.driver).to_lowercase();
            let picture = opaque(picture.width, picture.height, picture.rgba8);
            let limit = outlier(asset, suffix).map_or(LIMIT, |(_, bound, _)| *bound);
            Report::of_workspace().record(&name, &reference, &picture, limit).unwrap()
        };
        PICTURES.map(&mut draw).into()
    }
}

fn outlier(asset: &str, suffix: &str) -> Option<&'static (&'static str, f64, &'static str)> {
    OUTLIERS.iter().find(|(name, ..)| name.split_once('/') == Some((asset, suffix)))
}

/// Assets with pictures, and their files.
fn assets_with_pictures(assets: &Path) -> Vec<(String, String)> {
    let text = std::fs::read(assets.join("reference/cameras.json")).unwrap();
    let cameras: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let cameras = cameras.as_object().unwrap();
    cameras.iter().map(|(name, camera)| (name.clone(), camera["file"].as_str().unwrap().to_owned())).collect()
}

fn table(results: &[(String, Vec<FlipResult>)]) -> String {
    let mut text = format!("{:<26}{:>8}{:>8}{:>9}\n", "mean FLIP", "lit", "env", "env-2ev");
    for (asset, pictures) in results {
        text += &format!("{asset:<26}{:>8.4}{:>8.4}{:>9.4}\n", pictures[0].mean, pictures[1].mean, pictures[2].mean);
    }
    let means: Vec<f64> = results.iter().flat_map(|(_, pictures)| pictures).map(|p| p.mean).collect();
    text + &format!("{} pictures, mean of all {:.4}\n", means.len(), means.iter().sum::<f64>() / means.len() as f64)
}

/// Draws the chosen assets on a driver, prints the table and says what is out of bounds.
fn run(test: &str, driver: &TestDriver, wanted: impl Fn(&str) -> bool) {
    let shared = match shared_dir() {
        Ok(shared) => shared,
        Err(reason) => return rhizo_testkit::skips::report_skip(test, &reason),
    };
    let gpu = match gpu::open(driver, rhizo::QueueRequest::ONE) {
        Ok(gpu) => gpu,
        Err(reason) => return rhizo_testkit::skips::report_skip(test, &reason),
    };
    let (assets, started) = (shared.join("assets"), Instant::now());
    let mut studio = Studio::new(&gpu, &assets);
    let mut results = Vec::new();
    for (asset, file) in assets_with_pictures(&assets) {
        if wanted(&asset) {
            let pictures = studio.compare(&assets, &asset, &file);
            results.push((asset, pictures));
        }
    }
    drop(studio);
    gpu::finish(test, gpu);
    println!("{driver}, {:.1} s\n{}", started.elapsed().as_secs_f64(), table(&results));
    let wrong: Vec<String> = results.iter().flat_map(|(asset, pictures)| faults(asset, pictures)).collect();
    assert!(wrong.is_empty(), "{}\nsee out/flip/index.html", wrong.join("\n"));
}

fn faults(asset: &str, pictures: &[FlipResult]) -> Vec<String> {
    let fault = |(result, (suffix, ..)): (&FlipResult, &(&str, Preset, f32))| match outlier(asset, suffix) {
        None if result.mean > LIMIT => Some(format!("{asset}/{suffix}: mean {:.4} is above {LIMIT}", result.mean)),
        Some((_, bound, reason)) if result.mean > *bound => {
            Some(format!("{asset}/{suffix}: mean {:.4} is above {bound}, its bound because of: {reason}", result.mean))
        }
        Some(_) if result.mean <= LIMIT => {
            Some(format!("{asset}/{suffix}: mean {:.4} needs no explanation any more: remove its row", result.mean))
        }
        _ => None,
    };
    pictures.iter().zip(&PICTURES).filter_map(fault).collect()
}

#[test]
fn shared_assets_look_like_the_reference() {
    let test = "golden::reference::shared_assets_look_like_the_reference";
    run(test, &TestDriver::SwiftShader, |_| true);
}

#[test]
fn some_assets_look_like_the_reference_on_the_other_driver() {
    let test = "golden::reference::some_assets_look_like_the_reference_on_the_other_driver";
    run(test, &TestDriver::Lavapipe, |asset| ON_BOTH.contains(&asset));
}

#[test]
fn every_outlier_names_a_picture_and_a_reason() {
    for (name, bound, reason) in OUTLIERS {
        let suffix = name.split_once('/').map(|(_, suffix)| suffix);
        assert!(PICTURES.iter().any(|(known, ..)| Some(*known) == suffix), "{name}");
        assert!(*bound > LIMIT && reason.len() > 20, "{name}: {bound}, {reason:?}");
    }
}
