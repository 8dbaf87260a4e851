//! Raster passes, and the clears and resolves lowered to empty ones.

use crate::convert;
use crate::memory;
use crate::pipeline::RasterPipeline;
use crate::texture::mip_size;
use rhizo_rhi::backend::{ColorAttachmentRef, DepthStencilAttachmentRef, RasterPassRef, TextureRef};
use rhizo_rhi::{Error, ErrorKind, LoadOp, Result, StoreOp, TextureCopy, TextureRange, Viewport};
use std::ops::Range;

/// An open raster pass.
pub(super) struct Raster {
    pub(super) raw: wgpu::RenderPass<'static>,
    /// Render area: x, y, width, height.
    area: [u32; 4],
    strip: bool,
}

fn unsupported<T>(reason: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Unsupported, reason))
}

/// `count` elements from `first`.
pub(super) fn span(first: u32, count: u32) -> Result<Range<u32>> {
    match first.checked_add(count) {
        Some(end) => Ok(first..end),
        None => Err(Error::new(ErrorKind::InvalidArgument, format!("{count} from {first} exceed 32 bits"))),
    }
}

impl Raster {
    pub(super) fn begin(encoder: &mut wgpu::CommandEncoder, pass: &RasterPassRef<'_>) -> Result<Self> {
        let target = target_size(pass);
        let whole = pass.area == [0, 0, target.0, target.1];
        check(pass, whole)?;
        let colors: Vec<_> = pass.colors.iter().map(|color| color.as_ref().map(color_attachment)).collect();
        let native = wgpu::RenderPassDescriptor {
            label: Some(pass.label),
            color_attachments: &colors,
            depth_stencil_attachment: pass.depth_stencil.as_ref().map(depth_attachment),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        };
        let raw = encoder.begin_render_pass(&native).forget_lifetime();
        let mut this = Self { raw, area: pass.area, strip: false };
        if !whole {
            let [x, y, width, height] = pass.area.map(|v| v as f32);
            this.raw.set_viewport(x, y, width, height, 0.0, 1.0);
            this.set_scissor(pass.area);
        }
        Ok(this)
    }

    pub(super) fn set_pipeline(&mut self, pipeline: &RasterPipeline) {
        self.strip = pipeline.strip;
        self.raw.set_pipeline(&pipeline.raw);
    }

    pub(super) fn check_indexed(&self) -> Result<()> {
        if self.strip {
            return unsupported(
                "WebGPU fixes the width of indices in strip pipelines: indexed strips are not lowered yet",
            );
        }
        Ok(())
    }

    pub(super) fn set_viewport(&mut self, v: &Viewport) -> Result<()> {
        if v.min_depth > v.max_depth {
            return unsupported("WebGPU has no inverted viewport depth");
        }
        self.raw.set_viewport(v.x, v.y, v.width, v.height, v.min_depth, v.max_depth);
        Ok(())
    }

    /// Sets the part of a scissor that is inside the render area: nothing outside is drawn in any case.
    pub(super) fn set_scissor(&mut self, [x, y, width, height]: [u32; 4]) {
        let cut = |start: u32, size: u32, low: u32, length: u32| {
            let (start, end) = (start.clamp(low, low + length), start.saturating_add(size).clamp(low, low + length));
            (start, end - start)
        };
        let [left, top, area_width, area_height] = self.area;
        let ((x, width), (y, height)) = (cut(x, width, left, area_width), cut(y, height, top, area_height));
        self.raw.set_scissor_rect(x, y, width, height);
    }
}

fn check(pass: &RasterPassRef<'_>, whole: bool) -> Result<()> {
    if pass.view_mask != 0 || pass.layers > 1 {
        return unsupported("multiview and layered passes are not lowered to WebGPU yet");
    }
    if pass.timestamps.is_some() || pass.occlusion.is_some() {
        return unsupported(super::NO_QUERIES);
    }
    let depth =
        pass.depth_stencil.iter().flat_map(|d| [d.depth, d.stencil]).flatten().map(|(load, store, _)| (load, store));
    let mut ops = pass.colors.iter().flatten().map(|c| (c.load, c.store)).chain(depth);
    let resolves = pass.colors.iter().flatten().any(|c| c.resolve.is_some());
    if !whole && (resolves || ops.any(|ops| ops != (LoadOp::Load, StoreOp::Store))) {
        return unsupported(
            "WebGPU clears, discards and resolves whole targets: a smaller render area loads and stores",
        );
    }
    Ok(())
}

fn target_size(pass: &RasterPassRef<'_>) -> (u32, u32) {
    let color = pass.colors.iter().flatten().map(|c| &c.view).next();
    let view = color.or(pass.depth_stencil.as_ref().map(|d| &d.view));
    view.map_or((0, 0), |view| memory::view(view).size)
}

