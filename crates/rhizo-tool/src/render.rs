//! `rhizo render` and `rhizo demo`.

use crate::open::DeviceArgs;
use crate::output;
use anyhow::{Context, Result, anyhow};
use clap::{Args, Parser};
use image::ImageEncoder;
use indicatif::{ProgressBar, ProgressStyle};
use rhizo::graph::dump;
use rhizo::graph::file::PlanFile;
use rhizo::scene::camera::CameraChoice;
use rhizo::scene::hdr;
use rhizo::scene::import::{self, Limits};
use rhizo::scene::procedural;
use rhizo::scene::render::{Picture, PictureOptions, Preset, SceneRenderer};
use rhizo::scene::scene::Scene;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What both commands take.
#[derive(Args)]
struct Common {
    /// Picture to write (PNG)
    #[arg(short, long, value_name = "OUT.png")]
    output: PathBuf,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<(u32, u32)>,
    /// Samples per pixel: 1, 2, 4 or 8
    #[arg(long, default_value_t = 4)]
    samples: u32,
    /// YAW,PITCH,DISTANCE (degrees, degrees, scene radii), a camera's name or number, auto or framed
    #[arg(long, value_name = "CAMERA", allow_hyphen_values = true)]
    camera: Option<CameraChoice>,
    /// Equirectangular Radiance .hdr environment [default: a procedural sky]
    #[arg(long, value_name = "HDR")]
    env: Option<PathBuf>,
    /// Multiplies linear radiance before tone mapping
    #[arg(long)]
    exposure: Option<f32>,
    /// Write counts and times here (JSON)
    #[arg(long, value_name = "OUT.json")]
    stats: Option<PathBuf>,
    /// Write the frame's render-graph plan here (.json: plan file, else text)
    #[arg(long, value_name = "OUT")]
    plan: Option<PathBuf>,
    /// No progress on standard error
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    device: DeviceArgs,
}

#[derive(Parser)]
pub struct RenderArgs {
    /// glTF 2.0 file (.gltf or .glb)
    scene: PathBuf,
    /// A whole set-up by name: default, reference-lit or reference-env
    #[arg(long, default_value = "default")]
    preset: Preset,
    #[command(flatten)]
    common: Common,
}

#[derive(Parser)]
pub struct DemoArgs {
    #[command(flatten)]
    common: Common,
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let expected = || format!("`{text}` is not WIDTHxHEIGHT, such as 1280x720");
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(expected)?;
    let number = |text: &str| text.parse::<u32>().ok().filter(|n| *n > 0).ok_or_else(expected);
    Ok((number(width)?, number(height)?))
}

pub fn demo(args: &DemoArgs) -> Result<()> {
    picture(&args.common, Preset::Default, (1280, 720), || Ok(procedural::demo()))
}

pub fn render(args: &RenderArgs) -> Result<()> {
    let size = if args.preset == Preset::Default { (1280, 720) } else { (512, 512) };
    let load = || import::import(&args.scene, &Limits::default()).map_err(|error| anyhow!("{error}"));
    picture(&args.common, args.preset, size, load)
}

fn picture(common: &Common, preset: Preset, size: (u32, u32), load: impl FnOnce() -> Result<Scene>) -> Result<()> {
    let mut steps = Steps::new(common.quiet);
    let scene = steps.run("reading the scene", load)?;
    let options = steps.run("reading the environment", || options(common, preset, size))?;
    let sky = options.environment_image(&scene)?;
    let render = options.render_options(&scene);
    render.check()?;
    let view = scene.view(&options.camera_choice())?;
    let device = steps.run("opening the device", || common.device.open())?;
    let mut renderer = steps.run("compiling shaders", || Ok(SceneRenderer::new(&device)?))?;
    let environment = steps.run("filtering the environment", || Ok(renderer.environment(&sky)?))?;
    let gpu_scene = steps.run("uploading the scene", || Ok(renderer.upload(&scene, options.anisotropy())?))?;
    let picture = steps.run("drawing", || Ok(renderer.render(&gpu_scene, &environment, &view, &render)?))?;
    check_native_validation(&device)?;
    steps.run("writing the picture", || write_png(&common.output, &picture))?;
    if let Some(path) = &common.stats {
        write_stats(path, &picture, &device, &steps)?;
    }
    if let Some(path) = &common.plan {
        write_plan(path, &renderer)?;
    }
    for note in &scene.unsupported {
        eprintln!("note: {note}");
    }
    println!("{}: {}x{}, drawn by {}", common.output.display(), picture.width, picture.height, device.adapter().name);
    Ok(())
}

