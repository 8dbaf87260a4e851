//! Copies and fills, and what WebGPU's alignments make of them.

use crate::convert;
use crate::device::Shared;
use crate::memory;
use crate::texture::aspect;
use rhizo_rhi::backend::{BufferRef, TextureRef};
use rhizo_rhi::{
    Aspects, BufferCopy, BufferRange, BufferTextureCopy, Error, ErrorKind, Extent, Format, Result, TextureCopy,
    TextureLayers,
};
use wgpu::{BufferUsages, COPY_BUFFER_ALIGNMENT, COPY_BYTES_PER_ROW_ALIGNMENT};

/// Bytes of the buffer that fills are copied from.
const FILL_BYTES: u64 = 64 * 1024;

fn unsupported<T>(reason: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Unsupported, reason))
}

/// A buffer that lives as long as the command buffer that names it.
fn staging(shared: &Shared, size: u64, words: Option<u32>) -> Result<wgpu::Buffer> {
    let desc = wgpu::BufferDescriptor {
        label: Some("staging"),
        size,
        usage: BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
        mapped_at_creation: words.is_some(),
    };
    let buffer = shared.scoped("createBuffer", || shared.device.create_buffer(&desc))?;
    if let Some(word) = words {
        let bytes: Vec<u8> = std::iter::repeat_n(word.to_ne_bytes(), (size / 4) as usize).flatten().collect();
        let mut mapped = buffer.get_mapped_range_mut(..).map_err(|error| convert::native("getMappedRange", error))?;
        mapped.copy_from_slice(&bytes);
        drop(mapped);
        buffer.unmap();
    }
    Ok(buffer)
}

pub(super) fn buffers(
    shared: &Shared,
    encoder: &mut wgpu::CommandEncoder,
    source: BufferRef,
    destination: BufferRef,
    regions: &[BufferCopy],
) -> Result<()> {
    let (from, to) = (&memory::buffer(&source).raw, &memory::buffer(&destination).raw);
    for r in regions {
        if [r.source_offset, r.destination_offset, r.size].iter().any(|n| n % COPY_BUFFER_ALIGNMENT != 0) {
            return unsupported(format!("WebGPU copies between buffers in words of four bytes: {r:?}"));
        }
        if source.id == destination.id {
            let via = staging(shared, r.size, None)?;
            encoder.copy_buffer_to_buffer(from, r.source_offset, &via, 0, r.size);
            encoder.copy_buffer_to_buffer(&via, 0, to, r.destination_offset, r.size);
        } else {
            encoder.copy_buffer_to_buffer(from, r.source_offset, to, r.destination_offset, r.size);
        }
    }
    Ok(())
}

pub(super) fn fill(
    shared: &Shared,
    encoder: &mut wgpu::CommandEncoder,
    buffer: BufferRef,
    range: BufferRange,
    value: u32,
) -> Result<()> {
    let raw = &memory::buffer(&buffer).raw;
    if value == 0 {
        encoder.clear_buffer(raw, range.offset, Some(range.size));
        return Ok(());
    }
    let words = staging(shared, range.size.min(FILL_BYTES), Some(value))?;
    let end = range.offset + range.size;
    let mut offset = range.offset;
    while offset < end {
        let size = (end - offset).min(FILL_BYTES);
        encoder.copy_buffer_to_buffer(&words, 0, raw, offset, size);
        offset += size;
    }
    Ok(())
}

/// How the rows of a region lie in a buffer. Rows are rows of blocks; slices are layers, or depth in 3D.
struct Rows {
    row_bytes: u64,
    rows: u64,
    slices: u64,
    pitch: u64,
    rows_per_slice: u64,
}

impl Rows {
    fn new(format: Format, r: &BufferTextureCopy) -> Self {
        let chosen = if r.layers.aspects.is_empty() { format.aspects() } else { r.layers.aspects };
        let (width, _) = format.info().block;
        let row_bytes = u64::from(r.extent.x.div_ceil(u32::from(width))) * u64::from(format.copy_block_bytes(chosen));
        let rows = u64::from(format.rows(r.extent.y));
        let or = |given: u32, tight: u64| if given == 0 { tight } else { u64::from(given) };
        Self {
            row_bytes,
            rows,
            slices: u64::from(r.extent.z) * u64::from(r.layers.layer_count),
            pitch: or(r.row_pitch, row_bytes),
            rows_per_slice: or(r.rows_per_slice, rows),
        }
    }

    fn layout(&self, offset: u64) -> wgpu::TexelCopyBufferLayout {
        let one_row = self.rows * self.slices == 1; // WebGPU then asks for no pitch
        wgpu::TexelCopyBufferLayout {
            offset,
            bytes_per_row: if one_row { None } else { u32::try_from(self.pitch).ok() },
            rows_per_image: if one_row { None } else { u32::try_from(self.rows_per_slice).ok() },
        }
    }

    /// The rows as they lie in a staging buffer, or `None` when the buffer itself will do.
    fn staged(&self) -> Result<Option<Self>> {
        let pitch = u64::from(COPY_BYTES_PER_ROW_ALIGNMENT);
        if self.rows * self.slices == 1 || self.pitch.is_multiple_of(pitch) {
            return Ok(None);
        }
        if !self.row_bytes.is_multiple_of(COPY_BUFFER_ALIGNMENT) || !self.pitch.is_multiple_of(COPY_BUFFER_ALIGNMENT) {
            return unsupported(format!(
                "rows of {} bytes with a pitch of {}: WebGPU takes pitches that are multiples of {pitch}, or rows and \
                 pitches in words of four bytes, copied one by one",
                self.row_bytes, self.pitch
            ));
        }
        Ok(Some(Self { pitch: self.row_bytes.next_multiple_of(pitch), rows_per_slice: self.rows, ..*self }))
    }

