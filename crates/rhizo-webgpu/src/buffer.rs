//! Buffers and host access.

use crate::convert;
use crate::device::{Shared, lock};
use rhizo_rhi::{BufferDesc, BufferUsage, Error, ErrorKind, Result, StorageMode};
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;
use wgpu::{BufferUsages, COPY_BUFFER_ALIGNMENT, MAP_ALIGNMENT};

/// How long a read waits for work that should have completed already.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// A buffer. Its native size is rounded up to whole words of four bytes.
pub(crate) struct Buffer {
    pub(crate) raw: wgpu::Buffer,
    /// What the host wrote, for buffers that only the host writes: WebGPU writes whole words, so the other bytes of a
    /// word must be known.
    host: Option<Mutex<Vec<u8>>>,
}

impl Buffer {
    pub(crate) fn create(shared: &Shared, desc: &BufferDesc<'_>) -> Result<Self> {
        let gpu_writes = BufferUsage::COPY_DESTINATION | BufferUsage::SHADER_WRITE | BufferUsage::QUERY_RESOLVE;
        let host_only = matches!(desc.storage, StorageMode::Upload | StorageMode::DeviceUpload)
            && !desc.usage.intersects(gpu_writes);
        let usage = usage(desc)?;
        let size = desc.size_bytes.next_multiple_of(COPY_BUFFER_ALIGNMENT);
        let native = wgpu::BufferDescriptor { label: Some(desc.label), size, usage, mapped_at_creation: false };
        let raw = shared.scoped("createBuffer", || shared.device.create_buffer(&native))?;
        let host = if host_only { Some(Mutex::new(host_copy(desc, size)?)) } else { None };
        Ok(Self { raw, host })
    }

    /// *Maps to* `writeBuffer`; where the range is not in whole words, it is widened with what was written before.
    pub(crate) fn write(&self, shared: &Shared, offset: u64, data: &[u8]) -> Result<()> {
        let aligned =
            offset.is_multiple_of(COPY_BUFFER_ALIGNMENT) && (data.len() as u64).is_multiple_of(COPY_BUFFER_ALIGNMENT);
        let Some(host) = &self.host else {
            if !aligned {
                let reason = "WebGPU writes whole words of four bytes, and the GPU may have written this word's others";
                return Err(Error::new(ErrorKind::Unsupported, reason));
            }
            return shared.scoped("writeBuffer", || shared.queue.write_buffer(&self.raw, offset, data));
        };
        let mut host = lock(host);
        let (start, end) = (offset as usize, offset as usize + data.len());
        host[start..end].copy_from_slice(data);
        let word = COPY_BUFFER_ALIGNMENT as usize;
        let (from, to) = (start - start % word, end.next_multiple_of(word));
        shared.scoped("writeBuffer", || shared.queue.write_buffer(&self.raw, from as u64, &host[from..to]))
    }

    /// *Maps to* `mapAsync`, `getMappedRange`, `unmap`. Submissions wait meanwhile: WebGPU takes none that use a mapped
    /// buffer.
    pub(crate) fn read(&self, shared: &Shared, offset: u64, into: &mut [u8]) -> Result<()> {
        if into.is_empty() {
            return Ok(());
        }
        let _submissions = lock(&shared.submissions);
        let end = offset + into.len() as u64;
        let (from, to) = (offset - offset % MAP_ALIGNMENT, end.next_multiple_of(COPY_BUFFER_ALIGNMENT));
        let slice = self.raw.slice(from..to);
        let (done, mapped) = mpsc::channel();
        shared.scoped("mapAsync", || {
            slice.map_async(wgpu::MapMode::Read, move |result| {
                // The other end is gone only if the wait below has failed already.
                let _ = done.send(result);
            });
        })?;
        let result = self.wait_mapped(shared, &mapped).and_then(|()| {
            let bytes = slice.get_mapped_range().map_err(|error| convert::native("getMappedRange", error))?;
            let skip = (offset - from) as usize;
            into.copy_from_slice(&bytes[skip..skip + into.len()]);
            Ok(())
        });
        self.raw.unmap();
        result
    }

    fn wait_mapped(&self, shared: &Shared, mapped: &mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>) -> Result<()> {
        let wait = wgpu::PollType::Wait { submission_index: None, timeout: Some(READ_TIMEOUT) };
        for poll in [wgpu::PollType::Poll, wait] {
            let polled = shared.device.poll(poll);
            shared.check_alive()?;
            match (mapped.try_recv(), polled) {
                (Ok(result), _) => return result.map_err(|error| convert::native("mapAsync", error)),
                (Err(_), Err(wgpu::PollError::Timeout) | Ok(_)) => {}
                (Err(_), Err(error)) => return Err(convert::poll_error(&error)),
            }
        }
        Err(Error::new(ErrorKind::InvalidState, "the work that uses the buffer has not completed"))
    }
}

/// Zeros, as the native buffer starts; the memory is taken only where it is written.
fn host_copy(desc: &BufferDesc<'_>, size: u64) -> Result<Vec<u8>> {
    let too_large = || {
        let detail = format!("{size} bytes of host memory for a buffer that the CPU writes");
        Error::new(ErrorKind::OutOfMemory, detail).on(desc.label)
    };
    let size = usize::try_from(size).map_err(|_| too_large())?;
    Vec::<u8>::new().try_reserve_exact(size).map_err(|_| too_large())?;
    Ok(vec![0; size])
}

fn usage(desc: &BufferDesc<'_>) -> Result<BufferUsages> {
    let wanted = desc.usage;
    let mut usage = match desc.storage {
        StorageMode::DeviceLocal | StorageMode::Memoryless => BufferUsages::empty(),
        StorageMode::Upload | StorageMode::DeviceUpload => BufferUsages::COPY_DST, // `writeBuffer`
        StorageMode::Readback => BufferUsages::MAP_READ,
    };
    if desc.storage == StorageMode::Readback && wanted.contains(BufferUsage::QUERY_RESOLVE) {
        let reason = "WebGPU resolves queries into device-local buffers only: copy from one";
        return Err(Error::new(ErrorKind::Unsupported, reason).on(desc.label));
    }
    let storage = BufferUsage::SHADER_READ | BufferUsage::SHADER_WRITE;
    for (from, to) in [
        (BufferUsage::COPY_SOURCE, BufferUsages::COPY_SRC),
        (BufferUsage::COPY_DESTINATION, BufferUsages::COPY_DST),
        (BufferUsage::CONSTANT, BufferUsages::UNIFORM),
        (storage, BufferUsages::STORAGE),
        (BufferUsage::VERTEX, BufferUsages::VERTEX),
        (BufferUsage::INDEX, BufferUsages::INDEX),
        (BufferUsage::INDIRECT, BufferUsages::INDIRECT),
        (BufferUsage::QUERY_RESOLVE, BufferUsages::QUERY_RESOLVE),
    ] {
        usage.set(to, usage.contains(to) || wanted.intersects(from));
    }
    Ok(usage)
}
