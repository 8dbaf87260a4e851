//! Opening a device.

use super::plan::{Planned, plan};
use super::{Device, Shared, features, made};
use crate::adapter::{Adapter, Features};
use crate::convert::Allowed;
use crate::instance::InstanceShared;
use crate::memory::{Memory, check};
use crate::query::Clocks;
use crate::queue::{Gates, NativeQueue, Queue, QueueState};
use crate::quirks;
use ash::vk;
use rhizo_rhi::backend::{OpenedDevice, QueueBackend};
use rhizo_rhi::{DeviceLimits, Error, ErrorKind, Format, MAX_TABLES, QueueInfo, QueueRequest, Result};
use std::ffi::CStr;
use std::sync::{Arc, Mutex, OnceLock};

/// Opens a device with the queues asked for, or as many as there are.
pub(crate) fn open(
    instance: &Arc<InstanceShared>,
    adapter: &Adapter,
    label: &str,
    request: QueueRequest,
) -> Result<OpenedDevice> {
    let planned = plan(&adapter.families, request);
    if planned.is_empty() {
        let detail = format!("none of the queues asked for exists: {request:?}");
        return Err(Error::new(ErrorKind::Unsupported, detail).on(label));
    }
    let robust = adapter.vulkan12.robust_buffer_access_update_after_bind == vk::TRUE;
    let features = features::select(&adapter.features, robust);
    let extensions = wanted_extensions(adapter);
    let raw = create_native(instance, adapter, &planned, &features, &extensions)?;
    let shared = Arc::new(assemble(instance, adapter, raw, &planned, features, &extensions)?);
    shared.name(shared.raw.handle(), label);
    let queue = |(position, p): (usize, &Planned)| {
        let state = &shared.queues[position];
        let info = QueueInfo {
            kind: p.kind,
            index: p.index,
            family: p.family,
            timestamp_bits: state.timestamp_bits,
            shared_with: p.shared_with,
        };
        (info, Box::new(Queue { device: shared.clone(), position }) as Box<dyn QueueBackend>)
    };
    Ok(OpenedDevice {
        queues: planned.iter().enumerate().map(queue).collect(),
        limits: limits(adapter),
        capabilities: adapter.capabilities(instance),
        device: Box::new(Device(shared)),
    })
}

fn wanted_extensions(adapter: &Adapter) -> Vec<&'static CStr> {
    let khr = ash::khr::calibrated_timestamps::NAME;
    let clocks = if adapter.has(khr) { khr } else { ash::ext::calibrated_timestamps::NAME };
    // Devices that lack parts of Vulkan list portability_subset, and then it must be enabled.
    let hidden = adapter.version_hidden.then_some(quirks::UNHIDE).into_iter().flatten();
    let wanted = [clocks, ash::khr::portability_subset::NAME].into_iter().chain(hidden);
    wanted.filter(|name| adapter.has(name)).collect()
}

fn create_native(
    instance: &InstanceShared,
    adapter: &Adapter,
    planned: &[Planned],
    features: &Features,
    extensions: &[&CStr],
) -> Result<ash::Device> {
    let highest = planned.iter().map(|p| p.slot).max().unwrap_or(0) as usize + 1;
    let priorities = vec![1.0; highest];
    let queues: Vec<_> = adapter
        .families
        .iter()
        .filter_map(|f| planned.iter().filter(|p| p.family == f.index).map(|p| p.slot + 1).max().map(|n| (f.index, n)))
        .map(|(family, count)| {
            vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&priorities[..count as usize])
        })
        .collect();
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let (mut v11, mut v12, mut v13) = (features.v11, features.v12, features.v13);
    let mut all = vk::PhysicalDeviceFeatures2::default().features(features.core);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut v11)
        .push_next(&mut v12)
        .push_next(&mut v13)
        .push_next(&mut all);
    // SAFETY: queues, extensions and features were reported by this physical device; every structure lives until the call
    // returns.
    made(unsafe { instance.raw.create_device(adapter.physical, &info, None) }, "vkCreateDevice")
}

