//! Data to the GPU: gathered in staging buffers, copied in few submissions.

use rhizo_rhi::{
    Access, Barriers, Buffer, BufferCopy, BufferDesc, BufferTextureCopy, BufferUsage, CommandPool, Device, Extent,
    GlobalBarrier, Layout, Queue, Scope, Stages, StorageMode, SubmissionIndex, Texture, TextureBarrier, TextureLayers,
    TextureRange,
};

use super::error::RenderError;

/// Size of a staging buffer, unless one piece of data is larger.
const CHUNK_BYTES: u64 = 32 << 20;
/// Submissions in flight before the oldest is waited for: bounds the staging memory.
const MAX_IN_FLIGHT: usize = 4;
/// Offsets that suit every texel size and API.
const ALIGNMENT: u64 = 512;

/// Every way a shader or the fixed functions read uploaded data.
const READ_BY_ALL: Scope = Scope::new(
    Stages::ALL_GRAPHICS.union(Stages::COMPUTE),
    Access::VERTEX_READ.union(Access::INDEX_READ).union(Access::CONSTANT_READ).union(Access::SHADER_READ),
);
const READ_TEXTURES: Scope = Scope::new(Stages::FRAGMENT.union(Stages::COMPUTE), Access::SHADER_READ);
const WRITTEN: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE);

enum Target {
    Buffer {
        buffer: Buffer,
        offset: u64,
        size: u64,
    },
    /// Level 0 of all layers; the levels after it are generated.
    Texture {
        texture: Texture,
        row_pitch: u32,
    },
}

struct Staging {
    buffer: Buffer,
    used: u64,
}

/// Collects copies; [`Uploader::finish`] submits what is left.
pub(super) struct Uploader<'a> {
    device: &'a Device,
    queue: &'a Queue,
    pool: &'a mut CommandPool,
    staging: Option<Staging>,
    copies: Vec<(u64, Target)>,
    in_flight: Vec<SubmissionIndex>,
}

impl<'a> Uploader<'a> {
    pub(super) fn new(device: &'a Device, queue: &'a Queue, pool: &'a mut CommandPool) -> Self {
        Self { device, queue, pool, staging: None, copies: Vec::new(), in_flight: Vec::new() }
    }

    /// A device-local buffer with these contents (4 zero bytes if there are none).
    pub(super) fn create_buffer(
        &mut self,
        label: &str,
        usage: BufferUsage,
        bytes: &[u8],
    ) -> Result<Buffer, RenderError> {
        let bytes = if bytes.is_empty() { &[0; 4] } else { bytes };
        let usage = usage | BufferUsage::COPY_DESTINATION;
        let size_bytes = bytes.len() as u64;
        let storage = StorageMode::DeviceLocal;
        let buffer = self.device.create_buffer(&BufferDesc { label, size_bytes, usage, storage })?;
        let mut offset = 0;
        // Pieces, so that a large buffer needs no equally large staging buffer.
        for piece in bytes.chunks(CHUNK_BYTES as usize) {
            let (at, staging) = self.reserve(piece.len() as u64)?;
            staging.write(at, piece)?;
            let size = piece.len() as u64;
            self.copies.push((at, Target::Buffer { buffer: buffer.clone(), offset, size }));
            offset += size;
        }
        Ok(buffer)
    }

    /// Fills level 0 of a texture from tightly packed rows and generates the others. It ends in shader-read-only.
    pub(super) fn texture(&mut self, texture: &Texture, rows: &[u8]) -> Result<(), RenderError> {
        let extent = texture.extent();
        let row = rows.len() / (extent.y as usize * texture.layers() as usize);
        let pitch = row.next_multiple_of(self.device.limits().row_alignment_bytes.max(1) as usize);
        let size = pitch as u64 * u64::from(extent.y) * u64::from(texture.layers());
        let (at, staging) = self.reserve(size)?;
        if pitch == row {
            staging.write(at, rows)?;
        } else {
            for (i, line) in rows.chunks_exact(row).enumerate() {
                staging.write(at + (i * pitch) as u64, line)?;
            }
        }
        self.copies.push((at, Target::Texture { texture: texture.clone(), row_pitch: pitch as u32 }));
        Ok(())
    }

