//! Binding.

use super::missing;
use super::query::Query;
use super::write::{Extension, Writer, on};
use ash::{ext, khr, vk};
use rhizo_rhi::{Fact, Provenance, Support};

pub(super) fn write(query: &Query<'_>, out: &mut Writer) {
    tables(query, out);
    arrays(query, out);
    bindless(query, out);
    descriptors(query, out);
}

fn tables(query: &Query<'_>, out: &mut Writer) {
    out.version(Fact::BindingTables, "Vulkan 1.0: descriptor sets");
    out.version(Fact::PushConstants, "Vulkan 1.0: vkCmdPushConstants");
    out.version(Fact::DynamicOffsets, "Vulkan 1.0: dynamic descriptors");
    out.version(Fact::StaticSamplers, "Vulkan 1.0: immutable samplers");
    out.features(Fact::RobustBuffers, &[("robustBufferAccess", query.core.robust_buffer_access)]);
    out.features(Fact::RobustTextures, &[("robustImageAccess", query.v13.robust_image_access)]);
}

fn arrays(query: &Query<'_>, out: &mut Writer) {
    let v12 = &query.v12;
    out.features(Fact::RuntimeArrays, &[("runtimeDescriptorArray", v12.runtime_descriptor_array)]);
    out.features(Fact::PartiallyBound, &[("descriptorBindingPartiallyBound", v12.descriptor_binding_partially_bound)]);
    let images = ("shaderSampledImageArrayNonUniformIndexing", v12.shader_sampled_image_array_non_uniform_indexing);
    let buffers = ("shaderStorageBufferArrayNonUniformIndexing", v12.shader_storage_buffer_array_non_uniform_indexing);
    out.features(Fact::NonUniformIndexing, &[images, buffers]);
    let images =
        ("descriptorBindingSampledImageUpdateAfterBind", v12.descriptor_binding_sampled_image_update_after_bind);
    let unused = ("descriptorBindingUpdateUnusedWhilePending", v12.descriptor_binding_update_unused_while_pending);
    out.features(Fact::UpdateAfterBind, &[images, unused]);
    let variable = ("descriptorBindingVariableDescriptorCount", v12.descriptor_binding_variable_descriptor_count);
    out.features(Fact::VariableCounts, &[variable]);
}

fn bindless(query: &Query<'_>, out: &mut Writer) {
    let v12 = &query.v12;
    let shared = [
        ("runtimeDescriptorArray", v12.runtime_descriptor_array),
        ("descriptorBindingPartiallyBound", v12.descriptor_binding_partially_bound),
        ("descriptorBindingUpdateUnusedWhilePending", v12.descriptor_binding_update_unused_while_pending),
    ];
    let with = |own: [(&'static str, vk::Bool32); 2]| [&own[..], &shared[..]].concat();
    // Vulkan puts samplers and sampled images under the same bits.
    let images = with([
        ("descriptorBindingSampledImageUpdateAfterBind", v12.descriptor_binding_sampled_image_update_after_bind),
        ("shaderSampledImageArrayNonUniformIndexing", v12.shader_sampled_image_array_non_uniform_indexing),
    ]);
    out.features(Fact::BindlessTextures, &images);
    out.features(Fact::BindlessSamplers, &images);
    let storage = with([
        ("descriptorBindingStorageImageUpdateAfterBind", v12.descriptor_binding_storage_image_update_after_bind),
        ("shaderStorageImageArrayNonUniformIndexing", v12.shader_storage_image_array_non_uniform_indexing),
    ]);
    out.features(Fact::BindlessStorageTextures, &storage);
    let buffers = with([
        ("descriptorBindingStorageBufferUpdateAfterBind", v12.descriptor_binding_storage_buffer_update_after_bind),
        ("shaderStorageBufferArrayNonUniformIndexing", v12.shader_storage_buffer_array_non_uniform_indexing),
    ]);
    if on(query.p12.robust_buffer_access_update_after_bind) {
        out.features(Fact::BindlessBuffers, &buffers);
    } else {
        let source = "robustBufferAccessUpdateAfterBind";
        let reason = "robustBufferAccessUpdateAfterBind is false: buffers written while bound would lose the bounds \
                      checks that are always on";
        out.put(Fact::BindlessBuffers, Support::unavailable(Provenance::NativeFeatureQuery, source, reason));
    }
}

fn descriptors(query: &Query<'_>, out: &mut Writer) {
    let name = khr::push_descriptor::NAME;
    let push: vk::PhysicalDevicePushDescriptorPropertiesKHR<'_> = query.props(name);
    let set = push.max_push_descriptors > 0;
    let commands = &[c"vkCmdPushDescriptorSetKHR"];
    out.extension(query, Fact::PushDescriptors, Extension { name, answer: "maxPushDescriptors", set, commands });

    let name = ext::robustness2::NAME;
    let robust: vk::PhysicalDeviceRobustness2FeaturesEXT<'_> = query.features(name);
    let claim = Extension { name, answer: "nullDescriptor", set: on(robust.null_descriptor), commands: &[] };
    out.extension(query, Fact::NullDescriptors, claim);

    let name = query.listed_name(&[ext::mutable_descriptor_type::NAME, ash::valve::mutable_descriptor_type::NAME]);
    let mutable: vk::PhysicalDeviceMutableDescriptorTypeFeaturesEXT<'_> = query.features(name);
    let set = on(mutable.mutable_descriptor_type);
    let claim = Extension { name, answer: "mutableDescriptorType", set, commands: &[] };
    out.extension(query, Fact::MutableDescriptors, claim);

    let name = ext::descriptor_buffer::NAME;
    let buffer: vk::PhysicalDeviceDescriptorBufferFeaturesEXT<'_> = query.features(name);
    let set = on(buffer.descriptor_buffer);
    let commands = &[c"vkGetDescriptorEXT", c"vkCmdBindDescriptorBuffersEXT", c"vkCmdSetDescriptorBufferOffsetsEXT"];
    out.extension(query, Fact::DescriptorBuffers, Extension { name, answer: "descriptorBuffer", set, commands });

    let name = missing::DESCRIPTOR_HEAP;
    let heap: missing::DescriptorHeapFeatures = query.features(name);
    let set = on(heap.descriptor_heap);
    let commands = &[c"vkCmdBindResourceHeapEXT", c"vkCmdBindSamplerHeapEXT"];
    out.extension(query, Fact::HeapIndexing, Extension { name, answer: "descriptorHeap", set, commands });

    out.features(Fact::BufferAddresses, &[("bufferDeviceAddress", query.v12.buffer_device_address)]);
}
