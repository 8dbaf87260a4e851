//! Raster passes: attachments, viewports, scissors.

use super::Recorder;
use crate::convert;
use ash::vk;
use rhizo_rhi::backend::{ColorAttachmentRef, DepthStencilAttachmentRef, RasterPassRef};
use rhizo_rhi::{Aspects, Layout, LoadOp, MAX_COLORS, StoreOp, Viewport};
use smallvec::SmallVec;

/// Viewports and scissors of the open pass: Vulkan wants as many of one as of the other.
#[derive(Default)]
pub(super) struct Views {
    area: vk::Rect2D,
    viewports: SmallVec<[vk::Viewport; 16]>,
    scissors: SmallVec<[vk::Rect2D; 16]>,
}

impl Views {
    fn whole(&self) -> vk::Viewport {
        let (at, size) = (self.area.offset, self.area.extent);
        flipped(&Viewport {
            x: at.x as f32,
            y: at.y as f32,
            width: size.width as f32,
            height: size.height as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        })
    }
}

/// A negative height puts y up.
fn flipped(v: &Viewport) -> vk::Viewport {
    vk::Viewport {
        x: v.x,
        y: v.y + v.height,
        width: v.width,
        height: -v.height,
        min_depth: v.min_depth,
        max_depth: v.max_depth,
    }
}

fn rect(area: [u32; 4]) -> vk::Rect2D {
    let [x, y, width, height] = area;
    vk::Rect2D { offset: vk::Offset2D { x: x as i32, y: y as i32 }, extent: vk::Extent2D { width, height } }
}

fn store_op(store: StoreOp) -> vk::AttachmentStoreOp {
    match store {
        StoreOp::Store => vk::AttachmentStoreOp::STORE,
        StoreOp::Discard => vk::AttachmentStoreOp::DONT_CARE,
    }
}

fn color(attachment: Option<&ColorAttachmentRef>) -> vk::RenderingAttachmentInfo<'static> {
    let info = vk::RenderingAttachmentInfo::default();
    let Some(a) = attachment else { return info };
    let (load, value) = convert::load_op(a.load);
    let layout = |layout| convert::layout(layout, a.format, Aspects::COLOR);
    let info = info
        .image_view(vk::Handle::from_raw(a.view.word))
        .image_layout(layout(Layout::RenderTarget))
        .load_op(load)
        .store_op(store_op(a.store))
        .clear_value(vk::ClearValue { color: convert::clear_color(a.format, value) });
    let Some(resolve) = a.resolve else { return info };
    use rhizo_rhi::FormatClass as C;
    let average = match a.format.info().class {
        C::Unorm | C::Snorm | C::Float | C::Depth => vk::ResolveModeFlags::AVERAGE,
        C::Uint | C::Sint => vk::ResolveModeFlags::SAMPLE_ZERO,
    };
    info.resolve_mode(average)
        .resolve_image_view(vk::Handle::from_raw(resolve.word))
        .resolve_image_layout(layout(Layout::ResolveDestination))
}

/// One aspect. Read-only ones are not stored: storing would count as a write beside the reads of shaders.
fn part(
    a: &DepthStencilAttachmentRef,
    aspect: Aspects,
    ops: (LoadOp, StoreOp, bool),
    aspects: Aspects,
) -> vk::RenderingAttachmentInfo<'static> {
    let (load, store, read_only) = ops;
    let (load, value) = convert::load_op(load);
    let depth_stencil = vk::ClearDepthStencilValue { depth: value[0].clamp(0.0, 1.0), stencil: value[0] as u32 & 0xff };
    let layout = if read_only { Layout::DepthStencilReadOnly } else { Layout::DepthStencilWrite };
    debug_assert!(a.format.aspects().contains(aspect));
    vk::RenderingAttachmentInfo::default()
        .image_view(vk::Handle::from_raw(a.view.word))
        .image_layout(convert::layout(layout, a.format, aspects))
        .load_op(load)
        .store_op(if read_only { vk::AttachmentStoreOp::NONE } else { store_op(store) })
        .clear_value(vk::ClearValue { depth_stencil })
}

/// Depth and stencil attachments; each in the layout of both where they agree, else in its own.
fn depth_stencil(a: &DepthStencilAttachmentRef) -> [Option<vk::RenderingAttachmentInfo<'static>>; 2] {
    let split = matches!((a.depth, a.stencil), (Some((.., d)), Some((.., s))) if d != s);
    let aspects = |own| if split { own } else { a.format.aspects() };
    [
        a.depth.map(|ops| part(a, Aspects::DEPTH, ops, aspects(Aspects::DEPTH))),
        a.stencil.map(|ops| part(a, Aspects::STENCIL, ops, aspects(Aspects::STENCIL))),
    ]
}

impl Recorder {
    pub(super) fn record_begin_raster(&mut self, pass: &RasterPassRef<'_>) {
        let colors: SmallVec<[_; MAX_COLORS]> = pass.colors.iter().map(|c| color(c.as_ref())).collect();
        let [depth, stencil] = pass.depth_stencil.as_ref().map_or([None, None], depth_stencil);
        let mut info = vk::RenderingInfo::default()
            .render_area(rect(pass.area))
            .layer_count(if pass.view_mask == 0 { pass.layers } else { 1 })
            .view_mask(pass.view_mask)
            .color_attachments(&colors);
        if let Some(depth) = &depth {
            info = info.depth_attachment(depth);
        }
        if let Some(stencil) = &stencil {
            info = info.stencil_attachment(stencil);
        }
        // SAFETY: the command buffer is recording and no pass is open; views are alive and fit each other.
        unsafe { self.raw().cmd_begin_rendering(self.commands, &info) };
        self.views.area = rect(pass.area);
        self.views.viewports.clear();
        self.views.viewports.push(self.views.whole());
        self.views.scissors.clear();
        self.views.scissors.push(self.views.area);
        // SAFETY: as above.
        unsafe {
            let (raw, commands) = (self.raw(), self.commands);
            raw.cmd_set_viewport_with_count(commands, &self.views.viewports);
            raw.cmd_set_scissor_with_count(commands, &self.views.scissors);
            raw.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, 0);
            raw.cmd_set_blend_constants(commands, &[0.0; 4]);
        }
    }

    pub(super) fn record_viewports(&mut self, viewports: &[Viewport]) {
        self.views.viewports.clear();
        self.views.viewports.extend(viewports.iter().map(flipped));
        // SAFETY: the command buffer is recording inside a raster pass; the front checked values and number.
        unsafe { self.raw().cmd_set_viewport_with_count(self.commands, &self.views.viewports) };
        if self.views.scissors.len() != viewports.len() {
            self.views.scissors.resize(viewports.len(), self.views.area);
            // SAFETY: as above.
            unsafe { self.raw().cmd_set_scissor_with_count(self.commands, &self.views.scissors) };
        }
    }

    pub(super) fn record_scissors(&mut self, scissors: &[[u32; 4]]) {
        self.views.scissors.clear();
        self.views.scissors.extend(scissors.iter().map(|s| rect(*s)));
        // SAFETY: the command buffer is recording inside a raster pass; the front checked values and number.
        unsafe { self.raw().cmd_set_scissor_with_count(self.commands, &self.views.scissors) };
        if self.views.viewports.len() != scissors.len() {
            let whole = self.views.whole();
            self.views.viewports.resize(scissors.len(), whole);
            // SAFETY: as above.
            unsafe { self.raw().cmd_set_viewport_with_count(self.commands, &self.views.viewports) };
        }
    }
}