    /// Submits what is left. Later submissions on the queue see the data.
    pub(super) fn finish(mut self) -> Result<(), RenderError> {
        self.flush()
    }

    fn reserve(&mut self, size: u64) -> Result<(u64, Buffer), RenderError> {
        let at = self.staging.as_ref().map_or(0, |s| s.used.next_multiple_of(ALIGNMENT));
        let fits = self.staging.as_ref().is_some_and(|s| at + size <= s.buffer.size_bytes());
        if !fits {
            self.flush()?;
            let buffer = self.device.create_buffer(&BufferDesc {
                label: "staging",
                size_bytes: size.max(CHUNK_BYTES),
                usage: BufferUsage::COPY_SOURCE,
                storage: StorageMode::Upload,
            })?;
            self.staging = Some(Staging { buffer: buffer.clone(), used: size });
            return Ok((0, buffer));
        }
        let staging = self.staging.as_mut().expect("it fits, so it exists");
        staging.used = at + size;
        Ok((at, staging.buffer.clone()))
    }

    fn flush(&mut self) -> Result<(), RenderError> {
        let Some(staging) = self.staging.take() else { return Ok(()) };
        let copies = std::mem::take(&mut self.copies);
        let mut recorder = self.pool.begin("upload")?;
        {
            let mut pass = recorder.transfer_pass("upload");
            let textures = || {
                copies
                    .iter()
                    .filter_map(|(_, t)| if let Target::Texture { texture, .. } = t { Some(texture) } else { None })
            };
            let first: Vec<TextureBarrier<'_>> = textures().map(before_copy).collect();
            pass.barriers(&Barriers { textures: &first, ..Barriers::default() });
            for (at, target) in &copies {
                match target {
                    Target::Buffer { buffer, offset, size } => {
                        let region = BufferCopy { source_offset: *at, destination_offset: *offset, size: *size };
                        pass.copy_buffer(&staging.buffer, buffer, &[region]);
                    }
                    Target::Texture { texture, row_pitch } => {
                        pass.copy_buffer_to_texture(&staging.buffer, texture, &[level_0(texture, *at, *row_pitch)]);
                    }
                }
            }
            for texture in textures() {
                pass.generate_mips(texture, (WRITTEN, Layout::CopyDestination), READ_TEXTURES);
            }
            let global = [GlobalBarrier { before: WRITTEN, after: READ_BY_ALL }];
            pass.barriers(&Barriers { global: &global, ..Barriers::default() });
        }
        let commands = recorder.finish()?;
        self.in_flight.push(self.queue.submit_commands(&[&commands])?);
        if self.in_flight.len() > MAX_IN_FLIGHT {
            let oldest = self.in_flight.remove(0);
            super::wait(self.queue, oldest)?;
        }
        Ok(())
    }
}

fn before_copy(texture: &Texture) -> TextureBarrier<'_> {
    TextureBarrier {
        texture,
        range: TextureRange::mip(0),
        before: Scope::NONE,
        before_layout: Layout::Undefined,
        after: WRITTEN,
        after_layout: Layout::CopyDestination,
        queues: None,
    }
}

fn level_0(texture: &Texture, buffer_offset: u64, row_pitch: u32) -> BufferTextureCopy {
    let extent = texture.extent();
    BufferTextureCopy {
        buffer_offset,
        row_pitch,
        rows_per_slice: 0,
        layers: TextureLayers { layer_count: texture.layers(), ..TextureLayers::mip(0) },
        origin: [0; 3],
        extent: Extent::d2(extent.x, extent.y),
    }
}
