//! Devices: what lives as long as the `VkDevice`, and the contract's creation calls handed on to their files.

pub(crate) mod capture;
mod features;
mod open;
mod plan;
pub(crate) mod shaders;

pub(crate) use open::open;

use crate::adapter::Features;
use crate::instance::InstanceShared;
use crate::memory::{Memory, check};
use crate::query::{self, Clocks};
use crate::queue::{Gates, NativeQueue, QueueState, TIMELINE};
use crate::{binding, buffer, convert, encoder, pipeline, texture};
use ash::vk;
use rhizo_rhi::backend::{
    BufferRef, DeviceBackend, MemoryReport, Native, NativeComputePipeline, NativePipelineLayout, NativeRasterPipeline,
    NativeTable, NativeView, ObjectKind, ObjectRef, RecorderBackend, TextureRef,
};
use rhizo_rhi::{
    BufferDesc, Calibration, Error, ErrorKind, Format, FormatSupport, QueryKind, Result, SamplerDesc, ShaderArtifact,
    ShaderTarget, TableLayoutDesc, TextureDesc,
};
use std::ffi::CString;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What the device, its queues and its recorders share.
pub(crate) struct Shared {
    pub(crate) raw: ash::Device,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) memory: Memory,
    pub(crate) debug: Option<ash::ext::debug_utils::Device>,
    pub(crate) queues: Vec<QueueState>,
    pub(crate) natives: Vec<NativeQueue>,
    pub(crate) empty_layout: vk::DescriptorSetLayout,
    /// What was enabled.
    pub(crate) features: Features,
    pub(crate) clocks: Option<Clocks>,
    pub(crate) host_clock: vk::TimeDomainKHR,
    pub(crate) timestamp_period_ns: f32,
    pub(crate) max_lod_bias: f32,
    pub(crate) cache_key: Vec<u8>,
    pub(crate) gates: Gates,
    formats: Box<[OnceLock<FormatSupport>]>,
    late: Mutex<Vec<Error>>,
    pub(crate) instance: Arc<InstanceShared>,
}

/// Late errors kept until they are taken.
const LATE_CAPACITY: usize = 64;

