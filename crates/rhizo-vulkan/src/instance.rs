//! The instance: loader, layers, messages.

use crate::adapter::Adapter;
use crate::convert;
use crate::quirks;
use ash::vk;
use rhizo_rhi::backend::{InstanceBackend, NativeMessage, OpenedDevice};
use rhizo_rhi::{
    AdapterInfo, Backend, Capabilities, DeviceDesc, Error, ErrorKind, InstanceDesc, NativeValidation, QueueRequest,
    Result,
};
use std::ffi::{CStr, CString, c_void};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) const INSTALL_DRIVER: &str =
    "install a Vulkan driver (Debian, Ubuntu: mesa-vulkan-drivers; it includes the software driver lavapipe)";
const INSTALL_LOADER: &str =
    "install the Vulkan loader (Debian, Ubuntu: libvulkan1; Windows: a graphics driver; macOS: the Vulkan SDK)";
const INSTALL_LAYER: &str = "install it (Debian, Ubuntu: vulkan-validationlayers; elsewhere: the Vulkan SDK)";
const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Messages kept until they are taken; more are counted as lost.
const MESSAGE_CAPACITY: usize = 4096;

/// Where the messenger of one instance puts its messages.
#[derive(Default)]
struct Sink {
    messages: Mutex<Vec<NativeMessage>>,
}

/// What instance, devices and everything made from them share.
pub(crate) struct InstanceShared {
    pub(crate) raw: ash::Instance,
    pub(crate) debug_utils: bool,
    debug: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    sink: Box<Sink>,
    // Unloads the library when dropped, so it comes last.
    pub(crate) entry: ash::Entry,
}

