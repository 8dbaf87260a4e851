//! Texture and vertex formats: one table for names, block sizes, aspects and numeric class.

use crate::vocab::Aspects;

/// The numeric class of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FormatClass {
    /// Unsigned normalised (sRGB ones included).
    Unorm,
    /// Signed normalised.
    Snorm,
    /// Floating point.
    Float,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// Depth, with or without stencil.
    Depth,
}

/// The facts about a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatInfo {
    /// The format.
    pub format: Format,
    /// Name in files and messages.
    pub name: &'static str,
    /// Bytes of one block (one texel for uncompressed formats).
    pub block_bytes: u8,
    /// Texels of a block, horizontally and vertically.
    pub block: (u8, u8),
    /// Aspects.
    pub aspects: Aspects,
    /// Numeric class.
    pub class: FormatClass,
    /// Components a shader sees.
    pub components: u8,
    /// Whether colour components are stored with the sRGB curve.
    pub srgb: bool,
}

/// Texture formats.
///
/// *Maps to* — Vulkan: `VkFormat`; D3D12: `DXGI_FORMAT`; Metal: `MTLPixelFormat`; WebGPU: `GPUTextureFormat`; GL: sized
/// internal formats. Which uses a device supports is asked with `Device::format_support`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the formats' own; the table gives their facts")]
pub enum Format {
    R8Unorm,
    R8Snorm,
    R8Uint,
    R8Sint,
    Rg8Unorm,
    Rg8Snorm,
    Rg8Uint,
    Rg8Sint,
    Rgba8Unorm,
    Rgba8UnormSrgb,
    Rgba8Snorm,
    Rgba8Uint,
    Rgba8Sint,
    Bgra8Unorm,
    Bgra8UnormSrgb,
    R16Unorm,
    R16Snorm,
    R16Uint,
    R16Sint,
    R16Float,
    Rg16Unorm,
    Rg16Snorm,
    Rg16Uint,
    Rg16Sint,
    Rg16Float,
    Rgba16Unorm,
    Rgba16Snorm,
    Rgba16Uint,
    Rgba16Sint,
    Rgba16Float,
    R32Uint,
    R32Sint,
    R32Float,
    Rg32Uint,
    Rg32Sint,
    Rg32Float,
    Rgba32Uint,
    Rgba32Sint,
    Rgba32Float,
    Rg11b10Float,
    Rgb9e5Float,
    Rgb10a2Unorm,
    Rgb10a2Uint,
    Depth16,
    Depth32Float,
    Depth24Stencil8,
    Depth32FloatStencil8,
    Stencil8,
    Bc1RgbaUnorm,
    Bc1RgbaUnormSrgb,
    Bc2RgbaUnorm,
    Bc2RgbaUnormSrgb,
    Bc3RgbaUnorm,
    Bc3RgbaUnormSrgb,
    Bc4RUnorm,
    Bc4RSnorm,
    Bc5RgUnorm,
    Bc5RgSnorm,
    Bc6hRgbUfloat,
    Bc6hRgbFloat,
    Bc7RgbaUnorm,
    Bc7RgbaUnormSrgb,
    Etc2Rgb8Unorm,
    Etc2Rgb8UnormSrgb,
    Etc2Rgb8A1Unorm,
    Etc2Rgb8A1UnormSrgb,
    Etc2Rgba8Unorm,
    Etc2Rgba8UnormSrgb,
    EacR11Unorm,
    EacR11Snorm,
    EacRg11Unorm,
    EacRg11Snorm,
    Astc4x4Unorm,
    Astc4x4UnormSrgb,
    Astc5x4Unorm,
    Astc5x4UnormSrgb,
    Astc5x5Unorm,
    Astc5x5UnormSrgb,
    Astc6x5Unorm,
    Astc6x5UnormSrgb,
    Astc6x6Unorm,
    Astc6x6UnormSrgb,
    Astc8x5Unorm,
    Astc8x5UnormSrgb,
    Astc8x6Unorm,
    Astc8x6UnormSrgb,
    Astc8x8Unorm,
    Astc8x8UnormSrgb,
    Astc10x5Unorm,
    Astc10x5UnormSrgb,
    Astc10x6Unorm,
    Astc10x6UnormSrgb,
    Astc10x8Unorm,
    Astc10x8UnormSrgb,
    Astc10x10Unorm,
    Astc10x10UnormSrgb,
    Astc12x10Unorm,
    Astc12x10UnormSrgb,
    Astc12x12Unorm,
    Astc12x12UnormSrgb,
}

