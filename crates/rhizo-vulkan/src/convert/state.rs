//! Fixed-function state, samplers, views and bindings.

use ash::vk;
use rhizo_rhi::{
    AddressMode, BindingKind, BlendFactor, BlendOp, BufferUsage, CompareOp, Component, CullMode, Filter, FrontFace,
    IndexFormat, ShaderStages, Statistics, StencilFace, StencilOp, StencilState, TextureUsage, Topology, VertexStep,
    ViewDimension, ViewKind, WriteMask,
};

pub(crate) const fn topology(topology: Topology) -> vk::PrimitiveTopology {
    match topology {
        Topology::Points => vk::PrimitiveTopology::POINT_LIST,
        Topology::Lines => vk::PrimitiveTopology::LINE_LIST,
        Topology::LineStrip => vk::PrimitiveTopology::LINE_STRIP,
        Topology::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
        Topology::TriangleStrip => vk::PrimitiveTopology::TRIANGLE_STRIP,
    }
}

pub(crate) const fn cull(cull: CullMode) -> vk::CullModeFlags {
    match cull {
        CullMode::None => vk::CullModeFlags::NONE,
        CullMode::Front => vk::CullModeFlags::FRONT,
        CullMode::Back => vk::CullModeFlags::BACK,
    }
}

/// The negative viewport height mirrors both the picture and the sign of the area that Vulkan takes the winding from, so
/// the contract's winding (seen with y up) is Vulkan's.
pub(crate) const fn front_face(front: FrontFace) -> vk::FrontFace {
    match front {
        FrontFace::CounterClockwise => vk::FrontFace::COUNTER_CLOCKWISE,
        FrontFace::Clockwise => vk::FrontFace::CLOCKWISE,
    }
}

pub(crate) const fn compare(op: CompareOp) -> vk::CompareOp {
    match op {
        CompareOp::Never => vk::CompareOp::NEVER,
        CompareOp::Less => vk::CompareOp::LESS,
        CompareOp::Equal => vk::CompareOp::EQUAL,
        CompareOp::LessEqual => vk::CompareOp::LESS_OR_EQUAL,
        CompareOp::Greater => vk::CompareOp::GREATER,
        CompareOp::NotEqual => vk::CompareOp::NOT_EQUAL,
        CompareOp::GreaterEqual => vk::CompareOp::GREATER_OR_EQUAL,
        CompareOp::Always => vk::CompareOp::ALWAYS,
    }
}

const fn stencil_op(op: StencilOp) -> vk::StencilOp {
    match op {
        StencilOp::Keep => vk::StencilOp::KEEP,
        StencilOp::Zero => vk::StencilOp::ZERO,
        StencilOp::Replace => vk::StencilOp::REPLACE,
        StencilOp::IncrementClamp => vk::StencilOp::INCREMENT_AND_CLAMP,
        StencilOp::DecrementClamp => vk::StencilOp::DECREMENT_AND_CLAMP,
        StencilOp::Invert => vk::StencilOp::INVERT,
        StencilOp::IncrementWrap => vk::StencilOp::INCREMENT_AND_WRAP,
        StencilOp::DecrementWrap => vk::StencilOp::DECREMENT_AND_WRAP,
    }
}

/// One face; the reference is dynamic.
pub(crate) fn stencil(state: &StencilState, face: StencilFace) -> vk::StencilOpState {
    vk::StencilOpState::default()
        .compare_op(compare(face.compare))
        .fail_op(stencil_op(face.fail))
        .depth_fail_op(stencil_op(face.depth_fail))
        .pass_op(stencil_op(face.pass))
        .compare_mask(u32::from(state.read_mask))
        .write_mask(u32::from(state.write_mask))
}

/// A blend factor; `alpha` picks the constant's alpha where the constant is meant for the alpha component.
pub(crate) const fn blend_factor(factor: BlendFactor, alpha: bool) -> vk::BlendFactor {
    match factor {
        BlendFactor::Zero => vk::BlendFactor::ZERO,
        BlendFactor::One => vk::BlendFactor::ONE,
        BlendFactor::Source => vk::BlendFactor::SRC_COLOR,
        BlendFactor::OneMinusSource => vk::BlendFactor::ONE_MINUS_SRC_COLOR,
        BlendFactor::SourceAlpha => vk::BlendFactor::SRC_ALPHA,
        BlendFactor::OneMinusSourceAlpha => vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        BlendFactor::Destination => vk::BlendFactor::DST_COLOR,
        BlendFactor::OneMinusDestination => vk::BlendFactor::ONE_MINUS_DST_COLOR,
        BlendFactor::DestinationAlpha => vk::BlendFactor::DST_ALPHA,
        BlendFactor::OneMinusDestinationAlpha => vk::BlendFactor::ONE_MINUS_DST_ALPHA,
        BlendFactor::Constant if alpha => vk::BlendFactor::CONSTANT_ALPHA,
        BlendFactor::Constant => vk::BlendFactor::CONSTANT_COLOR,
        BlendFactor::OneMinusConstant if alpha => vk::BlendFactor::ONE_MINUS_CONSTANT_ALPHA,
        BlendFactor::OneMinusConstant => vk::BlendFactor::ONE_MINUS_CONSTANT_COLOR,
    }
}

