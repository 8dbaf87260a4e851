//! Samplers, table layouts, pipeline layouts and tables.

use crate::convert;
use crate::device::Shared;
use crate::memory::{self, check, into_word, of_word};
use ash::vk;
use rhizo_rhi::backend::{Native, NativeBinding, NativePipelineLayout, NativeTable, NativeWrite};
use rhizo_rhi::{Aspects, Format, MAX_TABLES, Result, SamplerDesc, TableLayoutDesc};
use smallvec::SmallVec;
use std::sync::{Mutex, PoisonError};

pub(crate) fn create_sampler(device: &Shared, desc: &SamplerDesc<'_>) -> Result<Native> {
    let [u, v, w] = desc.address.map(convert::address);
    let mut info = vk::SamplerCreateInfo::default()
        .min_filter(convert::filter(desc.min))
        .mag_filter(convert::filter(desc.mag))
        .mipmap_mode(convert::mipmap(desc.mip))
        .address_mode_u(u)
        .address_mode_v(v)
        .address_mode_w(w)
        .mip_lod_bias(desc.lod_bias.clamp(-device.max_lod_bias, device.max_lod_bias))
        .min_lod(desc.lod_min)
        .max_lod(desc.lod_max);
    if desc.anisotropy > 1 {
        info = info.anisotropy_enable(true).max_anisotropy(desc.anisotropy as f32);
    }
    if let Some(op) = desc.comparison {
        info = info.compare_enable(true).compare_op(convert::compare(op));
    }
    // SAFETY: the device is alive; anisotropy is within the limit, which is 1 without the feature.
    let sampler = check(unsafe { device.raw.create_sampler(&info, None) }, "vkCreateSampler", desc.label)?;
    device.name(sampler, desc.label);
    Ok(Native { word: vk::Handle::as_raw(sampler), aux: 0 })
}

/// The descriptor pools of a table layout: each new one is larger.
pub(crate) struct LayoutRecord {
    layout: vk::DescriptorSetLayout,
    sizes: Vec<vk::DescriptorPoolSize>,
    pools: Mutex<Vec<Pool>>,
}

struct Pool {
    raw: vk::DescriptorPool,
    free: u32,
}

/// Tables of the first pool of a layout, and the largest number in one.
const FIRST_POOL: u32 = 4;
const LARGEST_POOL: u32 = 256;

/// What freeing a table needs.
struct TableRecord {
    pool: vk::DescriptorPool,
    /// Address of the [`LayoutRecord`], which outlives the table: the table keeps its layout.
    layout: u64,
}

pub(crate) fn create_table_layout(device: &Shared, desc: &TableLayoutDesc<'_>) -> Result<Native> {
    let bindings: Vec<_> = desc
        .entries
        .iter()
        .map(|e| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(e.slot)
                .descriptor_type(convert::descriptor_type(e.kind))
                .descriptor_count(e.count)
                .stage_flags(convert::shader_stages(e.stages))
        })
        .collect();
    let layout = set_layout(device, &bindings, desc.label)?;
    let mut sizes: Vec<vk::DescriptorPoolSize> = Vec::new();
    for binding in &bindings {
        match sizes.iter_mut().find(|s| s.ty == binding.descriptor_type) {
            Some(size) => size.descriptor_count += binding.descriptor_count,
            None => sizes.push(vk::DescriptorPoolSize {
                ty: binding.descriptor_type,
                descriptor_count: binding.descriptor_count,
            }),
        }
    }
    let record = LayoutRecord { layout, sizes, pools: Mutex::default() };
    Ok(Native { word: vk::Handle::as_raw(layout), aux: into_word(record) })
}

