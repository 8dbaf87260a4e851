//! Captures by RenderDoc: `toggle_gpu_capture` makes one of `examples/hello`, it shows the passes in their group, and it
//! replays.

use crate::golden::hello::example;
use crate::golden::opaque;
use rhizo::{Backend, ErrorKind, OpenDesc};
use rhizo_testkit::drivers::{DriverManifest, TestDriver, installed_drivers};
use rhizo_testkit::gpu::each_driver;
use rhizo_testkit::skips::{report_partial_skip, report_skip};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const TEST: &str = "gpu::capture::a_capture_shows_both_passes_in_their_group_and_replays";
/// Set in the process that RenderDoc watches: the folder for its picture.
const CHILD: &str = "RHIZO_TEST_CAPTURE_FOLDER";
const ADAPTER: &str = "RHIZO_TEST_CAPTURE_ADAPTER";
/// For what takes a second on an idle machine.
const TIME_LIMIT_SECONDS: &str = "120";

#[test]
fn without_a_capture_tool_the_reason_is_said() {
    each_driver("gpu::capture::without_a_capture_tool_the_reason_is_said", |gpu| {
        for start in [true, false] {
            let error = gpu.device.toggle_gpu_capture(start).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            assert!(error.detail().contains("renderdoccmd capture"), "{error}");
        }
    });
}

#[test]
fn a_capture_shows_both_passes_in_their_group_and_replays() {
    if let Some(folder) = std::env::var_os(CHILD) {
        return draw_captured(Path::new(&folder));
    }
    match Command::new("renderdoccmd").arg("version").output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!("renderdoccmd version: {output:?}"),
        Err(error) => return report_skip(TEST, &format!("renderdoccmd: {error}; install the package renderdoc")),
    }
    let states = installed_drivers().into_iter().filter(|state| TestDriver::SOFTWARE.contains(&state.driver));
    for state in states {
        match &state.manifest {
            Ok(manifest) => check_driver(&state.driver, manifest),
            Err(reason) => report_partial_skip(TEST, &state.driver.to_string(), reason),
        }
    }
}

/// The watched process.
fn draw_captured(folder: &Path) {
    let desc = OpenDesc { adapter: std::env::var(ADAPTER).ok(), ..OpenDesc::new(Backend::Vulkan) };
    let device = rhizo::open(&desc).unwrap();
    let before = device.toggle_gpu_capture(false).unwrap_err();
    assert_eq!(before.kind(), ErrorKind::InvalidState, "ended before it began: {before}");
    let pixels = example::captured(&device).unwrap();
    device.toggle_gpu_capture(true).unwrap();
    let again = device.toggle_gpu_capture(true).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::InvalidState, "begun twice: {again}");
    std::fs::write(folder.join("picture.rgba"), pixels).unwrap();
    std::process::exit(0); // leaves the second capture unfinished, so that one file is written
}

