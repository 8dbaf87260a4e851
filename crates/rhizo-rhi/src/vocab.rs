//! The synchronisation vocabulary: stages, accesses and layouts, in the bit order of the contract.
//!
//! Names in files, messages and dumps are the kebab-case forms given by the tables here; they are never derived.

use bitflags::bitflags;

bitflags! {
    /// Pipeline stages (execution domains), in bit order.
    ///
    /// *Maps to* — Vulkan: `VkPipelineStageFlags2`; D3D12: `D3D12_BARRIER_SYNC`; Metal: `MTLRenderStages` and encoder
    /// order; WebGPU: implicit; GL: the command classes of `glMemoryBarrier`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
    pub struct Stages: u64 {
        /// Copies, blits, resolves, clears and fills outside passes.
        const TRANSFER = 1 << 0;
        /// Reading of indirect arguments and counts.
        const INDIRECT = 1 << 1;
        /// Index fetch.
        const INDEX_INPUT = 1 << 2;
        /// Vertex attribute fetch.
        const VERTEX_INPUT = 1 << 3;
        /// Vertex shader.
        const VERTEX = 1 << 4;
        /// Fragment shader and, narrowed by access, depth tests and colour output.
        const FRAGMENT = 1 << 5;
        /// Compute shader.
        const COMPUTE = 1 << 6;
        /// Task (amplification) shader.
        const TASK = 1 << 7;
        /// Mesh shader.
        const MESH = 1 << 8;
        /// Ray-tracing shaders.
        const RAY_TRACING = 1 << 9;
        /// Acceleration-structure build.
        const ACCEL_STRUCT_BUILD = 1 << 10;
        /// Acceleration-structure copy and compaction.
        const ACCEL_STRUCT_COPY = 1 << 11;
        /// Machine-learning dispatch.
        const MACHINE_LEARNING = 1 << 12;
        /// Every stage of the raster pipeline.
        const ALL_GRAPHICS = Self::INDIRECT.bits() | Self::INDEX_INPUT.bits() | Self::VERTEX_INPUT.bits()
            | Self::VERTEX.bits() | Self::FRAGMENT.bits() | Self::TASK.bits() | Self::MESH.bits();
        /// Every stage that runs shaders, machine learning included.
        const ALL_SHADING = Self::VERTEX.bits() | Self::FRAGMENT.bits() | Self::COMPUTE.bits() | Self::TASK.bits()
            | Self::MESH.bits() | Self::RAY_TRACING.bits() | Self::MACHINE_LEARNING.bits();
        /// All present and future stages.
        const ALL = u64::MAX;
    }
}

bitflags! {
    /// Memory accesses, in bit order.
    ///
    /// *Maps to* — Vulkan: `VkAccessFlags2`; D3D12: `D3D12_BARRIER_ACCESS` or legacy states; Metal, WebGPU: implicit;
    /// GL: bits of `glMemoryBarrier`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
    pub struct Access: u32 {
        /// Indirect arguments and counts.
        const INDIRECT_COMMAND_READ = 1 << 0;
        /// Indices.
        const INDEX_READ = 1 << 1;
        /// Vertex attributes.
        const VERTEX_READ = 1 << 2;
        /// Constant (uniform) buffers.
        const CONSTANT_READ = 1 << 3;
        /// Sampled textures and storage reads.
        const SHADER_READ = 1 << 4;
        /// Storage writes.
        const SHADER_WRITE = 1 << 5;
        /// Colour attachment load and blending.
        const RENDER_TARGET_READ = 1 << 6;
        /// Colour attachment writes.
        const RENDER_TARGET_WRITE = 1 << 7;
        /// Depth and stencil tests and loads.
        const DEPTH_STENCIL_READ = 1 << 8;
        /// Depth and stencil writes.
        const DEPTH_STENCIL_WRITE = 1 << 9;
        /// Source of copies.
        const TRANSFER_READ = 1 << 10;
        /// Destination of copies, clears and fills.
        const TRANSFER_WRITE = 1 << 11;
        /// Source of multisample resolves.
        const RESOLVE_READ = 1 << 12;
        /// Destination of multisample resolves.
        const RESOLVE_WRITE = 1 << 13;
        /// Presentation.
        const PRESENT = 1 << 14;
        /// Shading-rate attachment.
        const SHADING_RATE_READ = 1 << 15;
        /// Acceleration structure read (trace, copy source, build reference).
        const ACCEL_STRUCT_READ = 1 << 16;
        /// Acceleration structure build or copy destination.
        const ACCEL_STRUCT_WRITE = 1 << 17;
    }
}