impl Drop for InstanceShared {
    fn drop(&mut self) {
        // SAFETY: devices hold this record, so none is left; the messenger belongs to the instance and is destroyed first.
        unsafe {
            if let Some((utils, messenger)) = &self.debug {
                utils.destroy_debug_utils_messenger(*messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// The instance as the contract sees it.
pub(crate) struct VulkanInstance {
    shared: Arc<InstanceShared>,
    adapters: Vec<Adapter>,
    queues: QueueRequest,
}

impl VulkanInstance {
    pub(crate) fn new(desc: &InstanceDesc<'_>) -> Result<Self> {
        let entry = load()?;
        let validation = find_validation(&entry, desc.native_validation)?;
        let shared = Arc::new(create(entry, desc, validation)?);
        let adapters = Adapter::enumerate(&shared)?;
        Ok(Self { shared, adapters, queues: desc.queues })
    }
}

impl InstanceBackend for VulkanInstance {
    fn backend(&self) -> Backend {
        Backend::Vulkan
    }

    fn adapters(&self) -> Vec<AdapterInfo> {
        self.adapters.iter().map(|adapter| adapter.info.clone()).collect()
    }

    fn capabilities(&self, adapter: usize) -> Result<Capabilities> {
        Ok(self.adapters[adapter].capabilities(&self.shared))
    }

    fn open(&self, adapter: usize, desc: &DeviceDesc<'_>) -> Result<OpenedDevice> {
        crate::device::open(&self.shared, &self.adapters[adapter], desc.label, desc.queues.unwrap_or(self.queues))
    }

    fn take_messages(&self) -> Vec<NativeMessage> {
        std::mem::take(&mut self.shared.sink.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn load() -> Result<ash::Entry> {
    // SAFETY: the system's Vulkan loader is trusted as the program's other shared libraries are.
    let entry = unsafe { ash::Entry::load() }
        .map_err(|error| Error::new(ErrorKind::Unavailable, format!("no Vulkan loader: {error}; {INSTALL_LOADER}")))?;
    // SAFETY: a global command of the loader just opened.
    let version = unsafe { entry.try_enumerate_instance_version() }.ok().flatten().unwrap_or(vk::API_VERSION_1_0);
    if version < vk::API_VERSION_1_3 {
        let detail =
            format!("the Vulkan loader is of version {}, 1.3 is needed; {INSTALL_LOADER}", convert::version(version));
        return Err(Error::new(ErrorKind::Unavailable, detail));
    }
    Ok(entry)
}

/// Whether to load the validation layer.
fn find_validation(entry: &ash::Entry, wanted: NativeValidation) -> Result<bool> {
    if wanted == NativeValidation::Off {
        return Ok(false);
    }
    // SAFETY: a global command of the loader.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }
        .map_err(|e| convert::error(e, "vkEnumerateInstanceLayerProperties"))?;
    let found = layers.iter().any(|l| l.layer_name_as_c_str() == Ok(VALIDATION_LAYER));
    if !found && wanted == NativeValidation::Required {
        let detail = format!("native validation is required and {VALIDATION_LAYER:?} is missing; {INSTALL_LAYER}");
        return Err(Error::new(ErrorKind::Unavailable, detail));
    }
    Ok(found)
}

/// Extensions of the instance or of a layer.
fn has_extension(entry: &ash::Entry, layer: Option<&CStr>, name: &CStr) -> bool {
    // SAFETY: a global command of the loader; the layer is installed.
    let list = unsafe { entry.enumerate_instance_extension_properties(layer) }.unwrap_or_default();
    list.iter().any(|e| e.extension_name_as_c_str() == Ok(name))
}

fn create(entry: ash::Entry, desc: &InstanceDesc<'_>, validation: bool) -> Result<InstanceShared> {
    let debug_utils = has_extension(&entry, None, ash::ext::debug_utils::NAME);
    let portability = has_extension(&entry, None, ash::khr::portability_enumeration::NAME);
    let features = validation && has_extension(&entry, Some(VALIDATION_LAYER), ash::ext::validation_features::NAME);
    let mut extensions = Vec::new();
    let mut layers = Vec::new();
    let mut flags = vk::InstanceCreateFlags::empty();
    if debug_utils {
        extensions.push(ash::ext::debug_utils::NAME.as_ptr());
    }
    if portability {
        extensions.push(ash::khr::portability_enumeration::NAME.as_ptr());
        flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
    }
    if features {
        extensions.push(ash::ext::validation_features::NAME.as_ptr());
    }
    if validation {
        layers.push(VALIDATION_LAYER.as_ptr());
    }
    let name = CString::new(desc.application.replace('\0', "")).unwrap_or_default();
    let application =
        vk::ApplicationInfo::default().application_name(&name).engine_name(c"rhizo").api_version(vk::API_VERSION_1_3);
    let enabled = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let mut settings = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
    let sink = Box::<Sink>::default();
    let mut messenger = messenger_info(&sink);
    let mut info = vk::InstanceCreateInfo::default()
        .flags(flags)
        .application_info(&application)
        .enabled_extension_names(&extensions)
        .enabled_layer_names(&layers);
    if features {
        info = info.push_next(&mut settings);
    }
    if validation && debug_utils {
        info = info.push_next(&mut messenger);
    }
    // SAFETY: names and structures live until the call returns; the sink outlives the instance.
    let raw = unsafe { entry.create_instance(&info, None) }.map_err(|e| match e {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
            Error::new(ErrorKind::Unavailable, format!("no Vulkan driver was found; {INSTALL_DRIVER}"))
        }
        other => convert::error(other, "vkCreateInstance"),
    })?;
    let mut shared = InstanceShared { raw, debug_utils, debug: None, sink, entry };
    if validation && debug_utils {
        shared.debug = Some(create_messenger(&shared)?);
    }
    Ok(shared)
}

fn create_messenger(shared: &InstanceShared) -> Result<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)> {
    let utils = ash::ext::debug_utils::Instance::new(&shared.entry, &shared.raw);
    let info = messenger_info(&shared.sink);
    // SAFETY: the sink is boxed and dropped after the messenger is destroyed.
    let messenger = unsafe { utils.create_debug_utils_messenger(&info, None) }
        .map_err(|e| convert::error(e, "vkCreateDebugUtilsMessengerEXT"))?;
    Ok((utils, messenger))
}

fn messenger_info(sink: &Sink) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(on_message))
        .user_data(std::ptr::from_ref(sink).cast_mut().cast())
}

/// The messenger's callback. Nothing unwinds out of it.
unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    let kept = std::panic::catch_unwind(|| {
        if data.is_null() || user.is_null() {
            return;
        }
        // SAFETY: the layer passes valid data for the duration of the call, and `user` is the boxed sink of the instance
        // that this messenger belongs to.
        let (data, sink) = unsafe { (&*data, &*user.cast::<Sink>()) };
        // SAFETY: the layer's strings are null or end with NUL and live for the duration of the call.
        let (id, text) = unsafe { (text_of(data.p_message_id_name), text_of(data.p_message)) };
        if quirks::is_filtered(&id, &text) {
            return;
        }
        let error = severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR);
        let mut messages = sink.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if messages.len() < MESSAGE_CAPACITY {
            messages.push(NativeMessage { error, id, text });
        }
    });
    drop(kept);
    vk::FALSE
}

/// # Safety
/// `text` is null or a string that ends with NUL.
unsafe fn text_of(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as the function requires.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