fn check_driver(driver: &TestDriver, manifest: &DriverManifest) {
    let folder = tempfile::tempdir().unwrap();
    let ran = limited("renderdoccmd")
        .args(["capture", "-w", "-c"])
        .arg(folder.path().join("hello"))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture"])
        .env(CHILD, folder.path())
        .env(ADAPTER, driver.adapter_name_contains().unwrap())
        .envs(["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].map(|name| (name, &manifest.path)))
        .output()
        .unwrap();
    let captures = files_with(folder.path(), "rdc");
    assert_eq!(captures.len(), 1, "{driver}: {captures:?}\n{}", words(&ran));
    let pixels = std::fs::read(folder.path().join("picture.rgba")).unwrap_or_else(|e| panic!("{e}\n{}", words(&ran)));
    let golden = rhizo_testkit::flip::load_rgb8(&crate::golden::golden_file("hello.png")).unwrap();
    let between = rhizo_testkit::flip::compare(&golden, &opaque(256, 256, pixels)).unwrap();
    assert!(between.mean < 0.01, "{driver}: the captured picture is {} from the golden one", between.mean);
    check_structure(driver, &captures[0]);
    check_replay(driver, &captures[0], manifest);
}

/// A program that is ended when it takes too long.
fn limited(program: &str) -> Command {
    let mut command = Command::new("timeout");
    command.args([TIME_LIMIT_SECONDS, program]);
    command
}

fn words(output: &Output) -> String {
    format!("{}\n{}{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn files_with(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect()
}

/// What was recorded, from the capture converted to XML.
fn check_structure(driver: &TestDriver, capture: &Path) {
    let xml = capture.with_extension("xml");
    let ran =
        limited("renderdoccmd").args(["convert", "-c", "xml", "-f"]).arg(capture).arg("-o").arg(&xml).output().unwrap();
    let text = std::fs::read_to_string(&xml).unwrap_or_else(|e| panic!("{driver}: {e}\n{}", words(&ran)));
    let wanted = [
        "hello/FrameRendering/write uv: vkCmdDispatch",
        "hello/FrameRendering/draw triangle: vkCmdBeginRendering",
        "hello/FrameRendering/draw triangle: vkCmdDraw",
        "hello/FrameRendering/draw triangle: vkCmdEndRendering",
    ];
    assert_eq!(work_in_groups(&text), wanted, "{driver}");
}

/// Dispatches, draws and rendering in recorded order, each after the groups it is in.
fn work_in_groups(xml: &str) -> Vec<String> {
    let between = |line: &str, from: &str, to: &str| {
        let rest = &line[line.find(from)? + from.len()..];
        Some(rest[..rest.find(to)?].to_owned())
    };
    let (mut groups, mut work) = (Vec::new(), Vec::new());
    for line in xml.lines().map(str::trim) {
        if let Some(label) = between(line, "name=\"pLabelName\" typename=\"string\" important=\"true\">", "<") {
            groups.push(label);
        }
        let Some(name) = between(line, "name=\"", "\"").filter(|_| line.starts_with("<chunk ")) else { continue };
        match name.as_str() {
            "vkCmdEndDebugUtilsLabelEXT" => {
                groups.pop().expect("every end has a beginning");
            }
            "vkCmdDispatch" | "vkCmdDraw" | "vkCmdBeginRendering" | "vkCmdEndRendering" => {
                work.push(format!("{}: {name}", groups.join("/")));
            }
            _ => {}
        }
    }
    assert!(groups.is_empty(), "open at the end: {groups:?}");
    work
}

/// What a replay does, from RenderDoc's own tree.
fn check_replay(driver: &TestDriver, capture: &Path, manifest: &DriverManifest) {
    // The module belongs to the system's Python, whatever comes first in the path.
    let python = if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" };
    let script = rhizo_testkit::paths::workspace_dir().join("tests/gpu/replay.py");
    let ran = limited(python)
        .arg(script)
        .arg(capture)
        .envs(["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].map(|name| (name, &manifest.path)))
        .output()
        .unwrap();
    if matches!(ran.status.code(), Some(3 | 127)) {
        let reason = format!("no replay: {}; install the package python3-renderdoc", words(&ran));
        return report_partial_skip(TEST, &driver.to_string(), &reason);
    }
    assert!(ran.status.success(), "{driver}: {}", words(&ran));
    let tree = String::from_utf8(ran.stdout).unwrap();
    let lines: Vec<&str> = tree.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let group = lines.iter().position(|line| line.trim() == "FrameRendering").unwrap_or_else(|| panic!("{tree}"));
    let inside = lines[group + 1..].iter().take_while(|line| depth(line) > depth(lines[group]));
    let passes: Vec<&str> =
        inside.filter(|line| depth(line) == depth(lines[group]) + 2).map(|line| line.trim()).collect();
    assert_eq!(passes.get(..2), Some(&["write uv", "draw triangle"][..]), "{driver}:\n{tree}");
    assert!(passes[2..].iter().all(|line| line.starts_with("vkCmdEndDebugUtilsLabelEXT")), "{driver}:\n{tree}");
}
