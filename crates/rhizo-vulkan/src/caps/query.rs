//! What a physical device and the loader answer, asked once.

use crate::device::capture;
use crate::quirks;
use ash::vk;
use std::collections::HashSet;
use std::ffi::{CStr, CString};

/// Answers of the core queries, and the means to ask for extensions.
pub(super) struct Query<'a> {
    pub(super) entry: &'a ash::Entry,
    pub(super) instance: &'a ash::Instance,
    pub(super) physical: vk::PhysicalDevice,
    pub(super) properties: vk::PhysicalDeviceProperties,
    /// Whether it has Vulkan 1.3, whatever a capture tool makes of its version.
    pub(super) has_13: bool,
    pub(super) p11: vk::PhysicalDeviceVulkan11Properties<'static>,
    pub(super) p12: vk::PhysicalDeviceVulkan12Properties<'static>,
    pub(super) p13: vk::PhysicalDeviceVulkan13Properties<'static>,
    pub(super) core: vk::PhysicalDeviceFeatures,
    pub(super) v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub(super) v12: vk::PhysicalDeviceVulkan12Features<'static>,
    pub(super) v13: vk::PhysicalDeviceVulkan13Features<'static>,
    pub(super) families: Vec<vk::QueueFamilyProperties>,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    device_extensions: HashSet<CString>,
    instance_extensions: HashSet<CString>,
}

impl<'a> Query<'a> {
    /// Asks a device; the structures of the core versions stay zero below Vulkan 1.3.
    pub(super) fn new(entry: &'a ash::Entry, instance: &'a ash::Instance, physical: vk::PhysicalDevice) -> Self {
        // SAFETY: the physical device belongs to the instance, which the caller keeps alive.
        let (properties, core, families, memory, device, loader) = unsafe {
            (
                instance.get_physical_device_properties(physical),
                instance.get_physical_device_features(physical),
                instance.get_physical_device_queue_family_properties(physical),
                instance.get_physical_device_memory_properties(physical),
                instance.enumerate_device_extension_properties(physical).unwrap_or_default(),
                entry.enumerate_instance_extension_properties(None).unwrap_or_default(),
            )
        };
        let mut query = Self {
            entry,
            instance,
            physical,
            has_13: properties.api_version >= vk::API_VERSION_1_3
                || quirks::version_is_hidden(properties.api_version, capture::attached().is_some()),
            properties,
            p11: Default::default(),
            p12: Default::default(),
            p13: Default::default(),
            core,
            v11: Default::default(),
            v12: Default::default(),
            v13: Default::default(),
            families,
            memory,
            device_extensions: names(&device),
            instance_extensions: names(&loader),
        };
        if query.has_13 {
            query.p11 = query.raw_properties();
            query.p12 = query.raw_properties();
            query.p13 = query.raw_properties();
            query.v11 = query.raw_features();
            query.v12 = query.raw_features();
            query.v13 = query.raw_features();
        }
        query
    }

    /// Whether the driver lists a device extension: a name, not yet a capability.
    pub(super) fn lists(&self, extension: &CStr) -> bool {
        self.device_extensions.contains(extension)
    }

    /// Whether the loader offers an instance extension.
    pub(super) fn loader_lists(&self, extension: &CStr) -> bool {
        self.instance_extensions.contains(extension)
    }

    /// The first of several names of an extension that the driver lists, else the first name.
    pub(super) fn listed_name(&self, names: &[&'static CStr]) -> &'static CStr {
        names.iter().copied().find(|name| self.lists(name)).unwrap_or(names[0])
    }

    /// An extension's feature structure; zeroes when the driver does not list the extension.
    pub(super) fn features<T: Default + vk::ExtendsPhysicalDeviceFeatures2>(&self, extension: &CStr) -> T {
        if self.lists(extension) { self.raw_features() } else { T::default() }
    }

    /// An extension's property structure; zeroes when the driver does not list the extension.
    pub(super) fn props<T: Default + vk::ExtendsPhysicalDeviceProperties2>(&self, extension: &CStr) -> T {
        if self.lists(extension) { self.raw_properties() } else { T::default() }
    }

    /// Whether an instance-level command resolves through the instance.
    pub(super) fn resolves(&self, command: &CStr) -> bool {
        // SAFETY: the instance is alive and was made by this entry; the name ends in zero.
        unsafe { self.entry.get_instance_proc_addr(self.instance.handle(), command.as_ptr()) }.is_some()
    }

    fn raw_features<T: Default + vk::ExtendsPhysicalDeviceFeatures2>(&self) -> T {
        let mut answer = T::default();
        let mut root = vk::PhysicalDeviceFeatures2::default().push_next(&mut answer);
        // SAFETY: the physical device belongs to the instance; the one structure in the chain is zeroed, extends the
        // root, and is of a core version or extension the driver lists.
        unsafe { self.instance.get_physical_device_features2(self.physical, &mut root) };
        answer
    }

    fn raw_properties<T: Default + vk::ExtendsPhysicalDeviceProperties2>(&self) -> T {
        let mut answer = T::default();
        let mut root = vk::PhysicalDeviceProperties2::default().push_next(&mut answer);
        // SAFETY: as for features.
        unsafe { self.instance.get_physical_device_properties2(self.physical, &mut root) };
        answer
    }
}

fn names(extensions: &[vk::ExtensionProperties]) -> HashSet<CString> {
    extensions.iter().filter_map(|e| e.extension_name_as_c_str().ok().map(CStr::to_owned)).collect()
}
