//! Limits.

use super::query::Query;
use super::write::{Writer, on};
use ash::{ext, khr, vk};
use rhizo_rhi::LimitKind as L;

pub(super) fn write(query: &Query<'_>, out: &mut Writer) {
    let limits = &query.properties.limits;
    textures_and_buffers(query, limits, out);
    alignments(limits, out);
    descriptors(limits, out);
    bindless(query, out);
    raster(query, limits, out);
    compute(query, limits, out);
    memory(query, limits, out);
    time(query, limits, out);
    extensions(query, out);
}

fn textures_and_buffers(query: &Query<'_>, limits: &vk::PhysicalDeviceLimits, out: &mut Writer) {
    out.limit(L::Texture1dSize, limits.max_image_dimension1_d);
    out.limit(L::Texture2dSize, limits.max_image_dimension2_d);
    out.limit(L::Texture3dSize, limits.max_image_dimension3_d);
    out.limit(L::TextureCubeSize, limits.max_image_dimension_cube);
    out.limit(L::TextureLayers, limits.max_image_array_layers);
    out.limit(L::TexelBufferElements, limits.max_texel_buffer_elements);
    out.limit(L::BufferSize, query.p13.max_buffer_size);
    out.limit(L::ConstantRange, limits.max_uniform_buffer_range);
    out.limit(L::StorageRange, limits.max_storage_buffer_range);
}

fn alignments(limits: &vk::PhysicalDeviceLimits, out: &mut Writer) {
    out.limit(L::ConstantAlignment, limits.min_uniform_buffer_offset_alignment);
    out.limit(L::StorageAlignment, limits.min_storage_buffer_offset_alignment);
    out.limit(L::TexelAlignment, limits.min_texel_buffer_offset_alignment);
    out.limit(L::CopyOffsetAlignment, limits.optimal_buffer_copy_offset_alignment);
    out.limit(L::CopyRowAlignment, limits.optimal_buffer_copy_row_pitch_alignment);
    out.limit(L::MapAlignment, limits.min_memory_map_alignment as u64);
    out.limit(L::NonCoherentAtom, limits.non_coherent_atom_size);
}

fn descriptors(limits: &vk::PhysicalDeviceLimits, out: &mut Writer) {
    out.limit(L::PushConstants, limits.max_push_constants_size);
    out.limit(L::Tables, limits.max_bound_descriptor_sets);
    out.limit(L::DynamicConstants, limits.max_descriptor_set_uniform_buffers_dynamic);
    out.limit(L::DynamicStorage, limits.max_descriptor_set_storage_buffers_dynamic);
    out.limit(L::StageSamplers, limits.max_per_stage_descriptor_samplers);
    out.limit(L::StageTextures, limits.max_per_stage_descriptor_sampled_images);
    out.limit(L::StageStorageTextures, limits.max_per_stage_descriptor_storage_images);
    out.limit(L::StageConstants, limits.max_per_stage_descriptor_uniform_buffers);
    out.limit(L::StageStorage, limits.max_per_stage_descriptor_storage_buffers);
    out.limit(L::StageResources, limits.max_per_stage_resources);
    out.limit(L::Samplers, limits.max_sampler_allocation_count);
}

fn bindless(query: &Query<'_>, out: &mut Writer) {
    let p12 = &query.p12;
    out.limit(L::BindlessTextures, p12.max_descriptor_set_update_after_bind_sampled_images);
    out.limit(L::BindlessSamplers, p12.max_descriptor_set_update_after_bind_samplers);
    out.limit(L::BindlessStorageTextures, p12.max_descriptor_set_update_after_bind_storage_images);
    out.limit(L::BindlessBuffers, p12.max_descriptor_set_update_after_bind_storage_buffers);
    out.limit(L::BindlessPool, p12.max_update_after_bind_descriptors_in_all_pools);
}

/// The largest count in a set of sample counts, whose bits are the counts.
fn samples(counts: vk::SampleCountFlags) -> u64 {
    counts.as_raw().checked_ilog2().map_or(1, |bit| 1 << bit)
}

fn raster(query: &Query<'_>, limits: &vk::PhysicalDeviceLimits, out: &mut Writer) {
    out.limit(L::VertexBuffers, limits.max_vertex_input_bindings);
    out.limit(L::VertexAttributes, limits.max_vertex_input_attributes);
    out.limit(L::VertexStride, limits.max_vertex_input_binding_stride);
    out.limit(L::InterStageComponents, limits.max_vertex_output_components);
    out.limit(L::ColorTargets, limits.max_color_attachments);
    if on(query.core.dual_src_blend) {
        out.limit(L::DualSourceTargets, limits.max_fragment_dual_src_attachments);
    }
    out.limit(L::TargetSize, limits.max_framebuffer_width.min(limits.max_framebuffer_height));
    out.limit(L::TargetLayers, limits.max_framebuffer_layers);
    out.limit(L::MultiviewViews, query.p11.max_multiview_view_count);
    out.limit(L::ColorSamples, samples(limits.framebuffer_color_sample_counts));
    out.limit(L::DepthSamples, samples(limits.framebuffer_depth_sample_counts));
    out.limit(L::Viewports, if on(query.core.multi_viewport) { limits.max_viewports } else { 1 });
    let [width, height] = limits.max_viewport_dimensions;
    out.limit(L::ViewportSize, width.min(height));
    out.limit(L::ClipDistances, if on(query.core.shader_clip_distance) { limits.max_clip_distances } else { 0 });
    let anisotropy = if on(query.core.sampler_anisotropy) { limits.max_sampler_anisotropy } else { 1.0 };
    out.limit(L::Anisotropy, anisotropy as u64);
    out.limit(L::IndirectDraws, if on(query.core.multi_draw_indirect) { limits.max_draw_indirect_count } else { 1 });
    let full = on(query.core.full_draw_index_uint32);
    out.limit(L::IndexValue, if full { u32::MAX } else { limits.max_draw_indexed_index_value });
}