impl Access {
    /// The accesses that write.
    pub const WRITES: Self = Self::SHADER_WRITE
        .union(Self::RENDER_TARGET_WRITE)
        .union(Self::DEPTH_STENCIL_WRITE)
        .union(Self::TRANSFER_WRITE)
        .union(Self::RESOLVE_WRITE)
        .union(Self::ACCEL_STRUCT_WRITE);

    /// Whether any access in the set writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        self.intersects(Self::WRITES)
    }
}

/// Texture layouts, in the order of the contract.
///
/// *Maps to* — Vulkan: `VkImageLayout`; D3D12: `D3D12_BARRIER_LAYOUT` or legacy states; Metal, WebGPU, GL: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[repr(u8)]
pub enum Layout {
    /// Contents are not kept by the transition.
    #[default]
    Undefined,
    /// Legal for every shader access and copies.
    General,
    /// Source of copies.
    CopySource,
    /// Destination of copies and clears.
    CopyDestination,
    /// Sampled and read by shaders.
    ShaderReadOnly,
    /// Colour attachment.
    RenderTarget,
    /// Depth-stencil attachment without writes, also sampled.
    DepthStencilReadOnly,
    /// Depth-stencil attachment.
    DepthStencilWrite,
    /// Source of a multisample resolve.
    ResolveSource,
    /// Destination of a multisample resolve.
    ResolveDestination,
    /// Owned by the presentation engine.
    Present,
    /// Shading-rate attachment.
    ShadingRateSurface,
    /// Sampled reads and copies without a transition in between.
    Common,
}

/// A set of stages with the accesses made there: one side of a memory dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Scope {
    /// Stages.
    pub stages: Stages,
    /// Accesses. On the *before* side name all earlier accesses, reads too (legacy D3D12 states need them).
    pub access: Access,
}

impl Scope {
    /// Nothing outstanding.
    pub const NONE: Self = Self { stages: Stages::empty(), access: Access::empty() };

    /// A scope of these stages and accesses.
    #[must_use]
    pub const fn new(stages: Stages, access: Access) -> Self {
        Self { stages, access }
    }
}

/// The single stages with their names in files and messages, in bit order.
pub const STAGE_NAMES: [(Stages, &str); 13] = [
    (Stages::TRANSFER, "transfer"),
    (Stages::INDIRECT, "indirect"),
    (Stages::INDEX_INPUT, "index-input"),
    (Stages::VERTEX_INPUT, "vertex-input"),
    (Stages::VERTEX, "vertex"),
    (Stages::FRAGMENT, "fragment"),
    (Stages::COMPUTE, "compute"),
    (Stages::TASK, "task"),
    (Stages::MESH, "mesh"),
    (Stages::RAY_TRACING, "ray-tracing"),
    (Stages::ACCEL_STRUCT_BUILD, "accel-struct-build"),
    (Stages::ACCEL_STRUCT_COPY, "accel-struct-copy"),
    (Stages::MACHINE_LEARNING, "machine-learning"),
];

/// The accesses with their names in files and messages, in bit order.
pub const ACCESS_NAMES: [(Access, &str); 18] = [
    (Access::INDIRECT_COMMAND_READ, "indirect-command-read"),
    (Access::INDEX_READ, "index-read"),
    (Access::VERTEX_READ, "vertex-read"),
    (Access::CONSTANT_READ, "constant-read"),
    (Access::SHADER_READ, "shader-read"),
    (Access::SHADER_WRITE, "shader-write"),
    (Access::RENDER_TARGET_READ, "render-target-read"),
    (Access::RENDER_TARGET_WRITE, "render-target-write"),
    (Access::DEPTH_STENCIL_READ, "depth-stencil-read"),
    (Access::DEPTH_STENCIL_WRITE, "depth-stencil-write"),
    (Access::TRANSFER_READ, "transfer-read"),
    (Access::TRANSFER_WRITE, "transfer-write"),
    (Access::RESOLVE_READ, "resolve-read"),
    (Access::RESOLVE_WRITE, "resolve-write"),
    (Access::PRESENT, "present"),
    (Access::SHADING_RATE_READ, "shading-rate-read"),
    (Access::ACCEL_STRUCT_READ, "accel-struct-read"),
    (Access::ACCEL_STRUCT_WRITE, "accel-struct-write"),
];

