//! Table layouts, pipeline layouts and tables.

use crate::convert;
use crate::device::Shared;
use crate::memory;
use rhizo_rhi::backend::{NativeBinding, NativePipelineLayout, NativeTable};
use rhizo_rhi::{BindingKind, Error, ErrorKind, Result, SampleType, ShaderStages, TableEntry, TableLayoutDesc};
use std::num::NonZeroU64;

/// A table and how many dynamic offsets it takes.
pub(crate) struct Table {
    pub(crate) raw: wgpu::BindGroup,
    pub(crate) dynamic: usize,
}

pub(crate) fn create_table_layout(shared: &Shared, desc: &TableLayoutDesc<'_>) -> Result<wgpu::BindGroupLayout> {
    let entries = desc.entries.iter().map(|e| entry(e).map_err(|error| error.on(desc.label)));
    let entries = entries.collect::<Result<Vec<_>>>()?;
    let native = wgpu::BindGroupLayoutDescriptor { label: Some(desc.label), entries: &entries };
    shared
        .scoped("createBindGroupLayout", || shared.device.create_bind_group_layout(&native))
        .map_err(|error| error.on(desc.label))
}

fn entry(entry: &TableEntry) -> Result<wgpu::BindGroupLayoutEntry> {
    if entry.count != 1 {
        let detail = format!(
            "slot {} (\"{}\") is an array of {}: arrays of bindings are not lowered to WebGPU yet",
            entry.slot, entry.name, entry.count
        );
        return Err(Error::new(ErrorKind::Unsupported, detail));
    }
    let mut visibility = wgpu::ShaderStages::NONE;
    visibility.set(wgpu::ShaderStages::VERTEX, entry.stages.contains(ShaderStages::VERTEX));
    visibility.set(wgpu::ShaderStages::FRAGMENT, entry.stages.contains(ShaderStages::FRAGMENT));
    visibility.set(wgpu::ShaderStages::COMPUTE, entry.stages.contains(ShaderStages::COMPUTE));
    Ok(wgpu::BindGroupLayoutEntry { binding: entry.slot, visibility, ty: binding_type(entry), count: None })
}

fn binding_type(entry: &TableEntry) -> wgpu::BindingType {
    let buffer = |ty, dynamic| wgpu::BindingType::Buffer {
        ty,
        has_dynamic_offset: dynamic,
        min_binding_size: NonZeroU64::new(entry.min_size),
    };
    match entry.kind {
        BindingKind::Constant { dynamic } => buffer(wgpu::BufferBindingType::Uniform, dynamic),
        BindingKind::BufferRead => buffer(wgpu::BufferBindingType::Storage { read_only: true }, false),
        BindingKind::BufferWrite => buffer(wgpu::BufferBindingType::Storage { read_only: false }, false),
        BindingKind::Texture { sample, dimension, multisampled } => wgpu::BindingType::Texture {
            sample_type: match sample {
                // Formats that can't be filtered are not reported as sampled, see `caps::format_support`.
                SampleType::Float => wgpu::TextureSampleType::Float { filterable: !multisampled },
                SampleType::Sint => wgpu::TextureSampleType::Sint,
                SampleType::Uint => wgpu::TextureSampleType::Uint,
                SampleType::Depth => wgpu::TextureSampleType::Depth,
            },
            view_dimension: convert::view_dimension(dimension),
            multisampled,
        },
        BindingKind::StorageTexture { format, dimension, read, write } => wgpu::BindingType::StorageTexture {
            access: match (read, write) {
                (true, true) => wgpu::StorageTextureAccess::ReadWrite,
                (true, false) => wgpu::StorageTextureAccess::ReadOnly,
                (false, _) => wgpu::StorageTextureAccess::WriteOnly,
            },
            format: convert::format(format),
            view_dimension: convert::view_dimension(dimension),
        },
        BindingKind::Sampler { comparison: true } => wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison),
        BindingKind::Sampler { comparison: false } => wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
    }
}

pub(crate) fn create_pipeline_layout(shared: &Shared, desc: &NativePipelineLayout<'_>) -> Result<wgpu::PipelineLayout> {
    let tables: Vec<_> = desc.tables.iter().map(|table| table.as_ref().map(memory::table_layout)).collect();
    let native = wgpu::PipelineLayoutDescriptor {
        label: Some(desc.label),
        bind_group_layouts: &tables,
        // Without the feature the limit is 0, and the front type has refused any.
        immediate_size: desc.push.map_or(0, |push| push.size_bytes),
    };
    shared
        .scoped("createPipelineLayout", || shared.device.create_pipeline_layout(&native))
        .map_err(|error| error.on(desc.label))
}

pub(crate) fn create_table(shared: &Shared, desc: &NativeTable<'_>) -> Result<Table> {
    let entries: Vec<_> = desc
        .writes
        .iter()
        .map(|write| wgpu::BindGroupEntry {
            binding: write.slot,
            resource: match &write.resource {
                NativeBinding::Buffer { buffer, offset, size } => {
                    let buffer = &memory::buffer(buffer).raw;
                    let size = NonZeroU64::new(*size);
                    wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: *offset, size })
                }
                NativeBinding::View { view, .. } => wgpu::BindingResource::TextureView(&memory::view(view).raw),
                NativeBinding::Sampler(sampler) => wgpu::BindingResource::Sampler(memory::sampler(sampler)),
            },
        })
        .collect();
    let layout = memory::table_layout(&desc.layout);
    let native = wgpu::BindGroupDescriptor { label: Some(desc.label), layout, entries: &entries };
    let raw = shared
        .scoped("createBindGroup", || shared.device.create_bind_group(&native))
        .map_err(|error| error.on(desc.label))?;
    let dynamic = desc.writes.iter().filter(|w| matches!(w.kind, BindingKind::Constant { dynamic: true })).count();
    Ok(Table { raw, dynamic })
}
