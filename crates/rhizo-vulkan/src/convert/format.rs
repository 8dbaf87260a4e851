//! Formats, as Vulkan names them.

use ash::vk;
use rhizo_rhi::{Aspects, Format, FormatClass, LoadOp, VertexFormat};

macro_rules! formats {
    ($($ours:ident => $native:ident,)*) => {
        /// The native format. The match is exhaustive: a new format breaks the build here.
        pub(crate) const fn format(format: Format) -> vk::Format {
            match format {
                $(Format::$ours => vk::Format::$native,)*
            }
        }
    };
}

formats! {
    R8Unorm => R8_UNORM,
    R8Snorm => R8_SNORM,
    R8Uint => R8_UINT,
    R8Sint => R8_SINT,
    Rg8Unorm => R8G8_UNORM,
    Rg8Snorm => R8G8_SNORM,
    Rg8Uint => R8G8_UINT,
    Rg8Sint => R8G8_SINT,
    Rgba8Unorm => R8G8B8A8_UNORM,
    Rgba8UnormSrgb => R8G8B8A8_SRGB,
    Rgba8Snorm => R8G8B8A8_SNORM,
    Rgba8Uint => R8G8B8A8_UINT,
    Rgba8Sint => R8G8B8A8_SINT,
    Bgra8Unorm => B8G8R8A8_UNORM,
    Bgra8UnormSrgb => B8G8R8A8_SRGB,
    R16Unorm => R16_UNORM,
    R16Snorm => R16_SNORM,
    R16Uint => R16_UINT,
    R16Sint => R16_SINT,
    R16Float => R16_SFLOAT,
    Rg16Unorm => R16G16_UNORM,
    Rg16Snorm => R16G16_SNORM,
    Rg16Uint => R16G16_UINT,
    Rg16Sint => R16G16_SINT,
    Rg16Float => R16G16_SFLOAT,
    Rgba16Unorm => R16G16B16A16_UNORM,
    Rgba16Snorm => R16G16B16A16_SNORM,
    Rgba16Uint => R16G16B16A16_UINT,
    Rgba16Sint => R16G16B16A16_SINT,
    Rgba16Float => R16G16B16A16_SFLOAT,
    R32Uint => R32_UINT,
    R32Sint => R32_SINT,
    R32Float => R32_SFLOAT,
    Rg32Uint => R32G32_UINT,
    Rg32Sint => R32G32_SINT,
    Rg32Float => R32G32_SFLOAT,
    Rgba32Uint => R32G32B32A32_UINT,
    Rgba32Sint => R32G32B32A32_SINT,
    Rgba32Float => R32G32B32A32_SFLOAT,
    Rg11b10Float => B10G11R11_UFLOAT_PACK32,
    Rgb9e5Float => E5B9G9R9_UFLOAT_PACK32,
    Rgb10a2Unorm => A2B10G10R10_UNORM_PACK32,
    Rgb10a2Uint => A2B10G10R10_UINT_PACK32,
    Depth16 => D16_UNORM,
    Depth32Float => D32_SFLOAT,
    Depth24Stencil8 => D24_UNORM_S8_UINT,
    Depth32FloatStencil8 => D32_SFLOAT_S8_UINT,
    Stencil8 => S8_UINT,
    Bc1RgbaUnorm => BC1_RGBA_UNORM_BLOCK,
    Bc1RgbaUnormSrgb => BC1_RGBA_SRGB_BLOCK,
    Bc2RgbaUnorm => BC2_UNORM_BLOCK,
    Bc2RgbaUnormSrgb => BC2_SRGB_BLOCK,
    Bc3RgbaUnorm => BC3_UNORM_BLOCK,
    Bc3RgbaUnormSrgb => BC3_SRGB_BLOCK,
    Bc4RUnorm => BC4_UNORM_BLOCK,
    Bc4RSnorm => BC4_SNORM_BLOCK,
    Bc5RgUnorm => BC5_UNORM_BLOCK,
    Bc5RgSnorm => BC5_SNORM_BLOCK,
    Bc6hRgbUfloat => BC6H_UFLOAT_BLOCK,
    Bc6hRgbFloat => BC6H_SFLOAT_BLOCK,
    Bc7RgbaUnorm => BC7_UNORM_BLOCK,
    Bc7RgbaUnormSrgb => BC7_SRGB_BLOCK,
    Etc2Rgb8Unorm => ETC2_R8G8B8_UNORM_BLOCK,
    Etc2Rgb8UnormSrgb => ETC2_R8G8B8_SRGB_BLOCK,
    Etc2Rgb8A1Unorm => ETC2_R8G8B8A1_UNORM_BLOCK,
    Etc2Rgb8A1UnormSrgb => ETC2_R8G8B8A1_SRGB_BLOCK,
    Etc2Rgba8Unorm => ETC2_R8G8B8A8_UNORM_BLOCK,
    Etc2Rgba8UnormSrgb => ETC2_R8G8B8A8_SRGB_BLOCK,
    EacR11Unorm => EAC_R11_UNORM_BLOCK,
    EacR11Snorm => EAC_R11_SNORM_BLOCK,
    EacRg11Unorm => EAC_R11G11_UNORM_BLOCK,
    EacRg11Snorm => EAC_R11G11_SNORM_BLOCK,
    Astc4x4Unorm => ASTC_4X4_UNORM_BLOCK,
    Astc4x4UnormSrgb => ASTC_4X4_SRGB_BLOCK,
    Astc5x4Unorm => ASTC_5X4_UNORM_BLOCK,
    Astc5x4UnormSrgb => ASTC_5X4_SRGB_BLOCK,
    Astc5x5Unorm => ASTC_5X5_UNORM_BLOCK,
    Astc5x5UnormSrgb => ASTC_5X5_SRGB_BLOCK,
    Astc6x5Unorm => ASTC_6X5_UNORM_BLOCK,
    Astc6x5UnormSrgb => ASTC_6X5_SRGB_BLOCK,
    Astc6x6Unorm => ASTC_6X6_UNORM_BLOCK,
    Astc6x6UnormSrgb => ASTC_6X6_SRGB_BLOCK,
    Astc8x5Unorm => ASTC_8X5_UNORM_BLOCK,
    Astc8x5UnormSrgb => ASTC_8X5_SRGB_BLOCK,
    Astc8x6Unorm => ASTC_8X6_UNORM_BLOCK,
    Astc8x6UnormSrgb => ASTC_8X6_SRGB_BLOCK,
    Astc8x8Unorm => ASTC_8X8_UNORM_BLOCK,
    Astc8x8UnormSrgb => ASTC_8X8_SRGB_BLOCK,
    Astc10x5Unorm => ASTC_10X5_UNORM_BLOCK,
    Astc10x5UnormSrgb => ASTC_10X5_SRGB_BLOCK,
    Astc10x6Unorm => ASTC_10X6_UNORM_BLOCK,
    Astc10x6UnormSrgb => ASTC_10X6_SRGB_BLOCK,
    Astc10x8Unorm => ASTC_10X8_UNORM_BLOCK,
    Astc10x8UnormSrgb => ASTC_10X8_SRGB_BLOCK,
    Astc10x10Unorm => ASTC_10X10_UNORM_BLOCK,
    Astc10x10UnormSrgb => ASTC_10X10_SRGB_BLOCK,
    Astc12x10Unorm => ASTC_12X10_UNORM_BLOCK,
    Astc12x10UnormSrgb => ASTC_12X10_SRGB_BLOCK,
    Astc12x12Unorm => ASTC_12X12_UNORM_BLOCK,
    Astc12x12UnormSrgb => ASTC_12X12_SRGB_BLOCK,
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
