//! Physical devices: identity, queue families, what can be enabled.

use crate::device::capture;
use crate::instance::InstanceShared;
use crate::{convert, quirks};
use ash::vk;
use rhizo_rhi::{AdapterIdentity, AdapterInfo, AdapterKind, Capabilities, QueueKind, Result};
use std::ffi::CStr;
use std::sync::Arc;

/// One physical device.
pub(crate) struct Adapter {
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) info: AdapterInfo,
    pub(crate) properties: vk::PhysicalDeviceProperties,
    pub(crate) vulkan11: vk::PhysicalDeviceVulkan11Properties<'static>,
    pub(crate) vulkan12: vk::PhysicalDeviceVulkan12Properties<'static>,
    pub(crate) vulkan13: vk::PhysicalDeviceVulkan13Properties<'static>,
    pub(crate) features: Features,
    pub(crate) families: Vec<Family>,
    /// See [`quirks::version_is_hidden`].
    pub(crate) version_hidden: bool,
    extensions: Vec<vk::ExtensionProperties>,
}

/// What the core versions can enable.
#[derive(Clone, Copy, Default)]
pub(crate) struct Features {
    pub(crate) core: vk::PhysicalDeviceFeatures,
    pub(crate) v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub(crate) v12: vk::PhysicalDeviceVulkan12Features<'static>,
    pub(crate) v13: vk::PhysicalDeviceVulkan13Features<'static>,
}

/// A queue family.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    pub(crate) index: u32,
    pub(crate) flags: vk::QueueFlags,
    pub(crate) count: u32,
    pub(crate) timestamp_bits: u32,
    /// Whether copies may begin and end at any texel.
    pub(crate) fine_copies: bool,
}

impl Family {
    /// The most specialised kind this family serves: async compute has no graphics, transfer neither.
    pub(crate) fn kind(&self) -> Option<QueueKind> {
        if self.flags.contains(vk::QueueFlags::GRAPHICS) {
            Some(QueueKind::Graphics)
        } else if self.flags.contains(vk::QueueFlags::COMPUTE) {
            Some(QueueKind::Compute)
        } else if self.flags.contains(vk::QueueFlags::TRANSFER) && self.fine_copies {
            Some(QueueKind::Transfer)
        } else {
            None
        }
    }
}

impl Adapter {
    pub(crate) fn enumerate(instance: &Arc<InstanceShared>) -> Result<Vec<Self>> {
        // SAFETY: the instance is alive.
        let all = unsafe { instance.raw.enumerate_physical_devices() }
            .map_err(|e| convert::error(e, "vkEnumeratePhysicalDevices"))?;
        Ok(all.into_iter().map(|physical| Self::query(&instance.raw, physical)).collect())
    }

