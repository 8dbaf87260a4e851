//! The contract's enumerations and errors in WebGPU's terms. Matches name every case.

use rhizo_rhi::{
    BlendEquation, BlendFactor, BlendOp, CompareOp, Error, ErrorKind, Extent, Format, IndexFormat, StencilFace,
    StencilOp, Topology, VertexFormat, ViewDimension,
};
use wgpu::{AstcBlock, AstcChannel, TextureFormat};

/// An error that a scope caught.
pub(crate) fn error(what: &str, error: wgpu::Error) -> Error {
    let kind = match error {
        wgpu::Error::OutOfMemory { .. } => ErrorKind::OutOfMemory,
        wgpu::Error::Validation { .. } | wgpu::Error::Internal { .. } => ErrorKind::Native,
    };
    // The text is a chain of causes, one to a line.
    let text = error.to_string();
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Error::new(kind, format!("{what}: {}", lines.join("; "))).because(error)
}

/// A failure with an error of its own.
pub(crate) fn native(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Native, format!("{what}: {error}")).because(error)
}

/// A poll that failed.
pub(crate) fn poll_error(error: &wgpu::PollError) -> Error {
    Error::new(ErrorKind::Native, format!("poll: {error}"))
}

macro_rules! formats {
    ($format:expr; $($same:ident)*; $($own:ident => $native:ident,)*; $($unorm:ident $srgb:ident => $block:ident,)*) => {
        match $format {
            $(Format::$same => TextureFormat::$same,)*
            $(Format::$own => TextureFormat::$native,)*
            $(Format::$unorm => TextureFormat::Astc { block: AstcBlock::$block, channel: AstcChannel::Unorm },
            Format::$srgb => TextureFormat::Astc { block: AstcBlock::$block, channel: AstcChannel::UnormSrgb },)*
        }
    };
}

/// The format; depth24-stencil8 is the one that may be stored wider.
pub(crate) fn format(format: Format) -> TextureFormat {
    formats! { format;
        R8Unorm R8Snorm R8Uint R8Sint Rg8Unorm Rg8Snorm Rg8Uint Rg8Sint
        Rgba8Unorm Rgba8UnormSrgb Rgba8Snorm Rgba8Uint Rgba8Sint Bgra8Unorm Bgra8UnormSrgb
        R16Unorm R16Snorm R16Uint R16Sint R16Float Rg16Unorm Rg16Snorm Rg16Uint Rg16Sint Rg16Float
        Rgba16Unorm Rgba16Snorm Rgba16Uint Rgba16Sint Rgba16Float
        R32Uint R32Sint R32Float Rg32Uint Rg32Sint Rg32Float Rgba32Uint Rgba32Sint Rgba32Float
        Rgb10a2Unorm Rgb10a2Uint Depth32Float Depth32FloatStencil8 Stencil8
        Bc1RgbaUnorm Bc1RgbaUnormSrgb Bc2RgbaUnorm Bc2RgbaUnormSrgb Bc3RgbaUnorm Bc3RgbaUnormSrgb
        Bc4RUnorm Bc4RSnorm Bc5RgUnorm Bc5RgSnorm Bc6hRgbUfloat Bc6hRgbFloat Bc7RgbaUnorm Bc7RgbaUnormSrgb
        Etc2Rgb8Unorm Etc2Rgb8UnormSrgb Etc2Rgb8A1Unorm Etc2Rgb8A1UnormSrgb Etc2Rgba8Unorm Etc2Rgba8UnormSrgb
        EacR11Unorm EacR11Snorm EacRg11Unorm EacRg11Snorm;
        Rg11b10Float => Rg11b10Ufloat,
        Rgb9e5Float => Rgb9e5Ufloat,
        Depth16 => Depth16Unorm,
        Depth24Stencil8 => Depth24PlusStencil8,;
        Astc4x4Unorm Astc4x4UnormSrgb => B4x4,
        Astc5x4Unorm Astc5x4UnormSrgb => B5x4,
        Astc5x5Unorm Astc5x5UnormSrgb => B5x5,
        Astc6x5Unorm Astc6x5UnormSrgb => B6x5,
        Astc6x6Unorm Astc6x6UnormSrgb => B6x6,
        Astc8x5Unorm Astc8x5UnormSrgb => B8x5,
        Astc8x6Unorm Astc8x6UnormSrgb => B8x6,
        Astc8x8Unorm Astc8x8UnormSrgb => B8x8,
        Astc10x5Unorm Astc10x5UnormSrgb => B10x5,
        Astc10x6Unorm Astc10x6UnormSrgb => B10x6,
        Astc10x8Unorm Astc10x8UnormSrgb => B10x8,
        Astc10x10Unorm Astc10x10UnormSrgb => B10x10,
        Astc12x10Unorm Astc12x10UnormSrgb => B12x10,
        Astc12x12Unorm Astc12x12UnormSrgb => B12x12,
    }
}