/// The layouts with their names in files and messages.
pub const LAYOUT_NAMES: [(Layout, &str); 13] = [
    (Layout::Undefined, "undefined"),
    (Layout::General, "general"),
    (Layout::CopySource, "copy-source"),
    (Layout::CopyDestination, "copy-destination"),
    (Layout::ShaderReadOnly, "shader-read-only"),
    (Layout::RenderTarget, "render-target"),
    (Layout::DepthStencilReadOnly, "depth-stencil-read-only"),
    (Layout::DepthStencilWrite, "depth-stencil-write"),
    (Layout::ResolveSource, "resolve-source"),
    (Layout::ResolveDestination, "resolve-destination"),
    (Layout::Present, "present"),
    (Layout::ShadingRateSurface, "shading-rate-surface"),
    (Layout::Common, "common"),
];

impl Layout {
    /// The name in files and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        LAYOUT_NAMES[self as usize].1
    }

    /// The layout of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        LAYOUT_NAMES.iter().find(|(_, n)| *n == name).map(|(layout, _)| *layout)
    }
}

bitflags! {
    /// Image aspects.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
    pub struct Aspects: u8 {
        /// Colour.
        const COLOR = 1 << 0;
        /// Depth.
        const DEPTH = 1 << 1;
        /// Stencil.
        const STENCIL = 1 << 2;
        /// Depth and stencil.
        const DEPTH_STENCIL = Self::DEPTH.bits() | Self::STENCIL.bits();
    }
}

/// Queue kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum QueueKind {
    /// Raster, compute and transfer.
    Graphics,
    /// Compute and transfer.
    Compute,
    /// Transfer only.
    Transfer,
}

impl QueueKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Graphics, Self::Compute, Self::Transfer];

    /// The name in files and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Graphics => "graphics",
            Self::Compute => "compute",
            Self::Transfer => "transfer",
        }
    }
}

/// A sub-resource range of a texture: mips, array layers (3D slices are one layer) and aspects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureRange {
    /// First mip level.
    pub base_mip: u32,
    /// Number of mip levels; [`TextureRange::REST`] means up to the last.
    pub mip_count: u32,
    /// First array layer (a cube counts six per cube).
    pub base_layer: u32,
    /// Number of layers; [`TextureRange::REST`] means up to the last.
    pub layer_count: u32,
    /// Aspects; empty means all of the format.
    pub aspects: Aspects,
}

impl TextureRange {
    /// "Up to the last one".
    pub const REST: u32 = u32::MAX;
    /// Everything.
    pub const WHOLE: Self =
        Self { base_mip: 0, mip_count: Self::REST, base_layer: 0, layer_count: Self::REST, aspects: Aspects::empty() };

    /// One mip level, all layers.
    #[must_use]
    pub const fn mip(level: u32) -> Self {
        Self { base_mip: level, mip_count: 1, ..Self::WHOLE }
    }

    /// One mip level of one layer.
    #[must_use]
    pub const fn slice(level: u32, layer: u32) -> Self {
        Self { base_mip: level, mip_count: 1, base_layer: layer, layer_count: 1, aspects: Aspects::empty() }
    }

    /// The range with `REST` and empty aspects replaced by real numbers, or `None` when it is empty or out of bounds.
    #[must_use]
    pub fn resolve(self, mips: u32, layers: u32, aspects: Aspects) -> Option<Self> {
        let span = |base: u32, count: u32, all: u32| {
            let count = if count == Self::REST { all.checked_sub(base)? } else { count };
            (count > 0 && base.checked_add(count)? <= all).then_some(count)
        };
        let mip_count = span(self.base_mip, self.mip_count, mips)?;
        let layer_count = span(self.base_layer, self.layer_count, layers)?;
        let wanted = if self.aspects.is_empty() { aspects } else { self.aspects };
        aspects.contains(wanted).then_some(Self { mip_count, layer_count, aspects: wanted, ..self })
    }
}

impl Default for TextureRange {
    fn default() -> Self {
        Self::WHOLE
    }
}

