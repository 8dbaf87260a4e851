//! Regions of copies, blits and resolves.

use crate::vocab::{Aspects, Extent, TextureRange};

/// A copy between buffers, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferCopy {
    /// First byte of the source.
    pub source_offset: u64,
    /// First byte of the destination.
    pub destination_offset: u64,
    /// Bytes.
    pub size: u64,
}

/// One mip level and some layers of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureLayers {
    /// Mip level.
    pub mip: u32,
    /// First array layer.
    pub base_layer: u32,
    /// Layers; 1 for 3D textures.
    pub layer_count: u32,
    /// Exactly one aspect for buffer copies; empty means the colour or all aspects.
    pub aspects: Aspects,
}

impl TextureLayers {
    /// The first layer of a mip level.
    #[must_use]
    pub const fn mip(mip: u32) -> Self {
        Self { mip, base_layer: 0, layer_count: 1, aspects: Aspects::empty() }
    }

    pub(crate) fn range(self) -> TextureRange {
        TextureRange {
            base_mip: self.mip,
            mip_count: 1,
            base_layer: self.base_layer,
            layer_count: self.layer_count,
            aspects: self.aspects,
        }
    }
}

/// A copy between a buffer and a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferTextureCopy {
    /// First byte in the buffer.
    pub buffer_offset: u64,
    /// Bytes from one row of blocks to the next; 0 means tightly packed.
    pub row_pitch: u32,
    /// Rows of blocks from one slice or layer to the next; 0 means tightly packed.
    pub rows_per_slice: u32,
    /// Sub-resource.
    pub layers: TextureLayers,
    /// First texel (x, y, z).
    pub origin: [u32; 3],
    /// Texels; `z` is the depth of 3D textures and 1 otherwise.
    pub extent: Extent,
}

/// A copy between textures, texel by texel; also the region of a resolve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureCopy {
    /// Source sub-resource.
    pub source: TextureLayers,
    /// First texel of the source.
    pub source_origin: [u32; 3],
    /// Destination sub-resource.
    pub destination: TextureLayers,
    /// First texel of the destination.
    pub destination_origin: [u32; 3],
    /// Texels.
    pub extent: Extent,
}

/// A scaling copy between two boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureBlit {
    /// Source sub-resource.
    pub source: TextureLayers,
    /// First and past-the-end texel of the source.
    pub source_box: [[u32; 3]; 2],
    /// Destination sub-resource.
    pub destination: TextureLayers,
    /// First and past-the-end texel of the destination.
    pub destination_box: [[u32; 3]; 2],
}

/// How a blit samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum BlitFilter {
    /// Nearest texel.
    Nearest,
    /// Linear between texels.
    #[default]
    Linear,
}