/// A set layout; also the device's shared empty one.
pub(crate) fn set_layout(
    device: &Shared,
    bindings: &[vk::DescriptorSetLayoutBinding<'_>],
    label: &str,
) -> Result<vk::DescriptorSetLayout> {
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
    let call = "vkCreateDescriptorSetLayout";
    // SAFETY: the device is alive.
    let layout = check(unsafe { device.raw.create_descriptor_set_layout(&info, None) }, call, label)?;
    device.name(layout, label);
    Ok(layout)
}

/// # Safety
/// As `DeviceBackend::destroy`, for a table layout.
pub(crate) unsafe fn destroy_table_layout(device: &Shared, native: Native) {
    // SAFETY: the caller gives a layout of ours once, out of use; tables hold their layout, so none is left.
    unsafe {
        let record = memory::from_word::<LayoutRecord>(native.aux);
        for pool in record.pools.into_inner().unwrap_or_else(PoisonError::into_inner) {
            device.raw.destroy_descriptor_pool(pool.raw, None);
        }
        device.raw.destroy_descriptor_set_layout(record.layout, None);
    }
}

pub(crate) fn create_pipeline_layout(device: &Shared, desc: &NativePipelineLayout<'_>) -> Result<Native> {
    let sets: SmallVec<[vk::DescriptorSetLayout; MAX_TABLES]> =
        desc.tables.iter().map(|table| table.map_or(device.empty_layout, |t| vk::Handle::from_raw(t.word))).collect();
    let ranges: SmallVec<[vk::PushConstantRange; 1]> = desc
        .push
        .iter()
        .map(|push| vk::PushConstantRange {
            stage_flags: convert::shader_stages(push.stages),
            offset: 0,
            size: push.size_bytes,
        })
        .collect();
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&ranges);
    // SAFETY: the set layouts are alive and of this device.
    let layout =
        check(unsafe { device.raw.create_pipeline_layout(&info, None) }, "vkCreatePipelineLayout", desc.label)?;
    device.name(layout, desc.label);
    // Every push-constant call names the stages: `LayoutRef::aux`.
    let stages = desc.push.map_or(0, |push| convert::shader_stages(push.stages).as_raw());
    Ok(Native { word: vk::Handle::as_raw(layout), aux: u64::from(stages) })
}

impl LayoutRecord {
    /// Takes one set from a pool with room, or from a new, larger pool.
    fn allocate(&self, device: &Shared, label: &str) -> Result<(vk::DescriptorSet, vk::DescriptorPool)> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let layouts = [self.layout];
        for pool in pools.iter_mut().filter(|p| p.free > 0) {
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool.raw).set_layouts(&layouts);
            // SAFETY: pool and layout are alive; the pool is guarded by the lock held here.
            match unsafe { device.raw.allocate_descriptor_sets(&info) } {
                Ok(sets) => {
                    pool.free -= 1;
                    return Ok((sets[0], pool.raw));
                }
                // Fragmentation: try the next pool.
                Err(vk::Result::ERROR_FRAGMENTED_POOL | vk::Result::ERROR_OUT_OF_POOL_MEMORY) => {}
                Err(other) => return Err(convert::error(other, "vkAllocateDescriptorSets").on(label)),
            }
        }
        let count = (FIRST_POOL << (2 * pools.len().min(8))).min(LARGEST_POOL);
        let pool = self.create_pool(device, count, label)?;
        pools.push(Pool { raw: pool, free: count - 1 });
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: as above.
        let sets = check(unsafe { device.raw.allocate_descriptor_sets(&info) }, "vkAllocateDescriptorSets", label)
            .inspect_err(|_| {
                if let Some(pool) = pools.last_mut() {
                    pool.free = count;
                }
            })?;
        Ok((sets[0], pool))
    }

    fn create_pool(&self, device: &Shared, count: u32, label: &str) -> Result<vk::DescriptorPool> {
        let mut sizes: SmallVec<[vk::DescriptorPoolSize; 6]> = self.sizes.iter().copied().collect();
        sizes.iter_mut().for_each(|s| s.descriptor_count = s.descriptor_count.saturating_mul(count));
        if sizes.is_empty() {
            // Vulkan 1.3 allows a pool without descriptors; some drivers did not.
            sizes.push(vk::DescriptorPoolSize { ty: vk::DescriptorType::UNIFORM_BUFFER, descriptor_count: 1 });
        }
        let info = vk::DescriptorPoolCreateInfo::default()
            .flags(vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET)
            .max_sets(count)
            .pool_sizes(&sizes);
        // SAFETY: the device is alive.
        check(unsafe { device.raw.create_descriptor_pool(&info, None) }, "vkCreateDescriptorPool", label)
    }
}

