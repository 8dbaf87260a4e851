//! Which SPIR-V capabilities the enabled features allow: a module that declares another is refused, never handed to the
//! driver (Vulkan specification, "Capabilities" in the appendix on SPIR-V).

use crate::adapter::Features;
use ash::vk;

const OP_CAPABILITY: u32 = 17;
/// Words before the first instruction.
const HEADER_WORDS: usize = 5;

/// What a capability needs of the device.
enum Need {
    /// Vulkan 1.3 has it, or requires the feature.
    Nothing,
    /// A feature bit, with its name.
    Feature(vk::Bool32, &'static str),
    /// It is never enabled by this backend.
    Never,
}

/// The first capability of a module that is not enabled, in words. Capabilities come first in a module, so the walk ends
/// at the first other instruction.
pub(crate) fn missing_capability(words: &[u32], features: &Features) -> Result<(), String> {
    let mut rest = words.get(HEADER_WORDS..).unwrap_or_default();
    while let [first, operand, ..] = *rest {
        let (opcode, length) = (first & 0xffff, (first >> 16) as usize);
        if opcode != OP_CAPABILITY {
            break;
        }
        match need(operand, features) {
            Need::Nothing | Need::Feature(vk::TRUE, _) => {}
            Need::Feature(_, name) => return Err(format!("the shader needs {name}, which the device lacks")),
            Need::Never => return Err(format!("SPIR-V capability {operand} is not enabled by this backend")),
        }
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    Ok(())
}

/// The numbers are those of the SPIR-V specification, section 3.31. Subgroup operations beyond the basic ones are not
/// offered through the contract yet, so their capabilities are refused.
#[rustfmt::skip]
fn need(capability: u32, f: &Features) -> Need {
    use Need::{Feature, Never, Nothing};
    let (core, v11, v12, v13) = (&f.core, &f.v11, &f.v12, &f.v13);
    match capability {
        // Matrix, Shader, InputAttachment, Sampled1D, Image1D, SampledBuffer, ImageBuffer, ImageQuery,
        // DerivativeControl, GroupNonUniform (basic).
        0 | 1 | 40 | 43 | 44 | 46 | 47 | 50 | 51 | 61 => Nothing,
        9 => Feature(v12.shader_float16, "shaderFloat16"),
        10 => Feature(core.shader_float64, "shaderFloat64"),
        11 => Feature(core.shader_int64, "shaderInt64"),
        22 => Feature(core.shader_int16, "shaderInt16"),
        25 => Feature(core.shader_image_gather_extended, "shaderImageGatherExtended"),
        27 | 48 => Feature(core.shader_storage_image_multisample, "shaderStorageImageMultisample"),
        28 => Feature(core.shader_uniform_buffer_array_dynamic_indexing, "shaderUniformBufferArrayDynamicIndexing"),
        29 => Feature(core.shader_sampled_image_array_dynamic_indexing, "shaderSampledImageArrayDynamicIndexing"),
        30 => Feature(core.shader_storage_buffer_array_dynamic_indexing, "shaderStorageBufferArrayDynamicIndexing"),
        31 => Feature(core.shader_storage_image_array_dynamic_indexing, "shaderStorageImageArrayDynamicIndexing"),
        32 => Feature(core.shader_clip_distance, "shaderClipDistance"),
        33 => Feature(core.shader_cull_distance, "shaderCullDistance"),
        34 | 45 => Feature(core.image_cube_array, "imageCubeArray"),
        35 | 52 => Feature(core.sample_rate_shading, "sampleRateShading"),
        39 => Feature(v12.shader_int8, "shaderInt8"),
        49 => Feature(core.shader_storage_image_extended_formats, "shaderStorageImageExtendedFormats"),
        55 => Feature(core.shader_storage_image_read_without_format, "shaderStorageImageReadWithoutFormat"),
        56 => Feature(core.shader_storage_image_write_without_format, "shaderStorageImageWriteWithoutFormat"),
        57 => Feature(core.multi_viewport, "multiViewport"),
        4427 => Feature(v11.shader_draw_parameters, "shaderDrawParameters"),
        4433 => Feature(v11.storage_buffer16_bit_access, "storageBuffer16BitAccess"),
        4434 => Feature(v11.uniform_and_storage_buffer16_bit_access, "uniformAndStorageBuffer16BitAccess"),
        4439 => Feature(v11.multiview, "multiview"),
        4448 => Feature(v12.storage_buffer8_bit_access, "storageBuffer8BitAccess"),
        4449 => Feature(v12.uniform_and_storage_buffer8_bit_access, "uniformAndStorageBuffer8BitAccess"),
        5301 | 5302 => Feature(v12.runtime_descriptor_array, "runtimeDescriptorArray"),
        5306 => Feature(v12.shader_uniform_buffer_array_non_uniform_indexing, "shaderUniformBufferArrayNonUniformIndexing"),
        5307 => Feature(v12.shader_sampled_image_array_non_uniform_indexing, "shaderSampledImageArrayNonUniformIndexing"),
        5308 => Feature(v12.shader_storage_buffer_array_non_uniform_indexing, "shaderStorageBufferArrayNonUniformIndexing"),
        5309 => Feature(v12.shader_storage_image_array_non_uniform_indexing, "shaderStorageImageArrayNonUniformIndexing"),
        5345 => Feature(v12.vulkan_memory_model, "vulkanMemoryModel"),
        5379 => Feature(v13.shader_demote_to_helper_invocation, "shaderDemoteToHelperInvocation"),
        6016..=6019 => Feature(v13.shader_integer_dot_product, "shaderIntegerDotProduct"),
        _ => Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn module(capabilities: [u32; 2]) -> [u32; 10] {
        const CAPABILITY: u32 = 2 << 16 | OP_CAPABILITY;
        [0x0723_0203, 0x1_0000, 0, 1, 0, CAPABILITY, capabilities[0], CAPABILITY, capabilities[1], 0x3_000e]
    }

    #[test]
    fn capabilities_need_their_features() {
        let mut features = Features::default();
        assert_eq!(missing_capability(&module([1, 0]), &features), Ok(()));
        assert!(missing_capability(&module([1, 34]), &features).is_err_and(|e| e.contains("imageCubeArray")));
        features.core.image_cube_array = vk::TRUE;
        assert_eq!(missing_capability(&module([1, 34]), &features), Ok(()));
        assert!(missing_capability(&module([1, 4479]), &features).is_err_and(|e| e.contains("4479")), "ray tracing");
    }

    #[test]
    fn damaged_modules_end_the_walk() {
        let features = Features::default();
        for words in
            [&[][..], &[0; 5], &[0, 0, 0, 0, 0, OP_CAPABILITY], &[0, 0, 0, 0, 0, OP_CAPABILITY, 1, OP_CAPABILITY, 1]]
        {
            assert_eq!(missing_capability(words, &features), Ok(()));
        }
    }
}