    fn query(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Self {
        // SAFETY: the physical device belongs to this instance.
        let (properties, families, extensions) = unsafe {
            (
                instance.get_physical_device_properties(physical),
                instance.get_physical_device_queue_family_properties(physical),
                instance.enumerate_device_extension_properties(physical).unwrap_or_default(),
            )
        };
        let families = (0..).zip(families).map(|(index, f)| Family {
            index,
            flags: f.queue_flags,
            count: f.queue_count,
            timestamp_bits: f.timestamp_valid_bits,
            fine_copies: f.min_image_transfer_granularity == vk::Extent3D { width: 1, height: 1, depth: 1 },
        });
        let mut adapter = Self {
            physical,
            info: basic_info(&properties),
            properties,
            vulkan11: vk::PhysicalDeviceVulkan11Properties::default(),
            vulkan12: vk::PhysicalDeviceVulkan12Properties::default(),
            vulkan13: vk::PhysicalDeviceVulkan13Properties::default(),
            features: Features::default(),
            families: families.collect(),
            version_hidden: false,
            extensions,
        };
        adapter.version_hidden = quirks::version_is_hidden(properties.api_version, capture::attached().is_some());
        if properties.api_version >= vk::API_VERSION_1_3 || adapter.version_hidden {
            adapter.query_13(instance);
        } else {
            let has = convert::version(properties.api_version);
            adapter.info.unusable = Some(format!("it has Vulkan {has}, 1.3 is needed"));
        }
        if adapter.version_hidden {
            adapter.info.api.push_str(", as RenderDoc reports it");
        }
        adapter
    }

    fn query_13(&mut self, instance: &ash::Instance) {
        let mut properties = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut self.vulkan11)
            .push_next(&mut self.vulkan12)
            .push_next(&mut self.vulkan13);
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut self.features.v11)
            .push_next(&mut self.features.v12)
            .push_next(&mut self.features.v13);
        // SAFETY: the device has Vulkan 1.3, so it knows every structure in both chains; where a capture tool hides the
        // version and it does not, it skips what it does not know ("Valid Usage for Structure Pointer Chains").
        unsafe {
            instance.get_physical_device_properties2(self.physical, &mut properties);
            instance.get_physical_device_features2(self.physical, &mut features);
        }
        self.features.core = features.features;
        self.unlink();
        self.complete_info();
    }

    /// The chains point into this record, which moves: forget them.
    fn unlink(&mut self) {
        self.vulkan11.p_next = std::ptr::null_mut();
        self.vulkan12.p_next = std::ptr::null_mut();
        self.vulkan13.p_next = std::ptr::null_mut();
        self.features.v11.p_next = std::ptr::null_mut();
        self.features.v12.p_next = std::ptr::null_mut();
        self.features.v13.p_next = std::ptr::null_mut();
    }

    fn complete_info(&mut self) {
        let name = self.vulkan12.driver_name_as_c_str().unwrap_or_default().to_string_lossy();
        let about = self.vulkan12.driver_info_as_c_str().unwrap_or_default().to_string_lossy();
        self.info.driver = format!("{name} {about}").trim().to_owned();
        self.info.identity.uuid = Some(self.vulkan11.device_uuid);
        self.info.identity.luid = (self.vulkan11.device_luid_valid == vk::TRUE).then_some(self.vulkan11.device_luid);
        let needed = [
            (self.features.v13.dynamic_rendering, "dynamicRendering"),
            (self.features.v13.synchronization2, "synchronization2"),
            (self.features.v12.timeline_semaphore, "timelineSemaphore"),
            (self.features.core.robust_buffer_access, "robustBufferAccess"),
        ];
        let missing: Vec<&str> = needed.iter().filter(|(on, _)| *on != vk::TRUE).map(|(_, name)| *name).collect();
        let graphics = self.families.iter().any(|f| f.kind() == Some(QueueKind::Graphics));
        let hidden = self.version_hidden.then_some(quirks::UNHIDE).into_iter().flatten();
        let missing = missing.into_iter().map(str::to_owned);
        let unlisted = hidden.filter(|name| !self.has(name)).map(|name| name.to_string_lossy().into_owned());
        let missing: Vec<String> = missing.chain(unlisted).collect();
        self.info.unusable = if !missing.is_empty() {
            Some(format!("it lacks the features {}", missing.join(", ")))
        } else if !graphics && self.families.iter().all(|f| f.kind().is_none()) {
            Some("it has no graphics, compute or transfer queue".into())
        } else {
            None
        };
        for kind in QueueKind::ALL {
            let own: u32 = self.families.iter().filter(|f| f.kind() == Some(kind)).map(|f| f.count).sum();
            self.info.queues.push((kind, own));
        }
    }

    /// Whether a device extension is there.
    pub(crate) fn has(&self, name: &CStr) -> bool {
        self.extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name))
    }

    /// The full capability report.
    pub(crate) fn capabilities(&self, instance: &InstanceShared) -> Capabilities {
        let format = |format| crate::texture::format_support(&instance.raw, self.physical, format);
        crate::caps::report(&instance.entry, &instance.raw, self.physical, &format)
    }
}

fn basic_info(properties: &vk::PhysicalDeviceProperties) -> AdapterInfo {
    let name = properties.device_name_as_c_str().unwrap_or_default().to_string_lossy().into_owned();
    AdapterInfo {
        name,
        kind: match properties.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => AdapterKind::Discrete,
            vk::PhysicalDeviceType::INTEGRATED_GPU => AdapterKind::Integrated,
            vk::PhysicalDeviceType::VIRTUAL_GPU => AdapterKind::Virtual,
            vk::PhysicalDeviceType::CPU => AdapterKind::Software,
            _ => AdapterKind::Other,
        },
        identity: AdapterIdentity {
            vendor: properties.vendor_id,
            device: properties.device_id,
            ..AdapterIdentity::default()
        },
        driver: format!("version {}", properties.driver_version),
        api: format!("Vulkan {}", convert::version(properties.api_version)),
        queues: Vec::new(),
        unusable: None,
    }
}
