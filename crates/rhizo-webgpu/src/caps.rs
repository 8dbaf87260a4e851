//! What an adapter can do through this backend, in the contract's facts and limits.

use crate::convert;
use crate::encoder::NO_QUERIES;
use rhizo_rhi::{
    Capabilities, CapabilitiesBuilder, Capability, DeviceLimits, Fact as F, Format, FormatClass, FormatSupport,
    LimitKind as L, Provenance, Support,
};
use wgpu::{Features, TextureFormatFeatureFlags as Flags, TextureUsages};

/// What every WebGPU device does and this backend passes on.
const CORE: [F; 15] = [
    F::RasterPasses,
    F::IndependentBlend,
    F::DepthBiasClamp,
    F::AnisotropicFiltering,
    F::CubeArrays,
    F::FragmentStorageWrites,
    F::DrawIndirect,
    F::BindingTables,
    F::DynamicOffsets,
    F::RobustBuffers,
    F::RobustTextures,
    F::ComputePipelines,
    F::DispatchIndirect,
    F::StorageBuffers,
    F::StorageTextures,
];

/// Optional features that are facts of their own, with the names the specification or `wgpu` gives them.
const BY_FEATURE: [(F, Features, &str); 7] = [
    (F::PushConstants, Features::IMMEDIATES, "immediates"),
    (F::DepthClamp, Features::DEPTH_CLIP_CONTROL, "depth-clip-control"),
    (F::Wireframe, Features::POLYGON_MODE_LINE, "POLYGON_MODE_LINE of wgpu"),
    (F::CompressionBc, Features::TEXTURE_COMPRESSION_BC, "texture-compression-bc"),
    (F::CompressionEtc2, Features::TEXTURE_COMPRESSION_ETC2, "texture-compression-etc2"),
    (F::CompressionAstc, Features::TEXTURE_COMPRESSION_ASTC, "texture-compression-astc"),
    (F::IndirectFirstInstance, Features::INDIRECT_FIRST_INSTANCE, "indirect-first-instance"),
];

/// What WebGPU has no words for.
const ABSENT: [(F, &str); 11] = [
    (F::TimelineSemaphores, "WebGPU has no semaphores; its one queue is in order"),
    (F::SeveralQueues, "WebGPU has one queue"),
    (F::AsyncComputeQueue, "WebGPU has one queue"),
    (F::TransferQueue, "WebGPU has one queue"),
    (F::QueueHandOver, "WebGPU has one queue"),
    (F::StageAccessBarriers, "WebGPU orders accesses itself"),
    (F::TextureLayouts, "WebGPU's textures have no layouts"),
    (F::MultipleViewports, "a pass of WebGPU has one viewport and one scissor"),
    (F::CustomBorderColor, "WebGPU's samplers have no border"),
    (F::CacheExport, "WebGPU has no pipeline cache"),
    (F::ClockCalibration, "WebGPU does not read GPU and CPU clocks together"),
];

/// What is done by work of the backend.
const HELPED: [(F, &str); 4] = [
    (F::MultiDrawIndirect, "one indirect draw for each argument record"),
    (F::BinarySemaphores, "nothing to do: the one queue is in order"),
    (F::DeviceUpload, "writeBuffer copies the bytes on the queue"),
    (F::CommittedResources, "createBuffer and createTexture, whose memory wgpu manages"),
];

const SPECIFICATION: &str = "WebGPU specification";

/// The report of an adapter: `adapter` is what it has, `features` what its devices switch on of that.
pub(crate) fn report(adapter: Features, features: Features, native: &wgpu::Limits, hot: &DeviceLimits) -> Capabilities {
    let contract = |source: &'static str| Support::core(Provenance::BackendContract, source);
    let absent = |reason| Support::unavailable(Provenance::BackendContract, SPECIFICATION, reason);
    let mut out = CapabilitiesBuilder::new();
    for fact in CORE {
        out.set(fact, Capability::direct(contract(SPECIFICATION)));
    }
    for (fact, feature, name) in BY_FEATURE {
        out.set(fact, Capability::direct(by_feature(features, feature, name)));
    }
    for (fact, reason) in ABSENT {
        out.set(fact, Capability::direct(absent(reason)));
    }
    for (fact, how) in HELPED {
        out.set(fact, Capability::helper(contract(SPECIFICATION), how));
    }
    out.set(F::BlockingWaits, Capability::direct(Support::library(Provenance::BackendContract, "wgpu::Device::poll")));
    out.set(F::OcclusionQueries, Capability::native_only(contract(SPECIFICATION), NO_QUERIES));
    let timestamps = by_feature(adapter, Features::TIMESTAMP_QUERY, "timestamp-query");
    out.set(F::TimestampQueries, Capability::native_only(timestamps, NO_QUERIES));
    limits(&mut out, native, hot);
    for info in Format::all() {
        out.format(info.format, format_support(features, info.format));
    }
    out.finish()
}

fn by_feature(features: Features, feature: Features, name: &'static str) -> Support {
    if features.contains(feature) {
        return Support::extension(Provenance::NativeFeatureQuery, name);
    }
    Support::unavailable(Provenance::NativeFeatureQuery, name, format!("the adapter lacks the feature {name}"))
}

