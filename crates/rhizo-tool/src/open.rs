//! Opening a device for a command, with errors that say what to install.

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use rhizo::{Backend, Device, OpenDesc};

/// Backends by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    /// Vulkan 1.3
    Vulkan,
    /// WebGPU (native)
    Webgpu,
    /// OpenGL ES 3
    Gles,
}

impl BackendName {
    /// The contract's name.
    pub fn backend(self) -> Backend {
        match self {
            Self::Vulkan => Backend::Vulkan,
            Self::Webgpu => Backend::WebGpu,
            Self::Gles => Backend::Gles,
        }
    }
}

/// Which device to use.
#[derive(Args, Clone, Debug)]
pub struct DeviceArgs {
    /// Backend [default: RHIZO_BACKEND, else the platform's]
    #[arg(long, value_enum)]
    pub backend: Option<BackendName>,
    /// Adapter whose name contains this text [default: RHIZO_ADAPTER, else the most capable]
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
}

impl DeviceArgs {
    /// The description these arguments and the environment give.
    pub fn desc(&self) -> Result<OpenDesc> {
        let mut desc = OpenDesc::from_env(rhizo::recommended(false))?;
        if let Some(backend) = self.backend {
            desc.backend = backend.backend();
        }
        if self.adapter.is_some() {
            desc.adapter.clone_from(&self.adapter);
        }
        Ok(desc)
    }

    /// Opens the device. A software adapter is used only when there is nothing better, and said so.
    pub fn open(&self) -> Result<Device> {
        let desc = self.desc()?;
        let hardware = rhizo::open(&desc);
        let device = match hardware {
            Err(error) if error.kind() == rhizo::ErrorKind::Unavailable && desc.adapter.is_none() => {
                rhizo::open(&OpenDesc { allow_software: true, ..desc.clone() })
                    .map_err(|error| no_adapter(&desc, &error))?
            }
            Err(error) => return Err(no_adapter(&desc, &error)),
            Ok(device) => device,
        };
        Ok(device)
    }
}

fn no_adapter(desc: &OpenDesc, error: &rhizo::Error) -> anyhow::Error {
    if error.kind() != rhizo::ErrorKind::Unavailable {
        return anyhow!("{error}");
    }
    let tried = Backend::ALL.iter().filter(|b| **b != Backend::Null).map(|b| match rhizo::support(*b) {
        Ok(()) if *b == desc.backend => format!("  {}: {error}", b.name()),
        Ok(()) => format!("  {}: can run here; try --backend {}", b.name(), b.name()),
        Err(reason) => format!("  {}: {reason}", b.name()),
    });
    let tried: Vec<String> = tried.collect();
    anyhow!(
        "no adapter to render with\n{}\nOn Debian or Ubuntu a software driver comes with: apt-get install mesa-vulkan-drivers libvulkan1",
        tried.join("\n")
    )
}