pub(crate) fn create_table(device: &Shared, desc: &NativeTable<'_>) -> Result<Native> {
    // SAFETY: the contract hands over a live layout of this backend.
    let record: &LayoutRecord = unsafe { of_word(desc.layout.aux) };
    let (set, pool) = record.allocate(device, desc.label)?;
    write(device, set, desc.writes);
    device.name(set, desc.label);
    let aux = into_word(TableRecord { pool, layout: desc.layout.aux });
    Ok(Native { word: vk::Handle::as_raw(set), aux })
}

fn write(device: &Shared, set: vk::DescriptorSet, writes: &[NativeWrite]) {
    let buffers: Vec<_> = writes.iter().map(|w| buffer_info(w.resource)).collect();
    let images: Vec<_> = writes.iter().map(|w| image_info(w.resource)).collect();
    let native: Vec<_> = writes
        .iter()
        .enumerate()
        .map(|(i, w)| {
            let out = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(w.slot)
                .dst_array_element(w.index)
                .descriptor_type(convert::descriptor_type(w.kind));
            match w.resource {
                NativeBinding::Buffer { .. } => out.buffer_info(&buffers[i..=i]),
                NativeBinding::View { .. } | NativeBinding::Sampler(_) => out.image_info(&images[i..=i]),
            }
        })
        .collect();
    // SAFETY: the set is new, so nothing uses it; the front checked every write against the layout.
    unsafe { device.raw.update_descriptor_sets(&native, &[]) };
}

fn buffer_info(resource: NativeBinding) -> vk::DescriptorBufferInfo {
    let info = vk::DescriptorBufferInfo::default();
    match resource {
        NativeBinding::Buffer { buffer, offset, size } => {
            info.buffer(vk::Handle::from_raw(buffer.word)).offset(offset).range(size)
        }
        NativeBinding::View { .. } | NativeBinding::Sampler(_) => info,
    }
}

fn image_info(resource: NativeBinding) -> vk::DescriptorImageInfo {
    let info = vk::DescriptorImageInfo::default();
    match resource {
        NativeBinding::Buffer { .. } => info,
        NativeBinding::View { view, layout } => {
            // The layout of a view's one aspect equals the one named for both, so the format makes no difference here.
            let layout = convert::layout(layout, Format::Depth32Float, Aspects::DEPTH);
            info.image_view(vk::Handle::from_raw(view.word)).image_layout(layout)
        }
        NativeBinding::Sampler(sampler) => info.sampler(vk::Handle::from_raw(sampler.word)),
    }
}

/// # Safety
/// As `DeviceBackend::destroy`, for a table.
pub(crate) unsafe fn destroy_table(device: &Shared, native: Native) {
    // SAFETY: the caller gives a table of ours once, out of use; the table keeps its layout, whose record is therefore
    // alive; its lock guards the pool.
    unsafe {
        let table = memory::from_word::<TableRecord>(native.aux);
        let record: &LayoutRecord = of_word(table.layout);
        let mut pools = record.pools.lock().unwrap_or_else(PoisonError::into_inner);
        // Freeing from a pool never fails.
        let _ = device.raw.free_descriptor_sets(table.pool, &[vk::Handle::from_raw(native.word)]);
        if let Some(pool) = pools.iter_mut().find(|p| p.raw == table.pool) {
            pool.free += 1;
        }
    }
}
