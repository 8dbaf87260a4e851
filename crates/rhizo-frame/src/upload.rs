//! One frame's part of the upload memory.

use crate::{CONSTANT_ALIGNMENT, FrameConfig, FrameError, Result};
use rhizo_rhi::{
    Access, Barriers, Buffer, BufferCopy, BufferDesc, BufferTextureCopy, BufferUsage, Device, Extent, GlobalBarrier,
    Layout, Recorder, Scope, Stages, StorageMode, Texture, TextureBarrier, TextureLayers, TextureRange,
};

/// Constants written for one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantSlice {
    /// Byte offset, a multiple of [`CONSTANT_ALIGNMENT`].
    pub offset: u32,
    /// Bytes written.
    pub size: u32,
}

/// Where staged texels go.
#[derive(Clone, Copy, Debug)]
pub struct TextureUpload<'a> {
    /// Texture, usage copy-destination.
    pub texture: &'a Texture,
    /// Sub-resource.
    pub layers: TextureLayers,
    /// First texel.
    pub origin: [u32; 3],
    /// Texels; the data is tightly packed.
    pub extent: Extent,
    /// What still uses the sub-resource, and its layout; `Undefined` drops the contents.
    pub before: (Scope, Layout),
    /// What will use it, and its layout then.
    pub after: (Scope, Layout),
}

struct BufferOp {
    destination: Buffer,
    region: BufferCopy,
}

struct TextureOp {
    texture: Texture,
    region: BufferTextureCopy,
    before: (Scope, Layout),
    after: (Scope, Layout),
}

/// Staging memory, a device-local constant buffer, and the copies waiting to be recorded.
pub(crate) struct UploadSlot {
    staging: Buffer,
    constant_staging: Buffer,
    constants: Buffer,
    staged: u64,
    constant_bytes: u64,
    buffers: Vec<BufferOp>,
    textures: Vec<TextureOp>,
}

const COPY_WRITE: Scope = Scope::new(Stages::TRANSFER, Access::TRANSFER_WRITE);

/// Everything a frame's uploads may follow or precede on the same queue.
const ANY_READ: Scope = Scope::new(
    Stages::INDIRECT
        .union(Stages::INDEX_INPUT)
        .union(Stages::VERTEX_INPUT)
        .union(Stages::VERTEX)
        .union(Stages::FRAGMENT)
        .union(Stages::COMPUTE)
        .union(Stages::TRANSFER),
    Access::INDIRECT_COMMAND_READ
        .union(Access::INDEX_READ)
        .union(Access::VERTEX_READ)
        .union(Access::CONSTANT_READ)
        .union(Access::SHADER_READ)
        .union(Access::TRANSFER_READ),
);

impl UploadSlot {
    pub(crate) fn new(device: &Device, config: &FrameConfig) -> Result<Self> {
        let staging = |label, size_bytes: u64| {
            let desc = BufferDesc {
                label,
                size_bytes: size_bytes.max(256),
                usage: BufferUsage::COPY_SOURCE,
                storage: StorageMode::Upload,
            };
            device.create_buffer(&desc)
        };
        let usage = BufferUsage::CONSTANT | BufferUsage::COPY_DESTINATION;
        let size_bytes = config.constant_bytes.max(CONSTANT_ALIGNMENT);
        let constants = BufferDesc { label: "frame constants", size_bytes, usage, storage: StorageMode::DeviceLocal };
        Ok(Self {
            staging: staging("frame uploads", config.upload_bytes)?,
            constant_staging: staging("frame constants staging", size_bytes)?,
            constants: device.create_buffer(&constants)?,
            staged: 0,
            constant_bytes: 0,
            buffers: Vec::new(),
            textures: Vec::new(),
        })
    }

    pub(crate) fn reset(&mut self) {
        self.staged = 0;
        self.constant_bytes = 0;
        self.buffers.clear();
        self.textures.clear();
    }

    pub(crate) fn constant_buffer(&self) -> &Buffer {
        &self.constants
    }

