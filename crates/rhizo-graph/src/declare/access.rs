//! The kinds of access a pass can declare, and what each means for stages, memory accesses and layouts.

use rhizo_rhi::{Access, Layout, Stages};

use super::PassKind;

/// How a pass uses a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum AccessKind {
    /// Indirect arguments or counts.
    IndirectRead,
    /// Index buffer.
    IndexRead,
    /// Vertex buffer.
    VertexRead,
    /// Constant buffer.
    UniformRead,
    /// Sampled or fetched texture (or texel buffer).
    SampledRead,
    /// Storage texture or buffer, read only.
    StorageRead,
    /// Storage texture or buffer, replaced.
    StorageWrite,
    /// Storage texture or buffer, updated.
    StorageReadWrite,
    /// Colour attachment; earlier contents only with load `load`.
    ColorAttachmentWrite,
    /// Colour attachment that blends or is updated.
    ColorAttachmentReadWrite,
    /// Depth-stencil attachment, tested only.
    DepthStencilRead,
    /// Depth-stencil attachment, written.
    DepthStencilWrite,
    /// Source of a multisample resolve.
    ResolveRead,
    /// Destination of a multisample resolve.
    ResolveWrite,
    /// Source of a copy or blit.
    CopyRead,
    /// Destination of a copy or blit.
    CopyWrite,
    /// Destination of a clear or fill.
    ClearWrite,
    /// Shading-rate attachment.
    ShadingRateRead,
    /// Acceleration structure, traced or referenced by a build.
    AccelStructRead,
    /// Geometry or instances of a build.
    AccelStructBuildInput,
    /// Destination or scratch of a build.
    AccelStructWrite,
    /// Presentation.
    Present,
    /// Read by the CPU.
    HostRead,
    /// Written by the CPU.
    HostWrite,
}

/// Where an access happens when the pass does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultStages {
    /// These.
    Fixed(Stages),
    /// The shader stages of the pass kind.
    Shader,
    /// Fragment in a raster pass, else transfer.
    Resolve,
    /// Not on a queue at all.
    Outside,
}

/// What an access may be applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Buffer,
    Texture,
    ColorTexture,
    DepthTexture,
    Any,
}

/// One row of the table of accesses (docs/graph.md shows it in words).
pub(crate) struct AccessInfo {
    pub kind: AccessKind,
    pub name: &'static str,
    pub stages: DefaultStages,
    pub reads: Access,
    pub writes: Access,
    /// Legal layouts, one bit per [`Layout`].
    pub layouts: u16,
    pub target: Target,
    /// Has load and store operations.
    pub attachment: bool,
    /// Pass kinds it may appear in, one bit per [`PassKind`].
    pub passes: u8,
}

const fn bit(layout: Layout) -> u16 {
    1 << layout as u16
}

const RASTER: u8 = 1 << PassKind::Raster as u8;
const COMPUTE: u8 = 1 << PassKind::Compute as u8;
const TRANSFER: u8 = 1 << PassKind::Transfer as u8;
const RAYS: u8 = 1 << PassKind::RayTracing as u8;
const SHADERS: u8 = RASTER | COMPUTE | RAYS;
const BUILDS: u8 = COMPUTE | TRANSFER | RAYS;
const ALL: u8 = SHADERS | TRANSFER;

const SAMPLED: u16 =
    bit(Layout::ShaderReadOnly) | bit(Layout::DepthStencilReadOnly) | bit(Layout::General) | bit(Layout::Common);
const COPY_FROM: u16 = bit(Layout::CopySource) | bit(Layout::General) | bit(Layout::Common);
const COPY_TO: u16 = bit(Layout::CopyDestination) | bit(Layout::General) | bit(Layout::Common);

const NONE: Access = Access::empty();
const FRAGMENT: DefaultStages = DefaultStages::Fixed(Stages::FRAGMENT);
const COPY: DefaultStages = DefaultStages::Fixed(Stages::TRANSFER);
const BUILD: DefaultStages = DefaultStages::Fixed(Stages::ACCEL_STRUCT_BUILD);

#[allow(clippy::too_many_arguments, reason = "one line per row of the table reads best")]
const fn row(
    kind: AccessKind,
    name: &'static str,
    stages: DefaultStages,
    reads: Access,
    writes: Access,
    layouts: u16,
    target: Target,
    attachment: bool,
    passes: u8,
) -> AccessInfo {
    AccessInfo { kind, name, stages, reads, writes, layouts, target, attachment, passes }
}

