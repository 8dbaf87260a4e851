//! Textures, views and what formats can do.

use crate::convert;
use crate::device::Shared;
use crate::memory::{self, Request, check, into_word};
use ash::vk;
use gpu_allocator::vulkan::{Allocation, AllocationScheme};
use rhizo_rhi::backend::{Native, NativeView, TextureRef};
use rhizo_rhi::{
    Error, ErrorKind, Format, FormatClass, FormatSupport, Result, StorageMode, TextureDesc, TextureDimension,
    TextureUsage, ViewDimension, ViewKind,
};
use smallvec::SmallVec;

/// What destruction needs.
pub(crate) struct TextureRecord {
    allocation: Allocation,
}

pub(crate) fn create(device: &Shared, desc: &TextureDesc<'_>) -> Result<Native> {
    let targets = TextureUsage::COLOR_TARGET | TextureUsage::DEPTH_STENCIL_TARGET;
    let mut usage = convert::texture_usage(desc.usage);
    if desc.storage == StorageMode::Memoryless {
        if !targets.contains(desc.usage) {
            let detail = format!("a memoryless texture is a target only, not {:?}", desc.usage);
            return Err(Error::new(ErrorKind::InvalidUsage, detail).on(desc.label));
        }
        usage |= vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
    }
    let formats: SmallVec<[vk::Format; 4]> =
        std::iter::once(&desc.format).chain(desc.view_formats).map(|f| convert::format(*f)).collect();
    let mut list = vk::ImageFormatListCreateInfo::default().view_formats(&formats);
    let mut info = image_info(desc).usage(usage);
    if !desc.view_formats.is_empty() {
        info = info.push_next(&mut list);
        info.flags |= vk::ImageCreateFlags::MUTABLE_FORMAT;
    }
    check_possible(device, &info, desc)?;
    // SAFETY: the device is alive; the combination was found to be supported.
    let image = check(unsafe { device.raw.create_image(&info, None) }, "vkCreateImage", desc.label)?;
    match bind(device, desc, image) {
        Ok(allocation) => {
            device.name(image, desc.label);
            Ok(Native { word: vk::Handle::as_raw(image), aux: into_word(TextureRecord { allocation }) })
        }
        Err(error) => {
            // SAFETY: the image was just made and is named nowhere.
            unsafe { device.raw.destroy_image(image, None) };
            Err(error)
        }
    }
}

fn image_info(desc: &TextureDesc<'_>) -> vk::ImageCreateInfo<'static> {
    let e = desc.extent;
    let (kind, depth, layers) = match desc.dimension {
        TextureDimension::D1 => (vk::ImageType::TYPE_1D, 1, e.z),
        TextureDimension::D2 | TextureDimension::Cube => (vk::ImageType::TYPE_2D, 1, e.z),
        TextureDimension::D3 => (vk::ImageType::TYPE_3D, e.z, 1),
    };
    let mut flags = vk::ImageCreateFlags::empty();
    if desc.dimension == TextureDimension::Cube {
        flags |= vk::ImageCreateFlags::CUBE_COMPATIBLE;
    }
    vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(kind)
        .format(convert::format(desc.format))
        .extent(vk::Extent3D { width: e.x, height: e.y, depth })
        .mip_levels(desc.mips)
        .array_layers(layers)
        .samples(vk::SampleCountFlags::from_raw(desc.samples))
        .tiling(vk::ImageTiling::OPTIMAL)
        .sharing_mode(vk::SharingMode::EXCLUSIVE)
        .initial_layout(vk::ImageLayout::UNDEFINED)
}

/// The device's own word on this very combination of format, dimension, usage, size and samples.
fn check_possible(device: &Shared, info: &vk::ImageCreateInfo<'_>, desc: &TextureDesc<'_>) -> Result<()> {
    // SAFETY: the physical device belongs to the living instance.
    let possible = unsafe {
        device.instance.raw.get_physical_device_image_format_properties(
            device.physical,
            info.format,
            info.image_type,
            info.tiling,
            info.usage,
            info.flags,
        )
    };
    let refused = |detail: String| Err(Error::new(ErrorKind::Unsupported, detail).on(desc.label));
    match possible {
        Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => {
            refused(format!("{} as {:?} with {:?}", desc.format, desc.dimension, desc.usage))
        }
        Err(other) => Err(convert::error(other, "vkGetPhysicalDeviceImageFormatProperties").on(desc.label)),
        Ok(p) => {
            let (e, max) = (info.extent, p.max_extent);
            let fits = e.width <= max.width && e.height <= max.height && e.depth <= max.depth;
            if fits
                && info.mip_levels <= p.max_mip_levels
                && info.array_layers <= p.max_array_layers
                && p.sample_counts.contains(info.samples)
            {
                return Ok(());
            }
            refused(format!("{:?} with {} samples; the device has {p:?} for this format", desc.extent, desc.samples))
        }
    }
}

fn bind(device: &Shared, desc: &TextureDesc<'_>, image: vk::Image) -> Result<Allocation> {
    let mut dedicated = vk::MemoryDedicatedRequirements::default();
    let mut requirements = vk::MemoryRequirements2::default().push_next(&mut dedicated);
    let info = vk::ImageMemoryRequirementsInfo2::default().image(image);
    // SAFETY: the image is alive.
    unsafe { device.raw.get_image_memory_requirements2(&info, &mut requirements) };
    let requirements = requirements.memory_requirements;
    let own = memory::wants_dedicated(&dedicated);
    let allocation = device.memory.allocate(&Request {
        label: desc.label,
        requirements,
        storage: desc.storage,
        linear: false,
        scheme: if own { AllocationScheme::DedicatedImage(image) } else { AllocationScheme::GpuAllocatorManaged },
    })?;
    // SAFETY: the memory was allocated for these requirements and is bound once.
    let bound = unsafe { device.raw.bind_image_memory(image, allocation.memory(), allocation.offset()) };
    if let Err(error) = check(bound, "vkBindImageMemory", desc.label) {
        device.memory.free(allocation);
        return Err(error);
    }
    Ok(allocation)
}

/// # Safety
/// As `DeviceBackend::destroy`, for a texture.
pub(crate) unsafe fn destroy(device: &Shared, native: Native) {
    // SAFETY: the caller gives a texture of ours once, out of use.
    unsafe {
        device.raw.destroy_image(vk::Handle::from_raw(native.word), None);
        device.memory.free(memory::from_word::<TextureRecord>(native.aux).allocation);
    }
}

pub(crate) fn create_view(device: &Shared, texture: TextureRef, desc: &NativeView<'_>) -> Result<Native> {
    if desc.dimension == ViewDimension::D3 && matches!(desc.kind, ViewKind::ColorTarget | ViewKind::DepthStencilTarget)
    {
        let detail = "passes cannot draw into slices of 3D textures yet; use a storage view";
        return Err(Error::new(ErrorKind::Unsupported, detail).on(desc.label));
    }
    if desc.dimension == ViewDimension::CubeArray && device.features.core.image_cube_array != vk::TRUE {
        return Err(Error::new(ErrorKind::Unsupported, "the device lacks imageCubeArray").on(desc.label));
    }
    let mut usage = vk::ImageViewUsageCreateInfo::default().usage(convert::view_usage(desc.kind));
    let [r, g, b, a] = desc.swizzle.map(convert::component);
    let info = vk::ImageViewCreateInfo::default()
        .image(vk::Handle::from_raw(texture.word))
        .view_type(convert::view_type(desc.dimension))
        .format(convert::format(desc.format))
        .components(vk::ComponentMapping { r, g, b, a })
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: convert::aspects(desc.range.aspects),
            base_mip_level: desc.range.base_mip,
            level_count: desc.range.mip_count,
            base_array_layer: desc.range.base_layer,
            layer_count: desc.range.layer_count,
        })
        .push_next(&mut usage);
    // SAFETY: the image is alive and the range inside it.
    let view = check(unsafe { device.raw.create_image_view(&info, None) }, "vkCreateImageView", desc.label)?;
    device.name(view, desc.label);
    Ok(Native { word: vk::Handle::as_raw(view), aux: 0 })
}

