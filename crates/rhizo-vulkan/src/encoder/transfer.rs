//! Copies, blits, clears and resolves.

use super::{Recorder, buffer_of};
use crate::convert;
use ash::vk;
use rhizo_rhi::backend::{BufferRef, TextureRef};
use rhizo_rhi::{
    Aspects, BlitFilter, BufferCopy, BufferTextureCopy, Extent, Format, Layout, TextureBlit, TextureCopy,
    TextureLayers, TextureRange,
};

/// Native regions of the command being recorded; the memory is kept for the next.
#[derive(Default)]
pub(super) struct Regions {
    buffers: Vec<vk::BufferCopy>,
    mixed: Vec<vk::BufferImageCopy>,
    copies: Vec<vk::ImageCopy>,
    blits: Vec<vk::ImageBlit>,
    resolves: Vec<vk::ImageResolve>,
}

pub(super) fn range(range: TextureRange) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: convert::aspects(range.aspects),
        base_mip_level: range.base_mip,
        level_count: range.mip_count,
        base_array_layer: range.base_layer,
        layer_count: range.layer_count,
    }
}

fn layers(layers: TextureLayers, format: Format) -> vk::ImageSubresourceLayers {
    let aspects = if layers.aspects.is_empty() { format.aspects() } else { layers.aspects };
    vk::ImageSubresourceLayers {
        aspect_mask: convert::aspects(aspects),
        mip_level: layers.mip,
        base_array_layer: layers.base_layer,
        layer_count: layers.layer_count,
    }
}

fn offset(at: [u32; 3]) -> vk::Offset3D {
    vk::Offset3D { x: at[0] as i32, y: at[1] as i32, z: at[2] as i32 }
}

fn extent(e: Extent) -> vk::Extent3D {
    vk::Extent3D { width: e.x, height: e.y, depth: e.z }
}

/// Vulkan counts rows in texels: the pitch in bytes becomes blocks, blocks become texels.
fn mixed(r: &BufferTextureCopy, format: Format) -> vk::BufferImageCopy {
    let aspects = if r.layers.aspects.is_empty() { format.aspects() } else { r.layers.aspects };
    let (block, bytes) = (format.info().block, format.copy_block_bytes(aspects));
    vk::BufferImageCopy {
        buffer_offset: r.buffer_offset,
        buffer_row_length: r.row_pitch / bytes * u32::from(block.0),
        buffer_image_height: r.rows_per_slice * u32::from(block.1),
        image_subresource: layers(r.layers, format),
        image_offset: offset(r.origin),
        image_extent: extent(r.extent),
    }
}

fn image(texture: (TextureRef, Layout)) -> (vk::Image, vk::ImageLayout) {
    let (texture, layout) = texture;
    (vk::Handle::from_raw(texture.word), convert::layout(layout, texture.format, texture.format.aspects()))
}

/// Fills a kept list and gives it.
fn refill<T>(list: &mut Vec<T>, items: impl Iterator<Item = T>) -> &[T] {
    list.clear();
    list.extend(items);
    list
}

// Every command below is recorded while the command buffer records outside a raster pass, with live objects of this
// device whose usages, formats, ranges and alignments the front has checked.
impl Recorder {
    pub(super) fn record_copy_buffer(&mut self, from: BufferRef, to: BufferRef, regions: &[BufferCopy]) {
        let native = regions.iter().map(|r| vk::BufferCopy {
            src_offset: r.source_offset,
            dst_offset: r.destination_offset,
            size: r.size,
        });
        let regions = refill(&mut self.regions.buffers, native);
        if regions.is_empty() {
            return;
        }
        // SAFETY: see above.
        unsafe { self.device.raw.cmd_copy_buffer(self.commands, buffer_of(from), buffer_of(to), regions) };
    }

