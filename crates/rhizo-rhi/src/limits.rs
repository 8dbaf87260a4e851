//! Device limits: the hot ones as plain fields, all of them by kind.

/// The limits that checks read on hot paths. Units in the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLimits {
    /// Alignment of constant-buffer offsets, bytes.
    pub uniform_alignment_bytes: u32,
    /// Alignment of storage-buffer offsets, bytes.
    pub storage_alignment_bytes: u32,
    /// Best alignment of texture data in upload buffers, bytes.
    pub texture_copy_alignment_bytes: u32,
    /// Alignment of rows in buffer-texture copies, bytes.
    pub row_alignment_bytes: u32,
    /// Largest sample count of a colour attachment.
    pub max_samples: u32,
    /// Sampled textures a stage may use.
    pub max_bound_textures: u32,
    /// Smallest subgroup.
    pub min_subgroup_size: u32,
    /// Largest subgroup.
    pub max_subgroup_size: u32,
    /// Threads of one compute group.
    pub max_compute_threads: u32,
    /// Threads of one compute group in each dimension.
    pub max_compute_group: [u32; 3],
    /// Groups of one dispatch in each dimension.
    pub max_dispatch: [u32; 3],
    /// Bytes of group-shared memory.
    pub max_group_shared_bytes: u32,
    /// Vertex buffer slots.
    pub max_vertex_bindings: u32,
    /// Colour attachments of a pass.
    pub max_color_attachments: u32,
    /// Width and height of a 2D texture.
    pub max_texture_2d: u32,
    /// Edge of a cube face.
    pub max_texture_cube: u32,
    /// Edge of a 3D texture.
    pub max_texture_3d: u32,
    /// Array layers of a texture.
    pub max_texture_layers: u32,
    /// Bytes of push constants.
    pub max_push_constant_bytes: u32,
    /// Tables of a pipeline layout.
    pub max_tables: u32,
    /// Viewports of a pass.
    pub max_viewports: u32,
    /// Bytes of one constant-buffer binding.
    pub max_constant_range_bytes: u64,
    /// Bytes of one storage-buffer binding.
    pub max_storage_range_bytes: u64,
    /// Bytes of one buffer.
    pub max_buffer_bytes: u64,
    /// Largest sampler anisotropy; 1 if unsupported.
    pub max_anisotropy: u32,
}
