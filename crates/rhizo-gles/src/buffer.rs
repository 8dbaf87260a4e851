//! Buffers: their word is the GL name.

use crate::device::{State, check, unsupported};
use glow::HasContext;
use rhizo_rhi::backend::Native;
use rhizo_rhi::{BufferDesc, BufferUsage, Error, ErrorKind, Result, StorageMode};
use std::num::NonZeroU32;

/// std140 blocks are multiples of 16 bytes, and a bound range must hold the whole block.
pub(crate) const BLOCK_BYTES: u64 = 16;

/// Uses ES 3.0 lacks, before any GL call.
pub(crate) fn refuse(desc: &BufferDesc<'_>) -> Result<()> {
    let storage = BufferUsage::SHADER_READ | BufferUsage::SHADER_WRITE;
    if desc.usage.intersects(storage) {
        return Err(unsupported("a storage buffer", "storage buffers need OpenGL ES 3.1").on(desc.label));
    }
    if desc.usage.contains(BufferUsage::INDIRECT) {
        return Err(unsupported("an indirect buffer", "indirect draws need OpenGL ES 3.1").on(desc.label));
    }
    Ok(())
}

/// The GL object of a word.
pub(crate) fn name(word: u64) -> Result<glow::Buffer> {
    let name = u32::try_from(word).ok().and_then(NonZeroU32::new).map(glow::NativeBuffer);
    name.ok_or_else(|| Error::new(ErrorKind::InvalidState, "no buffer has this word"))
}

pub(crate) fn create(
    state: &State,
    label: &str,
    size: u64,
    usage: BufferUsage,
    storage: StorageMode,
) -> Result<Native> {
    let gl = &state.context.gl;
    // Constant ranges are bound rounded up to whole blocks.
    let bytes = if usage.contains(BufferUsage::CONSTANT) { size.next_multiple_of(BLOCK_BYTES) } else { size };
    let hint = match storage {
        StorageMode::DeviceLocal | StorageMode::Memoryless => glow::STATIC_DRAW,
        StorageMode::Upload | StorageMode::DeviceUpload => glow::DYNAMIC_DRAW,
        StorageMode::Readback => glow::DYNAMIC_READ,
    };
    // SAFETY: the context is current on this thread; the size fits, by the limit on buffers.
    let made = unsafe {
        let made = gl.create_buffer().map_err(|e| Error::new(ErrorKind::Native, e).on(label))?;
        // Any target serves; this one is part of no other state.
        gl.bind_buffer(glow::COPY_WRITE_BUFFER, Some(made));
        gl.buffer_data_size(glow::COPY_WRITE_BUFFER, bytes as i32, hint);
        made
    };
    if let Err(error) = check(gl, "creating a buffer") {
        destroy(gl, u64::from(made.0.get()));
        return Err(error.on(label));
    }
    state.label(glow::BUFFER, made.0, label);
    Ok(Native { word: u64::from(made.0.get()), aux: bytes })
}

pub(crate) fn write(state: &State, word: u64, offset: u64, data: &[u8]) -> Result<()> {
    let gl = &state.context.gl;
    let buffer = name(word)?;
    // SAFETY: the context is current on this thread; the contract checked the range.
    unsafe {
        gl.bind_buffer(glow::COPY_WRITE_BUFFER, Some(buffer));
        gl.buffer_sub_data_u8_slice(glow::COPY_WRITE_BUFFER, offset as i32, data);
    }
    check(gl, "writing a buffer")
}

pub(crate) fn read(state: &State, word: u64, offset: u64, size: usize) -> Result<Vec<u8>> {
    let gl = &state.context.gl;
    let buffer = name(word)?;
    if size == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the context is current on this thread; the contract checked the range, and a mapping that is not null holds
    // `size` initialised bytes until it is unmapped.
    let data = unsafe {
        gl.bind_buffer(glow::COPY_READ_BUFFER, Some(buffer));
        let mapped = gl.map_buffer_range(glow::COPY_READ_BUFFER, offset as i32, size as i32, glow::MAP_READ_BIT);
        if mapped.is_null() {
            check(gl, "reading a buffer")?;
            return Err(Error::new(ErrorKind::Native, "a readback buffer cannot be mapped"));
        }
        let data = std::slice::from_raw_parts(mapped, size).to_vec();
        gl.unmap_buffer(glow::COPY_READ_BUFFER);
        data
    };
    check(gl, "reading a buffer").map(|()| data)
}

pub(crate) fn destroy(gl: &glow::Context, word: u64) {
    if let Ok(buffer) = name(word) {
        // SAFETY: the context is current on this thread; the caller says nothing uses the buffer any more.
        unsafe { gl.delete_buffer(buffer) };
    }
}
