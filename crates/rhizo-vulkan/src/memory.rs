//! Sub-allocated memory.

use crate::convert;
use ash::vk;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationError, AllocationSizes, MemoryLocation};
use rhizo_rhi::{Error, ErrorKind, MemoryReport, Result, StorageMode};
use std::sync::{Mutex, MutexGuard, PoisonError};

const MIB: u64 = 1 << 20;
/// The first block of a memory type, so that a triangle costs a few MiB; the allocator doubles it with each further one.
const FIRST_BLOCK_BYTES: u64 = 4 * MIB;
const LARGEST_BLOCK_BYTES: u64 = 64 * MIB;

/// The allocator of a device.
pub(crate) struct Memory {
    allocator: Mutex<Option<Allocator>>,
}

/// What an allocation is for.
pub(crate) struct Request<'a> {
    pub(crate) label: &'a str,
    pub(crate) requirements: vk::MemoryRequirements,
    pub(crate) storage: StorageMode,
    pub(crate) linear: bool,
    pub(crate) scheme: AllocationScheme,
}

impl Memory {
    pub(crate) fn new(instance: &ash::Instance, device: &ash::Device, physical: vk::PhysicalDevice) -> Result<Self> {
        let sizes = AllocationSizes::new(FIRST_BLOCK_BYTES, FIRST_BLOCK_BYTES)
            .with_max_device_memblock_size(LARGEST_BLOCK_BYTES)
            .with_max_host_memblock_size(LARGEST_BLOCK_BYTES);
        let mut debug_settings = gpu_allocator::AllocatorDebugSettings::default();
        debug_settings.log_leaks_on_shutdown = false; // what is alive at the end is the front's to report
        let desc = AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device: physical,
            debug_settings,
            buffer_device_address: false,
            allocation_sizes: sizes,
        };
        let allocator = Allocator::new(&desc).map_err(|e| allocation_error(&e, "the memory allocator"))?;
        Ok(Self { allocator: Mutex::new(Some(allocator)) })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Allocator>> {
        self.allocator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn allocate(&self, request: &Request<'_>) -> Result<Allocation> {
        let location = match request.storage {
            StorageMode::DeviceLocal | StorageMode::Memoryless => MemoryLocation::GpuOnly,
            StorageMode::Upload | StorageMode::DeviceUpload => MemoryLocation::CpuToGpu,
            StorageMode::Readback => MemoryLocation::GpuToCpu,
        };
        let desc = AllocationCreateDesc {
            name: request.label,
            requirements: request.requirements,
            location,
            linear: request.linear,
            allocation_scheme: request.scheme,
        };
        let mut allocator = self.lock();
        let allocator = allocator.as_mut().ok_or_else(|| Error::new(ErrorKind::DeviceLost, "the device is gone"))?;
        allocator.allocate(&desc).map_err(|e| allocation_error(&e, request.label))
    }

    pub(crate) fn free(&self, allocation: Allocation) {
        if let Some(allocator) = self.lock().as_mut()
            && let Err(error) = allocator.free(allocation)
        {
            tracing::error!(%error, "memory could not be freed");
        }
    }

    pub(crate) fn report(&self) -> MemoryReport {
        let allocator = self.lock();
        let Some(allocator) = allocator.as_ref() else { return MemoryReport::default() };
        let report = allocator.generate_report();
        MemoryReport {
            reserved_bytes: report.total_capacity_bytes,
            used_bytes: report.total_allocated_bytes,
            blocks: u32::try_from(report.blocks.len()).unwrap_or(u32::MAX),
        }
    }

    /// Gives all blocks back, before the device is destroyed.
    pub(crate) fn close(&self) {
        drop(self.lock().take());
    }
}

#[cold]
#[track_caller]
fn allocation_error(error: &AllocationError, what: &str) -> Error {
    let kind = match error {
        AllocationError::OutOfMemory | AllocationError::FailedToMap(_) => ErrorKind::OutOfMemory,
        AllocationError::NoCompatibleMemoryTypeFound => ErrorKind::Unsupported,
        AllocationError::InvalidAllocationCreateDesc
        | AllocationError::InvalidAllocatorCreateDesc(_)
        | AllocationError::Internal(_)
        | AllocationError::BarrierLayoutNeedsDevice10
        | AllocationError::CastableFormatsRequiresEnhancedBarriers
        | AllocationError::CastableFormatsRequiresAtLeastDevice12 => ErrorKind::Native,
    };
    Error::new(kind, format!("memory could not be allocated: {error}")).on(what)
}

/// Whether the driver wants a resource to have its own memory.
pub(crate) fn wants_dedicated(dedicated: &vk::MemoryDedicatedRequirements<'_>) -> bool {
    dedicated.requires_dedicated_allocation == vk::TRUE || dedicated.prefers_dedicated_allocation == vk::TRUE
}

/// A boxed record behind a `Native::aux` word.
pub(crate) fn into_word<T>(record: T) -> u64 {
    Box::into_raw(Box::new(record)) as usize as u64
}

/// Takes the record back.
///
/// # Safety
/// The word came from [`into_word`] with this very type and is not used again.
pub(crate) unsafe fn from_word<T>(word: u64) -> Box<T> {
    // SAFETY: as the function requires.
    unsafe { Box::from_raw(word as usize as *mut T) }
}

/// Borrows the record.
///
/// # Safety
/// The word came from [`into_word`] with this very type, and the record lives for `'a`.
pub(crate) unsafe fn of_word<'a, T>(word: u64) -> &'a T {
    // SAFETY: as the function requires.
    unsafe { &*(word as usize as *const T) }
}

/// Fails with the call's name.
pub(crate) fn check<T>(result: ash::prelude::VkResult<T>, call: &str, label: &str) -> Result<T> {
    result.map_err(|e| convert::error(e, call).on(label))
}
