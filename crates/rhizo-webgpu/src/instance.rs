//! The instance: `wgpu` and its adapters.

use crate::adapter::Adapter;
use rhizo_rhi::backend::{InstanceBackend, NativeMessage, OpenedDevice};
use rhizo_rhi::{
    AdapterInfo, Backend, Capabilities, DeviceDesc, Error, ErrorKind, InstanceDesc, NativeValidation, QueueRequest,
    Result,
};

/// The APIs that `wgpu` may stand on: those whose WebGPU is complete.
pub(crate) const BACKENDS: wgpu::Backends = wgpu::Backends::PRIMARY;

/// The instance as the contract sees it.
pub(crate) struct WebGpuInstance {
    adapters: Vec<Adapter>,
    queues: QueueRequest,
    // Adapters and devices hold it as well; here it says what they were made from.
    _instance: wgpu::Instance,
}

impl WebGpuInstance {
    pub(crate) fn new(desc: &InstanceDesc<'_>) -> Result<Self> {
        // Checks of indirect arguments are part of WebGPU; the rest of the flags is for debugging.
        let mut flags = wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL;
        match desc.native_validation {
            NativeValidation::Off => {}
            NativeValidation::IfPresent => flags |= wgpu::InstanceFlags::VALIDATION | wgpu::InstanceFlags::DEBUG,
            NativeValidation::Required => {
                let reason = "wgpu gives the native layer's messages to the process's log, not to the instance";
                return Err(Error::new(ErrorKind::Unsupported, format!("native validation is required, but {reason}")));
            }
        }
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: BACKENDS,
            flags,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapters = pollster::block_on(instance.enumerate_adapters(BACKENDS));
        let adapters = adapters.into_iter().map(Adapter::new).collect();
        Ok(Self { adapters, queues: desc.queues, _instance: instance })
    }
}

impl InstanceBackend for WebGpuInstance {
    fn backend(&self) -> Backend {
        Backend::WebGpu
    }

    fn adapters(&self) -> Vec<AdapterInfo> {
        self.adapters.iter().map(|adapter| adapter.info.clone()).collect()
    }

    fn capabilities(&self, adapter: usize) -> Result<Capabilities> {
        Ok(self.adapters[adapter].capabilities())
    }

    fn open(&self, adapter: usize, desc: &DeviceDesc<'_>) -> Result<OpenedDevice> {
        crate::device::open(&self.adapters[adapter], desc.label, desc.queues.unwrap_or(self.queues))
    }

    fn take_messages(&self) -> Vec<NativeMessage> {
        Vec::new()
    }
}