fn limits(out: &mut CapabilitiesBuilder, native: &wgpu::Limits, hot: &DeviceLimits) {
    for (kind, value) in [
        (L::Texture1dSize, native.max_texture_dimension_1d),
        (L::Texture2dSize, hot.max_texture_2d),
        (L::Texture3dSize, hot.max_texture_3d),
        (L::TextureCubeSize, hot.max_texture_cube),
        (L::TextureLayers, hot.max_texture_layers),
        (L::ConstantAlignment, hot.uniform_alignment_bytes),
        (L::StorageAlignment, hot.storage_alignment_bytes),
        (L::CopyRowAlignment, hot.row_alignment_bytes),
        (L::PushConstants, hot.max_push_constant_bytes),
        (L::Tables, hot.max_tables),
        (L::DynamicConstants, native.max_dynamic_uniform_buffers_per_pipeline_layout),
        (L::StageSamplers, native.max_samplers_per_shader_stage),
        (L::StageTextures, hot.max_bound_textures),
        (L::StageStorageTextures, native.max_storage_textures_per_shader_stage),
        (L::StageConstants, native.max_uniform_buffers_per_shader_stage),
        (L::StageStorage, native.max_storage_buffers_per_shader_stage),
        (L::VertexBuffers, hot.max_vertex_bindings),
        (L::VertexAttributes, native.max_vertex_attributes),
        (L::VertexStride, native.max_vertex_buffer_array_stride),
        (L::ColorTargets, hot.max_color_attachments),
        (L::TargetSize, hot.max_texture_2d),
        (L::TargetLayers, 1),
        (L::ColorSamples, hot.max_samples),
        (L::DepthSamples, hot.max_samples),
        (L::Viewports, hot.max_viewports),
        (L::Anisotropy, hot.max_anisotropy),
        (L::ComputeThreads, hot.max_compute_threads),
        (L::ComputeGroupX, hot.max_compute_group[0]),
        (L::ComputeGroupY, hot.max_compute_group[1]),
        (L::ComputeGroupZ, hot.max_compute_group[2]),
        (L::DispatchGroups, hot.max_dispatch[0]),
        (L::GroupSharedBytes, hot.max_group_shared_bytes),
        (L::SubgroupMin, hot.min_subgroup_size),
        (L::SubgroupMax, hot.max_subgroup_size),
    ] {
        out.limit(kind, u64::from(value));
    }
    out.limit(L::BufferSize, hot.max_buffer_bytes);
    out.limit(L::ConstantRange, hot.max_constant_range_bytes);
    out.limit(L::StorageRange, hot.max_storage_range_bytes);
}

/// What the specification guarantees for a format with these features.
pub(crate) fn format_support(features: Features, format: Format) -> FormatSupport {
    let native = convert::format(format);
    if !features.contains(native.required_features()) {
        return FormatSupport::default();
    }
    let wgpu::TextureFormatFeatures { allowed_usages, flags } = native.guaranteed_format_features(features);
    let usage = |usage| allowed_usages.contains(usage);
    let storage = usage(TextureUsages::STORAGE_BINDING);
    let filterable = flags.contains(Flags::FILTERABLE);
    // A layout of the contract does not say whether a float texture is filtered, so all of them must be filterable.
    let unfilterable = format.info().class == FormatClass::Float && !filterable;
    FormatSupport {
        sampled: usage(TextureUsages::TEXTURE_BINDING) && !unfilterable,
        filterable,
        renderable: usage(TextureUsages::RENDER_ATTACHMENT),
        blendable: flags.contains(Flags::BLENDABLE),
        storage_read: storage && flags.intersects(Flags::STORAGE_READ_ONLY | Flags::STORAGE_READ_WRITE),
        storage_write: storage && flags.intersects(Flags::STORAGE_WRITE_ONLY | Flags::STORAGE_READ_WRITE),
        storage_atomic: false,
        vertex: is_vertex(format),
        copy: usage(TextureUsages::COPY_SRC | TextureUsages::COPY_DST),
        blit_source: false,
        blit_destination: false,
        resolve: flags.contains(Flags::MULTISAMPLE_RESOLVE),
        linear_mips: false,
        sample_mask: 1 | u8::from(flags.contains(Flags::MULTISAMPLE_X4)) << 2,
    }
}

/// Whether the contract has a vertex format of this layout; WebGPU has all of them.
fn is_vertex(format: Format) -> bool {
    use Format as T;
    matches!(
        format,
        T::R32Float | T::Rg32Float | T::Rgba32Float | T::R32Uint | T::Rg32Uint | T::Rgba32Uint | T::R32Sint
    ) || matches!(
        format,
        T::Rg32Sint | T::Rgba32Sint | T::Rgba8Unorm | T::Rgba8Snorm | T::Rgba8Uint | T::Rg16Unorm | T::Rgba16Unorm
    ) || matches!(format, T::Rg16Snorm | T::Rgba16Snorm | T::Rg16Float | T::Rgba16Float)
}
