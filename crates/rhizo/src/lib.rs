//! Rhizo: an explicit GPU abstraction.
//!
//! This crate is the only place that names the backends. It says which of them can run here and why the others can't,
//! makes instances, and re-exports the contract ([`rhi`]) and the layers above it.
//!
//! ```no_run
//! use rhizo::{Backend, OpenDesc};
//! let device = rhizo::open(&OpenDesc::from_env(Backend::Vulkan)?)?;
//! println!("{}", device.adapter().name);
//! # Ok::<(), rhizo::Error>(())
//! ```
//!
//! # What it does not do
//! There is no automatic choice of a backend: [`recommended`] advises, the caller decides. A software adapter is never
//! picked unless [`OpenDesc::allow_software`] says so.
#![forbid(unsafe_code)]

pub use rhizo_rhi as rhi;
pub use rhizo_rhi::*;

#[cfg(feature = "frame")]
pub use rhizo_frame as frame;
#[cfg(feature = "graph")]
pub use rhizo_graph as graph;
#[cfg(feature = "scene")]
pub use rhizo_scene as scene;
#[cfg(feature = "shader")]
pub use rhizo_shader as shader;

/// The backend advised for this platform. Forcing Vulkan has an effect only on Windows.
#[must_use]
pub const fn recommended(force_vulkan: bool) -> Backend {
    if cfg!(target_arch = "wasm32") {
        Backend::WebGpu
    } else if cfg!(windows) && !force_vulkan {
        Backend::D3D12
    } else if cfg!(target_vendor = "apple") {
        Backend::Metal
    } else {
        Backend::Vulkan
    }
}

/// Whether a backend can run here.
///
/// # Errors
/// The reason why not, with what to install where that would help.
pub fn support(backend: Backend) -> Result<(), String> {
    match backend {
        #[cfg(feature = "vulkan")]
        Backend::Vulkan => rhizo_vulkan::support(),
        #[cfg(feature = "gles")]
        Backend::Gles => rhizo_gles::support(),
        #[cfg(feature = "webgpu")]
        Backend::WebGpu => rhizo_webgpu::support(),
        Backend::Null => Ok(()),
        Backend::D3D12 if !cfg!(windows) => Err("Direct3D 12 runs on Windows only".into()),
        Backend::Metal if !cfg!(target_vendor = "apple") => Err("Metal runs on Apple platforms only".into()),
        other => Err(format!("the {} backend is not compiled in", other.name())),
    }
}

/// Makes an instance of the backend the description names.
///
/// # Errors
/// `Unavailable` with the reason of [`support`]; native failures.
pub fn instance(desc: &InstanceDesc<'_>) -> Result<Instance> {
    match desc.backend {
        #[cfg(feature = "vulkan")]
        Backend::Vulkan => rhizo_vulkan::instance(desc),
        #[cfg(feature = "gles")]
        Backend::Gles => rhizo_gles::instance(desc),
        #[cfg(feature = "webgpu")]
        Backend::WebGpu => rhizo_webgpu::instance(desc),
        Backend::Null => Ok(rhizo_rhi::null::instance(rhizo_rhi::null::NullConfig::default())),
        other => {
            let reason = support(other).err().unwrap_or_else(|| "it has no instance".into());
            Err(Error::new(ErrorKind::Unavailable, reason).on(other.name()))
        }
    }
}

/// What [`open`] opens.
#[derive(Clone, Debug)]
pub struct OpenDesc {
    /// Backend.
    pub backend: Backend,
    /// Adapter whose name contains this text; `None` chooses by preference.
    pub adapter: Option<String>,
    /// Preference among hardware adapters.
    pub power: PowerPreference,
    /// Whether a software adapter may be chosen without being named.
    pub allow_software: bool,
    /// Native validation.
    pub native_validation: NativeValidation,
    /// Queues.
    pub queues: QueueRequest,
}

impl OpenDesc {
    /// The plain description of a backend.
    #[must_use]
    pub const fn new(backend: Backend) -> Self {
        Self {
            backend,
            adapter: None,
            power: PowerPreference::High,
            allow_software: false,
            native_validation: NativeValidation::Off,
            queues: QueueRequest::ONE,
        }
    }

    /// As [`OpenDesc::new`], with `RHIZO_BACKEND`, `RHIZO_ADAPTER` and `RHIZO_VALIDATION` (`off`, `on`, `required`) taken
    /// from the environment where set.
    ///
    /// # Errors
    /// `InvalidArgument` naming the variable and its legal values.
    pub fn from_env(backend: Backend) -> Result<Self> {
        let bad = |name: &str, value: &str, legal: &str| {
            Error::new(ErrorKind::InvalidArgument, format!("{name}={value}: one of {legal} is expected"))
        };
        let mut desc = Self::new(backend);
        if let Ok(value) = std::env::var("RHIZO_BACKEND") {
            let names: Vec<&str> = Backend::ALL.iter().map(|b| b.name()).collect();
            desc.backend = Backend::from_name(&value).ok_or_else(|| bad("RHIZO_BACKEND", &value, &names.join(", ")))?;
        }
        desc.adapter = std::env::var("RHIZO_ADAPTER").ok().filter(|name| !name.is_empty());
        if let Ok(value) = std::env::var("RHIZO_VALIDATION") {
            desc.native_validation = match value.as_str() {
                "off" | "0" | "" => NativeValidation::Off,
                "on" | "1" => NativeValidation::IfPresent,
                "required" => NativeValidation::Required,
                _ => return Err(bad("RHIZO_VALIDATION", &value, "off, on, required")),
            };
        }
        Ok(desc)
    }
}

/// Makes an instance and opens a device on the adapter the description asks for.
///
/// # Errors
/// `Unavailable` listing what was found; as [`instance`] and [`Instance::open`].
pub fn open(desc: &OpenDesc) -> Result<Device> {
    let instance = instance(&InstanceDesc {
        native_validation: desc.native_validation,
        queues: desc.queues,
        ..InstanceDesc::new(desc.backend)
    })?;
    let adapter = find_adapter(&instance, desc)?;
    instance.open(adapter, &DeviceDesc { label: "rhizo", queues: None })
}

/// The adapter a description asks for.
///
/// # Errors
/// `Unavailable` listing what was found.
pub fn find_adapter(instance: &Instance, desc: &OpenDesc) -> Result<usize> {
    let Some(name) = &desc.adapter else { return instance.choose_adapter(desc.power, desc.allow_software) };
    let wanted = name.to_lowercase();
    let found = instance.adapters().iter().position(|a| a.name.to_lowercase().contains(&wanted));
    found.ok_or_else(|| {
        let names: Vec<&str> = instance.adapters().iter().map(|a| a.name.as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Error::new(ErrorKind::Unavailable, format!("no adapter's name contains \"{name}\"; found: {names}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unsupported_backend_has_a_reason() {
        for backend in Backend::ALL {
            if let Err(reason) = support(backend) {
                assert!(!reason.is_empty(), "{}", backend.name());
                assert_eq!(instance(&InstanceDesc::new(backend)).err().map(|e| e.kind()), Some(ErrorKind::Unavailable));
            }
        }
        #[cfg(not(target_vendor = "apple"))]
        assert!(support(Backend::Metal).is_err_and(|r| r.contains("Apple")));
    }
}