/// Undefined contents may as well be zeros: WebGPU has no load without a value.
fn load<T>(load: LoadOp, clear: impl Fn([f32; 4]) -> T) -> wgpu::LoadOp<T> {
    match load {
        LoadOp::Load => wgpu::LoadOp::Load,
        LoadOp::Clear(value) => wgpu::LoadOp::Clear(clear(value)),
        LoadOp::Discard => wgpu::LoadOp::Clear(clear([0.0; 4])),
    }
}

fn store(store: StoreOp) -> wgpu::StoreOp {
    match store {
        StoreOp::Store => wgpu::StoreOp::Store,
        StoreOp::Discard => wgpu::StoreOp::Discard,
    }
}

fn color_attachment(color: &ColorAttachmentRef) -> wgpu::RenderPassColorAttachment<'_> {
    wgpu::RenderPassColorAttachment {
        view: &memory::view(&color.view).raw,
        depth_slice: None,
        resolve_target: color.resolve.as_ref().map(|view| &memory::view(view).raw),
        ops: wgpu::Operations { load: load(color.load, convert::color), store: store(color.store) },
    }
}

/// No operations are WebGPU's way to say read-only.
fn depth_attachment(depth: &DepthStencilAttachmentRef) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    let written = |(load, store, read_only): (LoadOp, StoreOp, bool)| (!read_only).then_some((load, store));
    wgpu::RenderPassDepthStencilAttachment {
        view: &memory::view(&depth.view).raw,
        depth_ops: depth
            .depth
            .and_then(written)
            .map(|(l, s)| wgpu::Operations { load: load(l, |value| value[0]), store: store(s) }),
        stencil_ops: depth
            .stencil
            .and_then(written)
            .map(|(l, s)| wgpu::Operations { load: load(l, |value| value[0] as u32), store: store(s) }),
    }
}

fn slice(texture: &wgpu::Texture, mip: u32, layer: u32) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2),
        base_mip_level: mip,
        mip_level_count: Some(1),
        base_array_layer: layer,
        array_layer_count: Some(1),
        ..wgpu::TextureViewDescriptor::default()
    })
}

fn empty_pass(
    encoder: &mut wgpu::CommandEncoder,
    view: &wgpu::TextureView,
    resolve: Option<&wgpu::TextureView>,
    load: wgpu::LoadOp<wgpu::Color>,
) {
    let color = wgpu::RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: resolve,
        ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
    };
    let desc = wgpu::RenderPassDescriptor { color_attachments: &[Some(color)], ..Default::default() };
    drop(encoder.begin_render_pass(&desc));
}

/// Clears sub-resources, each by an empty pass.
pub(super) fn clear(
    encoder: &mut wgpu::CommandEncoder,
    texture: TextureRef,
    range: TextureRange,
    value: [f32; 4],
) -> Result<()> {
    let native = memory::texture(&texture);
    if !native.usage().contains(wgpu::TextureUsages::RENDER_ATTACHMENT) {
        return unsupported(format!("{} cannot be a target here, and clears are passes in WebGPU", texture.format));
    }
    for mip in range.base_mip..range.base_mip + range.mip_count {
        for layer in range.base_layer..range.base_layer + range.layer_count {
            empty_pass(encoder, &slice(native, mip, layer), None, wgpu::LoadOp::Clear(convert::color(value)));
        }
    }
    Ok(())
}

/// Resolves a whole sub-resource by empty passes, one for each layer.
pub(super) fn resolve(
    encoder: &mut wgpu::CommandEncoder,
    source: TextureRef,
    destination: TextureRef,
    r: &TextureCopy,
) -> Result<()> {
    let (from, to) = (memory::texture(&source), memory::texture(&destination));
    let size = (r.extent.x, r.extent.y);
    let whole = size == mip_size(from, r.source.mip) && size == mip_size(to, r.destination.mip);
    if !whole || r.source_origin != [0; 3] || r.destination_origin != [0; 3] {
        return unsupported("WebGPU resolves whole sub-resources");
    }
    if !to.usage().contains(wgpu::TextureUsages::RENDER_ATTACHMENT) {
        return unsupported(format!(
            "{} cannot be a target here, and resolves are passes in WebGPU",
            destination.format
        ));
    }
    for layer in 0..r.source.layer_count {
        let source = slice(from, r.source.mip, r.source.base_layer + layer);
        let target = slice(to, r.destination.mip, r.destination.base_layer + layer);
        empty_pass(encoder, &source, Some(&target), wgpu::LoadOp::Load);
    }
    Ok(())
}
