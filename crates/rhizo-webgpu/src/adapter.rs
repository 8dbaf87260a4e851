//! Adapters: identity, features and limits.

use rhizo_rhi::{AdapterIdentity, AdapterInfo, AdapterKind, Capabilities, DeviceLimits, QueueKind};
use wgpu::Features;

/// Optional features that are switched on where the adapter has them.
const WANTED: Features = Features::IMMEDIATES
    .union(Features::FLOAT32_FILTERABLE)
    .union(Features::FLOAT32_BLENDABLE)
    .union(Features::TEXTURE_COMPRESSION_BC)
    .union(Features::TEXTURE_COMPRESSION_ETC2)
    .union(Features::TEXTURE_COMPRESSION_ASTC)
    .union(Features::TEXTURE_FORMAT_16BIT_NORM)
    .union(Features::DEPTH32FLOAT_STENCIL8)
    .union(Features::DEPTH_CLIP_CONTROL)
    .union(Features::POLYGON_MODE_LINE)
    .union(Features::RG11B10UFLOAT_RENDERABLE)
    .union(Features::BGRA8UNORM_STORAGE)
    .union(Features::INDIRECT_FIRST_INSTANCE);

/// Samples that WebGPU guarantees for every renderable format that has any.
const MAX_SAMPLES: u32 = 4;
/// WebGPU specification, `maxAnisotropy`: greater values are clamped to what the platform has, at most this.
const MAX_ANISOTROPY: u32 = 16;

/// An adapter and what was learnt about it at enumeration.
pub(crate) struct Adapter {
    pub(crate) raw: wgpu::Adapter,
    pub(crate) info: AdapterInfo,
    subgroups: (u32, u32),
}

impl Adapter {
    pub(crate) fn new(raw: wgpu::Adapter) -> Self {
        let native = raw.get_info();
        let downlevel = raw.get_downlevel_capabilities();
        let unusable = (!downlevel.is_webgpu_compliant()).then(|| {
            let missing = wgpu::DownlevelFlags::compliant().difference(downlevel.flags);
            format!("it does not keep WebGPU's rules: lacks {missing:?}, has {:?}", downlevel.shader_model)
        });
        let info = AdapterInfo {
            name: native.name.clone(),
            kind: match native.device_type {
                wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
                wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
                wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
                wgpu::DeviceType::Cpu => AdapterKind::Software,
                wgpu::DeviceType::Other => AdapterKind::Other,
            },
            // `wgpu` tells no UUID and no LUID.
            identity: AdapterIdentity { vendor: native.vendor, device: native.device, uuid: None, luid: None },
            driver: format!("{} {}", native.driver, native.driver_info).trim().to_owned(),
            api: format!("WebGPU over {:?}", native.backend),
            queues: vec![(QueueKind::Graphics, 1)],
            unusable,
        };
        Self { raw, info, subgroups: (native.subgroup_min_size, native.subgroup_max_size) }
    }

    /// The full report.
    pub(crate) fn capabilities(&self) -> Capabilities {
        let (features, native) = (self.features(), self.native_limits());
        crate::caps::report(self.raw.features(), features, &native, &self.limits(&native))
    }

    /// The limits that devices are opened with: all the adapter has.
    pub(crate) fn native_limits(&self) -> wgpu::Limits {
        let mut limits = self.raw.limits();
        if !self.features().contains(Features::IMMEDIATES) {
            limits.max_immediate_size = 0;
        }
        limits
    }

    pub(crate) fn features(&self) -> Features {
        self.raw.features() & WANTED
    }

    /// The limits in the contract's terms.
    pub(crate) fn limits(&self, native: &wgpu::Limits) -> DeviceLimits {
        let groups = native.max_compute_workgroups_per_dimension;
        DeviceLimits {
            uniform_alignment_bytes: native.min_uniform_buffer_offset_alignment,
            storage_alignment_bytes: native.min_storage_buffer_offset_alignment,
            texture_copy_alignment_bytes: wgpu::COPY_BYTES_PER_ROW_ALIGNMENT,
            row_alignment_bytes: wgpu::COPY_BYTES_PER_ROW_ALIGNMENT,
            max_samples: MAX_SAMPLES,
            max_bound_textures: native.max_sampled_textures_per_shader_stage,
            min_subgroup_size: self.subgroups.0,
            max_subgroup_size: self.subgroups.1,
            max_compute_threads: native.max_compute_invocations_per_workgroup,
            max_compute_group: [
                native.max_compute_workgroup_size_x,
                native.max_compute_workgroup_size_y,
                native.max_compute_workgroup_size_z,
            ],
            max_dispatch: [groups; 3],
            max_group_shared_bytes: native.max_compute_workgroup_storage_size,
            max_vertex_bindings: native.max_vertex_buffers,
            max_color_attachments: native.max_color_attachments,
            max_texture_2d: native.max_texture_dimension_2d,
            max_texture_cube: native.max_texture_dimension_2d,
            max_texture_3d: native.max_texture_dimension_3d,
            max_texture_layers: native.max_texture_array_layers,
            max_push_constant_bytes: native.max_immediate_size,
            max_tables: native.max_bind_groups,
            max_viewports: 1,
            max_constant_range_bytes: native.max_uniform_buffer_binding_size,
            max_storage_range_bytes: native.max_storage_buffer_binding_size,
            max_buffer_bytes: native.max_buffer_size,
            max_anisotropy: MAX_ANISOTROPY,
        }
    }
}
