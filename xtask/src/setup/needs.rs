//! What demo and tests need from the machine: one table.

use std::env;
use std::path::{Path, PathBuf};

use rhizo_testkit::drivers::{self, TestDriver};

/// How to see whether something is there.
pub enum Probe {
    /// A program on `PATH`.
    Program(&'static str),
    /// A shared library in one of the system's library folders, by file name.
    Library(&'static str),
    /// Any of these files.
    AnyFile(&'static [&'static str]),
    /// A Vulkan driver whose manifest and library are there and new enough.
    Driver(TestDriver),
}

/// Whether `setup` fails without it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Nothing useful runs without it.
    Required,
    /// Only some tests need it; without it they are skipped and say so.
    Optional,
}

/// One row: what, how it is detected, which Debian packages bring it, and what it is for.
pub struct Need {
    /// Name shown to the user.
    pub name: &'static str,
    /// What needs it.
    pub purpose: &'static str,
    /// How it is detected.
    pub probe: Probe,
    /// Debian and Ubuntu package names.
    pub packages: &'static [&'static str],
    /// Required or optional.
    pub weight: Weight,
}

/// All needs. The order is the order of the report.
pub fn all() -> Vec<Need> {
    use Probe::{AnyFile, Driver, Library, Program};
    use Weight::{Optional, Required};
    let need = |name, purpose, probe, packages, weight| Need { name, purpose, probe, packages, weight };
    vec![
        need("C++ compiler", "builds the FLIP picture comparison", Program("c++"), &["g++"], Required),
        need("Vulkan loader", "every Vulkan program", Library("libvulkan.so.1"), &["libvulkan1"], Required),
        need("lavapipe", "Vulkan driver 1 of 2", Driver(TestDriver::Lavapipe), MESA, Required),
        need("SwiftShader", "Vulkan driver 2 of 2; browser", Driver(TestDriver::SwiftShader), &["chromium"], Optional),
        need(
            "validation layer",
            "native validation in tests",
            AnyFile(VALIDATION),
            &["vulkan-validationlayers"],
            Required,
        ),
        need("vulkaninfo", "looking at drivers", Program("vulkaninfo"), &["vulkan-tools"], Optional),
        need("EGL", "GLES backend", Library("libEGL.so.1"), &["libegl1"], Required),
        need("GLES", "GLES backend", Library("libGLESv2.so.2"), &["libgles2"], Required),
        need("Mesa EGL", "EGL surfaceless for the GLES backend", Library("libEGL_mesa.so.0"), MESA, Required),
        need("Xvfb", "X11 swapchain tests", Program("Xvfb"), &["xvfb"], Optional),
        need("X11 libraries", "X11 windows", Library("libxkbcommon-x11.so.0"), X11, Optional),
        need("X11 cursor library", "X11 windows", Library("libXcursor.so.1"), X11, Optional),
        need("weston", "Wayland swapchain tests", Program("weston"), &["weston"], Optional),
        need("RenderDoc", "capture tests", Program("renderdoccmd"), &["renderdoc"], Optional),
        need("valgrind", "instruction counts of benches", Program("valgrind"), &["valgrind"], Optional),
        need("glslang", "rebuilding test shaders", Program("glslangValidator"), &["glslang-tools"], Optional),
        need("glslc", "rebuilding test shaders", Program("glslc"), &["glslc"], Optional),
        need("SPIR-V tools", "checking emitted SPIR-V", Program("spirv-val"), &["spirv-tools"], Optional),
    ]
}

/// Mesa's parts, which must all be of one version.
pub const MESA: &[&str] = &["mesa-vulkan-drivers", "libgl1-mesa-dri", "libegl-mesa0", "libgbm1", "libglx-mesa0"];

const X11: &[&str] = &["libx11-6", "libx11-xcb1", "libxcursor1", "libxi6", "libxrandr2", "libxkbcommon-x11-0"];

const VALIDATION: &[&str] = &[
    "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json",
    "/usr/local/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json",
    "/etc/vulkan/explicit_layer.d/VkLayer_khronos_validation.json",
];

impl Probe {
    /// # Errors
    /// A phrase saying what was not found.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Probe::Program(name) => on_path(name).map(drop).ok_or_else(|| format!("no program {name} on PATH")),
            Probe::Library(name) => {
                let found = library_folders().iter().any(|folder| folder.join(name).exists());
                found.then_some(()).ok_or_else(|| format!("no library {name}"))
            }
            Probe::AnyFile(paths) => {
                let found = paths.iter().any(|path| Path::new(path).exists());
                found.then_some(()).ok_or_else(|| format!("no {}", paths[0]))
            }
            Probe::Driver(driver) => {
                let states = drivers::installed_drivers();
                let state = states.into_iter().find(|state| state.driver == *driver);
                state.map_or_else(|| Err("unknown".into()), |state| state.manifest.map(drop))
            }
        }
    }
}

/// The first executable of that name on `PATH`.
pub fn on_path(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn library_folders() -> Vec<PathBuf> {
    let triple = format!("{}-linux-gnu", env::consts::ARCH);
    let mut folders = vec![PathBuf::from("/usr/local/lib")];
    for base in ["/usr/lib", "/lib"] {
        folders.extend([Path::new(base).join(&triple), PathBuf::from(base), PathBuf::from(format!("{base}64"))]);
    }
    folders
}
