//! Resources as declared: shapes, lifetimes and states at the borders of the frame.

use rhizo_rhi::Format;
use rhizo_rhi::{Access, Aspects, Extent, Layout, QueueKind, Stages};

use super::AccessKinds;

/// Texture dimensions (arrays have `layers > 1`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureDimension {
    /// 1D.
    D1,
    /// 2D.
    D2,
    /// 3D.
    D3,
    /// Cube; counts six layers per cube.
    Cube,
}

/// Shape of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureDesc {
    /// Dimension.
    pub dimension: TextureDimension,
    /// Format.
    pub format: Format,
    /// Width, height and, for 3D, depth in texels (else 1).
    pub extent: [u32; 3],
    /// Mip levels.
    pub mips: u32,
    /// Array layers; a cube counts six per cube; 1 for 3D.
    pub layers: u32,
    /// Samples a texel.
    pub samples: u32,
}

impl TextureDesc {
    /// A 2D texture with one mip, layer and sample.
    #[must_use]
    pub const fn d2(format: Format, width: u32, height: u32) -> Self {
        Self { dimension: TextureDimension::D2, format, extent: [width, height, 1], mips: 1, layers: 1, samples: 1 }
    }

    /// The extent in the form of the contract: `z` is the depth of a 3D texture, else the layers.
    #[must_use]
    pub const fn extent(&self) -> Extent {
        let is_3d = matches!(self.dimension, TextureDimension::D3);
        Extent { x: self.extent[0], y: self.extent[1], z: if is_3d { self.extent[2] } else { self.layers } }
    }

    /// Size in bytes with tight texels and rows, or `None` when it does not fit 64 bits.
    #[must_use]
    pub fn tight_bytes(&self) -> Option<u64> {
        let mut total: u64 = 0;
        for mip in 0..self.mips.min(32) {
            let side = |size: u32| (size >> mip).max(1);
            let rows = u64::from(self.format.rows(side(self.extent[1])));
            let level = self.format.row_bytes(side(self.extent[0])).checked_mul(rows)?;
            total = total.checked_add(level.checked_mul(u64::from(side(self.extent[2])))?)?;
        }
        total.checked_mul(u64::from(self.layers))?.checked_mul(u64::from(self.samples))
    }
}

/// Shape of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferDesc {
    /// Size in bytes.
    pub size: u64,
    /// Holds acceleration structures (their storage is its own usage).
    pub accel_struct: bool,
}

impl BufferDesc {
    /// A plain buffer of `size` bytes.
    #[must_use]
    pub const fn new(size: u64) -> Self {
        Self { size, accel_struct: false }
    }
}

/// Texture or buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceDesc {
    /// A texture.
    Texture(TextureDesc),
    /// A buffer.
    Buffer(BufferDesc),
}

impl ResourceDesc {
    /// Tight size in bytes, or `None` when it does not fit 64 bits.
    #[must_use]
    pub fn tight_bytes(&self) -> Option<u64> {
        match self {
            Self::Texture(desc) => desc.tight_bytes(),
            Self::Buffer(desc) => Some(desc.size),
        }
    }

    /// The aspects; empty for a buffer.
    #[must_use]
    pub fn aspects(&self) -> Aspects {
        match self {
            Self::Texture(desc) => desc.format.aspects(),
            Self::Buffer(_) => Aspects::empty(),
        }
    }

    /// Whether it is a texture.
    #[must_use]
    pub const fn is_texture(&self) -> bool {
        matches!(self, Self::Texture(_))
    }
}

/// Who owns a resource, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// The graph, for this frame. As an output it is *extracted*: the caller gets it and its memory is not reused.
    Transient,
    /// The caller.
    Imported,
    /// The graph, across frames, under a stable key (its label); never shares memory with transients.
    Persistent,
}

impl Lifetime {
    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Imported => "imported",
            Self::Persistent => "persistent",
        }
    }
}

/// The state of a resource at the start or the end of a frame.
///
/// At the start: what is still outstanding. Accesses that write must be made visible to readers; reads only hold back
/// writers; stages without accesses need execution order only; nothing at all means visible to everyone. Contents exist
/// unless the layout of a texture is undefined. At the end: what the user after the frame does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Stages; empty for work outside queues.
    pub stages: Stages,
    /// Accesses.
    pub access: Access,
    /// Layout; ignored for buffers.
    pub layout: Layout,
    /// Where that work ran or will run.
    pub queue: QueueKind,
}

impl State {
    /// Nothing outstanding, in this layout.
    #[must_use]
    pub const fn ready(layout: Layout) -> Self {
        Self { stages: Stages::empty(), access: Access::empty(), layout, queue: QueueKind::Graphics }
    }

    /// No contents and nothing outstanding: the first use replaces everything.
    pub const UNDEFINED: Self = Self::ready(Layout::Undefined);

    /// A freshly acquired swapchain image is waited for at `stages` and has no contents.
    #[must_use]
    pub const fn acquired(stages: Stages) -> Self {
        Self { stages, ..Self::UNDEFINED }
    }

    /// Handed to the presentation engine.
    pub const PRESENT: Self = Self::ready(Layout::Present);
}

/// A declared resource.
#[derive(Clone, Debug)]
pub struct ResourceDecl {
    /// Shape.
    pub desc: ResourceDesc,
    /// Owner.
    pub lifetime: Lifetime,
    /// The contents at the end of the frame are a result.
    pub output: bool,
    /// Size as the device reports it, where known.
    pub bytes: Option<u64>,
    /// Placement alignment as the device reports it, where known.
    pub alignment: Option<u64>,
    /// State at the start; imported and persistent resources only.
    pub initial: Option<State>,
    /// State wanted at the end; imported and persistent resources only.
    pub final_state: Option<State>,
    /// What an imported object was created for; live accesses outside are refused. `None`: not stated.
    pub usages: Option<AccessKinds>,
}
