//! Memory and storage.

use super::query::Query;
use super::write::{Extension, Writer, on};
use ash::vk::MemoryPropertyFlags as P;
use ash::{ext, nv, vk};
use rhizo_rhi::{Fact, MemoryHeap};

pub(super) fn write(query: &Query<'_>, out: &mut Writer) {
    out.builder().values().memory.heaps = heaps(&query.memory);
    kinds(query, out);
    placement(query, out);
    sparse(query, out);
    extensions(query, out);
    storage(query, out);
}

fn types(memory: &vk::PhysicalDeviceMemoryProperties) -> &[vk::MemoryType] {
    memory.memory_types_as_slice()
}

fn heaps(memory: &vk::PhysicalDeviceMemoryProperties) -> Vec<MemoryHeap> {
    let heap = |(index, heap): (u32, &vk::MemoryHeap)| {
        let has = |flags: P| types(memory).iter().any(|t| t.heap_index == index && t.property_flags.contains(flags));
        MemoryHeap {
            size_bytes: heap.size,
            device_local: heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL),
            host_visible: has(P::HOST_VISIBLE),
            host_cached: has(P::HOST_VISIBLE | P::HOST_CACHED),
            lazily_allocated: has(P::LAZILY_ALLOCATED),
        }
    };
    (0..).zip(memory.memory_heaps_as_slice()).map(heap).collect()
}

fn kinds(query: &Query<'_>, out: &mut Writer) {
    let any = |flags: P| types(&query.memory).iter().any(|t| t.property_flags.contains(flags));
    out.version(Fact::CommittedResources, "Vulkan 1.0: vkAllocateMemory");
    let mapped = any(P::HOST_VISIBLE | P::HOST_COHERENT);
    out.conditions(Fact::PersistentMapping, &[("memory type HOST_VISIBLE and HOST_COHERENT", mapped)]);
    let upload = any(P::DEVICE_LOCAL | P::HOST_VISIBLE | P::HOST_COHERENT);
    out.conditions(Fact::DeviceUpload, &[("memory type DEVICE_LOCAL, HOST_VISIBLE and HOST_COHERENT", upload)]);
    let local = |heap: &vk::MemoryHeap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL);
    let unified = query.memory.memory_heaps_as_slice().iter().all(local);
    out.conditions(
        Fact::UnifiedMemory,
        &[("memory that is all DEVICE_LOCAL", unified), ("DEVICE_LOCAL memory that is HOST_VISIBLE", upload)],
    );
    out.conditions(Fact::Memoryless, &[("memory type LAZILY_ALLOCATED", any(P::LAZILY_ALLOCATED))]);
}

fn placement(query: &Query<'_>, out: &mut Writer) {
    out.version(Fact::PlacedResources, "Vulkan 1.0: vkBindImageMemory");
    out.version(Fact::AliasedResources, "Vulkan 1.0: memory aliasing");
    out.version(Fact::DedicatedAllocations, "Vulkan 1.1: VkMemoryDedicatedRequirements");
    out.version(Fact::ExternalMemory, "Vulkan 1.1: VkExternalMemoryImageCreateInfo");
    out.absent(Fact::ResidencyControl, "Vulkan has no calls to evict and restore; priorities only advise the driver");
    let name = ext::memory_budget::NAME;
    let budget = heap_budget(query);
    out.extension(query, Fact::MemoryBudget, Extension { name, answer: "heapBudget", set: budget > 0, commands: &[] });
}

/// Budget of the first heap in bytes; 0 when the driver does not answer.
fn heap_budget(query: &Query<'_>) -> u64 {
    if !query.lists(ext::memory_budget::NAME) {
        return 0;
    }
    let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let mut root = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
    // SAFETY: the physical device belongs to the instance and lists the extension of the structure.
    unsafe { query.instance.get_physical_device_memory_properties2(query.physical, &mut root) };
    budget.heap_budget[0]
}

fn sparse(query: &Query<'_>, out: &mut Writer) {
    let core = &query.core;
    let queue = query.families.iter().any(|f| f.queue_flags.contains(vk::QueueFlags::SPARSE_BINDING));
    let base = [("sparseBinding", on(core.sparse_binding)), ("queue family with sparse binding", queue)];
    let with = |name: &'static str, value: vk::Bool32| [(name, on(value)), base[0], base[1]];
    out.conditions(Fact::SparseBuffers, &with("sparseResidencyBuffer", core.sparse_residency_buffer));
    out.conditions(Fact::SparseTextures2d, &with("sparseResidencyImage2D", core.sparse_residency_image2_d));
    out.conditions(Fact::SparseTextures3d, &with("sparseResidencyImage3D", core.sparse_residency_image3_d));
    out.conditions(Fact::SparseTexturesMsaa, &with("sparseResidency4Samples", core.sparse_residency4_samples));
    out.conditions(Fact::SparseAliasing, &with("sparseResidencyAliased", core.sparse_residency_aliased));
    let feedback = with("shaderResourceResidency", core.shader_resource_residency);
    out.conditions(Fact::SparseResidencyFeedback, &feedback);
}

fn extensions(query: &Query<'_>, out: &mut Writer) {
    let name = ext::memory_priority::NAME;
    let priority: vk::PhysicalDeviceMemoryPriorityFeaturesEXT<'_> = query.features(name);
    let claim = Extension { name, answer: "memoryPriority", set: on(priority.memory_priority), commands: &[] };
    out.extension(query, Fact::MemoryPriority, claim);

    let name = ext::host_image_copy::NAME;
    let copy: vk::PhysicalDeviceHostImageCopyFeaturesEXT<'_> = query.features(name);
    let commands = &[c"vkCopyMemoryToImageEXT", c"vkCopyImageToMemoryEXT", c"vkTransitionImageLayoutEXT"];
    let claim = Extension { name, answer: "hostImageCopy", set: on(copy.host_image_copy), commands };
    out.extension(query, Fact::HostTextureCopies, claim);

    let name = ext::external_memory_host::NAME;
    let host: vk::PhysicalDeviceExternalMemoryHostPropertiesEXT<'_> = query.props(name);
    let set = host.min_imported_host_pointer_alignment > 0;
    let commands = &[c"vkGetMemoryHostPointerPropertiesEXT"];
    let claim = Extension { name, answer: "minImportedHostPointerAlignment", set, commands };
    out.extension(query, Fact::ImportHostMemory, claim);
}

fn storage(query: &Query<'_>, out: &mut Writer) {
    out.version(Fact::StagedReads, "Vulkan 1.0: vkCmdCopyBufferToImage");
    out.absent(Fact::NativeFileQueue, "Vulkan has no file queue");
    let name = nv::memory_decompression::NAME;
    let decompression: vk::PhysicalDeviceMemoryDecompressionFeaturesNV<'_> = query.features(name);
    let set = on(decompression.memory_decompression);
    let commands = &[c"vkCmdDecompressMemoryNV"];
    out.extension(query, Fact::GpuDecompression, Extension { name, answer: "memoryDecompression", set, commands });
    let name = nv::copy_memory_indirect::NAME;
    let copies: vk::PhysicalDeviceCopyMemoryIndirectFeaturesNV<'_> = query.features(name);
    let set = on(copies.indirect_copy);
    let commands = &[c"vkCmdCopyMemoryIndirectNV", c"vkCmdCopyMemoryToImageIndirectNV"];
    out.extension(query, Fact::IndirectCopies, Extension { name, answer: "indirectCopy", set, commands });
}
