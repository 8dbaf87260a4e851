//! Buffers.

use crate::convert;
use crate::device::Shared;
use crate::memory::{self, Request, check, into_word, of_word};
use ash::vk;
use gpu_allocator::vulkan::{Allocation, AllocationScheme};
use rhizo_rhi::backend::{BufferRef, Native};
use rhizo_rhi::{BufferDesc, Error, ErrorKind, Result};

/// What destruction and host access need.
pub(crate) struct BufferRecord {
    pub(crate) allocation: Allocation,
}

pub(crate) fn create(device: &Shared, desc: &BufferDesc<'_>) -> Result<Native> {
    let info = vk::BufferCreateInfo::default()
        .size(desc.size_bytes)
        .usage(convert::buffer_usage(desc.usage))
        .sharing_mode(vk::SharingMode::EXCLUSIVE);
    // SAFETY: the device is alive.
    let buffer = check(unsafe { device.raw.create_buffer(&info, None) }, "vkCreateBuffer", desc.label)?;
    match bind(device, desc, buffer) {
        Ok(allocation) => {
            device.name(buffer, desc.label);
            Ok(Native { word: vk::Handle::as_raw(buffer), aux: into_word(BufferRecord { allocation }) })
        }
        Err(error) => {
            // SAFETY: the buffer was just made and is named nowhere.
            unsafe { device.raw.destroy_buffer(buffer, None) };
            Err(error)
        }
    }
}

fn bind(device: &Shared, desc: &BufferDesc<'_>, buffer: vk::Buffer) -> Result<Allocation> {
    let mut dedicated = vk::MemoryDedicatedRequirements::default();
    let mut requirements = vk::MemoryRequirements2::default().push_next(&mut dedicated);
    let info = vk::BufferMemoryRequirementsInfo2::default().buffer(buffer);
    // SAFETY: the buffer is alive.
    unsafe { device.raw.get_buffer_memory_requirements2(&info, &mut requirements) };
    let requirements = requirements.memory_requirements;
    let own = memory::wants_dedicated(&dedicated);
    let allocation = device.memory.allocate(&Request {
        label: desc.label,
        requirements,
        storage: desc.storage,
        linear: true,
        scheme: if own { AllocationScheme::DedicatedBuffer(buffer) } else { AllocationScheme::GpuAllocatorManaged },
    })?;
    // SAFETY: the memory was allocated for these requirements and is bound once.
    let bound = unsafe { device.raw.bind_buffer_memory(buffer, allocation.memory(), allocation.offset()) };
    if let Err(error) = check(bound, "vkBindBufferMemory", desc.label) {
        device.memory.free(allocation);
        return Err(error);
    }
    Ok(allocation)
}

/// The mapped address of byte `offset`.
fn mapped(buffer: BufferRef, offset: u64, length: usize) -> Result<*mut u8> {
    // SAFETY: the contract hands over live buffers of this backend only.
    let record: &BufferRecord = unsafe { of_word(buffer.aux) };
    let start = record.allocation.mapped_ptr();
    let inside = offset.checked_add(length as u64).is_some_and(|end| end <= buffer.size);
    let (Some(start), true) = (start, inside) else {
        return Err(Error::new(ErrorKind::Native, "the buffer's memory is not mapped"));
    };
    // SAFETY: the mapping covers the buffer's size, checked above.
    Ok(unsafe { start.as_ptr().cast::<u8>().add(offset as usize) })
}

pub(crate) fn write(buffer: BufferRef, offset: u64, data: &[u8]) -> Result<()> {
    let to = mapped(buffer, offset, data.len())?;
    // SAFETY: the range is mapped and coherent (the allocator takes coherent memory only); the caller holds the buffer's
    // host lock, so no other thread of ours touches it.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
    Ok(())
}

pub(crate) fn read(buffer: BufferRef, offset: u64, into: &mut [u8]) -> Result<()> {
    let from = mapped(buffer, offset, into.len())?;
    // SAFETY: as in `write`.
    unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
    Ok(())
}

/// # Safety
/// As `DeviceBackend::destroy`, for a buffer.
pub(crate) unsafe fn destroy(device: &Shared, native: Native) {
    // SAFETY: the caller gives a buffer of ours once, out of use.
    unsafe {
        device.raw.destroy_buffer(vk::Handle::from_raw(native.word), None);
        device.memory.free(memory::from_word::<BufferRecord>(native.aux).allocation);
    }
}
