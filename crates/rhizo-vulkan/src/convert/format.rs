//! Formats, as Vulkan names them.

use ash::vk;
use rhizo_rhi::{Aspects, Format, FormatClass, LoadOp, VertexFormat};

/// The native format.
#[allow(clippy::too_many_lines, reason = "a flat table")]
pub(crate) const fn format(format: Format) -> vk::Format {
    match format {
        Format::R8Unorm => vk::Format::R8_UNORM,
        Format::R8Snorm => vk::Format::R8_SNORM,
        Format::R8Uint => vk::Format::R8_UINT,
        Format::R8Sint => vk::Format::R8_SINT,
        Format::Rg8Unorm => vk::Format::R8G8_UNORM,
        Format::Rg8Snorm => vk::Format::R8G8_SNORM,
        Format::Rg8Uint => vk::Format::R8G8_UINT,
        Format::Rg8Sint => vk::Format::R8G8_SINT,
        Format::Rgba8Unorm => vk::Format::R8G8B8A8_UNORM,
        Format::Rgba8UnormSrgb => vk::Format::R8G8B8A8_SRGB,
        Format::Rgba8Snorm => vk::Format::R8G8B8A8_SNORM,
        Format::Rgba8Uint => vk::Format::R8G8B8A8_UINT,
        Format::Rgba8Sint => vk::Format::R8G8B8A8_SINT,
        Format::Bgra8Unorm => vk::Format::B8G8R8A8_UNORM,
        Format::Bgra8UnormSrgb => vk::Format::B8G8R8A8_SRGB,
        Format::R16Unorm => vk::Format::R16_UNORM,
        Format::R16Snorm => vk::Format::R16_SNORM,
        Format::R16Uint => vk::Format::R16_UINT,
        Format::R16Sint => vk::Format::R16_SINT,
        Format::R16Float => vk::Format::R16_SFLOAT,
        Format::Rg16Unorm => vk::Format::R16G16_UNORM,
        Format::Rg16Snorm => vk::Format::R16G16_SNORM,
        Format::Rg16Uint => vk::Format::R16G16_UINT,
        Format::Rg16Sint => vk::Format::R16G16_SINT,
        Format::Rg16Float => vk::Format::R16G16_SFLOAT,
        Format::Rgba16Unorm => vk::Format::R16G16B16A16_UNORM,
        Format::Rgba16Snorm => vk::Format::R16G16B16A16_SNORM,
        Format::Rgba16Uint => vk::Format::R16G16B16A16_UINT,
        Format::Rgba16Sint => vk::Format::R16G16B16A16_SINT,
        Format::Rgba16Float => vk::Format::R16G16B16A16_SFLOAT,
        Format::R32Uint => vk::Format::R32_UINT,
        Format::R32Sint => vk::Format::R32_SINT,
        Format::R32Float => vk::Format::R32_SFLOAT,
        Format::Rg32Uint => vk::Format::R32G32_UINT,
        Format::Rg32Sint => vk::Format::R32G32_SINT,
        Format::Rg32Float => vk::Format::R32G32_SFLOAT,
        Format::Rgba32Uint => vk::Format::R32G32B32A32_UINT,
        Format::Rgba32Sint => vk::Format::R32G32B32A32_SINT,
        Format::Rgba32Float => vk::Format::R32G32B32A32_SFLOAT,
        Format::Rg11b10Float => vk::Format::B10G11R11_UFLOAT_PACK32,
        Format::Rgb9e5Float => vk::Format::E5B9G9R9_UFLOAT_PACK32,
        Format::Rgb10a2Unorm => vk::Format::A2B10G10R10_UNORM_PACK32,
        Format::Rgb10a2Uint => vk::Format::A2B10G10R10_UINT_PACK32,
        Format::Depth16 => vk::Format::D16_UNORM,
        Format::Depth32Float => vk::Format::D32_SFLOAT,
        Format::Depth24Stencil8 => vk::Format::D24_UNORM_S8_UINT,
        Format::Depth32FloatStencil8 => vk::Format::D32_SFLOAT_S8_UINT,
        Format::Stencil8 => vk::Format::S8_UINT,
        Format::Bc1RgbaUnorm => vk::Format::BC1_RGBA_UNORM_BLOCK,
        Format::Bc1RgbaUnormSrgb => vk::Format::BC1_RGBA_SRGB_BLOCK,
        Format::Bc2RgbaUnorm => vk::Format::BC2_UNORM_BLOCK,
        Format::Bc2RgbaUnormSrgb => vk::Format::BC2_SRGB_BLOCK,
        Format::Bc3RgbaUnorm => vk::Format::BC3_UNORM_BLOCK,
        Format::Bc3RgbaUnormSrgb => vk::Format::BC3_SRGB_BLOCK,
        Format::Bc4RUnorm => vk::Format::BC4_UNORM_BLOCK,
        Format::Bc4RSnorm => vk::Format::BC4_SNORM_BLOCK,
        Format::Bc5RgUnorm => vk::Format::BC5_UNORM_BLOCK,
        Format::Bc5RgSnorm => vk::Format::BC5_SNORM_BLOCK,
        Format::Bc6hRgbUfloat => vk::Format::BC6H_UFLOAT_BLOCK,
        Format::Bc6hRgbFloat => vk::Format::BC6H_SFLOAT_BLOCK,
        Format::Bc7RgbaUnorm => vk::Format::BC7_UNORM_BLOCK,
        Format::Bc7RgbaUnormSrgb => vk::Format::BC7_SRGB_BLOCK,
        Format::Etc2Rgb8Unorm => vk::Format::ETC2_R8G8B8_UNORM_BLOCK,
        Format::Etc2Rgb8UnormSrgb => vk::Format::ETC2_R8G8B8_SRGB_BLOCK,
        Format::Etc2Rgb8A1Unorm => vk::Format::ETC2_R8G8B8A1_UNORM_BLOCK,
        Format::Etc2Rgb8A1UnormSrgb => vk::Format::ETC2_R8G8B8A1_SRGB_BLOCK,
        Format::Etc2Rgba8Unorm => vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK,
        Format::Etc2Rgba8UnormSrgb => vk::Format::ETC2_R8G8B8A8_SRGB_BLOCK,
        Format::EacR11Unorm => vk::Format::EAC_R11_UNORM_BLOCK,
        Format::EacR11Snorm => vk::Format::EAC_R11_SNORM_BLOCK,
        Format::EacRg11Unorm => vk::Format::EAC_R11G11_UNORM_BLOCK,
        Format::EacRg11Snorm => vk::Format::EAC_R11G11_SNORM_BLOCK,
        Format::Astc4x4Unorm => vk::Format::ASTC_4X4_UNORM_BLOCK,
        Format::Astc4x4UnormSrgb => vk::Format::ASTC_4X4_SRGB_BLOCK,
        Format::Astc5x4Unorm => vk::Format::ASTC_5X4_UNORM_BLOCK,
        Format::Astc5x4UnormSrgb => vk::Format::ASTC_5X4_SRGB_BLOCK,
        Format::Astc5x5Unorm => vk::Format::ASTC_5X5_UNORM_BLOCK,
        Format::Astc5x5UnormSrgb => vk::Format::ASTC_5X5_SRGB_BLOCK,
        Format::Astc6x5Unorm => vk::Format::ASTC_6X5_UNORM_BLOCK,
        Format::Astc6x5UnormSrgb => vk::Format::ASTC_6X5_SRGB_BLOCK,
        Format::Astc6x6Unorm => vk::Format::ASTC_6X6_UNORM_BLOCK,
        Format::Astc6x6UnormSrgb => vk::Format::ASTC_6X6_SRGB_BLOCK,
        Format::Astc8x5Unorm => vk::Format::ASTC_8X5_UNORM_BLOCK,
        Format::Astc8x5UnormSrgb => vk::Format::ASTC_8X5_SRGB_BLOCK,
        Format::Astc8x6Unorm => vk::Format::ASTC_8X6_UNORM_BLOCK,
        Format::Astc8x6UnormSrgb => vk::Format::ASTC_8X6_SRGB_BLOCK,
        Format::Astc8x8Unorm => vk::Format::ASTC_8X8_UNORM_BLOCK,
        Format::Astc8x8UnormSrgb => vk::Format::ASTC_8X8_SRGB_BLOCK,
        Format::Astc10x5Unorm => vk::Format::ASTC_10X5_UNORM_BLOCK,
        Format::Astc10x5UnormSrgb => vk::Format::ASTC_10X5_SRGB_BLOCK,
        Format::Astc10x6Unorm => vk::Format::ASTC_10X6_UNORM_BLOCK,
        Format::Astc10x6UnormSrgb => vk::Format::ASTC_10X6_SRGB_BLOCK,
        Format::Astc10x8Unorm => vk::Format::ASTC_10X8_UNORM_BLOCK,
        Format::Astc10x8UnormSrgb => vk::Format::ASTC_10X8_SRGB_BLOCK,
        Format::Astc10x10Unorm => vk::Format::ASTC_10X10_UNORM_BLOCK,
        Format::Astc10x10UnormSrgb => vk::Format::ASTC_10X10_SRGB_BLOCK,
        Format::Astc12x10Unorm => vk::Format::ASTC_12X10_UNORM_BLOCK,
        Format::Astc12x10UnormSrgb => vk::Format::ASTC_12X10_SRGB_BLOCK,
        Format::Astc12x12Unorm => vk::Format::ASTC_12X12_UNORM_BLOCK,
        Format::Astc12x12UnormSrgb => vk::Format::ASTC_12X12_SRGB_BLOCK,
    }
}

