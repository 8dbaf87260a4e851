//! What adapters are, and what formats can be used for.

use crate::vocab::QueueKind;

/// How an adapter is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdapterKind {
    /// Its own memory.
    Discrete,
    /// Shares the CPU's memory.
    Integrated,
    /// Virtualised.
    Virtual,
    /// The CPU.
    Software,
    /// Not known.
    Other,
}

/// Identifies a physical device across APIs and processes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct AdapterIdentity {
    /// Vendor id, see [`vendor_name`].
    pub vendor: u32,
    /// Device id.
    pub device: u32,
    /// Universally unique id, if the API has one.
    pub uuid: Option<[u8; 16]>,
    /// Locally unique id (Windows), if the API has one.
    pub luid: Option<[u8; 8]>,
}

impl AdapterIdentity {
    /// Fails unless both name the same device: by UUID, else by LUID. None in common is a mismatch.
    ///
    /// # Errors
    /// `DEVICE_MATCH` with both identities and the operation.
    #[track_caller]
    pub fn require_match(&self, expected: &Self, operation: &str) -> crate::error::Result<()> {
        let same = match (self.uuid, expected.uuid, self.luid, expected.luid) {
            (Some(a), Some(b), ..) => a == b,
            (_, _, Some(a), Some(b)) => a == b,
            _ => false,
        };
        if same {
            return Ok(());
        }
        let detail = format!("{operation}: {self:?} is not {expected:?}");
        Err(crate::error::Error::clause(crate::clause::DEVICE_MATCH, detail))
    }
}

/// The name of a vendor id; unknown ids keep their number.
#[must_use]
pub fn vendor_name(id: u32) -> std::borrow::Cow<'static, str> {
    let name = match id {
        0 => "unknown vendor",
        0x1002 => "AMD",
        0x10de => "NVIDIA",
        0x8086 => "Intel",
        0x106b => "Apple",
        0x13b5 => "Arm",
        0x5143 => "Qualcomm",
        0x7a05 | 0x10001 => "Vivante",
        0x14e4 => "Broadcom",
        0x1414 => "Microsoft",
        0x144d => "Samsung",
        0x1010 => "Imagination",
        0x10003 => "Kazan",
        0x10004 => "Codeplay",
        0x10005 => "Mesa",
        0x1ae0 => "Google",
        other => return format!("vendor {other:#06x}").into(),
    };
    name.into()
}

/// An adapter, as enumerated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterInfo {
    /// The driver's name for it.
    pub name: String,
    /// Kind.
    pub kind: AdapterKind,
    /// Identity.
    pub identity: AdapterIdentity,
    /// Driver name and version, for people.
    pub driver: String,
    /// API version, for people.
    pub api: String,
    /// Queues that can be asked for, by kind.
    pub queues: Vec<(QueueKind, u32)>,
    /// Why it can't be opened, if so.
    pub unusable: Option<String>,
}

/// What a format can be used for on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct FormatSupport {
    pub sampled: bool,
    pub filterable: bool,
    pub renderable: bool,
    pub blendable: bool,
    pub storage_read: bool,
    pub storage_write: bool,
    pub storage_atomic: bool,
    pub vertex: bool,
    pub copy: bool,
    pub blit_source: bool,
    pub blit_destination: bool,
    pub resolve: bool,
    pub linear_mips: bool,
    /// Sample counts as a mask: bit n is 2^n samples.
    pub sample_mask: u8,
}

impl FormatSupport {
    /// Whether textures of the format can have this many samples.
    #[must_use]
    pub fn samples(&self, count: u32) -> bool {
        count == 1 || (count.is_power_of_two() && count <= 64 && self.sample_mask >> count.trailing_zeros() & 1 == 1)
    }
}