#[rustfmt::skip]
const TABLE: &[FormatInfo] = &[
    row(Format::R8Unorm, "r8unorm", 1, (1, 1), Aspects::COLOR, FormatClass::Unorm, 1, false),
    row(Format::R8Snorm, "r8snorm", 1, (1, 1), Aspects::COLOR, FormatClass::Snorm, 1, false),
    row(Format::R8Uint, "r8uint", 1, (1, 1), Aspects::COLOR, FormatClass::Uint, 1, false),
    row(Format::R8Sint, "r8sint", 1, (1, 1), Aspects::COLOR, FormatClass::Sint, 1, false),
    row(Format::Rg8Unorm, "rg8unorm", 2, (1, 1), Aspects::COLOR, FormatClass::Unorm, 2, false),
    row(Format::Rg8Snorm, "rg8snorm", 2, (1, 1), Aspects::COLOR, FormatClass::Snorm, 2, false),
    row(Format::Rg8Uint, "rg8uint", 2, (1, 1), Aspects::COLOR, FormatClass::Uint, 2, false),
    row(Format::Rg8Sint, "rg8sint", 2, (1, 1), Aspects::COLOR, FormatClass::Sint, 2, false),
    row(Format::Rgba8Unorm, "rgba8unorm", 4, (1, 1), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Rgba8UnormSrgb, "rgba8unorm-srgb", 4, (1, 1), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Rgba8Snorm, "rgba8snorm", 4, (1, 1), Aspects::COLOR, FormatClass::Snorm, 4, false),
    row(Format::Rgba8Uint, "rgba8uint", 4, (1, 1), Aspects::COLOR, FormatClass::Uint, 4, false),
    row(Format::Rgba8Sint, "rgba8sint", 4, (1, 1), Aspects::COLOR, FormatClass::Sint, 4, false),
    row(Format::Bgra8Unorm, "bgra8unorm", 4, (1, 1), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Bgra8UnormSrgb, "bgra8unorm-srgb", 4, (1, 1), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::R16Unorm, "r16unorm", 2, (1, 1), Aspects::COLOR, FormatClass::Unorm, 1, false),
    row(Format::R16Snorm, "r16snorm", 2, (1, 1), Aspects::COLOR, FormatClass::Snorm, 1, false),
    row(Format::R16Uint, "r16uint", 2, (1, 1), Aspects::COLOR, FormatClass::Uint, 1, false),
    row(Format::R16Sint, "r16sint", 2, (1, 1), Aspects::COLOR, FormatClass::Sint, 1, false),
    row(Format::R16Float, "r16float", 2, (1, 1), Aspects::COLOR, FormatClass::Float, 1, false),
    row(Format::Rg16Unorm, "rg16unorm", 4, (1, 1), Aspects::COLOR, FormatClass::Unorm, 2, false),
    row(Format::Rg16Snorm, "rg16snorm", 4, (1, 1), Aspects::COLOR, FormatClass::Snorm, 2, false),
    row(Format::Rg16Uint, "rg16uint", 4, (1, 1), Aspects::COLOR, FormatClass::Uint, 2, false),
    row(Format::Rg16Sint, "rg16sint", 4, (1, 1), Aspects::COLOR, FormatClass::Sint, 2, false),
    row(Format::Rg16Float, "rg16float", 4, (1, 1), Aspects::COLOR, FormatClass::Float, 2, false),
    row(Format::Rgba16Unorm, "rgba16unorm", 8, (1, 1), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Rgba16Snorm, "rgba16snorm", 8, (1, 1), Aspects::COLOR, FormatClass::Snorm, 4, false),
    row(Format::Rgba16Uint, "rgba16uint", 8, (1, 1), Aspects::COLOR, FormatClass::Uint, 4, false),
    row(Format::Rgba16Sint, "rgba16sint", 8, (1, 1), Aspects::COLOR, FormatClass::Sint, 4, false),
    row(Format::Rgba16Float, "rgba16float", 8, (1, 1), Aspects::COLOR, FormatClass::Float, 4, false),
    row(Format::R32Uint, "r32uint", 4, (1, 1), Aspects::COLOR, FormatClass::Uint, 1, false),
    row(Format::R32Sint, "r32sint", 4, (1, 1), Aspects::COLOR, FormatClass::Sint, 1, false),
    row(Format::R32Float, "r32float", 4, (1, 1), Aspects::COLOR, FormatClass::Float, 1, false),
    row(Format::Rg32Uint, "rg32uint", 8, (1, 1), Aspects::COLOR, FormatClass::Uint, 2, false),
    row(Format::Rg32Sint, "rg32sint", 8, (1, 1), Aspects::COLOR, FormatClass::Sint, 2, false),
    row(Format::Rg32Float, "rg32float", 8, (1, 1), Aspects::COLOR, FormatClass::Float, 2, false),
    row(Format::Rgba32Uint, "rgba32uint", 16, (1, 1), Aspects::COLOR, FormatClass::Uint, 4, false),
    row(Format::Rgba32Sint, "rgba32sint", 16, (1, 1), Aspects::COLOR, FormatClass::Sint, 4, false),
    row(Format::Rgba32Float, "rgba32float", 16, (1, 1), Aspects::COLOR, FormatClass::Float, 4, false),
    row(Format::Rg11b10Float, "rg11b10float", 4, (1, 1), Aspects::COLOR, FormatClass::Float, 3, false),
    row(Format::Rgb9e5Float, "rgb9e5float", 4, (1, 1), Aspects::COLOR, FormatClass::Float, 3, false),
    row(Format::Rgb10a2Unorm, "rgb10a2unorm", 4, (1, 1), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Rgb10a2Uint, "rgb10a2uint", 4, (1, 1), Aspects::COLOR, FormatClass::Uint, 4, false),
    row(Format::Depth16, "depth16", 2, (1, 1), Aspects::DEPTH, FormatClass::Depth, 1, false),
    row(Format::Depth32Float, "depth32float", 4, (1, 1), Aspects::DEPTH, FormatClass::Depth, 1, false),
    row(Format::Depth24Stencil8, "depth24-stencil8", 4, (1, 1), Aspects::DEPTH_STENCIL, FormatClass::Depth, 2, false),
    row(Format::Depth32FloatStencil8, "depth32float-stencil8", 8, (1, 1), Aspects::DEPTH_STENCIL, FormatClass::Depth, 2, false),
    row(Format::Stencil8, "stencil8", 1, (1, 1), Aspects::STENCIL, FormatClass::Uint, 1, false),
    row(Format::Bc1RgbaUnorm, "bc1-rgba-unorm", 8, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Bc1RgbaUnormSrgb, "bc1-rgba-unorm-srgb", 8, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Bc2RgbaUnorm, "bc2-rgba-unorm", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Bc2RgbaUnormSrgb, "bc2-rgba-unorm-srgb", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Bc3RgbaUnorm, "bc3-rgba-unorm", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Bc3RgbaUnormSrgb, "bc3-rgba-unorm-srgb", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Bc4RUnorm, "bc4-r-unorm", 8, (4, 4), Aspects::COLOR, FormatClass::Unorm, 1, false),
    row(Format::Bc4RSnorm, "bc4-r-snorm", 8, (4, 4), Aspects::COLOR, FormatClass::Snorm, 1, false),
    row(Format::Bc5RgUnorm, "bc5-rg-unorm", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 2, false),
    row(Format::Bc5RgSnorm, "bc5-rg-snorm", 16, (4, 4), Aspects::COLOR, FormatClass::Snorm, 2, false),
    row(Format::Bc6hRgbUfloat, "bc6h-rgb-ufloat", 16, (4, 4), Aspects::COLOR, FormatClass::Float, 3, false),
    row(Format::Bc6hRgbFloat, "bc6h-rgb-float", 16, (4, 4), Aspects::COLOR, FormatClass::Float, 3, false),
    row(Format::Bc7RgbaUnorm, "bc7-rgba-unorm", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Bc7RgbaUnormSrgb, "bc7-rgba-unorm-srgb", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Etc2Rgb8Unorm, "etc2-rgb8unorm", 8, (4, 4), Aspects::COLOR, FormatClass::Unorm, 3, false),
    row(Format::Etc2Rgb8UnormSrgb, "etc2-rgb8unorm-srgb", 8, (4, 4), Aspects::COLOR, FormatClass::Unorm, 3, true),
    row(Format::Etc2Rgb8A1Unorm, "etc2-rgb8a1unorm", 8, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Etc2Rgb8A1UnormSrgb, "etc2-rgb8a1unorm-srgb", 8, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Etc2Rgba8Unorm, "etc2-rgba8unorm", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Etc2Rgba8UnormSrgb, "etc2-rgba8unorm-srgb", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::EacR11Unorm, "eac-r11unorm", 8, (4, 4), Aspects::COLOR, FormatClass::Unorm, 1, false),
    row(Format::EacR11Snorm, "eac-r11snorm", 8, (4, 4), Aspects::COLOR, FormatClass::Snorm, 1, false),
    row(Format::EacRg11Unorm, "eac-rg11unorm", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 2, false),
    row(Format::EacRg11Snorm, "eac-rg11snorm", 16, (4, 4), Aspects::COLOR, FormatClass::Snorm, 2, false),
    row(Format::Astc4x4Unorm, "astc-4x4-unorm", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc4x4UnormSrgb, "astc-4x4-unorm-srgb", 16, (4, 4), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc5x4Unorm, "astc-5x4-unorm", 16, (5, 4), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc5x4UnormSrgb, "astc-5x4-unorm-srgb", 16, (5, 4), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc5x5Unorm, "astc-5x5-unorm", 16, (5, 5), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc5x5UnormSrgb, "astc-5x5-unorm-srgb", 16, (5, 5), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc6x5Unorm, "astc-6x5-unorm", 16, (6, 5), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc6x5UnormSrgb, "astc-6x5-unorm-srgb", 16, (6, 5), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc6x6Unorm, "astc-6x6-unorm", 16, (6, 6), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc6x6UnormSrgb, "astc-6x6-unorm-srgb", 16, (6, 6), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc8x5Unorm, "astc-8x5-unorm", 16, (8, 5), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc8x5UnormSrgb, "astc-8x5-unorm-srgb", 16, (8, 5), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc8x6Unorm, "astc-8x6-unorm", 16, (8, 6), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc8x6UnormSrgb, "astc-8x6-unorm-srgb", 16, (8, 6), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc8x8Unorm, "astc-8x8-unorm", 16, (8, 8), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc8x8UnormSrgb, "astc-8x8-unorm-srgb", 16, (8, 8), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc10x5Unorm, "astc-10x5-unorm", 16, (10, 5), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc10x5UnormSrgb, "astc-10x5-unorm-srgb", 16, (10, 5), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc10x6Unorm, "astc-10x6-unorm", 16, (10, 6), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc10x6UnormSrgb, "astc-10x6-unorm-srgb", 16, (10, 6), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc10x8Unorm, "astc-10x8-unorm", 16, (10, 8), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc10x8UnormSrgb, "astc-10x8-unorm-srgb", 16, (10, 8), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc10x10Unorm, "astc-10x10-unorm", 16, (10, 10), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc10x10UnormSrgb, "astc-10x10-unorm-srgb", 16, (10, 10), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc12x10Unorm, "astc-12x10-unorm", 16, (12, 10), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc12x10UnormSrgb, "astc-12x10-unorm-srgb", 16, (12, 10), Aspects::COLOR, FormatClass::Unorm, 4, true),
    row(Format::Astc12x12Unorm, "astc-12x12-unorm", 16, (12, 12), Aspects::COLOR, FormatClass::Unorm, 4, false),
    row(Format::Astc12x12UnormSrgb, "astc-12x12-unorm-srgb", 16, (12, 12), Aspects::COLOR, FormatClass::Unorm, 4, true),
];

