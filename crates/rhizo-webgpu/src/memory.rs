//! Native objects as words: each is a box of its own, and its address is the word.

use rhizo_rhi::backend::{BufferRef, Native, ObjectKind, ObjectRef, SliceRef, TextureRef};

/// Moves an object into a box of its own.
pub(crate) fn keep<T: Send + Sync + 'static>(object: T) -> Native {
    Native { word: Box::into_raw(Box::new(object)).expose_provenance() as u64, aux: 0 }
}

fn address<T>(word: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(word as usize)
}

macro_rules! named {
    ($($(#[$doc:meta])* $name:ident: $reference:ty => $object:ty;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(named: &$reference) -> &$object {
            // SAFETY: the front types pass only references to live objects that this backend made, each in the place of
            // its kind (see `rhizo_rhi::backend`), and objects of this kind are boxes of this type. The trait objects
            // never leave the front types, so there is no other caller.
            unsafe { &*address::<$object>(named.word) }
        }
    )*};
}

named! {
    /// The buffer.
    buffer: BufferRef => crate::buffer::Buffer;
    /// The texture.
    texture: TextureRef => wgpu::Texture;
    /// The view.
    view: ObjectRef => crate::texture::View;
    /// The sampler.
    sampler: ObjectRef => wgpu::Sampler;
    /// The table layout.
    table_layout: ObjectRef => wgpu::BindGroupLayout;
    /// The pipeline layout.
    pipeline_layout: ObjectRef => wgpu::PipelineLayout;
    /// The binding table.
    table: ObjectRef => crate::binding::Table;
    /// The shader module.
    function: ObjectRef => wgpu::ShaderModule;
    /// The raster pipeline.
    raster_pipeline: ObjectRef => crate::pipeline::RasterPipeline;
    /// The compute pipeline.
    compute_pipeline: ObjectRef => wgpu::ComputePipeline;
}

/// The range of a buffer, inside it and not empty as the contract has it.
pub(crate) fn slice(slice: &SliceRef) -> wgpu::BufferSlice<'_> {
    buffer(&slice.buffer).raw.slice(slice.offset..slice.offset + slice.size)
}

/// Frees an object.
///
/// # Safety
/// As `DeviceBackend::destroy`: the object came from this backend, is passed once, and nothing can reach it any more.
pub(crate) unsafe fn free(kind: ObjectKind, native: Native) {
    /// # Safety
    /// The word names a box of this type.
    unsafe fn free_as<T>(word: u64) {
        // SAFETY: as the function requires.
        drop(unsafe { Box::from_raw(address::<T>(word)) });
    }
    let word = native.word;
    // SAFETY: the caller's promise; the type of the box is the kind's, as in the table above.
    unsafe {
        match kind {
            ObjectKind::Buffer => free_as::<crate::buffer::Buffer>(word),
            ObjectKind::Texture => free_as::<wgpu::Texture>(word),
            ObjectKind::TextureView => free_as::<crate::texture::View>(word),
            ObjectKind::Sampler => free_as::<wgpu::Sampler>(word),
            ObjectKind::TableLayout => free_as::<wgpu::BindGroupLayout>(word),
            ObjectKind::PipelineLayout => free_as::<wgpu::PipelineLayout>(word),
            ObjectKind::Table => free_as::<crate::binding::Table>(word),
            ObjectKind::Function => free_as::<wgpu::ShaderModule>(word),
            ObjectKind::RasterPipeline => free_as::<crate::pipeline::RasterPipeline>(word),
            ObjectKind::ComputePipeline => free_as::<wgpu::ComputePipeline>(word),
            // Never made (refused), or nothing behind the word (binary semaphores; fences are the queue's index).
            ObjectKind::PipelineCache | ObjectKind::QuerySet | ObjectKind::Semaphore | ObjectKind::Fence => {}
        }
    }
}