/// The native vertex format.
pub(crate) const fn vertex_format(format: VertexFormat) -> vk::Format {
    match format {
        VertexFormat::Float32 => vk::Format::R32_SFLOAT,
        VertexFormat::Float32x2 => vk::Format::R32G32_SFLOAT,
        VertexFormat::Float32x3 => vk::Format::R32G32B32_SFLOAT,
        VertexFormat::Float32x4 => vk::Format::R32G32B32A32_SFLOAT,
        VertexFormat::Uint32 => vk::Format::R32_UINT,
        VertexFormat::Uint32x2 => vk::Format::R32G32_UINT,
        VertexFormat::Uint32x3 => vk::Format::R32G32B32_UINT,
        VertexFormat::Uint32x4 => vk::Format::R32G32B32A32_UINT,
        VertexFormat::Sint32 => vk::Format::R32_SINT,
        VertexFormat::Sint32x2 => vk::Format::R32G32_SINT,
        VertexFormat::Sint32x3 => vk::Format::R32G32B32_SINT,
        VertexFormat::Sint32x4 => vk::Format::R32G32B32A32_SINT,
        VertexFormat::Unorm8x4 => vk::Format::R8G8B8A8_UNORM,
        VertexFormat::Snorm8x4 => vk::Format::R8G8B8A8_SNORM,
        VertexFormat::Uint8x4 => vk::Format::R8G8B8A8_UINT,
        VertexFormat::Unorm16x2 => vk::Format::R16G16_UNORM,
        VertexFormat::Unorm16x4 => vk::Format::R16G16B16A16_UNORM,
        VertexFormat::Snorm16x2 => vk::Format::R16G16_SNORM,
        VertexFormat::Snorm16x4 => vk::Format::R16G16B16A16_SNORM,
        VertexFormat::Float16x2 => vk::Format::R16G16_SFLOAT,
        VertexFormat::Float16x4 => vk::Format::R16G16B16A16_SFLOAT,
    }
}

