//! Looks for entry points on a device made for nothing else: the loader's instance-level answer is a trampoline that says
//! nothing about the driver.

use super::query::Query;
use super::write::Extension;
use ash::{khr, vk};
use std::collections::{BTreeSet, HashSet};
use std::ffi::CStr;

/// What has to be enabled with an extension, at Vulkan 1.3.
fn dependencies(extension: &CStr) -> &'static [&'static CStr] {
    const STRUCTURES: &[&CStr] = &[khr::acceleration_structure::NAME, khr::deferred_host_operations::NAME];
    const ACCELERATION: &[(&CStr, &[&CStr])] = &[
        (khr::acceleration_structure::NAME, &[khr::deferred_host_operations::NAME]),
        (khr::ray_tracing_pipeline::NAME, STRUCTURES),
        (ash::ext::opacity_micromap::NAME, STRUCTURES),
        (super::missing::GENERATED_COMMANDS, &[khr::maintenance5::NAME]),
        (super::missing::PIPELINE_BINARY, &[khr::maintenance5::NAME]),
        (super::missing::DESCRIPTOR_HEAP, &[khr::maintenance5::NAME]),
        (super::missing::DATA_GRAPH, &[khr::maintenance5::NAME, khr::deferred_host_operations::NAME]),
        (ash::amdx::shader_enqueue::NAME, &[khr::maintenance5::NAME, khr::pipeline_library::NAME]),
    ];
    ACCELERATION.iter().find(|(name, _)| *name == extension).map_or(&[], |(_, needs)| needs)
}

/// The commands that resolve, out of those the extensions name.
///
/// # Errors
/// Why the device could not be made.
pub(super) fn entry_points(query: &Query<'_>, wanted: &[Extension]) -> Result<HashSet<&'static CStr>, String> {
    if wanted.is_empty() {
        return Ok(HashSet::new());
    }
    let mut names: BTreeSet<&'static CStr> = wanted.iter().map(|extension| extension.name).collect();
    let needs: Vec<&'static CStr> = names.iter().flat_map(|name| dependencies(name).iter().copied()).collect();
    names.extend(needs.into_iter().filter(|name| query.lists(name)));
    let device = create(query, &names)?;
    let resolves = |command: &&'static CStr| {
        // SAFETY: the device is alive and the name ends in zero.
        unsafe { (query.instance.fp_v1_0().get_device_proc_addr)(device.handle(), command.as_ptr()) }.is_some()
    };
    let found = wanted.iter().flat_map(|extension| extension.commands.iter().copied()).filter(resolves).collect();
    // SAFETY: nothing was made from the device.
    unsafe { device.destroy_device(None) };
    Ok(found)
}

fn create(query: &Query<'_>, names: &BTreeSet<&'static CStr>) -> Result<ash::Device, String> {
    let names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    let queue = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queue).enabled_extension_names(&names);
    // SAFETY: the physical device belongs to the instance and lists every extension; every device has family 0.
    let device = unsafe { query.instance.create_device(query.physical, &info, None) };
    device.map_err(|error| format!("its entry points could not be looked for: vkCreateDevice answers {error}"))
}