    pub(super) fn record_buffer_to_texture(
        &mut self,
        from: BufferRef,
        to: TextureRef,
        layout: Layout,
        regions: &[BufferTextureCopy],
    ) {
        let regions = refill(&mut self.regions.mixed, regions.iter().map(|r| mixed(r, to.format)));
        if regions.is_empty() {
            return;
        }
        let (image, layout) = image((to, layout));
        // SAFETY: see above.
        unsafe {
            self.device.raw.cmd_copy_buffer_to_image(self.commands, buffer_of(from), image, layout, regions);
        }
    }

    pub(super) fn record_texture_to_buffer(
        &mut self,
        from: TextureRef,
        layout: Layout,
        to: BufferRef,
        regions: &[BufferTextureCopy],
    ) {
        let regions = refill(&mut self.regions.mixed, regions.iter().map(|r| mixed(r, from.format)));
        if regions.is_empty() {
            return;
        }
        let (image, layout) = image((from, layout));
        // SAFETY: see above.
        unsafe {
            self.device.raw.cmd_copy_image_to_buffer(self.commands, image, layout, buffer_of(to), regions);
        }
    }

    pub(super) fn record_copy_texture(
        &mut self,
        from: (TextureRef, Layout),
        to: (TextureRef, Layout),
        regions: &[TextureCopy],
    ) {
        let native = regions.iter().map(|r| vk::ImageCopy {
            src_subresource: layers(r.source, from.0.format),
            src_offset: offset(r.source_origin),
            dst_subresource: layers(r.destination, to.0.format),
            dst_offset: offset(r.destination_origin),
            extent: extent(r.extent),
        });
        let regions = refill(&mut self.regions.copies, native);
        if regions.is_empty() {
            return;
        }
        let ((from, from_layout), (to, to_layout)) = (image(from), image(to));
        // SAFETY: see above.
        unsafe { self.device.raw.cmd_copy_image(self.commands, from, from_layout, to, to_layout, regions) };
    }

    pub(super) fn record_blit(
        &mut self,
        from: (TextureRef, Layout),
        to: (TextureRef, Layout),
        regions: &[TextureBlit],
        filter: BlitFilter,
    ) {
        let native = regions.iter().map(|r| vk::ImageBlit {
            src_subresource: layers(r.source, from.0.format),
            src_offsets: r.source_box.map(offset),
            dst_subresource: layers(r.destination, to.0.format),
            dst_offsets: r.destination_box.map(offset),
        });
        let regions = refill(&mut self.regions.blits, native);
        if regions.is_empty() {
            return;
        }
        // Depth and stencil are blitted texel by texel only.
        let filter = match filter {
            BlitFilter::Linear if from.0.format.aspects() == Aspects::COLOR => vk::Filter::LINEAR,
            BlitFilter::Linear | BlitFilter::Nearest => vk::Filter::NEAREST,
        };
        let ((from, from_layout), (to, to_layout)) = (image(from), image(to));
        // SAFETY: see above.
        unsafe { self.device.raw.cmd_blit_image(self.commands, from, from_layout, to, to_layout, regions, filter) };
    }

    pub(super) fn record_clear(&mut self, texture: (TextureRef, Layout), part: TextureRange, value: [f32; 4]) {
        let value = convert::clear_color(texture.0.format, value);
        let (image, layout) = image(texture);
        // SAFETY: see above.
        unsafe { self.device.raw.cmd_clear_color_image(self.commands, image, layout, &value, &[range(part)]) };
    }

    pub(super) fn record_resolve(
        &mut self,
        from: (TextureRef, Layout),
        to: (TextureRef, Layout),
        regions: &[TextureCopy],
    ) {
        let native = regions.iter().map(|r| vk::ImageResolve {
            src_subresource: layers(r.source, from.0.format),
            src_offset: offset(r.source_origin),
            dst_subresource: layers(r.destination, to.0.format),
            dst_offset: offset(r.destination_origin),
            extent: extent(r.extent),
        });
        let regions = refill(&mut self.regions.resolves, native);
        if regions.is_empty() {
            return;
        }
        let ((from, from_layout), (to, to_layout)) = (image(from), image(to));
        // SAFETY: see above.
        unsafe { self.device.raw.cmd_resolve_image(self.commands, from, from_layout, to, to_layout, regions) };
    }
}