#[rustfmt::skip]
static TABLE: [AccessInfo; 24] = {
    use AccessKind as K;
    use DefaultStages as D;
    use Target as T;
    [
        row(K::IndirectRead, "indirect-read", D::Fixed(Stages::INDIRECT), Access::INDIRECT_COMMAND_READ, NONE, 0, T::Buffer, false, SHADERS),
        row(K::IndexRead, "index-read", D::Fixed(Stages::INDEX_INPUT), Access::INDEX_READ, NONE, 0, T::Buffer, false, RASTER),
        row(K::VertexRead, "vertex-read", D::Fixed(Stages::VERTEX_INPUT), Access::VERTEX_READ, NONE, 0, T::Buffer, false, RASTER),
        row(K::UniformRead, "uniform-read", D::Shader, Access::CONSTANT_READ, NONE, 0, T::Buffer, false, SHADERS),
        row(K::SampledRead, "sampled-read", D::Shader, Access::SHADER_READ, NONE, SAMPLED, T::Any, false, SHADERS),
        row(K::StorageRead, "storage-read", D::Shader, Access::SHADER_READ, NONE, bit(Layout::General), T::Any, false, SHADERS),
        row(K::StorageWrite, "storage-write", D::Shader, NONE, Access::SHADER_WRITE, bit(Layout::General), T::Any, false, SHADERS),
        row(K::StorageReadWrite, "storage-read-write", D::Shader, Access::SHADER_READ, Access::SHADER_WRITE, bit(Layout::General), T::Any, false, SHADERS),
        row(K::ColorAttachmentWrite, "color-attachment-write", FRAGMENT, Access::RENDER_TARGET_READ, Access::RENDER_TARGET_WRITE, bit(Layout::RenderTarget), T::ColorTexture, true, RASTER),
        row(K::ColorAttachmentReadWrite, "color-attachment-read-write", FRAGMENT, Access::RENDER_TARGET_READ, Access::RENDER_TARGET_WRITE, bit(Layout::RenderTarget), T::ColorTexture, true, RASTER),
        row(K::DepthStencilRead, "depth-stencil-read", FRAGMENT, Access::DEPTH_STENCIL_READ, NONE, bit(Layout::DepthStencilReadOnly) | bit(Layout::DepthStencilWrite), T::DepthTexture, true, RASTER),
        row(K::DepthStencilWrite, "depth-stencil-write", FRAGMENT, Access::DEPTH_STENCIL_READ, Access::DEPTH_STENCIL_WRITE, bit(Layout::DepthStencilWrite), T::DepthTexture, true, RASTER),
        row(K::ResolveRead, "resolve-read", D::Resolve, Access::RESOLVE_READ, NONE, bit(Layout::ResolveSource), T::Texture, false, RASTER | TRANSFER),
        row(K::ResolveWrite, "resolve-write", D::Resolve, NONE, Access::RESOLVE_WRITE, bit(Layout::ResolveDestination), T::Texture, false, RASTER | TRANSFER),
        row(K::CopyRead, "copy-read", COPY, Access::TRANSFER_READ, NONE, COPY_FROM, T::Any, false, TRANSFER),
        row(K::CopyWrite, "copy-write", COPY, NONE, Access::TRANSFER_WRITE, COPY_TO, T::Any, false, TRANSFER),
        row(K::ClearWrite, "clear-write", COPY, NONE, Access::TRANSFER_WRITE, COPY_TO, T::Any, false, TRANSFER),
        row(K::ShadingRateRead, "shading-rate-read", FRAGMENT, Access::SHADING_RATE_READ, NONE, bit(Layout::ShadingRateSurface), T::Texture, false, RASTER),
        row(K::AccelStructRead, "accel-struct-read", D::Shader, Access::ACCEL_STRUCT_READ, NONE, 0, T::Buffer, false, ALL),
        row(K::AccelStructBuildInput, "accel-struct-build-input", BUILD, Access::SHADER_READ, NONE, 0, T::Buffer, false, BUILDS),
        row(K::AccelStructWrite, "accel-struct-write", BUILD, NONE, Access::ACCEL_STRUCT_WRITE, 0, T::Buffer, false, BUILDS),
        row(K::Present, "present", D::Outside, Access::PRESENT, NONE, bit(Layout::Present), T::Texture, false, ALL),
        row(K::HostRead, "host-read", D::Outside, NONE, NONE, bit(Layout::General), T::Any, false, ALL),
        row(K::HostWrite, "host-write", D::Outside, NONE, NONE, bit(Layout::General), T::Any, false, ALL),
    ]
};