    pub(crate) fn constants(&mut self, data: &[u8]) -> Result<ConstantSlice> {
        let (offset, bound) = (self.constant_bytes, self.constants.size_bytes());
        let end = offset.saturating_add(data.len() as u64);
        if end > bound {
            let asked = data.len() as u64;
            return Err(FrameError::UploadFull { staged: offset, asked, bound, field: "constant_bytes" });
        }
        self.constant_staging.write(offset, data)?;
        self.constant_bytes = end.next_multiple_of(CONSTANT_ALIGNMENT).min(bound);
        Ok(ConstantSlice { offset: offset as u32, size: data.len() as u32 })
    }

    /// Writes bytes to the staging buffer at a multiple of 16, which every format's blocks divide or are aligned by.
    fn stage(&mut self, data: &[u8], alignment: u64) -> Result<u64> {
        let (offset, bound) = (self.staged.next_multiple_of(alignment), self.staging.size_bytes());
        let end = offset.saturating_add(data.len() as u64);
        if end > bound {
            let asked = data.len() as u64;
            return Err(FrameError::UploadFull { staged: self.staged, asked, bound, field: "upload_bytes" });
        }
        self.staging.write(offset, data)?;
        self.staged = end;
        Ok(offset)
    }

    pub(crate) fn buffer(&mut self, destination: &Buffer, offset: u64, data: &[u8]) -> Result<()> {
        let source_offset = self.stage(data, 16)?;
        let region = BufferCopy { source_offset, destination_offset: offset, size: data.len() as u64 };
        self.buffers.push(BufferOp { destination: destination.clone(), region });
        Ok(())
    }

    pub(crate) fn texture(&mut self, upload: &TextureUpload<'_>, data: &[u8]) -> Result<()> {
        // 48 is a multiple of every texel size (1 to 16 bytes, 12 among them) and of 4.
        let buffer_offset = self.stage(data, 48)?;
        let region = BufferTextureCopy {
            buffer_offset,
            row_pitch: 0,
            rows_per_slice: 0,
            layers: upload.layers,
            origin: upload.origin,
            extent: upload.extent,
        };
        let texture = upload.texture.clone();
        self.textures.push(TextureOp { texture, region, before: upload.before, after: upload.after });
        Ok(())
    }

    pub(crate) fn flush(&mut self, recorder: &mut Recorder<'_>) {
        let mut pass = recorder.transfer_pass("uploads");
        if !self.buffers.is_empty() || self.constant_bytes > 0 {
            // Earlier frames may still read what is overwritten: execution order is enough for that.
            let reads = GlobalBarrier { before: ANY_READ, after: COPY_WRITE };
            pass.barriers(&Barriers { global: &[reads], ..Barriers::default() });
        }
        if self.constant_bytes > 0 {
            let size = self.constant_bytes;
            let region = BufferCopy { source_offset: 0, destination_offset: 0, size };
            pass.copy_buffer(&self.constant_staging, &self.constants, &[region]);
        }
        for op in &self.buffers {
            pass.copy_buffer(&self.staging, &op.destination, &[op.region]);
        }
        for op in &self.textures {
            pass.barriers(&Barriers {
                textures: &[op.barrier(op.before, (COPY_WRITE, Layout::CopyDestination))],
                ..Barriers::default()
            });
            pass.copy_buffer_to_texture(&self.staging, &op.texture, &[op.region]);
            pass.barriers(&Barriers {
                textures: &[op.barrier((COPY_WRITE, Layout::CopyDestination), op.after)],
                ..Barriers::default()
            });
        }
        if !self.buffers.is_empty() || self.constant_bytes > 0 {
            let writes = GlobalBarrier { before: COPY_WRITE, after: ANY_READ };
            pass.barriers(&Barriers { global: &[writes], ..Barriers::default() });
        }
    }
}

impl TextureOp {
    fn barrier(&self, before: (Scope, Layout), after: (Scope, Layout)) -> TextureBarrier<'_> {
        let layers = self.region.layers;
        let range = TextureRange {
            base_mip: layers.mip,
            mip_count: 1,
            base_layer: layers.base_layer,
            layer_count: layers.layer_count,
            aspects: layers.aspects,
        };
        TextureBarrier {
            texture: &self.texture,
            range,
            before: before.0,
            before_layout: before.1,
            after: after.0,
            after_layout: after.1,
            queues: None,
        }
    }
}