macro_rules! same {
    ($from:ident => $to:path; $value:expr; $($name:ident)*) => {{
        use $to as To;
        match $value {
            $($from::$name => To::$name,)*
        }
    }};
}

pub(crate) fn vertex_format(format: VertexFormat) -> wgpu::VertexFormat {
    same! { VertexFormat => wgpu::VertexFormat; format;
        Float32 Float32x2 Float32x3 Float32x4 Uint32 Uint32x2 Uint32x3 Uint32x4 Sint32 Sint32x2 Sint32x3 Sint32x4
        Unorm8x4 Snorm8x4 Uint8x4 Unorm16x2 Unorm16x4 Snorm16x2 Snorm16x4 Float16x2 Float16x4
    }
}

pub(crate) fn view_dimension(dimension: ViewDimension) -> wgpu::TextureViewDimension {
    same! { ViewDimension => wgpu::TextureViewDimension; dimension; D1 D2 D2Array Cube CubeArray D3 }
}

pub(crate) fn compare(op: CompareOp) -> wgpu::CompareFunction {
    same! { CompareOp => wgpu::CompareFunction; op;
        Never Less Equal LessEqual Greater NotEqual GreaterEqual Always
    }
}

pub(crate) fn stencil_face(face: StencilFace) -> wgpu::StencilFaceState {
    let op = |op| {
        same! { StencilOp => wgpu::StencilOperation; op;
            Keep Zero Replace Invert IncrementClamp DecrementClamp IncrementWrap DecrementWrap
        }
    };
    wgpu::StencilFaceState {
        compare: compare(face.compare),
        fail_op: op(face.fail),
        depth_fail_op: op(face.depth_fail),
        pass_op: op(face.pass),
    }
}

pub(crate) fn topology(topology: Topology) -> wgpu::PrimitiveTopology {
    match topology {
        Topology::Points => wgpu::PrimitiveTopology::PointList,
        Topology::Lines => wgpu::PrimitiveTopology::LineList,
        Topology::LineStrip => wgpu::PrimitiveTopology::LineStrip,
        Topology::Triangles => wgpu::PrimitiveTopology::TriangleList,
        Topology::TriangleStrip => wgpu::PrimitiveTopology::TriangleStrip,
    }
}

pub(crate) fn index_format(format: IndexFormat) -> wgpu::IndexFormat {
    match format {
        IndexFormat::U16 => wgpu::IndexFormat::Uint16,
        IndexFormat::U32 => wgpu::IndexFormat::Uint32,
    }
}

pub(crate) fn blend_component(equation: BlendEquation) -> wgpu::BlendComponent {
    // WebGPU wants factors of one where they mean nothing.
    let unused = matches!(equation.op, BlendOp::Min | BlendOp::Max);
    let factor = |factor| if unused { wgpu::BlendFactor::One } else { blend_factor(factor) };
    wgpu::BlendComponent {
        src_factor: factor(equation.source),
        dst_factor: factor(equation.destination),
        operation: same! { BlendOp => wgpu::BlendOperation; equation.op; Add Subtract ReverseSubtract Min Max },
    }
}

fn blend_factor(factor: BlendFactor) -> wgpu::BlendFactor {
    match factor {
        BlendFactor::Zero => wgpu::BlendFactor::Zero,
        BlendFactor::One => wgpu::BlendFactor::One,
        BlendFactor::Source => wgpu::BlendFactor::Src,
        BlendFactor::OneMinusSource => wgpu::BlendFactor::OneMinusSrc,
        BlendFactor::SourceAlpha => wgpu::BlendFactor::SrcAlpha,
        BlendFactor::OneMinusSourceAlpha => wgpu::BlendFactor::OneMinusSrcAlpha,
        BlendFactor::Destination => wgpu::BlendFactor::Dst,
        BlendFactor::OneMinusDestination => wgpu::BlendFactor::OneMinusDst,
        BlendFactor::DestinationAlpha => wgpu::BlendFactor::DstAlpha,
        BlendFactor::OneMinusDestinationAlpha => wgpu::BlendFactor::OneMinusDstAlpha,
        BlendFactor::Constant => wgpu::BlendFactor::Constant,
        BlendFactor::OneMinusConstant => wgpu::BlendFactor::OneMinusConstant,
    }
}

pub(crate) fn extent(extent: Extent) -> wgpu::Extent3d {
    wgpu::Extent3d { width: extent.x, height: extent.y, depth_or_array_layers: extent.z }
}

pub(crate) fn color(value: [f32; 4]) -> wgpu::Color {
    let [r, g, b, a] = value.map(f64::from);
    wgpu::Color { r, g, b, a }
}