#[allow(clippy::too_many_arguments, reason = "one line per row of the table reads best")]
const fn row(
    format: Format,
    name: &'static str,
    block_bytes: u8,
    block: (u8, u8),
    aspects: Aspects,
    class: FormatClass,
    components: u8,
    srgb: bool,
) -> FormatInfo {
    FormatInfo { format, name, block_bytes, block, aspects, class, components, srgb }
}

impl Format {
    /// The facts about every format, in the order of the enum.
    #[must_use]
    pub const fn all() -> &'static [FormatInfo] {
        TABLE
    }

    /// The facts about this format.
    #[must_use]
    pub const fn info(self) -> &'static FormatInfo {
        &TABLE[self as usize]
    }

    /// Name in files and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The format of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.format)
    }

    /// Aspects.
    #[must_use]
    pub const fn aspects(self) -> Aspects {
        self.info().aspects
    }

    /// Whether the format has depth or stencil.
    #[must_use]
    pub const fn is_depth_stencil(self) -> bool {
        !self.aspects().contains(Aspects::COLOR)
    }

    /// Whether blocks are larger than a texel.
    #[must_use]
    pub const fn is_compressed(self) -> bool {
        self.info().block.0 > 1
    }

    /// Bytes of one tightly packed row of `width` texels of one slice.
    #[must_use]
    pub fn row_bytes(self, width: u32) -> u64 {
        u64::from(width.div_ceil(u32::from(self.info().block.0))) * u64::from(self.info().block_bytes)
    }

    /// Rows of blocks that `height` texels take.
    #[must_use]
    pub fn rows(self, height: u32) -> u32 {
        height.div_ceil(u32::from(self.info().block.1))
    }

    /// Bytes of one texel of one aspect as copied to or from a buffer: depth and stencil are copied apart.
    #[must_use]
    pub fn copy_block_bytes(self, aspect: Aspects) -> u32 {
        match self {
            Self::Depth24Stencil8 | Self::Depth32FloatStencil8 => {
                if aspect == Aspects::STENCIL {
                    1
                } else {
                    4
                }
            }
            _ => u32::from(self.info().block_bytes),
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Vertex attribute formats.
///
/// *Maps to* — Vulkan: `VkFormat`; D3D12: `DXGI_FORMAT`; Metal: `MTLVertexFormat`; WebGPU: `GPUVertexFormat`; GL:
/// size, type and normalisation of `glVertexAttrib(I)Pointer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the formats' own")]
pub enum VertexFormat {
    Float32,
    Float32x2,
    Float32x3,
    Float32x4,
    Uint32,
    Uint32x2,
    Uint32x3,
    Uint32x4,
    Sint32,
    Sint32x2,
    Sint32x3,
    Sint32x4,
    Unorm8x4,
    Snorm8x4,
    Uint8x4,
    Unorm16x2,
    Unorm16x4,
    Snorm16x2,
    Snorm16x4,
    Float16x2,
    Float16x4,
}

impl VertexFormat {
    /// Size in bytes.
    #[must_use]
    pub const fn size_bytes(self) -> u32 {
        match self {
            Self::Float32 | Self::Uint32 | Self::Sint32 | Self::Unorm8x4 | Self::Snorm8x4 | Self::Uint8x4 => 4,
            Self::Unorm16x2 | Self::Snorm16x2 | Self::Float16x2 => 4,
            Self::Float32x2 | Self::Uint32x2 | Self::Sint32x2 => 8,
            Self::Unorm16x4 | Self::Snorm16x4 | Self::Float16x4 => 8,
            Self::Float32x3 | Self::Uint32x3 | Self::Sint32x3 => 12,
            Self::Float32x4 | Self::Uint32x4 | Self::Sint32x4 => 16,
        }
    }

    /// The scalar class a shader must declare.
    #[must_use]
    pub const fn scalar(self) -> crate::shader::ScalarClass {
        match self {
            Self::Uint32 | Self::Uint32x2 | Self::Uint32x3 | Self::Uint32x4 | Self::Uint8x4 => {
                crate::shader::ScalarClass::Uint
            }
            Self::Sint32 | Self::Sint32x2 | Self::Sint32x3 | Self::Sint32x4 => crate::shader::ScalarClass::Sint,
            _ => crate::shader::ScalarClass::Float,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_enum_order_and_names_are_unique() {
        let mut names = std::collections::HashSet::new();
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.format as usize, i, "{}", row.name);
            assert!(names.insert(row.name), "{} twice", row.name);
            assert_eq!(Format::from_name(row.name), Some(row.format));
        }
    }

    #[test]
    fn block_compressed_rows_round_up() {
        assert_eq!(Format::Bc1RgbaUnorm.row_bytes(5), 16);
        assert_eq!(Format::Bc1RgbaUnorm.rows(5), 2);
        assert_eq!(Format::Rgba16Float.row_bytes(3), 24);
    }
}