pub(crate) const fn blend_op(op: BlendOp) -> vk::BlendOp {
    match op {
        BlendOp::Add => vk::BlendOp::ADD,
        BlendOp::Subtract => vk::BlendOp::SUBTRACT,
        BlendOp::ReverseSubtract => vk::BlendOp::REVERSE_SUBTRACT,
        BlendOp::Min => vk::BlendOp::MIN,
        BlendOp::Max => vk::BlendOp::MAX,
    }
}

/// Both have red, green, blue and alpha in bits 0 to 3.
pub(crate) const fn write_mask(mask: WriteMask) -> vk::ColorComponentFlags {
    vk::ColorComponentFlags::from_raw(mask.bits() as u32)
}

pub(crate) const fn step(step: VertexStep) -> vk::VertexInputRate {
    match step {
        VertexStep::Vertex => vk::VertexInputRate::VERTEX,
        VertexStep::Instance => vk::VertexInputRate::INSTANCE,
    }
}

/// Native shader stages; no branch, as it runs with every push-constant write.
#[inline]
pub(crate) const fn shader_stages(stages: ShaderStages) -> vk::ShaderStageFlags {
    let bits = stages.bits();
    let vertex = bits & ShaderStages::VERTEX.bits(); // bit 0 in both
    let rest = (bits & (ShaderStages::FRAGMENT.bits() | ShaderStages::COMPUTE.bits())) << 3; // bits 4 and 5
    vk::ShaderStageFlags::from_raw(vertex | rest)
}

pub(crate) const fn index_format(format: IndexFormat) -> vk::IndexType {
    match format {
        IndexFormat::U16 => vk::IndexType::UINT16,
        IndexFormat::U32 => vk::IndexType::UINT32,
    }
}

pub(crate) const fn filter(filter: Filter) -> vk::Filter {
    match filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    }
}

pub(crate) const fn mipmap(filter: Filter) -> vk::SamplerMipmapMode {
    match filter {
        Filter::Nearest => vk::SamplerMipmapMode::NEAREST,
        Filter::Linear => vk::SamplerMipmapMode::LINEAR,
    }
}

pub(crate) const fn address(mode: AddressMode) -> vk::SamplerAddressMode {
    match mode {
        AddressMode::Repeat => vk::SamplerAddressMode::REPEAT,
        AddressMode::MirrorRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        AddressMode::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
    }
}

pub(crate) const fn component(component: Component) -> vk::ComponentSwizzle {
    match component {
        Component::R => vk::ComponentSwizzle::R,
        Component::G => vk::ComponentSwizzle::G,
        Component::B => vk::ComponentSwizzle::B,
        Component::A => vk::ComponentSwizzle::A,
        Component::Zero => vk::ComponentSwizzle::ZERO,
        Component::One => vk::ComponentSwizzle::ONE,
    }
}

pub(crate) const fn view_type(dimension: ViewDimension) -> vk::ImageViewType {
    match dimension {
        ViewDimension::D1 => vk::ImageViewType::TYPE_1D,
        ViewDimension::D2 => vk::ImageViewType::TYPE_2D,
        ViewDimension::D2Array => vk::ImageViewType::TYPE_2D_ARRAY,
        ViewDimension::Cube => vk::ImageViewType::CUBE,
        ViewDimension::CubeArray => vk::ImageViewType::CUBE_ARRAY,
        ViewDimension::D3 => vk::ImageViewType::TYPE_3D,
    }
}

/// The usage of a view: only what its kind needs, as its format may support no more.
pub(crate) const fn view_usage(kind: ViewKind) -> vk::ImageUsageFlags {
    match kind {
        ViewKind::Read => vk::ImageUsageFlags::SAMPLED,
        ViewKind::Write => vk::ImageUsageFlags::STORAGE,
        ViewKind::ColorTarget => vk::ImageUsageFlags::COLOR_ATTACHMENT,
        ViewKind::DepthStencilTarget => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
    }
}

pub(crate) fn texture_usage(usage: TextureUsage) -> vk::ImageUsageFlags {
    const TABLE: [(TextureUsage, vk::ImageUsageFlags); 6] = [
        (TextureUsage::COPY_SOURCE, vk::ImageUsageFlags::TRANSFER_SRC),
        (TextureUsage::COPY_DESTINATION, vk::ImageUsageFlags::TRANSFER_DST),
        (TextureUsage::SHADER_READ, vk::ImageUsageFlags::SAMPLED),
        (TextureUsage::SHADER_WRITE, vk::ImageUsageFlags::STORAGE),
        (TextureUsage::COLOR_TARGET, vk::ImageUsageFlags::COLOR_ATTACHMENT),
        (TextureUsage::DEPTH_STENCIL_TARGET, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT),
    ];
    let mut out = vk::ImageUsageFlags::empty();
    for (ours, native) in TABLE {
        if usage.contains(ours) {
            out |= native;
        }
    }
    out
}