impl Shared {
    /// Names an object for messages and captures.
    pub(crate) fn name<T: vk::Handle>(&self, object: T, label: &str) {
        let Some(debug) = &self.debug else { return };
        let Ok(name) = CString::new(label.replace('\0', "")) else { return };
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(object).object_name(&name);
        // SAFETY: the object is alive and not yet shared. A name that could not be kept is no failure.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }

    /// Keeps word of a lost device for `take_errors`, and hands the error on.
    pub(crate) fn note(&self, error: Error) -> Error {
        if error.kind() == ErrorKind::DeviceLost {
            let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
            if late.len() < LATE_CAPACITY {
                late.push(Error::new(ErrorKind::DeviceLost, error.detail()));
            }
        }
        error
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: everything made from the device is gone (front objects are retired through it, queues and recorders hold
        // this record). Waiting ends in an error on a lost device, which may be destroyed all the same.
        unsafe {
            let _ = self.raw.device_wait_idle();
            for queue in &self.queues {
                self.raw.destroy_semaphore(queue.timeline, None);
            }
            self.raw.destroy_descriptor_set_layout(self.empty_layout, None);
            self.memory.close();
            self.raw.destroy_device(None);
        }
    }
}

/// The device as the front holds it.
pub(crate) struct Device(pub(crate) Arc<Shared>);

impl DeviceBackend for Device {
    fn shader_target(&self) -> ShaderTarget {
        ShaderTarget::Spirv { version: pipeline::SPIRV_VERSION }
    }

    fn format_support(&self, format: Format) -> FormatSupport {
        *self.0.formats[format as usize]
            .get_or_init(|| texture::format_support(&self.0.instance.raw, self.0.physical, format))
    }

    fn create_buffer(&self, desc: &BufferDesc<'_>) -> Result<Native> {
        buffer::create(&self.0, desc)
    }

    fn write_buffer(&self, buffer: BufferRef, offset: u64, data: &[u8]) -> Result<()> {
        buffer::write(buffer, offset, data)
    }

    fn read_buffer(&self, buffer: BufferRef, offset: u64, into: &mut [u8]) -> Result<()> {
        buffer::read(buffer, offset, into)
    }

    fn create_texture(&self, desc: &TextureDesc<'_>) -> Result<Native> {
        texture::create(&self.0, desc)
    }

    fn create_view(&self, texture: TextureRef, desc: &NativeView<'_>) -> Result<Native> {
        texture::create_view(&self.0, texture, desc)
    }

    fn create_sampler(&self, desc: &SamplerDesc<'_>) -> Result<Native> {
        binding::create_sampler(&self.0, desc)
    }

    fn create_table_layout(&self, desc: &TableLayoutDesc<'_>) -> Result<Native> {
        binding::create_table_layout(&self.0, desc)
    }

    fn create_pipeline_layout(&self, desc: &NativePipelineLayout<'_>) -> Result<Native> {
        binding::create_pipeline_layout(&self.0, desc)
    }

    fn create_table(&self, desc: &NativeTable<'_>) -> Result<Native> {
        binding::create_table(&self.0, desc)
    }

    fn create_function(&self, artifact: &ShaderArtifact) -> Result<Native> {
        pipeline::create_function(&self.0, artifact)
    }

    fn create_raster_pipeline(&self, desc: &NativeRasterPipeline<'_>) -> Result<Native> {
        pipeline::create_raster(&self.0, desc)
    }

    fn create_compute_pipeline(&self, desc: &NativeComputePipeline<'_>) -> Result<Native> {
        pipeline::create_compute(&self.0, desc)
    }

    fn create_pipeline_cache(&self, initial: &[u8]) -> Result<Native> {
        pipeline::create_cache(&self.0, initial)
    }

    fn pipeline_cache_data(&self, cache: ObjectRef) -> Result<Vec<u8>> {
        pipeline::cache_data(&self.0, cache)
    }

    fn pipeline_cache_key(&self) -> Vec<u8> {
        self.0.cache_key.clone()
    }

    fn create_query_set(&self, kind: QueryKind, count: u32, label: &str) -> Result<Native> {
        query::create(&self.0, kind, count, label)
    }

    fn query_results(&self, set: ObjectRef, first: u32, count: u32, into: &mut [u64]) -> Result<bool> {
        query::results(&self.0, set, first, count, into).map_err(|e| self.0.note(e))
    }

    fn create_semaphore(&self, timeline: Option<u64>, label: &str) -> Result<Native> {
        let semaphore = open::create_semaphore(&self.0.raw, timeline, label)?;
        self.0.name(semaphore, label);
        let aux = if timeline.is_some() { TIMELINE } else { 0 };
        Ok(Native { word: vk::Handle::as_raw(semaphore), aux })
    }

    fn semaphore_value(&self, semaphore: ObjectRef) -> Result<u64> {
        // SAFETY: the semaphore is alive and a timeline (the front checked).
        let value = unsafe { self.0.raw.get_semaphore_counter_value(vk::Handle::from_raw(semaphore.word)) };
        value.map_err(|e| self.0.note(convert::error(e, "vkGetSemaphoreCounterValue")))
    }

    fn signal_semaphore(&self, semaphore: ObjectRef, value: u64) -> Result<()> {
        let info = vk::SemaphoreSignalInfo::default().semaphore(vk::Handle::from_raw(semaphore.word)).value(value);
        // SAFETY: the semaphore is alive and a timeline, and the front let values only grow.
        unsafe { self.0.raw.signal_semaphore(&info) }.map_err(|e| self.0.note(convert::error(e, "vkSignalSemaphore")))
    }

    fn wait_semaphore(&self, semaphore: ObjectRef, value: u64, timeout_ns: u64) -> Result<bool> {
        self.0.wait_timeline(vk::Handle::from_raw(semaphore.word), value, timeout_ns)
    }

    fn create_recorder(&self, queue: u32) -> Result<Box<dyn RecorderBackend>> {
        Ok(Box::new(encoder::Recorder::new(&self.0, queue)?))
    }

    unsafe fn destroy(&self, kind: ObjectKind, native: Native) {
        let (device, word) = (&self.0, native.word);
        // SAFETY: the caller gives an object of ours of this kind once, out of use.
        unsafe {
            match kind {
                ObjectKind::Buffer => buffer::destroy(device, native),
                ObjectKind::Texture => texture::destroy(device, native),
                ObjectKind::TextureView => device.raw.destroy_image_view(vk::Handle::from_raw(word), None),
                ObjectKind::Sampler => device.raw.destroy_sampler(vk::Handle::from_raw(word), None),
                ObjectKind::TableLayout => binding::destroy_table_layout(device, native),
                ObjectKind::PipelineLayout => device.raw.destroy_pipeline_layout(vk::Handle::from_raw(word), None),
                ObjectKind::Table => binding::destroy_table(device, native),
                ObjectKind::Function => device.raw.destroy_shader_module(vk::Handle::from_raw(word), None),
                ObjectKind::RasterPipeline | ObjectKind::ComputePipeline => {
                    device.raw.destroy_pipeline(vk::Handle::from_raw(word), None);
                }
                ObjectKind::PipelineCache => device.raw.destroy_pipeline_cache(vk::Handle::from_raw(word), None),
                ObjectKind::QuerySet => device.raw.destroy_query_pool(vk::Handle::from_raw(word), None),
                ObjectKind::Semaphore => {
                    device.gates.forget(vk::Handle::from_raw(word));
                    device.raw.destroy_semaphore(vk::Handle::from_raw(word), None);
                }
                // Fences are the front's own: they watch a queue's timeline.
                ObjectKind::Fence => {}
            }
        }
    }

    fn wait_idle(&self) -> Result<()> {
        self.0.wait_all()
    }

    fn close(&self) -> Result<()> {
        self.0.close()
    }

    fn calibrate(&self, queue: u32) -> Result<Calibration> {
        query::calibrate(&self.0, queue)
    }

    fn memory_report(&self) -> MemoryReport {
        self.0.memory.report()
    }

    fn take_errors(&self) -> Vec<Error> {
        std::mem::take(&mut self.0.late.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn toggle_capture(&self, start: bool) -> Result<()> {
        capture::toggle(start)
    }
}

/// Fails with the call's name.
fn made<T>(result: ash::prelude::VkResult<T>, call: &str) -> Result<T> {
    check(result, call, "device")
}
