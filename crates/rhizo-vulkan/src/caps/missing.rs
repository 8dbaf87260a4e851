//! Feature and property structures that the `ash` release in use (0.38, Vulkan 1.3.281 headers) does not have.
//!
//! Numbers and fields are those of the Vulkan registry. Each goes when `ash` carries it; the whole file can go with the
//! first `ash` release whose headers are 1.4.340 or newer.

use ash::vk;
use std::ffi::CStr;
use std::ffi::c_void;

macro_rules! structures {
    ($($(#[doc = $doc:literal])* $name:ident = $number:literal extends $root:ident {
        $($field:ident: $type:ty,)*
    })*) => {$(
        $(#[doc = $doc])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        #[allow(dead_code, reason = "the layout is the registry's, whether or not each field is read")]
        pub(super) struct $name {
            s_type: vk::StructureType,
            p_next: *mut c_void,
            $(pub(super) $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    s_type: vk::StructureType::from_raw($number),
                    p_next: std::ptr::null_mut(),
                    $($field: Default::default(),)*
                }
            }
        }

        // SAFETY: the number is this structure's own, and the fields follow the common head in the registry's order.
        unsafe impl vk::TaggedStructure for $name {
            const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw($number);
        }

        // SAFETY: the registry lists the structure as extending this root.
        unsafe impl vk::$root for $name {}
    )*};
}

structures! {
    /// `VkPhysicalDeviceShaderEnqueueFeaturesAMDX`: `ash` has the first version, without the second bit, which drivers of
    /// the second version write.
    ShaderEnqueueFeatures = 1_000_134_000 extends ExtendsPhysicalDeviceFeatures2 {
        shader_enqueue: vk::Bool32,
        shader_mesh_enqueue: vk::Bool32,
    }
    /// `VkPhysicalDeviceDescriptorHeapFeaturesEXT`.
    DescriptorHeapFeatures = 1_000_135_009 extends ExtendsPhysicalDeviceFeatures2 {
        descriptor_heap: vk::Bool32,
        descriptor_heap_capture_replay: vk::Bool32,
    }
    /// `VkPhysicalDeviceComputeShaderDerivativesFeaturesKHR`, also named with NV before it was promoted.
    ComputeDerivativesFeatures = 1_000_201_000 extends ExtendsPhysicalDeviceFeatures2 {
        compute_derivative_group_quads: vk::Bool32,
        compute_derivative_group_linear: vk::Bool32,
    }
    /// `VkPhysicalDeviceTensorPropertiesARM`.
    TensorProperties = 1_000_460_004 extends ExtendsPhysicalDeviceProperties2 {
        max_tensor_dimension_count: u32,
        max_tensor_elements: u64,
        max_per_dimension_tensor_elements: u64,
        max_tensor_stride: i64,
        max_tensor_size: u64,
        max_tensor_shader_access_array_length: u32,
        max_tensor_shader_access_size: u32,
        max_descriptor_set_storage_tensors: u32,
        max_per_stage_descriptor_set_storage_tensors: u32,
        max_descriptor_set_update_after_bind_storage_tensors: u32,
        max_per_stage_descriptor_update_after_bind_storage_tensors: u32,
        shader_storage_tensor_array_non_uniform_indexing_native: vk::Bool32,
        shader_tensor_supported_stages: vk::ShaderStageFlags,
    }
    /// `VkPhysicalDeviceTensorFeaturesARM`.
    TensorFeatures = 1_000_460_009 extends ExtendsPhysicalDeviceFeatures2 {
        tensor_non_packed: vk::Bool32,
        shader_tensor_access: vk::Bool32,
        shader_storage_tensor_array_dynamic_indexing: vk::Bool32,
        shader_storage_tensor_array_non_uniform_indexing: vk::Bool32,
        descriptor_binding_storage_tensor_update_after_bind: vk::Bool32,
        tensors: vk::Bool32,
    }
    /// `VkPhysicalDevicePipelineBinaryFeaturesKHR`.
    PipelineBinaryFeatures = 1_000_483_000 extends ExtendsPhysicalDeviceFeatures2 {
        pipeline_binaries: vk::Bool32,
    }
    /// `VkPhysicalDeviceCooperativeVectorFeaturesNV`.
    CooperativeVectorFeatures = 1_000_491_000 extends ExtendsPhysicalDeviceFeatures2 {
        cooperative_vector: vk::Bool32,
        cooperative_vector_training: vk::Bool32,
    }
    /// `VkPhysicalDeviceDataGraphFeaturesARM`.
    DataGraphFeatures = 1_000_507_006 extends ExtendsPhysicalDeviceFeatures2 {
        data_graph: vk::Bool32,
        data_graph_update_after_bind: vk::Bool32,
        data_graph_specialization_constants: vk::Bool32,
        data_graph_descriptor_buffer: vk::Bool32,
        data_graph_shader_module: vk::Bool32,
    }
    /// `VkPhysicalDeviceUnifiedImageLayoutsFeaturesKHR`.
    UnifiedLayoutsFeatures = 1_000_527_000 extends ExtendsPhysicalDeviceFeatures2 {
        unified_image_layouts: vk::Bool32,
        unified_image_layouts_video: vk::Bool32,
    }
    /// `VkPhysicalDeviceDeviceGeneratedCommandsFeaturesEXT`.
    GeneratedCommandsFeatures = 1_000_572_000 extends ExtendsPhysicalDeviceFeatures2 {
        device_generated_commands: vk::Bool32,
        dynamic_generated_pipeline_layout: vk::Bool32,
    }
    /// `VkPhysicalDeviceDeviceGeneratedCommandsPropertiesEXT`.
    GeneratedCommandsProperties = 1_000_572_001 extends ExtendsPhysicalDeviceProperties2 {
        max_indirect_pipeline_count: u32,
        max_indirect_shader_object_count: u32,
        max_indirect_sequence_count: u32,
        max_indirect_commands_token_count: u32,
        max_indirect_commands_token_offset: u32,
        max_indirect_commands_indirect_stride: u32,
        supported_indirect_commands_input_modes: u32,
        supported_indirect_commands_shader_stages: vk::ShaderStageFlags,
        supported_indirect_commands_shader_stages_pipeline_binding: vk::ShaderStageFlags,
        supported_indirect_commands_shader_stages_shader_binding: vk::ShaderStageFlags,
        device_generated_commands_transform_feedback: vk::Bool32,
        device_generated_commands_multi_draw_indirect_count: vk::Bool32,
    }
}

