//! The contract's words in GL's numbers. No match has a wildcard: a new word must be translated before it compiles.

use rhizo_rhi::{
    AddressMode, BlendFactor, BlendOp, CompareOp, Component, Filter, Format, IndexFormat, StencilOp, Topology,
    VertexFormat,
};

/// How GL stores and transfers a format: sized internal format, format and type.
///
/// Source: OpenGL ES 3.0.6, tables 3.13 to 3.15.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GlFormat {
    pub(crate) internal: u32,
    pub(crate) format: u32,
    pub(crate) ty: u32,
}

/// GL's numbers for a format; None where ES 3.0 has no such format, or this backend does not translate it yet.
#[rustfmt::skip]
pub(crate) const fn format(format: Format) -> Option<GlFormat> {
    use Format as F;
    let (internal, format, ty) = match format {
        F::R8Unorm => (glow::R8, glow::RED, glow::UNSIGNED_BYTE),
        F::R8Snorm => (glow::R8_SNORM, glow::RED, glow::BYTE),
        F::R8Uint => (glow::R8UI, glow::RED_INTEGER, glow::UNSIGNED_BYTE),
        F::R8Sint => (glow::R8I, glow::RED_INTEGER, glow::BYTE),
        F::Rg8Unorm => (glow::RG8, glow::RG, glow::UNSIGNED_BYTE),
        F::Rg8Snorm => (glow::RG8_SNORM, glow::RG, glow::BYTE),
        F::Rg8Uint => (glow::RG8UI, glow::RG_INTEGER, glow::UNSIGNED_BYTE),
        F::Rg8Sint => (glow::RG8I, glow::RG_INTEGER, glow::BYTE),
        F::Rgba8Unorm => (glow::RGBA8, glow::RGBA, glow::UNSIGNED_BYTE),
        F::Rgba8UnormSrgb => (glow::SRGB8_ALPHA8, glow::RGBA, glow::UNSIGNED_BYTE),
        F::Rgba8Snorm => (glow::RGBA8_SNORM, glow::RGBA, glow::BYTE),
        F::Rgba8Uint => (glow::RGBA8UI, glow::RGBA_INTEGER, glow::UNSIGNED_BYTE),
        F::Rgba8Sint => (glow::RGBA8I, glow::RGBA_INTEGER, glow::BYTE),
        F::R16Uint => (glow::R16UI, glow::RED_INTEGER, glow::UNSIGNED_SHORT),
        F::R16Sint => (glow::R16I, glow::RED_INTEGER, glow::SHORT),
        F::R16Float => (glow::R16F, glow::RED, glow::HALF_FLOAT),
        F::Rg16Uint => (glow::RG16UI, glow::RG_INTEGER, glow::UNSIGNED_SHORT),
        F::Rg16Sint => (glow::RG16I, glow::RG_INTEGER, glow::SHORT),
        F::Rg16Float => (glow::RG16F, glow::RG, glow::HALF_FLOAT),
        F::Rgba16Uint => (glow::RGBA16UI, glow::RGBA_INTEGER, glow::UNSIGNED_SHORT),
        F::Rgba16Sint => (glow::RGBA16I, glow::RGBA_INTEGER, glow::SHORT),
        F::Rgba16Float => (glow::RGBA16F, glow::RGBA, glow::HALF_FLOAT),
        F::R32Uint => (glow::R32UI, glow::RED_INTEGER, glow::UNSIGNED_INT),
        F::R32Sint => (glow::R32I, glow::RED_INTEGER, glow::INT),
        F::R32Float => (glow::R32F, glow::RED, glow::FLOAT),
        F::Rg32Uint => (glow::RG32UI, glow::RG_INTEGER, glow::UNSIGNED_INT),
        F::Rg32Sint => (glow::RG32I, glow::RG_INTEGER, glow::INT),
        F::Rg32Float => (glow::RG32F, glow::RG, glow::FLOAT),
        F::Rgba32Uint => (glow::RGBA32UI, glow::RGBA_INTEGER, glow::UNSIGNED_INT),
        F::Rgba32Sint => (glow::RGBA32I, glow::RGBA_INTEGER, glow::INT),
        F::Rgba32Float => (glow::RGBA32F, glow::RGBA, glow::FLOAT),
        F::Rg11b10Float => (glow::R11F_G11F_B10F, glow::RGB, glow::UNSIGNED_INT_10F_11F_11F_REV),
        F::Rgb9e5Float => (glow::RGB9_E5, glow::RGB, glow::UNSIGNED_INT_5_9_9_9_REV),
        F::Rgb10a2Unorm => (glow::RGB10_A2, glow::RGBA, glow::UNSIGNED_INT_2_10_10_10_REV),
        F::Rgb10a2Uint => (glow::RGB10_A2UI, glow::RGBA_INTEGER, glow::UNSIGNED_INT_2_10_10_10_REV),
        F::Depth16 => (glow::DEPTH_COMPONENT16, glow::DEPTH_COMPONENT, glow::UNSIGNED_SHORT),
        F::Depth32Float => (glow::DEPTH_COMPONENT32F, glow::DEPTH_COMPONENT, glow::FLOAT),
        F::Depth24Stencil8 => (glow::DEPTH24_STENCIL8, glow::DEPTH_STENCIL, glow::UNSIGNED_INT_24_8),
        F::Depth32FloatStencil8 => (glow::DEPTH32F_STENCIL8, glow::DEPTH_STENCIL, glow::FLOAT_32_UNSIGNED_INT_24_8_REV),
        // Not in ES 3.0: other channel order, 16-bit normalised, stencil alone.
        F::Bgra8Unorm | F::Bgra8UnormSrgb | F::R16Unorm | F::R16Snorm | F::Rg16Unorm | F::Rg16Snorm | F::Rgba16Unorm
        | F::Rgba16Snorm | F::Stencil8
        // Compressed ones: not translated yet.
        | F::Bc1RgbaUnorm | F::Bc1RgbaUnormSrgb | F::Bc2RgbaUnorm | F::Bc2RgbaUnormSrgb | F::Bc3RgbaUnorm
        | F::Bc3RgbaUnormSrgb | F::Bc4RUnorm | F::Bc4RSnorm | F::Bc5RgUnorm | F::Bc5RgSnorm | F::Bc6hRgbUfloat
        | F::Bc6hRgbFloat | F::Bc7RgbaUnorm | F::Bc7RgbaUnormSrgb | F::Etc2Rgb8Unorm | F::Etc2Rgb8UnormSrgb
        | F::Etc2Rgb8A1Unorm | F::Etc2Rgb8A1UnormSrgb | F::Etc2Rgba8Unorm | F::Etc2Rgba8UnormSrgb | F::EacR11Unorm
        | F::EacR11Snorm | F::EacRg11Unorm | F::EacRg11Snorm | F::Astc4x4Unorm | F::Astc4x4UnormSrgb
        | F::Astc5x4Unorm | F::Astc5x4UnormSrgb | F::Astc5x5Unorm | F::Astc5x5UnormSrgb | F::Astc6x5Unorm
        | F::Astc6x5UnormSrgb | F::Astc6x6Unorm | F::Astc6x6UnormSrgb | F::Astc8x5Unorm | F::Astc8x5UnormSrgb
        | F::Astc8x6Unorm | F::Astc8x6UnormSrgb | F::Astc8x8Unorm | F::Astc8x8UnormSrgb | F::Astc10x5Unorm
        | F::Astc10x5UnormSrgb | F::Astc10x6Unorm | F::Astc10x6UnormSrgb | F::Astc10x8Unorm | F::Astc10x8UnormSrgb
        | F::Astc10x10Unorm | F::Astc10x10UnormSrgb | F::Astc12x10Unorm | F::Astc12x10UnormSrgb | F::Astc12x12Unorm
        | F::Astc12x12UnormSrgb => return None,
    };
    Some(GlFormat { internal, format, ty })
}

