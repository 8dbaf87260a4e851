//! Raster passes opened from declared attachments.

use super::pool::ViewCache;
use super::{Bound, Result, Run, RunError};
use crate::declare::{AccessKind, AccessRange, ClearValue, LoadOp, StoreOp};
use crate::plan::{Attachment, PlanPass};
use rhizo_rhi::{
    Aspects, ColorAttachment, ColorTargetView, DepthOps, DepthStencilAttachment, DepthStencilTargetView,
    PassTimestamps, RasterPass, RasterPassDesc, Recorder, Texture, TextureRange,
};
use smallvec::SmallVec;

struct Color {
    view: ColorTargetView,
    resolve: Option<ColorTargetView>,
    load: rhizo_rhi::LoadOp,
    store: rhizo_rhi::StoreOp,
}

struct Depth {
    resource: u32,
    view: DepthStencilTargetView,
    depth: DepthOps,
    stencil: DepthOps,
}

/// The attachments of one pass, with their views held.
#[derive(Default)]
pub(super) struct Attachments {
    colors: SmallVec<[Color; 8]>,
    depth: Option<Depth>,
}

pub(super) fn attachments(
    run: &Run<'_>,
    pass: &PlanPass,
    bound: &[Option<Bound>],
    views: &mut ViewCache,
) -> Result<Attachments> {
    let mut out = Attachments::default();
    for attachment in &run.plan.attachments[pass.attachments.start as usize..pass.attachments.end as usize] {
        let access = &run.graph.accesses(pass.pass as usize)[attachment.access as usize];
        let texture = texture_of(run, pass, bound, attachment.resource)?;
        match access.kind {
            AccessKind::ColorAttachmentWrite | AccessKind::ColorAttachmentReadWrite => out.colors.push(Color {
                view: views.color(texture, range_of(access.range))?,
                resolve: None,
                load: load_op(attachment.load, false),
                store: store_op(attachment.store),
            }),
            _ => out.add_depth(attachment, access.kind, views, texture, range_of(access.range))?,
        }
    }
    out.add_resolves(run, pass, bound, views)?;
    Ok(out)
}

fn texture_of<'b>(run: &Run<'_>, pass: &PlanPass, bound: &'b [Option<Bound>], resource: u32) -> Result<&'b Texture> {
    match &bound[resource as usize] {
        Some(Bound::Texture(texture)) => Ok(texture),
        _ => Err(RunError::Work {
            pass: run.graph.pass_label(pass.pass as usize).to_owned(),
            detail: format!("attachment `{}` is not a texture", run.graph.resource_label(resource as usize)),
        }),
    }
}

/// A target view covers all aspects whatever the access names.
fn range_of(range: AccessRange) -> TextureRange {
    match range {
        AccessRange::Texture(range) => TextureRange { aspects: Aspects::empty(), ..range },
        AccessRange::Whole | AccessRange::Buffer(_) => TextureRange::WHOLE,
    }
}

fn load_op(load: LoadOp, stencil: bool) -> rhizo_rhi::LoadOp {
    match load {
        LoadOp::Load => rhizo_rhi::LoadOp::Load,
        LoadOp::Discard => rhizo_rhi::LoadOp::Discard,
        LoadOp::Clear(ClearValue::Color(color)) => rhizo_rhi::LoadOp::Clear(color),
        LoadOp::Clear(ClearValue::DepthStencil(_, value)) if stencil => {
            rhizo_rhi::LoadOp::Clear([value as f32, 0.0, 0.0, 0.0])
        }
        LoadOp::Clear(ClearValue::DepthStencil(value, _)) => rhizo_rhi::LoadOp::Clear([value, 0.0, 0.0, 0.0]),
    }
}

fn store_op(store: StoreOp) -> rhizo_rhi::StoreOp {
    match store {
        StoreOp::Store => rhizo_rhi::StoreOp::Store,
        StoreOp::Discard => rhizo_rhi::StoreOp::Discard,
    }
}

impl Attachments {
    /// Depth and stencil may be declared apart: both go into one attachment.
    fn add_depth(
        &mut self,
        a: &Attachment,
        kind: AccessKind,
        views: &mut ViewCache,
        texture: &Texture,
        range: TextureRange,
    ) -> Result<()> {
        let read_only = kind == AccessKind::DepthStencilRead;
        let ops = |stencil: bool| DepthOps {
            load: if read_only { rhizo_rhi::LoadOp::Load } else { load_op(a.load, stencil) },
            store: if read_only {
                rhizo_rhi::StoreOp::Store
            } else {
                store_op(if stencil { a.stencil_store } else { a.store })
            },
            read_only,
        };
        let untouched = DepthOps { load: rhizo_rhi::LoadOp::Load, store: rhizo_rhi::StoreOp::Store, read_only: true };
        if self.depth.as_ref().is_none_or(|d| d.resource != a.resource) {
            let view = views.depth(texture, range)?;
            self.depth = Some(Depth { resource: a.resource, view, depth: untouched, stencil: untouched });
        }
        if let Some(depth) = &mut self.depth {
            if a.aspects.contains(Aspects::DEPTH) {
                depth.depth = ops(false);
            }
            if a.aspects.contains(Aspects::STENCIL) {
                depth.stencil = ops(true);
            }
        }
        Ok(())
    }

    /// The n-th resolve destination belongs to the n-th multisampled colour attachment.
    fn add_resolves(
        &mut self,
        run: &Run<'_>,
        pass: &PlanPass,
        bound: &[Option<Bound>],
        views: &mut ViewCache,
    ) -> Result<()> {
        let mut next = 0;
        for access in run.graph.accesses(pass.pass as usize) {
            if access.kind != AccessKind::ResolveWrite {
                continue;
            }
            let texture = texture_of(run, pass, bound, access.resource_index() as u32)?;
            let Some(color) = self.colors.get_mut(next) else {
                return Err(RunError::Work {
                    pass: run.graph.pass_label(pass.pass as usize).to_owned(),
                    detail: "more resolve destinations than colour attachments".into(),
                });
            };
            color.resolve = Some(views.color(texture, range_of(access.range))?);
            next += 1;
        }
        Ok(())
    }

    pub(super) fn begin<'r>(
        &self,
        label: &str,
        timestamps: Option<PassTimestamps<'_>>,
        recorder: &'r mut Recorder<'_>,
    ) -> RasterPass<'r> {
        let mut colors: SmallVec<[Option<ColorAttachment<'_>>; 8]> = SmallVec::new();
        for c in &self.colors {
            let resolve = c.resolve.as_ref();
            colors.push(Some(ColorAttachment { view: &c.view, load: c.load, store: c.store, resolve }));
        }
        let depth_stencil =
            self.depth.as_ref().map(|d| DepthStencilAttachment { view: &d.view, depth: d.depth, stencil: d.stencil });
        recorder.raster_pass(&RasterPassDesc {
            label,
            colors: &colors,
            depth_stencil,
            timestamps,
            ..RasterPassDesc::default()
        })
    }
}
