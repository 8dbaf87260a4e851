//! Buffers and their typed views.

use crate::backend::{BufferRef, ObjectKind, SliceRef};
use crate::clause;
use crate::error::{Error, Located, Result};
use crate::handle::{DeviceKey, DeviceShared, Keep, ObjectId, Owned, lock};
use crate::vocab::BufferRange;
use bitflags::bitflags;
use std::sync::Arc;

bitflags! {
    /// What a buffer may be used for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct BufferUsage: u32 {
        /// Source of copies.
        const COPY_SOURCE = 1 << 0;
        /// Destination of copies and fills.
        const COPY_DESTINATION = 1 << 1;
        /// Constant (uniform) data.
        const CONSTANT = 1 << 2;
        /// Storage reads in shaders.
        const SHADER_READ = 1 << 3;
        /// Storage writes in shaders.
        const SHADER_WRITE = 1 << 4;
        /// Vertex attributes.
        const VERTEX = 1 << 5;
        /// Indices.
        const INDEX = 1 << 6;
        /// Indirect arguments and counts.
        const INDIRECT = 1 << 7;
        /// Destination of query results.
        const QUERY_RESOLVE = 1 << 8;
    }
}

/// Where a buffer or texture lives, by effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum StorageMode {
    /// Memory that is fast for the GPU; the CPU does not see it.
    #[default]
    DeviceLocal,
    /// Written by the CPU, source of copies.
    Upload,
    /// Destination of copies, read by the CPU.
    Readback,
    /// Written by the CPU and read by the GPU in any way (unified memory or a resizable BAR).
    DeviceUpload,
    /// Attachment contents that never leave the tile; textures only.
    Memoryless,
}

/// Describes a buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct BufferDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Size in bytes, at least 1.
    pub size_bytes: u64,
    /// Uses.
    pub usage: BufferUsage,
    /// Memory.
    pub storage: StorageMode,
}

/// A buffer. Cheap to clone; the last clone's drop retires it.
#[derive(Clone)]
pub struct Buffer {
    pub(crate) raw: BufferRef,
    pub(crate) key: DeviceKey,
    pub(crate) usage: BufferUsage,
    pub(crate) storage: StorageMode,
    pub(crate) owned: Keep,
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}, {} bytes", self.owned, self.raw.size)
    }
}

