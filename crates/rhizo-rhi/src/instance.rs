//! Backends, instances and adapters.

use crate::backend::{InstanceBackend, NativeMessage};
use crate::caps::{AdapterInfo, AdapterKind, Capabilities};
use crate::device::{Device, DeviceDesc};
use crate::error::{Error, ErrorKind, Located, Result};
use std::sync::Arc;

/// The APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Vulkan 1.3.
    Vulkan,
    /// Direct3D 12.
    D3D12,
    /// Metal.
    Metal,
    /// WebGPU, native or in a browser.
    WebGpu,
    /// OpenGL ES 3 or WebGL 2.
    Gles,
    /// Records and checks, executes only copies; for tests that say so.
    Null,
}

impl Backend {
    /// All, in the order of the contract.
    pub const ALL: [Self; 6] = [Self::Vulkan, Self::D3D12, Self::Metal, Self::WebGpu, Self::Gles, Self::Null];

    /// The name on command lines and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vulkan => "vulkan",
            Self::D3D12 => "d3d12",
            Self::Metal => "metal",
            Self::WebGpu => "webgpu",
            Self::Gles => "gles",
            Self::Null => "null",
        }
    }

    /// The backend of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }
}

/// Native validation layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum NativeValidation {
    /// Not loaded.
    #[default]
    Off,
    /// Loaded if installed.
    IfPresent,
    /// Required, with synchronization validation.
    Required,
}

/// Describes an instance.
#[derive(Clone, Copy, Debug)]
pub struct InstanceDesc<'a> {
    /// API.
    pub backend: Backend,
    /// The application's name, for captures and drivers.
    pub application: &'a str,
    /// Native validation: messages arrive at [`Instance::take_messages`].
    pub native_validation: NativeValidation,
    /// Queues that devices open with unless they say otherwise.
    pub queues: QueueRequest,
}

impl InstanceDesc<'_> {
    /// The plain description for a backend.
    #[must_use]
    pub const fn new(backend: Backend) -> Self {
        Self { backend, application: "rhizo", native_validation: NativeValidation::Off, queues: QueueRequest::ONE }
    }
}

/// How many queues of each kind are wanted; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueRequest {
    /// Graphics.
    pub graphics: u32,
    /// Compute.
    pub compute: u32,
    /// Transfer.
    pub transfer: u32,
}

impl QueueRequest {
    /// One graphics queue.
    pub const ONE: Self = Self { graphics: 1, compute: 0, transfer: 0 };
    /// One of each kind.
    pub const EACH: Self = Self { graphics: 1, compute: 1, transfer: 1 };
}

/// What an adapter is chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PowerPreference {
    /// Discrete before integrated.
    #[default]
    High,
    /// Integrated before discrete.
    Low,
}

/// An instance: one API, its adapters and the devices opened on them.
#[derive(Clone)]
pub struct Instance {
    backend: Arc<dyn InstanceBackend>,
    adapters: Arc<[AdapterInfo]>,
    queues: QueueRequest,
}

impl Instance {
    /// Wraps a backend's instance; backends' own crates call this.
    #[must_use]
    pub fn from_backend(backend: Box<dyn InstanceBackend>, queues: QueueRequest) -> Self {
        let backend: Arc<dyn InstanceBackend> = backend.into();
        let adapters = backend.adapters().into();
        Self { backend, adapters, queues }
    }

    /// Which API this is.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend.backend()
    }

    /// The adapters, in a stable order.
    #[must_use]
    pub fn adapters(&self) -> &[AdapterInfo] {
        &self.adapters
    }

    /// The full capability report of an adapter.
    ///
    /// # Errors
    /// `InvalidArgument` for an index out of range; native failures.
    #[track_caller]
    pub fn capabilities(&self, adapter: usize) -> Result<Capabilities> {
        self.check(adapter)?;
        self.backend.capabilities(adapter)
    }

    /// The adapter to use: hardware by preference, software only when `allow_software` says so.
    ///
    /// # Errors
    /// `Unavailable`, listing what was found.
    #[track_caller]
    pub fn choose_adapter(&self, preference: PowerPreference, allow_software: bool) -> Result<usize> {
        let rank = |info: &AdapterInfo| match (info.kind, preference) {
            (AdapterKind::Discrete, PowerPreference::High) | (AdapterKind::Integrated, PowerPreference::Low) => 0,
            (AdapterKind::Discrete | AdapterKind::Integrated, _) => 1,
            (AdapterKind::Virtual, _) => 2,
            (AdapterKind::Other, _) => 3,
            (AdapterKind::Software, _) => 4,
        };
        let usable = |(_, info): &(usize, &AdapterInfo)| {
            info.unusable.is_none() && (allow_software || info.kind != AdapterKind::Software)
        };
        let best = self.adapters.iter().enumerate().filter(usable).min_by_key(|(i, info)| (rank(info), *i));
        let best = best.map(|(i, _)| i).ok_or_else(|| {
            let found: Vec<String> = self.adapters.iter().map(|a| format!("{} ({:?})", a.name, a.kind)).collect();
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            Error::new(ErrorKind::Unavailable, format!("no {} adapter fits; found: {found}", self.backend().name()))
        });
        best.located()
    }

    /// Opens a device on an adapter.
    ///
    /// # Errors
    /// `Unsupported` naming what is missing; native failures.
    #[track_caller]
    pub fn open(&self, adapter: usize, desc: &DeviceDesc<'_>) -> Result<Device> {
        self.check(adapter)?;
        if let Some(reason) = &self.adapters[adapter].unusable {
            return Err(Error::new(ErrorKind::Unsupported, reason.clone()).on(self.adapters[adapter].name.as_str()));
        }
        Device::open(self, adapter, desc)
    }

    /// Messages of the native validation layers since the last call.
    #[must_use]
    pub fn take_messages(&self) -> Vec<NativeMessage> {
        self.backend.take_messages()
    }

    #[track_caller]
    fn check(&self, adapter: usize) -> Result<()> {
        if adapter < self.adapters.len() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::InvalidArgument, format!("adapter {adapter} of {}", self.adapters.len())))
    }

    pub(crate) fn native(&self) -> &dyn InstanceBackend {
        &*self.backend
    }

    pub(crate) fn default_queues(&self) -> QueueRequest {
        self.queues
    }
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} instance with {} adapters", self.backend().name(), self.adapters.len())
    }
}