/// What a format can be used for with optimal tiling.
pub(crate) fn format_support(instance: &ash::Instance, physical: vk::PhysicalDevice, format: Format) -> FormatSupport {
    let native = convert::format(format);
    let mut extended = vk::FormatProperties3::default();
    let mut properties = vk::FormatProperties2::default().push_next(&mut extended);
    // SAFETY: the device has Vulkan 1.3, which knows the structure.
    unsafe { instance.get_physical_device_format_properties2(physical, native, &mut properties) };
    use vk::FormatFeatureFlags2 as F;
    let has = |flags: F| extended.optimal_tiling_features.contains(flags);
    let depth = format.is_depth_stencil();
    let renderable = has(if depth { F::DEPTH_STENCIL_ATTACHMENT } else { F::COLOR_ATTACHMENT });
    let integer = matches!(format.info().class, FormatClass::Uint | FormatClass::Sint);
    let sample_mask = if renderable { sample_mask(instance, physical, native, depth) } else { 1 };
    FormatSupport {
        sampled: has(F::SAMPLED_IMAGE),
        filterable: has(F::SAMPLED_IMAGE_FILTER_LINEAR),
        renderable,
        blendable: has(F::COLOR_ATTACHMENT_BLEND),
        storage_read: has(F::STORAGE_IMAGE),
        storage_write: has(F::STORAGE_IMAGE),
        storage_atomic: has(F::STORAGE_IMAGE_ATOMIC),
        vertex: extended.buffer_features.contains(F::VERTEX_BUFFER),
        copy: has(F::TRANSFER_SRC | F::TRANSFER_DST),
        blit_source: has(F::BLIT_SRC),
        blit_destination: has(F::BLIT_DST),
        resolve: renderable && !depth && !integer && sample_mask > 1,
        linear_mips: has(F::BLIT_SRC | F::BLIT_DST | F::SAMPLED_IMAGE_FILTER_LINEAR),
        sample_mask,
    }
}

fn sample_mask(instance: &ash::Instance, physical: vk::PhysicalDevice, format: vk::Format, depth: bool) -> u8 {
    let usage =
        if depth { vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT } else { vk::ImageUsageFlags::COLOR_ATTACHMENT };
    // SAFETY: the physical device belongs to the living instance.
    let properties = unsafe {
        instance.get_physical_device_image_format_properties(
            physical,
            format,
            vk::ImageType::TYPE_2D,
            vk::ImageTiling::OPTIMAL,
            usage,
            vk::ImageCreateFlags::empty(),
        )
    };
    // Vulkan's sample bits are the counts themselves: 1, 2, 4, …, so the mask is the contract's.
    properties.map_or(1, |p| p.sample_counts.as_raw() as u8 & 0x7f)
}