impl AccessKind {
    /// All kinds, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.kind)
    }

    pub(crate) fn info(self) -> &'static AccessInfo {
        &TABLE[self as usize]
    }

    /// The name in files and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.kind)
    }

    /// Whether it has load and store operations.
    #[must_use]
    pub fn is_attachment(self) -> bool {
        self.info().attachment
    }

    /// Whether it replaces or updates contents (writes by the CPU included).
    #[must_use]
    pub fn writes(self) -> bool {
        !self.info().writes.is_empty() || self == Self::HostWrite
    }

    /// The memory accesses, reads and writes, with loaded contents when it is an attachment.
    #[must_use]
    pub fn accesses(self) -> Access {
        self.info().reads | self.info().writes
    }

    /// The stages it happens in when the pass does not say; empty for what happens outside the queue.
    #[must_use]
    pub fn default_stages(self, pass: PassKind) -> Stages {
        match self.info().stages {
            DefaultStages::Fixed(stages) => stages,
            DefaultStages::Outside => Stages::empty(),
            DefaultStages::Resolve if pass == PassKind::Raster => Stages::FRAGMENT,
            DefaultStages::Resolve => Stages::TRANSFER,
            DefaultStages::Shader => match pass {
                PassKind::Raster => Stages::VERTEX | Stages::FRAGMENT,
                PassKind::Compute => Stages::COMPUTE,
                PassKind::RayTracing => Stages::RAY_TRACING,
                PassKind::Transfer => Stages::ACCEL_STRUCT_BUILD,
            },
        }
    }
}

/// A set of access kinds: the usages of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct AccessKinds(u32);

impl AccessKinds {
    /// Nothing.
    pub const EMPTY: Self = Self(0);

    /// Adds a kind.
    pub fn insert(&mut self, kind: AccessKind) {
        self.0 |= 1 << kind as u32;
    }

    /// Whether the kind is in the set.
    #[must_use]
    pub fn contains(self, kind: AccessKind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    /// Whether nothing is in the set.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether any of the kinds is an attachment.
    #[must_use]
    pub fn has_attachment(self) -> bool {
        const ATTACHMENTS: u32 = (1 << AccessKind::ColorAttachmentWrite as u32)
            | (1 << AccessKind::ColorAttachmentReadWrite as u32)
            | (1 << AccessKind::DepthStencilRead as u32)
            | (1 << AccessKind::DepthStencilWrite as u32);
        self.0 & ATTACHMENTS != 0
    }

    /// The kinds, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = AccessKind> {
        AccessKind::all().filter(move |kind| self.contains(*kind))
    }
}

impl FromIterator<AccessKind> for AccessKinds {
    fn from_iter<I: IntoIterator<Item = AccessKind>>(kinds: I) -> Self {
        let mut set = Self::EMPTY;
        kinds.into_iter().for_each(|kind| set.insert(kind));
        set
    }
}

/// Picks the layout for a set of legal ones: the most specific first, `general` and `common` last.
pub(crate) fn preferred_layout(legal: u16) -> Layout {
    const ORDER: [Layout; 12] = [
        Layout::ShaderReadOnly,
        Layout::DepthStencilReadOnly,
        Layout::CopySource,
        Layout::CopyDestination,
        Layout::RenderTarget,
        Layout::DepthStencilWrite,
        Layout::ResolveSource,
        Layout::ResolveDestination,
        Layout::Present,
        Layout::ShadingRateSurface,
        Layout::General,
        Layout::Common,
    ];
    ORDER.into_iter().find(|layout| legal & bit(*layout) != 0).unwrap_or(Layout::Undefined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_order_of_the_enum() {
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.kind as usize, i);
            assert_eq!(AccessKind::from_name(row.name), Some(row.kind));
        }
    }

    #[test]
    fn layouts_prefer_the_specific() {
        assert_eq!(preferred_layout(SAMPLED), Layout::ShaderReadOnly);
        assert_eq!(preferred_layout(SAMPLED & COPY_FROM), Layout::General);
        assert_eq!(preferred_layout(SAMPLED & AccessKind::StorageRead.info().layouts), Layout::General);
        assert_eq!(
            preferred_layout(SAMPLED & AccessKind::DepthStencilRead.info().layouts),
            Layout::DepthStencilReadOnly
        );
    }
}