impl Buffer {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, desc: &BufferDesc<'_>) -> Result<Self> {
        device.check_alive()?;
        Self::validate(device, desc)?;
        let native = device.create(|backend| backend.create_buffer(desc))?;
        let owned = Owned::new(device, ObjectKind::Buffer, desc.label, native, Vec::new());
        let raw = BufferRef { word: native.word, aux: native.aux, id: owned.id, size: desc.size_bytes };
        Ok(Self { raw, key: device.key, usage: desc.usage, storage: desc.storage, owned })
    }

    #[track_caller]
    fn validate(device: &DeviceShared, desc: &BufferDesc<'_>) -> Result<()> {
        if desc.size_bytes == 0 || desc.size_bytes > device.limits.max_buffer_bytes {
            let detail = format!("{} bytes, the limit is {}", desc.size_bytes, device.limits.max_buffer_bytes);
            return Err(Error::clause(clause::BUFFER_SIZE, detail).on(desc.label));
        }
        let allowed = match desc.storage {
            StorageMode::Upload => BufferUsage::COPY_SOURCE,
            StorageMode::Readback => BufferUsage::COPY_DESTINATION | BufferUsage::QUERY_RESOLVE,
            StorageMode::DeviceLocal | StorageMode::DeviceUpload => BufferUsage::all(),
            StorageMode::Memoryless => BufferUsage::empty(),
        };
        if desc.usage.is_empty() || !allowed.contains(desc.usage) {
            let detail = format!("usage {:?} with storage {:?}", desc.usage, desc.storage);
            return Err(Error::clause(clause::BUFFER_HOST_USAGE, detail).on(desc.label));
        }
        Ok(())
    }

    /// Name.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.owned.label
    }

    /// Size in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.raw.size
    }

    /// Uses it was created with.
    #[must_use]
    pub fn usage(&self) -> BufferUsage {
        self.usage
    }

    /// Memory it was created in.
    #[must_use]
    pub fn storage(&self) -> StorageMode {
        self.storage
    }

    /// Identity.
    #[must_use]
    pub fn id(&self) -> ObjectId {
        self.raw.id
    }

    /// Copies `data` to byte `offset` of an upload or device-upload buffer. Commands submitted later see it; work in
    /// flight that reads the same bytes sees either contents.
    ///
    /// # Errors
    /// `BUFFER_HOST` for other storage modes, `BUFFER_RANGE` outside the buffer, `DEVICE_LOST`.
    #[track_caller]
    pub fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        if !matches!(self.storage, StorageMode::Upload | StorageMode::DeviceUpload) {
            let detail = format!("write to a buffer in {:?} storage", self.storage);
            return Err(Error::clause(clause::BUFFER_HOST, detail).on(self.label()));
        }
        self.check_host_range(offset, data.len())?;
        let device = &self.owned.device;
        let _host = lock(&self.owned.host);
        device.native(device.backend.write_buffer(self.raw, offset, data))
    }

    /// Copies bytes from `offset` of a readback buffer. The work that wrote them must have completed.
    ///
    /// # Errors
    /// `BUFFER_HOST` for other storage modes, `BUFFER_RANGE` outside the buffer, `DEVICE_LOST`.
    #[track_caller]
    pub fn read_into(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        if self.storage != StorageMode::Readback {
            let detail = format!("read from a buffer in {:?} storage", self.storage);
            return Err(Error::clause(clause::BUFFER_HOST, detail).on(self.label()));
        }
        self.check_host_range(offset, into.len())?;
        let device = &self.owned.device;
        let _host = lock(&self.owned.host);
        device.native(device.backend.read_buffer(self.raw, offset, into))
    }

    #[track_caller]
    fn check_host_range(&self, offset: u64, length: usize) -> Result<()> {
        self.owned.device.check_alive()?;
        let end = offset.checked_add(length as u64);
        if end.is_none_or(|end| end > self.raw.size) {
            return Err(self.out_of_range(BufferRange::new(offset, length as u64)));
        }
        Ok(())
    }

    #[cold]
    #[track_caller]
    pub(crate) fn out_of_range(&self, range: BufferRange) -> Error {
        let detail = format!("{} bytes at {} of {}", range.size, range.offset, self.raw.size);
        Error::clause(clause::BUFFER_RANGE, detail).on(self.label())
    }

    /// A range as storage data.
    #[track_caller]
    fn storage_view(&self, range: BufferRange, usage: BufferUsage) -> Result<BufferSlice> {
        let limits = &self.owned.device.limits;
        let slice = self.view(range, usage, u64::from(limits.storage_alignment_bytes))?;
        if slice.range.size > limits.max_storage_range_bytes {
            let detail = format!("{} bytes, the limit is {}", slice.range.size, limits.max_storage_range_bytes);
            return Err(Error::clause(clause::BUFFER_RANGE, detail).on(self.label()));
        }
        Ok(slice)
    }

    #[track_caller]
    fn view(&self, range: BufferRange, usage: BufferUsage, alignment: u64) -> Result<BufferSlice> {
        if !self.usage.contains(usage) {
            let detail = format!("needs {usage:?}, the buffer has {:?}", self.usage);
            return Err(Error::clause(clause::BUFFER_USAGE, detail).on(self.label()));
        }
        let range = range.resolve(self.raw.size).ok_or_else(|| self.out_of_range(range)).located()?;
        if range.offset % alignment.max(1) != 0 {
            let detail = format!("offset {} is not a multiple of {alignment}", range.offset);
            return Err(Error::clause(clause::BUFFER_RANGE, detail).on(self.label()));
        }
        Ok(BufferSlice { buffer: self.clone(), range })
    }

    /// A range as constant data; the offset is a multiple of `uniform_alignment_bytes`.
    ///
    /// # Errors
    /// `BUFFER_USAGE`, `BUFFER_RANGE`.
    #[track_caller]
    pub fn constant_view(&self, range: BufferRange) -> Result<ConstantBufferView> {
        let limits = &self.owned.device.limits;
        let slice = self.view(range, BufferUsage::CONSTANT, u64::from(limits.uniform_alignment_bytes))?;
        if slice.range.size > limits.max_constant_range_bytes {
            let detail = format!("{} bytes, the limit is {}", slice.range.size, limits.max_constant_range_bytes);
            return Err(Error::clause(clause::BUFFER_RANGE, detail).on(self.label()));
        }
        Ok(ConstantBufferView(slice))
    }

    /// A range that shaders read.
    ///
    /// # Errors
    /// `BUFFER_USAGE`, `BUFFER_RANGE`.
    #[track_caller]
    pub fn read_view(&self, range: BufferRange) -> Result<BufferReadView> {
        self.storage_view(range, BufferUsage::SHADER_READ).map(BufferReadView)
    }

    /// A range that shaders write.
    ///
    /// # Errors
    /// `BUFFER_USAGE`, `BUFFER_RANGE`.
    #[track_caller]
    pub fn write_view(&self, range: BufferRange) -> Result<BufferWriteView> {
        self.storage_view(range, BufferUsage::SHADER_WRITE).map(BufferWriteView)
    }

    /// A range of vertex attributes; strides come from the pipeline.
    ///
    /// # Errors
    /// `BUFFER_USAGE`, `BUFFER_RANGE`.
    #[track_caller]
    pub fn vertex_view(&self, range: BufferRange) -> Result<VertexBufferView> {
        self.view(range, BufferUsage::VERTEX, 4).map(VertexBufferView)
    }

    /// A range of indices.
    ///
    /// # Errors
    /// `BUFFER_USAGE`, `BUFFER_RANGE`.
    #[track_caller]
    pub fn index_view(&self, range: BufferRange, format: crate::pass::IndexFormat) -> Result<IndexBufferView> {
        let slice = self.view(range, BufferUsage::INDEX, format.size_bytes())?;
        Ok(IndexBufferView { slice, format })
    }
}