/// A vertex format: components, type, normalised, integer in the shader.
pub(crate) const fn vertex(format: VertexFormat) -> (i32, u32, bool, bool) {
    use VertexFormat as V;
    match format {
        V::Float32 => (1, glow::FLOAT, false, false),
        V::Float32x2 => (2, glow::FLOAT, false, false),
        V::Float32x3 => (3, glow::FLOAT, false, false),
        V::Float32x4 => (4, glow::FLOAT, false, false),
        V::Uint32 => (1, glow::UNSIGNED_INT, false, true),
        V::Uint32x2 => (2, glow::UNSIGNED_INT, false, true),
        V::Uint32x3 => (3, glow::UNSIGNED_INT, false, true),
        V::Uint32x4 => (4, glow::UNSIGNED_INT, false, true),
        V::Sint32 => (1, glow::INT, false, true),
        V::Sint32x2 => (2, glow::INT, false, true),
        V::Sint32x3 => (3, glow::INT, false, true),
        V::Sint32x4 => (4, glow::INT, false, true),
        V::Unorm8x4 => (4, glow::UNSIGNED_BYTE, true, false),
        V::Snorm8x4 => (4, glow::BYTE, true, false),
        V::Uint8x4 => (4, glow::UNSIGNED_BYTE, false, true),
        V::Unorm16x2 => (2, glow::UNSIGNED_SHORT, true, false),
        V::Unorm16x4 => (4, glow::UNSIGNED_SHORT, true, false),
        V::Snorm16x2 => (2, glow::SHORT, true, false),
        V::Snorm16x4 => (4, glow::SHORT, true, false),
        V::Float16x2 => (2, glow::HALF_FLOAT, false, false),
        V::Float16x4 => (4, glow::HALF_FLOAT, false, false),
    }
}