fn options(common: &Common, preset: Preset, size: (u32, u32)) -> Result<PictureOptions> {
    let environment = match &common.env {
        Some(path) => Some(hdr::load(path).map_err(|error| anyhow!("{error}"))?),
        None if preset == Preset::ReferenceEnv => return Err(anyhow!("the preset reference-env needs --env FILE.hdr")),
        None => None,
    };
    let (width, height) = common.size.unwrap_or(size);
    let defaults = PictureOptions::default();
    Ok(PictureOptions {
        preset,
        width,
        height,
        samples: common.samples,
        camera: common.camera.clone().unwrap_or_default(),
        environment,
        exposure: common.exposure.unwrap_or(defaults.exposure),
    })
}

/// The frame's plan: the exchange format for `.json`, else text.
fn write_plan(path: &Path, renderer: &SceneRenderer) -> Result<()> {
    let (graph, plan) = renderer.last_plan().context("no frame was drawn")?;
    let json = path.extension().is_some_and(|extension| extension == "json");
    let text = if json { PlanFile::new(graph, plan).to_json() } else { dump::text(graph, plan) };
    output::write_file(path, text.as_bytes())
}

/// With `RHIZO_VALIDATION` on, whatever the native layer says is a failure.
fn check_native_validation(device: &rhizo::Device) -> Result<()> {
    let messages = device.instance().take_messages();
    if messages.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = messages.iter().map(|m| format!("  {}: {}", m.id, m.text)).collect();
    Err(anyhow!("native validation has {} messages\n{}", messages.len(), list.join("\n")))
}

fn write_png(path: &Path, picture: &Picture) -> Result<()> {
    let mut bytes = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut bytes);
    encoder
        .write_image(&picture.rgba8, picture.width, picture.height, image::ExtendedColorType::Rgba8)
        .context("cannot encode the picture")?;
    output::write_file(path, &bytes)
}

fn write_stats(path: &Path, picture: &Picture, device: &rhizo::Device, steps: &Steps) -> Result<()> {
    let s = &picture.stats;
    let (memory, _) = device.memory_report();
    let times: serde_json::Map<String, serde_json::Value> =
        steps.times.iter().map(|(name, time)| ((*name).to_owned(), json!(time.as_secs_f64() * 1e3))).collect();
    let value = json!({
        "version": 1,
        "adapter": device.adapter().name,
        "backend": device.instance().backend().name(),
        "size": [picture.width, picture.height],
        "passes": s.passes, "pass_times_ns": s.pass_times_ns,
        "plan_hits": s.plan_hits, "plan_misses": s.plan_misses, "barriers": s.barriers, "barrier_batches": s.barrier_batches,
        "draws": s.draws, "culled_draws": s.culled_draws, "indirect_draws": s.indirect_draws,
        "triangles": s.triangles, "dispatches": s.dispatches, "workgroups": s.workgroups, "clears": s.clears,
        "pipeline_switches": s.pipeline_switches, "table_switches": s.table_switches, "buffer_switches": s.buffer_switches,
        "commands": s.commands, "pipeline_hits": s.pipeline_hits, "pipeline_misses": s.pipeline_misses,
        "transient_allocations": s.transient_allocations, "lights": s.lights, "dropped_lights": s.dropped_lights,
        "memory": { "reserved_bytes": memory.reserved_bytes, "used_bytes": memory.used_bytes, "blocks": memory.blocks },
        "milliseconds": times,
    });
    output::write_file(path, serde_json::to_string_pretty(&value)?.as_bytes())
}

/// Progress of long work: one line on standard error that says what is being done.
struct Steps {
    bar: ProgressBar,
    times: Vec<(&'static str, Duration)>,
}

impl Steps {
    fn new(quiet: bool) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, times: Vec::new() }
    }

    fn run<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        self.bar.set_message(name);
        let start = Instant::now();
        let result = step();
        self.times.push((name, start.elapsed()));
        result
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes_are_two_positive_numbers() {
        assert_eq!(parse_size("640x480"), Ok((640, 480)));
        for bad in ["640", "x", "0x4", "4x0", "-4x4", "4x4x4", "99999999999x1"] {
            assert!(parse_size(bad).is_err_and(|e| e.contains(bad)), "{bad}");
        }
    }
}