fn compute(query: &Query<'_>, limits: &vk::PhysicalDeviceLimits, out: &mut Writer) {
    let [x, y, z] = limits.max_compute_work_group_size;
    out.limit(L::ComputeThreads, limits.max_compute_work_group_invocations);
    out.limit(L::ComputeGroupX, x);
    out.limit(L::ComputeGroupY, y);
    out.limit(L::ComputeGroupZ, z);
    let [x, y, z] = limits.max_compute_work_group_count;
    out.limit(L::DispatchGroups, x.min(y).min(z));
    out.limit(L::GroupSharedBytes, limits.max_compute_shared_memory_size);
    out.limit(L::SubgroupMin, query.p13.min_subgroup_size);
    out.limit(L::SubgroupMax, query.p13.max_subgroup_size);
}

fn memory(query: &Query<'_>, limits: &vk::PhysicalDeviceLimits, out: &mut Writer) {
    let heaps = query.memory.memory_heaps_as_slice();
    out.limit(L::MemoryHeaps, heaps.len() as u64);
    let local = heaps.iter().filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    out.limit(L::DeviceLocalBytes, local.map(|heap| heap.size).sum::<u64>());
    out.limit(L::MemoryAllocations, limits.max_memory_allocation_count);
    out.limit(L::AllocationSize, query.p11.max_memory_allocation_size);
    out.limit(L::PlacementGranularity, limits.buffer_image_granularity);
    if on(query.core.sparse_binding) {
        out.limit(L::SparseAddressSpace, limits.sparse_address_space_size);
        // Vulkan's standard block shapes are 64 KiB; other shapes are asked for per format.
        if on(query.properties.sparse_properties.residency_standard2_d_block_shape) {
            out.limit(L::SparsePageBytes, 65_536_u64);
        }
    }
}

fn time(query: &Query<'_>, limits: &vk::PhysicalDeviceLimits, out: &mut Writer) {
    let bits = query.families.iter().map(|family| family.timestamp_valid_bits).filter(|bits| *bits > 0).min();
    if let Some(bits) = bits {
        out.limit(L::TimestampBits, bits);
        out.limit(L::TimestampPeriodPs, (f64::from(limits.timestamp_period) * 1000.0).round() as u64);
    }
}

fn extensions(query: &Query<'_>, out: &mut Writer) {
    let name = ext::mesh_shader::NAME;
    if query.lists(name) {
        let mesh: vk::PhysicalDeviceMeshShaderPropertiesEXT<'_> = query.props(name);
        out.limit(L::MeshGroupThreads, mesh.max_mesh_work_group_invocations);
        out.limit(L::TaskGroupThreads, mesh.max_task_work_group_invocations);
        out.limit(L::MeshGroups, mesh.max_mesh_work_group_total_count);
    }
    let name = khr::acceleration_structure::NAME;
    if query.lists(name) {
        let accel: vk::PhysicalDeviceAccelerationStructurePropertiesKHR<'_> = query.props(name);
        out.limit(L::AccelStructInstances, accel.max_instance_count);
        out.limit(L::AccelStructPrimitives, accel.max_primitive_count);
        out.limit(L::AccelStructScratchAlignment, accel.min_acceleration_structure_scratch_offset_alignment);
    }
    let name = khr::ray_tracing_pipeline::NAME;
    if query.lists(name) {
        let rays: vk::PhysicalDeviceRayTracingPipelinePropertiesKHR<'_> = query.props(name);
        out.limit(L::RayRecursion, rays.max_ray_recursion_depth);
        out.limit(L::RayDispatchThreads, rays.max_ray_dispatch_invocation_count);
        out.limit(L::ShaderTableHandle, rays.shader_group_handle_size);
        out.limit(L::ShaderTableAlignment, rays.shader_group_base_alignment);
    }
    let name = khr::fragment_shading_rate::NAME;
    if query.lists(name) {
        let rate: vk::PhysicalDeviceFragmentShadingRatePropertiesKHR<'_> = query.props(name);
        let tile = rate.min_fragment_shading_rate_attachment_texel_size;
        if tile.width > 0 {
            out.limit(L::ShadingRateTile, tile.width.min(tile.height));
        }
    }
}
