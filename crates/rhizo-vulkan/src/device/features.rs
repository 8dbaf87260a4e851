//! Which of the supported features are enabled.

use crate::adapter::Features;
use ash::vk;

/// Copies the named feature bits.
macro_rules! keep {
    ($from:expr => $kind:ident { $($field:ident),* $(,)? }) => {
        vk::$kind { $($field: $from.$field,)* ..vk::$kind::default() }
    };
}

/// The supported features that the contract uses. Buffer device addresses stay off.
pub(crate) fn select(supported: &Features, robust_update_after_bind: bool) -> Features {
    let mut out = Features {
        core: core(&supported.core),
        v11: keep!(supported.v11 => PhysicalDeviceVulkan11Features {
            multiview, shader_draw_parameters, storage_buffer16_bit_access, uniform_and_storage_buffer16_bit_access,
        }),
        v12: v12(&supported.v12),
        v13: keep!(supported.v13 => PhysicalDeviceVulkan13Features {
            dynamic_rendering, synchronization2, maintenance4, robust_image_access, subgroup_size_control,
            compute_full_subgroups, shader_demote_to_helper_invocation, shader_terminate_invocation,
            shader_zero_initialize_workgroup_memory, shader_integer_dot_product,
        }),
    };
    if !robust_update_after_bind {
        // Bounds checks of buffers are always on; such a device cannot have both.
        out.v12.descriptor_binding_uniform_buffer_update_after_bind = vk::FALSE;
        out.v12.descriptor_binding_storage_buffer_update_after_bind = vk::FALSE;
        out.v12.descriptor_binding_uniform_texel_buffer_update_after_bind = vk::FALSE;
        out.v12.descriptor_binding_storage_texel_buffer_update_after_bind = vk::FALSE;
    }
    out
}

fn core(supported: &vk::PhysicalDeviceFeatures) -> vk::PhysicalDeviceFeatures {
    keep!(supported => PhysicalDeviceFeatures {
        robust_buffer_access, full_draw_index_uint32, image_cube_array, independent_blend, sample_rate_shading,
        dual_src_blend, multi_draw_indirect, draw_indirect_first_instance, depth_clamp, depth_bias_clamp,
        fill_mode_non_solid, alpha_to_one, multi_viewport, sampler_anisotropy, texture_compression_etc2,
        texture_compression_astc_ldr, texture_compression_bc, occlusion_query_precise, pipeline_statistics_query,
        vertex_pipeline_stores_and_atomics, fragment_stores_and_atomics, shader_image_gather_extended,
        shader_storage_image_extended_formats, shader_storage_image_multisample,
        shader_storage_image_read_without_format, shader_storage_image_write_without_format,
        shader_uniform_buffer_array_dynamic_indexing, shader_sampled_image_array_dynamic_indexing,
        shader_storage_buffer_array_dynamic_indexing, shader_storage_image_array_dynamic_indexing,
        shader_clip_distance, shader_cull_distance, shader_float64, shader_int64, shader_int16,
    })
}

fn v12(supported: &vk::PhysicalDeviceVulkan12Features<'_>) -> vk::PhysicalDeviceVulkan12Features<'static> {
    keep!(supported => PhysicalDeviceVulkan12Features {
        sampler_mirror_clamp_to_edge, draw_indirect_count, storage_buffer8_bit_access,
        uniform_and_storage_buffer8_bit_access, shader_float16, shader_int8, descriptor_indexing,
        shader_uniform_buffer_array_non_uniform_indexing, shader_sampled_image_array_non_uniform_indexing,
        shader_storage_buffer_array_non_uniform_indexing, shader_storage_image_array_non_uniform_indexing,
        descriptor_binding_uniform_buffer_update_after_bind, descriptor_binding_sampled_image_update_after_bind,
        descriptor_binding_storage_image_update_after_bind, descriptor_binding_storage_buffer_update_after_bind,
        descriptor_binding_update_unused_while_pending, descriptor_binding_partially_bound,
        descriptor_binding_variable_descriptor_count, runtime_descriptor_array, sampler_filter_minmax,
        scalar_block_layout, uniform_buffer_standard_layout, shader_subgroup_extended_types,
        separate_depth_stencil_layouts, host_query_reset, timeline_semaphore, vulkan_memory_model,
        vulkan_memory_model_device_scope, shader_output_viewport_index, shader_output_layer,
        subgroup_broadcast_dynamic_id,
    })
}
