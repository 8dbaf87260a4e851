//! Textures, views and samplers.

use crate::convert;
use crate::device::Shared;
use rhizo_rhi::backend::{NativeView, TextureRef};
use rhizo_rhi::{
    AddressMode, Aspects, Error, ErrorKind, Filter, IDENTITY, Result, SamplerDesc, StorageMode, TextureDesc,
    TextureDimension, TextureUsage, ViewDimension, ViewKind,
};
use wgpu::TextureUsages;

/// A view and the size that passes need.
pub(crate) struct View {
    pub(crate) raw: wgpu::TextureView,
    /// Width and height of its first mip level.
    pub(crate) size: (u32, u32),
}

fn refuse<T>(label: &str, reason: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Unsupported, reason).on(label))
}

pub(crate) fn create(shared: &Shared, desc: &TextureDesc<'_>) -> Result<wgpu::Texture> {
    if desc.storage == StorageMode::Memoryless {
        return refuse(desc.label, "memoryless textures are not lowered to WebGPU yet");
    }
    if desc.dimension == TextureDimension::D1 && (desc.extent.z != 1 || desc.mips != 1) {
        return refuse(desc.label, "WebGPU's 1D textures have one layer and one mip level");
    }
    if desc.samples != 1 && desc.extent.z != 1 {
        return refuse(desc.label, "WebGPU's multisampled textures have one layer");
    }
    let view_formats: Vec<_> = desc.view_formats.iter().map(|format| convert::format(*format)).collect();
    let native = wgpu::TextureDescriptor {
        label: Some(desc.label),
        size: convert::extent(desc.extent),
        mip_level_count: desc.mips,
        sample_count: desc.samples,
        dimension: match desc.dimension {
            TextureDimension::D1 => wgpu::TextureDimension::D1,
            TextureDimension::D2 | TextureDimension::Cube => wgpu::TextureDimension::D2,
            TextureDimension::D3 => wgpu::TextureDimension::D3,
        },
        format: convert::format(desc.format),
        usage: usage(shared, desc),
        view_formats: &view_formats,
    };
    shared.scoped("createTexture", || shared.device.create_texture(&native)).map_err(|error| error.on(desc.label))
}

fn usage(shared: &Shared, desc: &TextureDesc<'_>) -> TextureUsages {
    let mut usage = TextureUsages::empty();
    for (from, to) in [
        (TextureUsage::COPY_SOURCE, TextureUsages::COPY_SRC),
        (TextureUsage::COPY_DESTINATION, TextureUsages::COPY_DST),
        (TextureUsage::SHADER_READ, TextureUsages::TEXTURE_BINDING),
        (TextureUsage::SHADER_WRITE, TextureUsages::STORAGE_BINDING),
        (TextureUsage::COLOR_TARGET | TextureUsage::DEPTH_STENCIL_TARGET, TextureUsages::RENDER_ATTACHMENT),
    ] {
        usage.set(to, desc.usage.intersects(from));
    }
    // Clears and resolves are passes here; multisampled textures must be attachments in any case.
    let flat = matches!(desc.dimension, TextureDimension::D2 | TextureDimension::Cube);
    let renderable = shared.format_support(desc.format).renderable;
    let target = flat && renderable && desc.usage.contains(TextureUsage::COPY_DESTINATION);
    usage.set(
        TextureUsages::RENDER_ATTACHMENT,
        target || desc.samples > 1 || usage.contains(TextureUsages::RENDER_ATTACHMENT),
    );
    usage
}

pub(crate) fn create_view(shared: &Shared, texture: TextureRef, desc: &NativeView<'_>) -> Result<View> {
    let target = matches!(desc.kind, ViewKind::ColorTarget | ViewKind::DepthStencilTarget);
    if target && desc.dimension == ViewDimension::D3 {
        return refuse(desc.label, "slices of 3D textures as targets are not lowered to WebGPU yet");
    }
    if target && desc.range.layer_count != 1 {
        return refuse(desc.label, "WebGPU has no layered raster passes: a target view has one layer");
    }
    if desc.swizzle != IDENTITY {
        return refuse(desc.label, "WebGPU's views have no component mapping");
    }
    let raw = crate::memory::texture(&texture);
    let native = wgpu::TextureViewDescriptor {
        label: Some(desc.label),
        format: Some(convert::format(desc.format)),
        dimension: Some(convert::view_dimension(desc.dimension)),
        usage: None,
        aspect: aspect(texture.format.aspects(), desc.range.aspects),
        base_mip_level: desc.range.base_mip,
        mip_level_count: Some(desc.range.mip_count),
        base_array_layer: desc.range.base_layer,
        array_layer_count: Some(desc.range.layer_count),
    };
    let view = shared.scoped("createView", || raw.create_view(&native)).map_err(|error| error.on(desc.label))?;
    Ok(View { raw: view, size: mip_size(raw, desc.range.base_mip) })
}

/// Width and height of a mip level.
pub(crate) fn mip_size(texture: &wgpu::Texture, mip: u32) -> (u32, u32) {
    let half = |size: u32| size.checked_shr(mip).unwrap_or(0).max(1);
    (half(texture.width()), half(texture.height()))
}

/// The aspects `chosen` of a format that has `all`; none chosen means all.
pub(crate) fn aspect(all: Aspects, chosen: Aspects) -> wgpu::TextureAspect {
    if chosen.is_empty() || chosen == all {
        wgpu::TextureAspect::All
    } else if chosen == Aspects::STENCIL {
        wgpu::TextureAspect::StencilOnly
    } else {
        wgpu::TextureAspect::DepthOnly
    }
}

pub(crate) fn create_sampler(shared: &Shared, desc: &SamplerDesc<'_>) -> Result<wgpu::Sampler> {
    if desc.lod_bias != 0.0 {
        return refuse(desc.label, "WebGPU's samplers have no bias: use the shader's");
    }
    if desc.anisotropy > 1 && [desc.min, desc.mag, desc.mip] != [Filter::Linear; 3] {
        return refuse(desc.label, "WebGPU's anisotropic samplers are linear in all three filters");
    }
    let filter = |filter| match filter {
        Filter::Nearest => wgpu::FilterMode::Nearest,
        Filter::Linear => wgpu::FilterMode::Linear,
    };
    let address = |mode| match mode {
        AddressMode::Repeat => wgpu::AddressMode::Repeat,
        AddressMode::MirrorRepeat => wgpu::AddressMode::MirrorRepeat,
        AddressMode::ClampToEdge => wgpu::AddressMode::ClampToEdge,
    };
    let native = wgpu::SamplerDescriptor {
        label: Some(desc.label),
        address_mode_u: address(desc.address[0]),
        address_mode_v: address(desc.address[1]),
        address_mode_w: address(desc.address[2]),
        mag_filter: filter(desc.mag),
        min_filter: filter(desc.min),
        mipmap_filter: match desc.mip {
            Filter::Nearest => wgpu::MipmapFilterMode::Nearest,
            Filter::Linear => wgpu::MipmapFilterMode::Linear,
        },
        // Levels below 0 do not exist: the same levels are read.
        lod_min_clamp: desc.lod_min.max(0.0),
        lod_max_clamp: desc.lod_max.max(0.0),
        compare: desc.comparison.map(convert::compare),
        anisotropy_clamp: u16::try_from(desc.anisotropy).unwrap_or(u16::MAX),
        border_color: None,
    };
    shared.scoped("createSampler", || shared.device.create_sampler(&native)).map_err(|error| error.on(desc.label))
}
