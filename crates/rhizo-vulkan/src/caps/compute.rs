//! Compute, and what shaders of every kind can do.

use super::missing;
use super::query::Query;
use super::write::{Extension, Writer, on};
use ash::vk::SubgroupFeatureFlags as G;
use ash::{ext, khr, nv, vk};
use rhizo_rhi::Fact;

pub(super) fn write(query: &Query<'_>, out: &mut Writer) {
    pipelines(query, out);
    subgroups(query, out);
    arithmetic(query, out);
    extensions(query, out);
}

fn pipelines(query: &Query<'_>, out: &mut Writer) {
    let compute = query.families.iter().any(|f| f.queue_flags.contains(vk::QueueFlags::COMPUTE));
    let queue = [("queue family with compute", compute)];
    out.conditions(Fact::ComputePipelines, &queue);
    out.conditions(Fact::DispatchIndirect, &queue);
    out.version(Fact::StorageBuffers, "Vulkan 1.0: storage buffers");
    out.version(Fact::StorageTextures, "Vulkan 1.0: storage images");
    let core = &query.core;
    let read = ("shaderStorageImageReadWithoutFormat", core.shader_storage_image_read_without_format);
    let write = ("shaderStorageImageWriteWithoutFormat", core.shader_storage_image_write_without_format);
    out.features(Fact::StorageTexturesNoFormat, &[read, write]);
}

fn subgroups(query: &Query<'_>, out: &mut Writer) {
    let compute = query.p11.subgroup_supported_stages.contains(vk::ShaderStageFlags::COMPUTE);
    let has = |flags: G| compute && query.p11.subgroup_supported_operations.contains(flags);
    out.conditions(Fact::SubgroupBasic, &[("subgroupSupportedOperations BASIC", has(G::BASIC))]);
    out.conditions(Fact::SubgroupBallot, &[("subgroupSupportedOperations VOTE, BALLOT", has(G::VOTE | G::BALLOT))]);
    out.conditions(Fact::SubgroupArithmetic, &[("subgroupSupportedOperations ARITHMETIC", has(G::ARITHMETIC))]);
    out.conditions(Fact::SubgroupShuffle, &[("subgroupSupportedOperations SHUFFLE", has(G::SHUFFLE))]);
    out.conditions(Fact::SubgroupQuad, &[("subgroupSupportedOperations QUAD", has(G::QUAD))]);
    out.features(Fact::SubgroupSizeControl, &[("subgroupSizeControl", query.v13.subgroup_size_control)]);
}

fn arithmetic(query: &Query<'_>, out: &mut Writer) {
    let (core, v11, v12) = (&query.core, &query.v11, &query.v12);
    out.features(Fact::Int64Arithmetic, &[("shaderInt64", core.shader_int64)]);
    out.features(Fact::Float64Arithmetic, &[("shaderFloat64", core.shader_float64)]);
    out.features(Fact::Int64Atomics, &[("shaderBufferInt64Atomics", v12.shader_buffer_int64_atomics)]);
    out.features(Fact::Storage16Bit, &[("storageBuffer16BitAccess", v11.storage_buffer16_bit_access)]);
    out.features(Fact::Storage8Bit, &[("storageBuffer8BitAccess", v12.storage_buffer8_bit_access)]);
    let model = ("vulkanMemoryModel", v12.vulkan_memory_model);
    let scope = ("vulkanMemoryModelDeviceScope", v12.vulkan_memory_model_device_scope);
    out.features(Fact::MemoryModel, &[model, scope]);
}

fn extensions(query: &Query<'_>, out: &mut Writer) {
    let name = query.listed_name(&[missing::COMPUTE_DERIVATIVES, nv::compute_shader_derivatives::NAME]);
    let derivatives: missing::ComputeDerivativesFeatures = query.features(name);
    let set = on(derivatives.compute_derivative_group_quads) || on(derivatives.compute_derivative_group_linear);
    let claim = Extension { name, answer: "computeDerivativeGroupQuads or -Linear", set, commands: &[] };
    out.extension(query, Fact::ComputeDerivatives, claim);

    let name = ext::shader_atomic_float::NAME;
    let atomics: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'_> = query.features(name);
    let set = on(atomics.shader_buffer_float32_atomic_add);
    let claim = Extension { name, answer: "shaderBufferFloat32AtomicAdd", set, commands: &[] };
    out.extension(query, Fact::Float32AtomicAdd, claim);

    let name = khr::shader_clock::NAME;
    let clock: vk::PhysicalDeviceShaderClockFeaturesKHR<'_> = query.features(name);
    let claim = Extension { name, answer: "shaderSubgroupClock", set: on(clock.shader_subgroup_clock), commands: &[] };
    out.extension(query, Fact::ShaderClock, claim);
}