/// `VK_ARM_tensors`.
pub(super) const TENSORS: &CStr = c"VK_ARM_tensors";
/// `VK_ARM_data_graph`.
pub(super) const DATA_GRAPH: &CStr = c"VK_ARM_data_graph";
/// `VK_EXT_device_generated_commands`.
pub(super) const GENERATED_COMMANDS: &CStr = c"VK_EXT_device_generated_commands";
/// `VK_EXT_descriptor_heap`.
pub(super) const DESCRIPTOR_HEAP: &CStr = c"VK_EXT_descriptor_heap";
/// `VK_KHR_unified_image_layouts`.
pub(super) const UNIFIED_LAYOUTS: &CStr = c"VK_KHR_unified_image_layouts";
/// `VK_KHR_pipeline_binary`.
pub(super) const PIPELINE_BINARY: &CStr = c"VK_KHR_pipeline_binary";
/// `VK_NV_cooperative_vector`.
pub(super) const COOPERATIVE_VECTOR: &CStr = c"VK_NV_cooperative_vector";
/// `VK_KHR_compute_shader_derivatives`.
pub(super) const COMPUTE_DERIVATIVES: &CStr = c"VK_KHR_compute_shader_derivatives";
/// `VK_KHR_swapchain_maintenance1`, promoted without change.
pub(super) const SWAPCHAIN_MAINTENANCE: &CStr = c"VK_KHR_swapchain_maintenance1";

/// `VK_COMPONENT_TYPE_BFLOAT16_KHR`.
pub(super) const COMPONENT_BF16: i32 = 1_000_141_000;
/// `VK_COMPONENT_TYPE_FLOAT8_E4M3_EXT`.
pub(super) const COMPONENT_F8_E4M3: i32 = 1_000_491_002;
/// `VK_COMPONENT_TYPE_FLOAT8_E5M2_EXT`.
pub(super) const COMPONENT_F8_E5M2: i32 = 1_000_491_003;
