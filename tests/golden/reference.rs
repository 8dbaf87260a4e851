//! The shared assets in both reference set-ups, beside the pictures of an independent renderer. What the pictures show
//! and where their maker departs from the plain formulas: `shared/assets/reference/README.md`; ours are compared with
//! its set `plain/`.

use super::opaque;
use image::RgbImage;
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

/// Mean FLIP of a picture that needs no explanation. The aim is 0.05; the largest measured is 0.019 (CornellBox/env), and
/// light that was wrong by 0.06 on one face stayed below 0.03, so the limit is closer.
const LIMIT: f64 = 0.025;

/// The three pictures of an asset: suffix, set-up, exposure.
const PICTURES: [(&str, Preset, f32); 3] =
    [("lit", Preset::ReferenceLit, 1.0), ("env", Preset::ReferenceEnv, 1.0), ("env-2ev", Preset::ReferenceEnv, 0.25)];

/// The points of the reference's README where its formulas were computed apart from any renderer: asset, pixel, linear
/// red in the set-up `lit`. Rough metals as the maker of the pictures has them (its table, see the README's point 7).
const ANCHORS: &[(&str, [u32; 2], f32)] = &[
    ("gltf_extras", [264, 120], 0.8266),
    ("gltf_extras", [172, 305], 0.5490),
    ("SimpleSkin", [256, 256], 0.273),
    ("minimal_accessor_min_max", [202, 303], 0.288),
    ("tile", [256, 224], 0.138),
];

/// One step of 255 at these values is up to 0.008.
const ANCHOR_TOLERANCE: f32 = 0.01;

struct Studio {
    renderer: SceneRenderer,
    uniform: Environment,
    beach: Environment,
    driver: TestDriver,
    /// Points whose colour is not the formula's, in words.
    wrong_anchors: Vec<String>,
}

impl Studio {
    fn new(gpu: &Gpu, assets: &Path) -> Self {
        let mut renderer = SceneRenderer::new(&gpu.device).unwrap();
        let uniform = Equirect { width: 4, height: 2, rgb: vec![[REFERENCE_AMBIENT; 3]; 8] };
        let uniform = renderer.environment(&uniform).unwrap();
        let beach = hdr::load(&assets.join("environment/spiaggia_di_mondello_1k.hdr")).unwrap();
        let beach = renderer.environment(&beach).unwrap();
        Self { renderer, uniform, beach, driver: gpu.driver.clone(), wrong_anchors: Vec::new() }
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
            if preset == Preset::ReferenceLit {
                self.wrong_anchors.extend(wrong_anchors(asset, &picture));
            }
            Report::of_workspace().record(&name, &reference, &picture, LIMIT).unwrap()
        };
        PICTURES.map(&mut draw).into()
    }
}

fn wrong_anchors(asset: &str, picture: &RgbImage) -> Vec<String> {
    let of_asset = ANCHORS.iter().filter(|(name, ..)| *name == asset);
    let check = |(_, [x, y], wanted): &(&str, [u32; 2], f32)| {
        let value = f32::from(picture.get_pixel(*x, *y).0[0]) / 255.0;
        let linear = if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
        let off = (linear - wanted).abs() > ANCHOR_TOLERANCE;
        off.then(|| format!("{asset}: the pixel at {x}, {y} has linear red {linear:.4}, the formula says {wanted}"))
    };
    of_asset.filter_map(check).collect()
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

/// Draws the assets on a driver, prints the table and says what is out of bounds.
fn run(test: &str, driver: &TestDriver) {
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
        let pictures = studio.compare(&assets, &asset, &file);
        results.push((asset, pictures));
    }
    let mut wrong = std::mem::take(&mut studio.wrong_anchors);
    drop(studio);
    assert!(results.len() >= 17, "only {} assets have pictures", results.len());
    gpu::finish(test, gpu);
    println!("{driver}, {:.1} s\n{}", started.elapsed().as_secs_f64(), table(&results));
    wrong.extend(results.iter().flat_map(|(asset, pictures)| faults(asset, pictures)));
    assert!(wrong.is_empty(), "{}\nsee out/flip/index.html", wrong.join("\n"));
}

fn faults(asset: &str, pictures: &[FlipResult]) -> Vec<String> {
    let above = pictures.iter().zip(&PICTURES).filter(|(result, _)| !result.passes());
    above.map(|(result, (suffix, ..))| format!("{asset}/{suffix}: mean {:.4} is above {LIMIT}", result.mean)).collect()
}

#[test]
fn shared_assets_look_like_the_reference_on_lavapipe() {
    run("golden::reference::shared_assets_look_like_the_reference_on_lavapipe", &TestDriver::Lavapipe);
}

#[test]
fn shared_assets_look_like_the_reference_on_swiftshader() {
    run("golden::reference::shared_assets_look_like_the_reference_on_swiftshader", &TestDriver::SwiftShader);
}