    fn size(&self) -> u64 {
        self.pitch * self.rows_per_slice * self.slices
    }

    /// Byte offsets of the same row here and in `other`.
    fn pairs<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (u64, u64)> + 'a {
        let at = |rows: &Self, slice: u64, row: u64| (slice * rows.rows_per_slice + row) * rows.pitch;
        (0..self.slices)
            .flat_map(move |slice| (0..self.rows).map(move |row| (at(self, slice, row), at(other, slice, row))))
    }
}

fn place<'a>(
    texture: &'a wgpu::Texture,
    format: Format,
    layers: TextureLayers,
    origin: [u32; 3],
) -> wgpu::TexelCopyTextureInfo<'a> {
    wgpu::TexelCopyTextureInfo {
        texture,
        mip_level: layers.mip,
        origin: wgpu::Origin3d { x: origin[0], y: origin[1], z: origin[2] + layers.base_layer },
        aspect: aspect(format.aspects(), layers.aspects),
    }
}

/// WebGPU counts whole blocks, and layers as depth.
fn size(format: Format, extent: Extent, layers: TextureLayers) -> wgpu::Extent3d {
    let (width, height) = format.info().block;
    wgpu::Extent3d {
        width: extent.x.next_multiple_of(u32::from(width)),
        height: extent.y.next_multiple_of(u32::from(height)),
        depth_or_array_layers: extent.z * layers.layer_count,
    }
}

pub(super) fn to_texture(
    shared: &Shared,
    encoder: &mut wgpu::CommandEncoder,
    source: BufferRef,
    destination: TextureRef,
    r: &BufferTextureCopy,
) -> Result<()> {
    let (buffer, format) = (&memory::buffer(&source).raw, destination.format);
    let wide_depth = format != Format::Depth16 && format.aspects().contains(Aspects::DEPTH);
    if wide_depth && r.layers.aspects != Aspects::STENCIL {
        return unsupported(format!("WebGPU copies no buffer into the depth of {format}"));
    }
    let rows = Rows::new(format, r);
    let destination = place(memory::texture(&destination), format, r.layers, r.origin);
    let extent = size(format, r.extent, r.layers);
    let Some(staged) = rows.staged()? else {
        let source = wgpu::TexelCopyBufferInfo { buffer, layout: rows.layout(r.buffer_offset) };
        encoder.copy_buffer_to_texture(source, destination, extent);
        return Ok(());
    };
    let via = staging(shared, staged.size(), None)?;
    for (here, there) in rows.pairs(&staged) {
        encoder.copy_buffer_to_buffer(buffer, r.buffer_offset + here, &via, there, rows.row_bytes);
    }
    let source = wgpu::TexelCopyBufferInfo { buffer: &via, layout: staged.layout(0) };
    encoder.copy_buffer_to_texture(source, destination, extent);
    Ok(())
}

pub(super) fn from_texture(
    shared: &Shared,
    encoder: &mut wgpu::CommandEncoder,
    source: TextureRef,
    destination: BufferRef,
    r: &BufferTextureCopy,
) -> Result<()> {
    let (buffer, format) = (&memory::buffer(&destination).raw, source.format);
    if format == Format::Depth24Stencil8 && r.layers.aspects != Aspects::STENCIL {
        return unsupported(format!("WebGPU copies the depth of {format} into no buffer"));
    }
    let rows = Rows::new(format, r);
    let source = place(memory::texture(&source), format, r.layers, r.origin);
    let extent = size(format, r.extent, r.layers);
    let Some(staged) = rows.staged()? else {
        let destination = wgpu::TexelCopyBufferInfo { buffer, layout: rows.layout(r.buffer_offset) };
        encoder.copy_texture_to_buffer(source, destination, extent);
        return Ok(());
    };
    let via = staging(shared, staged.size(), None)?;
    encoder.copy_texture_to_buffer(
        source,
        wgpu::TexelCopyBufferInfo { buffer: &via, layout: staged.layout(0) },
        extent,
    );
    for (here, there) in rows.pairs(&staged) {
        encoder.copy_buffer_to_buffer(&via, there, buffer, r.buffer_offset + here, rows.row_bytes);
    }
    Ok(())
}

pub(super) fn textures(
    encoder: &mut wgpu::CommandEncoder,
    source: TextureRef,
    destination: TextureRef,
    r: &TextureCopy,
) -> Result<()> {
    let linear = |format| convert::format(format).remove_srgb_suffix();
    if linear(source.format) != linear(destination.format) {
        let (from, to) = (source.format, destination.format);
        return unsupported(format!("WebGPU copies between equal formats, not from {from} to {to}"));
    }
    let some = |format: Format, aspects: Aspects| !aspects.is_empty() && aspects != format.aspects();
    if some(source.format, r.source.aspects) || some(destination.format, r.destination.aspects) {
        return unsupported("WebGPU copies all aspects between textures");
    }
    let from = place(memory::texture(&source), source.format, r.source, r.source_origin);
    let to = place(memory::texture(&destination), destination.format, r.destination, r.destination_origin);
    encoder.copy_texture_to_texture(from, to, size(source.format, r.extent, r.source));
    Ok(())
}