pub(crate) const fn topology(topology: Topology) -> u32 {
    match topology {
        Topology::Points => glow::POINTS,
        Topology::Lines => glow::LINES,
        Topology::LineStrip => glow::LINE_STRIP,
        Topology::Triangles => glow::TRIANGLES,
        Topology::TriangleStrip => glow::TRIANGLE_STRIP,
    }
}

pub(crate) const fn index(format: IndexFormat) -> u32 {
    match format {
        IndexFormat::U16 => glow::UNSIGNED_SHORT,
        IndexFormat::U32 => glow::UNSIGNED_INT,
    }
}

pub(crate) const fn compare(op: CompareOp) -> u32 {
    match op {
        CompareOp::Never => glow::NEVER,
        CompareOp::Less => glow::LESS,
        CompareOp::Equal => glow::EQUAL,
        CompareOp::LessEqual => glow::LEQUAL,
        CompareOp::Greater => glow::GREATER,
        CompareOp::NotEqual => glow::NOTEQUAL,
        CompareOp::GreaterEqual => glow::GEQUAL,
        CompareOp::Always => glow::ALWAYS,
    }
}

pub(crate) const fn stencil_op(op: StencilOp) -> u32 {
    match op {
        StencilOp::Keep => glow::KEEP,
        StencilOp::Zero => glow::ZERO,
        StencilOp::Replace => glow::REPLACE,
        StencilOp::IncrementClamp => glow::INCR,
        StencilOp::DecrementClamp => glow::DECR,
        StencilOp::Invert => glow::INVERT,
        StencilOp::IncrementWrap => glow::INCR_WRAP,
        StencilOp::DecrementWrap => glow::DECR_WRAP,
    }
}

/// A blend factor; `alpha` is the alpha equation, where the constant factor reads the constant's alpha.
pub(crate) const fn blend_factor(factor: BlendFactor, alpha: bool) -> u32 {
    match factor {
        BlendFactor::Zero => glow::ZERO,
        BlendFactor::One => glow::ONE,
        BlendFactor::Source => glow::SRC_COLOR,
        BlendFactor::OneMinusSource => glow::ONE_MINUS_SRC_COLOR,
        BlendFactor::SourceAlpha => glow::SRC_ALPHA,
        BlendFactor::OneMinusSourceAlpha => glow::ONE_MINUS_SRC_ALPHA,
        BlendFactor::Destination => glow::DST_COLOR,
        BlendFactor::OneMinusDestination => glow::ONE_MINUS_DST_COLOR,
        BlendFactor::DestinationAlpha => glow::DST_ALPHA,
        BlendFactor::OneMinusDestinationAlpha => glow::ONE_MINUS_DST_ALPHA,
        BlendFactor::Constant if alpha => glow::CONSTANT_ALPHA,
        BlendFactor::Constant => glow::CONSTANT_COLOR,
        BlendFactor::OneMinusConstant if alpha => glow::ONE_MINUS_CONSTANT_ALPHA,
        BlendFactor::OneMinusConstant => glow::ONE_MINUS_CONSTANT_COLOR,
    }
}

pub(crate) const fn blend_op(op: BlendOp) -> u32 {
    match op {
        BlendOp::Add => glow::FUNC_ADD,
        BlendOp::Subtract => glow::FUNC_SUBTRACT,
        BlendOp::ReverseSubtract => glow::FUNC_REVERSE_SUBTRACT,
        BlendOp::Min => glow::MIN,
        BlendOp::Max => glow::MAX,
    }
}

pub(crate) const fn address(mode: AddressMode) -> u32 {
    match mode {
        AddressMode::Repeat => glow::REPEAT,
        AddressMode::MirrorRepeat => glow::MIRRORED_REPEAT,
        AddressMode::ClampToEdge => glow::CLAMP_TO_EDGE,
    }
}

pub(crate) const fn mag_filter(filter: Filter) -> u32 {
    match filter {
        Filter::Nearest => glow::NEAREST,
        Filter::Linear => glow::LINEAR,
    }
}

pub(crate) const fn min_filter(min: Filter, mip: Filter) -> u32 {
    match (min, mip) {
        (Filter::Nearest, Filter::Nearest) => glow::NEAREST_MIPMAP_NEAREST,
        (Filter::Nearest, Filter::Linear) => glow::NEAREST_MIPMAP_LINEAR,
        (Filter::Linear, Filter::Nearest) => glow::LINEAR_MIPMAP_NEAREST,
        (Filter::Linear, Filter::Linear) => glow::LINEAR_MIPMAP_LINEAR,
    }
}

pub(crate) const fn component(component: Component) -> u32 {
    match component {
        Component::R => glow::RED,
        Component::G => glow::GREEN,
        Component::B => glow::BLUE,
        Component::A => glow::ALPHA,
        Component::Zero => glow::ZERO,
        Component::One => glow::ONE,
    }
}