/// Native aspects.
pub(crate) fn aspects(aspects: Aspects) -> vk::ImageAspectFlags {
    let mut out = vk::ImageAspectFlags::empty();
    if aspects.contains(Aspects::COLOR) {
        out |= vk::ImageAspectFlags::COLOR;
    }
    if aspects.contains(Aspects::DEPTH) {
        out |= vk::ImageAspectFlags::DEPTH;
    }
    if aspects.contains(Aspects::STENCIL) {
        out |= vk::ImageAspectFlags::STENCIL;
    }
    out
}

/// A colour in the class of a format; numbers outside an integer's range saturate.
pub(crate) fn clear_color(format: Format, value: [f32; 4]) -> vk::ClearColorValue {
    match format.info().class {
        FormatClass::Uint => vk::ClearColorValue { uint32: value.map(|v| v as u32) },
        FormatClass::Sint => vk::ClearColorValue { int32: value.map(|v| v as i32) },
        FormatClass::Unorm | FormatClass::Snorm | FormatClass::Float | FormatClass::Depth => {
            vk::ClearColorValue { float32: value }
        }
    }
}

/// A load operation, and the clear value's numbers.
pub(crate) const fn load_op(load: LoadOp) -> (vk::AttachmentLoadOp, [f32; 4]) {
    match load {
        LoadOp::Load => (vk::AttachmentLoadOp::LOAD, [0.0; 4]),
        LoadOp::Clear(value) => (vk::AttachmentLoadOp::CLEAR, value),
        LoadOp::Discard => (vk::AttachmentLoadOp::DONT_CARE, [0.0; 4]),
    }
}