/// A range of a buffer with the buffer kept alive.
#[derive(Clone, Debug)]
pub(crate) struct BufferSlice {
    pub(crate) buffer: Buffer,
    pub(crate) range: BufferRange,
}

impl BufferSlice {
    pub(crate) fn raw(&self) -> SliceRef {
        SliceRef { buffer: self.buffer.raw, offset: self.range.offset, size: self.range.size }
    }
}

macro_rules! slice_views {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(pub(crate) BufferSlice);

        impl $name {
            /// The buffer.
            #[must_use]
            pub fn buffer(&self) -> &Buffer {
                &self.0.buffer
            }

            /// The resolved range.
            #[must_use]
            pub fn range(&self) -> BufferRange {
                self.0.range
            }
        }
    )*};
}

slice_views! {
    /// A range bound as constant data.
    ConstantBufferView;
    /// A range that shaders read.
    BufferReadView;
    /// A range that shaders read and write.
    BufferWriteView;
    /// A range that vertices are fetched from.
    VertexBufferView;
}

/// A range that indices are fetched from.
#[derive(Clone, Debug)]
pub struct IndexBufferView {
    pub(crate) slice: BufferSlice,
    pub(crate) format: crate::pass::IndexFormat,
}

impl IndexBufferView {
    /// The buffer.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.slice.buffer
    }

    /// Number of indices in the range.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.slice.range.size / self.format.size_bytes()
    }
}