/// Destroys the native device when opening fails half-way.
struct Guard<'a>(Option<&'a ash::Device>, Vec<vk::Semaphore>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if let Some(raw) = self.0 {
            // SAFETY: nothing was submitted, and nobody else has the handles yet.
            unsafe {
                self.1.drain(..).for_each(|semaphore| raw.destroy_semaphore(semaphore, None));
                raw.destroy_device(None);
            }
        }
    }
}

fn assemble(
    instance: &Arc<InstanceShared>,
    adapter: &Adapter,
    raw: ash::Device,
    planned: &[Planned],
    features: Features,
    extensions: &[&'static CStr],
) -> Result<Shared> {
    let keep = raw.clone();
    let mut guard = Guard(Some(&keep), Vec::new());
    let memory = Memory::new(&instance.raw, &raw, adapter.physical)?;
    let (queues, natives) = queues(adapter, &raw, planned, &mut guard)?;
    let empty = vk::DescriptorSetLayoutCreateInfo::default();
    // SAFETY: the device is alive.
    let empty_layout = made(unsafe { raw.create_descriptor_set_layout(&empty, None) }, "vkCreateDescriptorSetLayout")?;
    let (clocks, host_clock) = clocks(instance, adapter, &raw, extensions);
    guard.0 = None;
    Ok(Shared {
        physical: adapter.physical,
        memory,
        debug: instance.debug_utils.then(|| ash::ext::debug_utils::Device::new(&instance.raw, &raw)),
        queues,
        natives,
        empty_layout,
        features,
        clocks,
        host_clock,
        timestamp_period_ns: adapter.properties.limits.timestamp_period,
        max_lod_bias: adapter.properties.limits.max_sampler_lod_bias,
        cache_key: cache_key(adapter),
        gates: Gates::default(),
        formats: Format::all().iter().map(|_| OnceLock::new()).collect(),
        late: Mutex::default(),
        raw,
        instance: instance.clone(),
    })
}

fn queues(
    adapter: &Adapter,
    raw: &ash::Device,
    planned: &[Planned],
    guard: &mut Guard<'_>,
) -> Result<(Vec<QueueState>, Vec<NativeQueue>)> {
    let mut natives: Vec<((u32, u32), NativeQueue)> = Vec::new();
    let mut queues = Vec::new();
    for p in planned {
        let place = (p.family, p.slot);
        let native = natives.iter().position(|(at, _)| *at == place).unwrap_or_else(|| {
            // SAFETY: the device was created with this queue.
            let queue = unsafe { raw.get_device_queue(p.family, p.slot) };
            natives.push((place, NativeQueue::new(queue)));
            natives.len() - 1
        });
        let timeline = create_semaphore(raw, Some(0), "queue timeline")?;
        guard.1.push(timeline);
        let mut state = QueueState::new(p.kind, p.index, native, timeline);
        if let Some(family) = adapter.families.iter().find(|f| f.index == p.family) {
            state.family = family.index;
            state.timestamp_bits = family.timestamp_bits;
            state.allowed = Allowed::of_family(family.flags);
        }
        queues.push(state);
    }
    Ok((queues, natives.into_iter().map(|(_, native)| native).collect()))
}

/// A binary semaphore, or a timeline with its first value.
pub(super) fn create_semaphore(raw: &ash::Device, timeline: Option<u64>, label: &str) -> Result<vk::Semaphore> {
    let mut kind = vk::SemaphoreTypeCreateInfo::default();
    if let Some(value) = timeline {
        kind = kind.semaphore_type(vk::SemaphoreType::TIMELINE).initial_value(value);
    }
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: the device is alive.
    check(unsafe { raw.create_semaphore(&info, None) }, "vkCreateSemaphore", label)
}

/// Clocks that can be read together, with `CLOCK_MONOTONIC` (nanoseconds) as the host's.
fn clocks(
    instance: &InstanceShared,
    adapter: &Adapter,
    raw: &ash::Device,
    extensions: &[&'static CStr],
) -> (Option<Clocks>, vk::TimeDomainKHR) {
    // SAFETY: the extension is listed by the device and was enabled.
    let (clocks, domains) = unsafe {
        if extensions.contains(&ash::khr::calibrated_timestamps::NAME) {
            let domains = ash::khr::calibrated_timestamps::Instance::new(&instance.entry, &instance.raw)
                .get_physical_device_calibrateable_time_domains(adapter.physical);
            (Some(Clocks::Khr(ash::khr::calibrated_timestamps::Device::new(&instance.raw, raw))), domains)
        } else if extensions.contains(&ash::ext::calibrated_timestamps::NAME) {
            let domains = ash::ext::calibrated_timestamps::Instance::new(&instance.entry, &instance.raw)
                .get_physical_device_calibrateable_time_domains(adapter.physical);
            (Some(Clocks::Ext(ash::ext::calibrated_timestamps::Device::new(&instance.raw, raw))), domains)
        } else {
            (None, Ok(Vec::new()))
        }
    };
    let host = vk::TimeDomainKHR::CLOCK_MONOTONIC;
    let domains = domains.unwrap_or_default();
    let both = domains.contains(&vk::TimeDomainKHR::DEVICE) && domains.contains(&host);
    (clocks.filter(|_| both), host)
}

/// Vendor, device, driver version, pipeline cache UUID and driver UUID.
fn cache_key(adapter: &Adapter) -> Vec<u8> {
    let p = &adapter.properties;
    let mut key = Vec::with_capacity(44);
    for word in [p.vendor_id, p.device_id, p.driver_version] {
        key.extend_from_slice(&word.to_le_bytes());
    }
    key.extend_from_slice(&p.pipeline_cache_uuid);
    key.extend_from_slice(&adapter.vulkan11.driver_uuid);
    key
}

fn limits(adapter: &Adapter) -> DeviceLimits {
    let l = &adapter.properties.limits;
    let counts = l.framebuffer_color_sample_counts & l.framebuffer_depth_sample_counts;
    let max_samples = (counts.as_raw() & 0x7f).checked_ilog2().map_or(1, |bit| 1 << bit);
    let small = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
    DeviceLimits {
        uniform_alignment_bytes: small(l.min_uniform_buffer_offset_alignment),
        storage_alignment_bytes: small(l.min_storage_buffer_offset_alignment),
        texture_copy_alignment_bytes: small(l.optimal_buffer_copy_offset_alignment),
        row_alignment_bytes: 1, // rows may follow each other texel by texel
        max_samples,
        max_bound_textures: l.max_per_stage_descriptor_sampled_images,
        min_subgroup_size: adapter.vulkan13.min_subgroup_size,
        max_subgroup_size: adapter.vulkan13.max_subgroup_size,
        max_compute_threads: l.max_compute_work_group_invocations,
        max_compute_group: l.max_compute_work_group_size,
        max_dispatch: l.max_compute_work_group_count,
        max_group_shared_bytes: l.max_compute_shared_memory_size,
        max_vertex_bindings: l.max_vertex_input_bindings,
        max_color_attachments: l.max_color_attachments,
        max_texture_2d: l.max_image_dimension2_d,
        max_texture_cube: l.max_image_dimension_cube,
        max_texture_3d: l.max_image_dimension3_d,
        max_texture_layers: l.max_image_array_layers,
        max_push_constant_bytes: l.max_push_constants_size,
        max_tables: l.max_bound_descriptor_sets.min(MAX_TABLES as u32),
        max_viewports: if adapter.features.core.multi_viewport == vk::TRUE { l.max_viewports } else { 1 },
        max_constant_range_bytes: u64::from(l.max_uniform_buffer_range),
        max_storage_range_bytes: u64::from(l.max_storage_buffer_range),
        max_buffer_bytes: adapter.vulkan13.max_buffer_size,
        max_anisotropy: if adapter.features.core.sampler_anisotropy == vk::TRUE {
            l.max_sampler_anisotropy as u32
        } else {
            1
        },
    }
}
