//! Pipeline cache, function libraries, indirect command buffers.

use super::missing;
use super::query::Query;
use super::write::{Extension, Writer, on};
use ash::vk::ShaderStageFlags as S;
use ash::{ext, vk};
use rhizo_rhi::Fact;

pub(super) fn write(query: &Query<'_>, out: &mut Writer) {
    cache(query, out);
    libraries(query, out);
    generated(query, out);
}

fn parts(query: &Query<'_>) -> Extension {
    let name = ext::graphics_pipeline_library::NAME;
    let library: vk::PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT<'_> = query.features(name);
    Extension { name, answer: "graphicsPipelineLibrary", set: on(library.graphics_pipeline_library), commands: &[] }
}

fn cache(query: &Query<'_>, out: &mut Writer) {
    out.version(Fact::CacheExport, "Vulkan 1.0: vkGetPipelineCacheData");
    out.version(Fact::CreationFeedback, "Vulkan 1.3: VkPipelineCreationFeedback");
    let control = ("pipelineCreationCacheControl", query.v13.pipeline_creation_cache_control);
    out.features(Fact::FailOnMiss, &[control]);
    out.version(Fact::AsyncCreation, "Vulkan 1.0: pipeline creation from any thread");
    let parts = parts(query);
    out.extension(query, Fact::PipelineParts, parts);
    let linking: vk::PhysicalDeviceGraphicsPipelineLibraryPropertiesEXT<'_> = query.props(parts.name);
    let set = parts.set && on(linking.graphics_pipeline_library_fast_linking);
    let claim = Extension { answer: "graphicsPipelineLibraryFastLinking", set, ..parts };
    out.extension(query, Fact::FastLinking, claim);
    let name = missing::PIPELINE_BINARY;
    let binary: missing::PipelineBinaryFeatures = query.features(name);
    let commands = &[c"vkCreatePipelineBinariesKHR", c"vkGetPipelineBinaryDataKHR"];
    let claim = Extension { name, answer: "pipelineBinaries", set: on(binary.pipeline_binaries), commands };
    out.extension(query, Fact::PipelineBinaries, claim);
}

fn libraries(query: &Query<'_>, out: &mut Writer) {
    out.version(Fact::EntrySelection, "Vulkan 1.0: several entry points of a SPIR-V module");
    out.extension(query, Fact::LinkedParts, parts(query));
    let name = ext::shader_object::NAME;
    let object: vk::PhysicalDeviceShaderObjectFeaturesEXT<'_> = query.features(name);
    let commands = &[c"vkCreateShadersEXT", c"vkCmdBindShadersEXT"];
    let claim = Extension { name, answer: "shaderObject", set: on(object.shader_object), commands };
    out.extension(query, Fact::DynamicLinking, claim);
    out.absent(Fact::FunctionTables, "Vulkan has no function pointers outside the shader tables of ray tracing");
}

fn generated(query: &Query<'_>, out: &mut Writer) {
    out.version(Fact::ParallelSegments, "Vulkan 1.0: secondary command buffers");
    out.version(Fact::ReusableSegments, "Vulkan 1.0: SIMULTANEOUS_USE of secondary command buffers");
    let name = missing::GENERATED_COMMANDS;
    let features: missing::GeneratedCommandsFeatures = query.features(name);
    let properties: missing::GeneratedCommandsProperties = query.props(name);
    let stages = properties.supported_indirect_commands_shader_stages;
    let pipelines = properties.max_indirect_pipeline_count > 0
        && !properties.supported_indirect_commands_shader_stages_pipeline_binding.is_empty();
    let with = |stage: bool, answer| {
        let set = on(features.device_generated_commands) && stage;
        let commands = &[
            c"vkCmdExecuteGeneratedCommandsEXT",
            c"vkCreateIndirectCommandsLayoutEXT",
            c"vkGetGeneratedCommandsMemoryRequirementsEXT",
        ];
        Extension { name, answer, set, commands }
    };
    let draws =
        with(stages.contains(S::VERTEX | S::FRAGMENT), "deviceGeneratedCommands with vertex and fragment stages");
    let dispatches = with(stages.contains(S::COMPUTE), "deviceGeneratedCommands with the compute stage");
    let sets = with(pipelines, "deviceGeneratedCommands with indirect pipelines");
    let sets =
        Extension { commands: &[c"vkCreateIndirectExecutionSetEXT", c"vkCmdExecuteGeneratedCommandsEXT"], ..sets };
    out.extension(query, Fact::DeviceGeneratedDraws, draws);
    out.extension(query, Fact::DeviceGeneratedDispatches, dispatches);
    out.extension(query, Fact::DeviceGeneratedPipelines, sets);
    if on(features.device_generated_commands) {
        let sequences = Some(u64::from(properties.max_indirect_sequence_count));
        out.builder().values().indirect_command_buffer.max_sequences = sequences;
    }
}