pub(crate) fn buffer_usage(usage: BufferUsage) -> vk::BufferUsageFlags {
    const TABLE: [(BufferUsage, vk::BufferUsageFlags); 9] = [
        (BufferUsage::COPY_SOURCE, vk::BufferUsageFlags::TRANSFER_SRC),
        (BufferUsage::COPY_DESTINATION, vk::BufferUsageFlags::TRANSFER_DST),
        (BufferUsage::CONSTANT, vk::BufferUsageFlags::UNIFORM_BUFFER),
        (BufferUsage::SHADER_READ, vk::BufferUsageFlags::STORAGE_BUFFER),
        (BufferUsage::SHADER_WRITE, vk::BufferUsageFlags::STORAGE_BUFFER),
        (BufferUsage::VERTEX, vk::BufferUsageFlags::VERTEX_BUFFER),
        (BufferUsage::INDEX, vk::BufferUsageFlags::INDEX_BUFFER),
        (BufferUsage::INDIRECT, vk::BufferUsageFlags::INDIRECT_BUFFER),
        (BufferUsage::QUERY_RESOLVE, vk::BufferUsageFlags::TRANSFER_DST),
    ];
    let mut out = vk::BufferUsageFlags::empty();
    for (ours, native) in TABLE {
        if usage.contains(ours) {
            out |= native;
        }
    }
    out
}

pub(crate) const fn descriptor_type(kind: BindingKind) -> vk::DescriptorType {
    match kind {
        BindingKind::Constant { dynamic: false } => vk::DescriptorType::UNIFORM_BUFFER,
        BindingKind::Constant { dynamic: true } => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
        BindingKind::BufferRead | BindingKind::BufferWrite => vk::DescriptorType::STORAGE_BUFFER,
        BindingKind::Texture { .. } => vk::DescriptorType::SAMPLED_IMAGE,
        BindingKind::StorageTexture { .. } => vk::DescriptorType::STORAGE_IMAGE,
        BindingKind::Sampler { .. } => vk::DescriptorType::SAMPLER,
    }
}

/// The contract counts in Vulkan's bit order.
pub(crate) const fn statistics(which: Statistics) -> vk::QueryPipelineStatisticFlags {
    vk::QueryPipelineStatisticFlags::from_raw(which.bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_for_bit_conversions_agree_with_the_names() {
        assert_eq!(shader_stages(ShaderStages::VERTEX), vk::ShaderStageFlags::VERTEX);
        assert_eq!(shader_stages(ShaderStages::FRAGMENT), vk::ShaderStageFlags::FRAGMENT);
        assert_eq!(shader_stages(ShaderStages::COMPUTE), vk::ShaderStageFlags::COMPUTE);
        assert_eq!(write_mask(WriteMask::B), vk::ColorComponentFlags::B);
        assert_eq!(write_mask(WriteMask::A), vk::ColorComponentFlags::A);
        use vk::QueryPipelineStatisticFlags as Q;
        for (ours, native) in [
            (Statistics::INPUT_VERTICES, Q::INPUT_ASSEMBLY_VERTICES),
            (Statistics::INPUT_PRIMITIVES, Q::INPUT_ASSEMBLY_PRIMITIVES),
            (Statistics::VERTEX_INVOCATIONS, Q::VERTEX_SHADER_INVOCATIONS),
            (Statistics::GEOMETRY_INVOCATIONS, Q::GEOMETRY_SHADER_INVOCATIONS),
            (Statistics::GEOMETRY_PRIMITIVES, Q::GEOMETRY_SHADER_PRIMITIVES),
            (Statistics::CLIPPING_INVOCATIONS, Q::CLIPPING_INVOCATIONS),
            (Statistics::CLIPPING_PRIMITIVES, Q::CLIPPING_PRIMITIVES),
            (Statistics::FRAGMENT_INVOCATIONS, Q::FRAGMENT_SHADER_INVOCATIONS),
            (Statistics::TESSELLATION_CONTROL_PATCHES, Q::TESSELLATION_CONTROL_SHADER_PATCHES),
            (Statistics::TESSELLATION_EVALUATION_INVOCATIONS, Q::TESSELLATION_EVALUATION_SHADER_INVOCATIONS),
            (Statistics::COMPUTE_INVOCATIONS, Q::COMPUTE_SHADER_INVOCATIONS),
        ] {
            assert_eq!(statistics(ours), native);
        }
    }
}