/// A byte range of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferRange {
    /// First byte.
    pub offset: u64,
    /// Number of bytes; [`BufferRange::REST`] means up to the end.
    pub size: u64,
}

impl BufferRange {
    /// "Up to the end".
    pub const REST: u64 = u64::MAX;
    /// Everything.
    pub const WHOLE: Self = Self { offset: 0, size: Self::REST };

    /// `size` bytes from `offset`.
    #[must_use]
    pub const fn new(offset: u64, size: u64) -> Self {
        Self { offset, size }
    }

    /// The range with `REST` replaced by a real number, or `None` when it is empty or out of bounds.
    #[must_use]
    pub fn resolve(self, buffer_size: u64) -> Option<Self> {
        let size = if self.size == Self::REST { buffer_size.checked_sub(self.offset)? } else { self.size };
        (size > 0 && self.offset.checked_add(size)? <= buffer_size).then_some(Self { offset: self.offset, size })
    }
}

impl Default for BufferRange {
    fn default() -> Self {
        Self::WHOLE
    }
}

/// Width, height and depth or layer count, in texels.
///
/// `z` is the depth of a 3D texture, else the number of array layers (a cube counts six per cube).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Width.
    pub x: u32,
    /// Height.
    pub y: u32,
    /// Depth or layers.
    pub z: u32,
}

impl Extent {
    /// A 2D extent with one layer.
    #[must_use]
    pub const fn d2(x: u32, y: u32) -> Self {
        Self { x, y, z: 1 }
    }

    /// The extent of a mip level: floor halving, at least one; layers don't shrink, depth does when `is_3d`.
    #[must_use]
    pub const fn mip(self, level: u32, is_3d: bool) -> Self {
        const fn half(value: u32, level: u32) -> u32 {
            let v = if level >= 32 { 0 } else { value >> level };
            if v == 0 { 1 } else { v }
        }
        Self { x: half(self.x, level), y: half(self.y, level), z: if is_3d { half(self.z, level) } else { self.z } }
    }

    /// The number of mip levels down to one texel.
    #[must_use]
    pub const fn max_mips(self, is_3d: bool) -> u32 {
        let mut largest = if self.x > self.y { self.x } else { self.y };
        if is_3d && self.z > largest {
            largest = self.z;
        }
        if largest == 0 { 0 } else { 32 - largest.leading_zeros() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cover_every_bit_in_order() {
        for (i, (stage, _)) in STAGE_NAMES.iter().enumerate() {
            assert_eq!(stage.bits(), 1 << i);
        }
        for (i, (access, _)) in ACCESS_NAMES.iter().enumerate() {
            assert_eq!(access.bits(), 1 << i);
        }
        for (i, (layout, name)) in LAYOUT_NAMES.iter().enumerate() {
            assert_eq!(*layout as usize, i);
            assert_eq!(Layout::from_name(name), Some(*layout));
        }
        assert!(Stages::ALL_SHADING.contains(Stages::MACHINE_LEARNING));
        assert_eq!(Stages::ALL.bits(), u64::MAX);
    }

    #[test]
    fn ranges_resolve_or_are_refused() {
        let all = Aspects::COLOR;
        assert_eq!(TextureRange::WHOLE.resolve(3, 6, all).map(|r| (r.mip_count, r.layer_count)), Some((3, 6)));
        assert_eq!(TextureRange::mip(3).resolve(3, 1, all), None);
        let overflow = TextureRange { base_mip: u32::MAX, mip_count: 2, ..TextureRange::WHOLE };
        assert_eq!(overflow.resolve(3, 1, all), None);
        assert_eq!(TextureRange { aspects: Aspects::DEPTH, ..TextureRange::WHOLE }.resolve(1, 1, all), None);
        assert_eq!(BufferRange::new(4, 4).resolve(8), Some(BufferRange::new(4, 4)));
        assert_eq!(BufferRange::new(u64::MAX - 1, 4).resolve(8), None);
        assert_eq!(BufferRange::new(8, BufferRange::REST).resolve(8), None);
    }

    #[test]
    fn odd_sizes_have_mips() {
        assert_eq!(Extent::d2(5, 3).max_mips(false), 3);
        assert_eq!(Extent::d2(5, 3).mip(1, false), Extent::d2(2, 1));
        assert_eq!(Extent { x: 5, y: 3, z: 9 }.mip(1, true), Extent { x: 2, y: 1, z: 4 });
    }
}
