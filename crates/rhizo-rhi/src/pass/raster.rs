//! Raster passes.

use super::{LoadOp, OneThread, PassTimestamps, StoreOp, Viewport, push_constants, set_tables};
use crate::backend::{BindPoint, ColorAttachmentRef, DepthStencilAttachmentRef, ObjectRef, RasterPassRef};
use crate::binding::BindingTable;
use crate::buffer::{Buffer, BufferUsage, IndexBufferView, VertexBufferView};
use crate::clause;
use crate::encoder::{OpenPass, RecorderCore};
use crate::error::{Error, Located, Result};
use crate::format::Format;
use crate::handle::ObjectId;
use crate::pipeline::{AttachmentAbi, AttachmentFormats, MAX_COLORS, PipelineFacts, RasterPipeline};
use crate::query::{QueryKind, QuerySet};
use crate::texture::{ColorTargetView, DepthStencilTargetView, TextureView};
use crate::vocab::{Aspects, QueueKind};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// A colour attachment.
#[derive(Clone, Copy, Debug)]
pub struct ColorAttachment<'a> {
    /// Target.
    pub view: &'a ColorTargetView,
    /// At the start.
    pub load: LoadOp,
    /// At the end.
    pub store: StoreOp,
    /// A single-sampled target that a multisampled one is averaged into at the end (integers: the first sample). It is in
    /// layout resolve-destination and written with access resolve-write by stage fragment.
    pub resolve: Option<&'a ColorTargetView>,
}

/// Depth operations.
#[derive(Clone, Copy, Debug)]
pub struct DepthOps {
    /// At the start.
    pub load: LoadOp,
    /// At the end.
    pub store: StoreOp,
    /// Only tested: the texture may be sampled in the same pass.
    pub read_only: bool,
}

impl Default for DepthOps {
    fn default() -> Self {
        Self { load: LoadOp::Clear([0.0; 4]), store: StoreOp::Store, read_only: false }
    }
}

/// Stencil operations; the clear value is the first number.
pub type StencilOps = DepthOps;

/// A depth-stencil attachment.
#[derive(Clone, Copy, Debug)]
pub struct DepthStencilAttachment<'a> {
    /// Target.
    pub view: &'a DepthStencilTargetView,
    /// Depth; ignored for formats without.
    pub depth: DepthOps,
    /// Stencil; ignored for formats without.
    pub stencil: StencilOps,
}

/// Describes a raster pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct RasterPassDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Colour attachments by slot.
    pub colors: &'a [Option<ColorAttachment<'a>>],
    /// Depth-stencil attachment.
    pub depth_stencil: Option<DepthStencilAttachment<'a>>,
    /// x, y, width, height; `None` is the whole target.
    pub area: Option<[u32; 4]>,
    /// Multiview mask, 0 for none.
    pub view_mask: u32,
    /// Timestamps at begin and end.
    pub timestamps: Option<PassTimestamps<'a>>,
    /// Set that occlusion queries of the pass write.
    pub occlusion: Option<&'a QuerySet>,
}

/// An open raster pass. At its begin, viewport and scissor are the whole render area, references 0 and nothing is bound.
pub struct RasterPass<'a> {
    core: &'a mut RecorderCore,
    one_thread: OneThread,
}

/// What all attachments agree on.
struct Shape {
    extent: Option<(u32, u32)>,
    samples: u32,
    layers: u32,
    /// Texture, mip, first layer, layers.
    seen: SmallVec<[(ObjectId, u32, u32, u32); 9]>,
}

impl Shape {
    #[track_caller]
    fn add(&mut self, core: &RecorderCore, view: &TextureView) -> Result<()> {
        core.check(view.key, &view.owned)?;
        let bad = |detail: String| Err(Error::clause(clause::PASS_ATTACHMENT, detail).on(&*view.owned.label));
        let (extent, layers) = ((view.extent.x, view.extent.y), view.range.layer_count);
        match self.extent {
            None => (self.extent, self.samples, self.layers) = (Some(extent), view.samples, layers),
            Some(own) if own != extent => return bad(format!("{extent:?} texels, others have {own:?}")),
            Some(_) if self.samples != view.samples => {
                return bad(format!("{} samples, others have {}", view.samples, self.samples));
            }
            Some(_) if self.layers != layers => return bad(format!("{layers} layers, others have {}", self.layers)),
            Some(_) => {}
        }
        self.unique(view)
    }

    #[track_caller]
    fn unique(&mut self, view: &TextureView) -> Result<()> {
        let (mip, base, count) = (view.range.base_mip, view.range.base_layer, view.range.layer_count);
        let meets = |&(texture, other, first, layers): &(ObjectId, u32, u32, u32)| {
            texture == view.texture && mip == other && base < first + layers && first < base + count
        };
        if self.seen.iter().any(meets) {
            let detail = "the same sub-resource twice";
            return Err(Error::clause(clause::PASS_ATTACHMENT, detail).on(&*view.owned.label));
        }
        self.seen.push((view.texture, mip, base, count));
        Ok(())
    }
}

#[track_caller]
fn color_ref(core: &RecorderCore, shape: &mut Shape, a: &ColorAttachment<'_>) -> Result<ColorAttachmentRef> {
    shape.add(core, &a.view.0)?;
    if let Some(resolve) = a.resolve {
        core.check(resolve.0.key, &resolve.0.owned)?;
        shape.unique(&resolve.0)?;
        let fits = a.view.0.samples > 1
            && resolve.0.samples == 1
            && resolve.0.format == a.view.0.format
            && resolve.0.range.layer_count == a.view.0.range.layer_count
            && (resolve.0.extent.x, resolve.0.extent.y) == (a.view.0.extent.x, a.view.0.extent.y);
        if !fits {
            let detail = format!(
                "{} samples of {} resolved into {} of {}",
                a.view.0.samples, a.view.0.format, resolve.0.samples, resolve.0.format
            );
            return Err(Error::clause(clause::PASS_ATTACHMENT, detail).on(&*resolve.0.owned.label));
        }
    }
    Ok(ColorAttachmentRef {
        view: a.view.0.raw,
        format: a.view.0.format,
        load: a.load,
        store: a.store,
        resolve: a.resolve.map(|r| r.0.raw),
    })
}

#[track_caller]
fn depth_ref(
    core: &RecorderCore,
    shape: &mut Shape,
    a: &DepthStencilAttachment<'_>,
) -> Result<DepthStencilAttachmentRef> {
    let view = &a.view.0;
    shape.add(core, view)?;
    let ops =
        |aspect, ops: &DepthOps| view.format.aspects().contains(aspect).then_some((ops.load, ops.store, ops.read_only));
    let (depth, stencil) = (ops(Aspects::DEPTH, &a.depth), ops(Aspects::STENCIL, &a.stencil));
    for (load, store, read_only) in [depth, stencil].into_iter().flatten() {
        if read_only && (load != LoadOp::Load || store != StoreOp::Store) {
            let detail = "a read-only aspect is loaded and stored";
            return Err(Error::clause(clause::PASS_READ_ONLY, detail).on(&*view.owned.label));
        }
    }
    Ok(DepthStencilAttachmentRef { view: view.raw, format: view.format, depth, stencil })
}

#[track_caller]
fn area(desc: &RasterPassDesc<'_>, extent: (u32, u32)) -> Result<[u32; 4]> {
    let Some(area) = desc.area else { return Ok([0, 0, extent.0, extent.1]) };
    let end = |origin: u32, size: u32, max: u32| size > 0 && origin.checked_add(size).is_some_and(|end| end <= max);
    if end(area[0], area[2], extent.0) && end(area[1], area[3], extent.1) {
        return Ok(area);
    }
    Err(Error::clause(clause::PASS_ATTACHMENT, format!("render area {area:?} of {extent:?}")))
}

#[track_caller]
fn occlusion(core: &mut RecorderCore, set: Option<&QuerySet>) -> Result<Option<(ObjectRef, u32)>> {
    let Some(set) = set else { return Ok(None) };
    core.check(set.key, set.owned())?;
    set.check_kind(set.kind == QueryKind::Occlusion)?;
    core.backend.reset_queries(set.raw, 0, set.count);
    Ok(Some((set.raw, set.count)))
}

#[track_caller]
fn open(core: &mut RecorderCore, desc: &RasterPassDesc<'_>) -> Result<()> {
    let mut shape = Shape { extent: None, samples: 1, layers: 1, seen: SmallVec::new() };
    let limit = MAX_COLORS.min(core.device.limits.max_color_attachments as usize);
    if desc.colors.len() > limit {
        let detail = format!("{} colour attachments, the limit is {limit}", desc.colors.len());
        return Err(Error::clause(clause::PASS_ATTACHMENT, detail));
    }
    let mut colors: SmallVec<[Option<ColorAttachmentRef>; MAX_COLORS]> = SmallVec::new();
    let mut formats: SmallVec<[Option<Format>; MAX_COLORS]> = SmallVec::new();
    for color in desc.colors {
        colors.push(color.as_ref().map(|a| color_ref(core, &mut shape, a)).transpose()?);
        formats.push(color.as_ref().map(|a| a.view.0.format));
    }
    let depth_stencil = desc.depth_stencil.as_ref().map(|a| depth_ref(core, &mut shape, a)).transpose()?;
    let Some(extent) = shape.extent else {
        return Err(Error::clause(clause::PASS_ATTACHMENT, "a raster pass has at least one attachment"));
    };
    if 32 - desc.view_mask.leading_zeros() > shape.layers {
        let detail = format!("views {:#x} of {} layers", desc.view_mask, shape.layers);
        return Err(Error::clause(clause::PASS_ATTACHMENT, detail));
    }
    let area = area(desc, extent)?;
    let occlusion = occlusion(core, desc.occlusion)?;
    let timestamps = desc.timestamps.map(|t| t.check(core)).transpose()?;
    let formats = AttachmentFormats {
        colors: &formats,
        depth_stencil: depth_stencil.map(|d| d.format),
        samples: shape.samples,
        view_mask: desc.view_mask,
    };
    core.state.abi = AttachmentAbi::new(&formats);
    core.state.depth_read_only = depth_stencil.is_some_and(|d| d.depth.is_some_and(|(.., r)| r));
    core.state.stencil_read_only = depth_stencil.is_some_and(|d| d.stencil.is_some_and(|(.., r)| r));
    core.state.occlusion = occlusion.map(|(set, _)| set);
    core.state.occlusion_slots = occlusion.map_or(0, |(_, count)| count);
    core.backend.begin_raster(&RasterPassRef {
        label: desc.label,
        area,
        layers: shape.layers,
        view_mask: desc.view_mask,
        samples: shape.samples,
        colors: &colors,
        depth_stencil,
        timestamps,
        occlusion,
    });
    core.open_pass = OpenPass::Raster;
    Ok(())
}

impl<'a> RasterPass<'a> {
    #[track_caller]
    pub(crate) fn begin(core: &'a mut RecorderCore, desc: &RasterPassDesc<'_>) -> Self {
        core.pass_label.clear();
        core.pass_label.push_str(desc.label);
        if core.need_queue(QueueKind::Graphics, "a raster pass")
            && core.healthy()
            && let Err(error) = open(core, desc).located()
        {
            core.poison(error.in_pass(desc.label));
        }
        Self { core, one_thread: PhantomData }
    }

    /// Binds a pipeline; what draws need it borrows the pass.
    ///
    /// Vertex and index buffers and dynamic state last for the pass; tables and push constants last while the next
    /// pipeline has the same layout.
    #[track_caller]
    pub fn bind(&mut self, pipeline: &RasterPipeline) -> BoundRaster<'_> {
        let facts = pipeline.facts;
        self.core.try_record(|core| {
            core.check(pipeline.key, &pipeline.owned)?;
            if facts.abi != core.state.abi {
                return Err(abi_mismatch(core, pipeline));
            }
            if (facts.writes_depth && core.state.depth_read_only)
                || (facts.writes_stencil && core.state.stencil_read_only)
            {
                let detail = "the pipeline writes an aspect the pass only reads";
                return Err(Error::clause(clause::PASS_READ_ONLY, detail).on(pipeline.label()));
            }
            core.bound(&facts);
            core.backend.set_pipeline(BindPoint::Raster, pipeline.raw);
            Ok(())
        });
        BoundRaster { core: self.core, one_thread: PhantomData, facts }
    }

    /// Sets all viewports.
    #[track_caller]
    pub fn set_viewports(&mut self, viewports: &[Viewport]) {
        self.core.try_record(|core| {
            let max = core.device.limits.max_texture_2d as f32;
            let sane = |v: &Viewport| {
                v.width > 0.0
                    && v.height > 0.0
                    && v.width <= max
                    && v.height <= max
                    && v.x.abs() <= 2.0 * max
                    && v.y.abs() <= 2.0 * max
                    && (0.0..=1.0).contains(&v.min_depth)
                    && (0.0..=1.0).contains(&v.max_depth)
            };
            check_count(core, viewports.len(), viewports.iter().all(sane))?;
            core.backend.set_viewports(viewports);
            Ok(())
        });
    }

    /// Sets all scissors: x, y, width, height.
    #[track_caller]
    pub fn set_scissors(&mut self, scissors: &[[u32; 4]]) {
        self.core.try_record(|core| {
            let end = |origin: u32, size: u32| origin.checked_add(size).is_some_and(|end| end <= i32::MAX as u32);
            let sane = |s: &[u32; 4]| end(s[0], s[2]) && end(s[1], s[3]);
            check_count(core, scissors.len(), scissors.iter().all(sane))?;
            core.backend.set_scissors(scissors);
            Ok(())
        });
    }

    /// Sets the stencil reference of both faces.
    pub fn set_stencil_reference(&mut self, reference: u8) {
        if self.core.healthy() {
            self.core.backend.set_stencil_reference(reference);
        }
    }

    /// Sets the blend constants.
    pub fn set_blend_constants(&mut self, constants: [f32; 4]) {
        if self.core.healthy() {
            self.core.backend.set_blend_constants(constants);
        }
    }

    /// Begins counting samples that pass, into a slot of the pass's occlusion set.
    #[track_caller]
    pub fn begin_occlusion(&mut self, index: u32) {
        self.core.try_record(|core| {
            let nesting = |detail: &str| Err(Error::clause(clause::QUERY_NESTING, detail));
            let Some(set) = core.state.occlusion else { return nesting("the pass has no occlusion set") };
            if core.state.open_query.is_some() {
                return nesting("a query is already open");
            }
            if index >= core.state.occlusion_slots {
                return Err(Error::clause(
                    clause::QUERY_RANGE,
                    format!("slot {index} of {}", core.state.occlusion_slots),
                ));
            }
            core.state.open_query = Some((set, index));
            core.backend.begin_query(set, index);
            Ok(())
        });
    }

    /// Ends the open occlusion query.
    #[track_caller]
    pub fn end_occlusion(&mut self) {
        self.core.try_record(|core| {
            let Some((set, index)) = core.state.open_query.take() else {
                return Err(Error::clause(clause::QUERY_NESTING, "no query is open"));
            };
            core.backend.end_query(set, index);
            Ok(())
        });
    }
}

#[track_caller]
fn check_count(core: &RecorderCore, count: usize, sane: bool) -> Result<()> {
    let max = core.device.limits.max_viewports as usize;
    if count == 0 || count > max || !sane {
        return Err(Error::clause(clause::VIEWPORT, format!("{count} given, at most {max}, each of a sane size")));
    }
    Ok(())
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_slot(slot: u32) -> Error {
    Error::clause(clause::DRAW_RANGE, format!("vertex buffer slot {slot}"))
}

#[cold]
#[track_caller]
fn abi_mismatch(core: &RecorderCore, pipeline: &RasterPipeline) -> Error {
    let (pass, own) = (core.state.abi, pipeline.facts.abi);
    let detail =
        format!("pass {}:\n{}pipeline {}:\n{}", &pass.hash()[..12], pass.text(), &own.hash()[..12], own.text());
    Error::clause(clause::PASS_ABI, detail).on(pipeline.label())
}

impl Drop for RasterPass<'_> {
    fn drop(&mut self) {
        if let Some((set, index)) = self.core.state.open_query.take() {
            self.core.backend.end_query(set, index);
            self.core.poison(Error::clause(clause::QUERY_NESTING, format!("query {index} was not ended")));
        }
        self.core.end_pass();
    }
}

/// A raster pass with a pipeline bound: draws exist only here.
pub struct BoundRaster<'p> {
    core: &'p mut RecorderCore,
    one_thread: OneThread,
    facts: PipelineFacts,
}

impl BoundRaster<'_> {
    /// Sets tables from index `first`, with the dynamic offsets of all of them in slot order.
    #[inline]
    #[track_caller]
    pub fn set_tables(&mut self, first: u32, tables: &[&BindingTable], offsets: &[u32]) {
        let facts = &self.facts;
        self.core.try_record(|core| set_tables(core, BindPoint::Raster, facts, first, tables, offsets));
    }

    /// Writes push constants.
    #[inline]
    #[track_caller]
    pub fn push_constants(&mut self, offset: u32, data: &[u8]) {
        push_constants(self.core, BindPoint::Raster, &self.facts, offset, data);
    }

    /// Sets the vertex buffer of a slot.
    #[inline]
    #[track_caller]
    pub fn set_vertex_buffer(&mut self, slot: u32, view: &VertexBufferView) {
        self.core.try_record(|core| {
            core.check(view.0.buffer.key, &view.0.buffer.owned)?;
            if !core.has_slot(slot) {
                return Err(no_slot(slot));
            }
            core.vertex_buffer_set(slot);
            core.backend.set_vertex_buffer(slot, view.0.raw());
            Ok(())
        });
    }

    /// Sets the index buffer.
    #[inline]
    #[track_caller]
    pub fn set_index_buffer(&mut self, view: &IndexBufferView) {
        self.core.try_record(|core| {
            core.check(view.slice.buffer.key, &view.slice.buffer.owned)?;
            core.state.indices = view.count();
            core.backend.set_index_buffer(view.slice.raw(), view.format);
            Ok(())
        });
    }

    #[inline]
    #[track_caller]
    fn ready(&mut self) -> bool {
        self.core.ready(&self.facts)
    }

    /// Draws `vertices` vertices `instances` times; vertex and instance index include the bases on every backend.
    #[inline]
    #[track_caller]
    pub fn draw(&mut self, vertices: u32, instances: u32, first_vertex: u32, first_instance: u32) {
        if self.ready() {
            self.core.backend.draw(vertices, instances, first_vertex, first_instance);
        }
    }

    /// Draws indexed.
    #[inline]
    #[track_caller]
    pub fn draw_indexed(
        &mut self,
        indices: u32,
        instances: u32,
        first_index: u32,
        base_vertex: i32,
        first_instance: u32,
    ) {
        if !self.ready() {
            return;
        }
        if self.core.state.indices == 0 {
            self.core.poison(Error::clause(clause::DRAW_BOUND, "no index buffer is set"));
            return;
        }
        if u64::from(first_index) + u64::from(indices) > self.core.state.indices {
            let detail = format!("{indices} indices from {first_index} of {}", self.core.state.indices);
            self.core.poison(Error::clause(clause::DRAW_RANGE, detail));
            return;
        }
        self.core.backend.draw_indexed(indices, instances, first_index, base_vertex, first_instance);
    }

    /// Draws with arguments from a buffer: four words each (vertices, instances, first vertex, first instance).
    #[track_caller]
    pub fn draw_indirect(&mut self, arguments: &Buffer, offset: u64, count: u32, stride: u32) {
        if self.ready() {
            self.core.try_record(|core| {
                check_indirect(core, arguments, offset, count, stride, 16)?;
                core.backend.draw_indirect(arguments.raw, offset, count, stride);
                Ok(())
            });
        }
    }

    /// Draws indexed with arguments from a buffer: five words each (indices, instances, first index, base vertex, first
    /// instance).
    #[track_caller]
    pub fn draw_indexed_indirect(&mut self, arguments: &Buffer, offset: u64, count: u32, stride: u32) {
        if self.ready() {
            self.core.try_record(|core| {
                if core.state.indices == 0 {
                    return Err(Error::clause(clause::DRAW_BOUND, "no index buffer is set"));
                }
                check_indirect(core, arguments, offset, count, stride, 20)?;
                core.backend.draw_indexed_indirect(arguments.raw, offset, count, stride);
                Ok(())
            });
        }
    }
}

#[track_caller]
pub(super) fn check_indirect(
    core: &RecorderCore,
    arguments: &Buffer,
    offset: u64,
    count: u32,
    stride: u32,
    bytes: u64,
) -> Result<()> {
    core.check(arguments.key, &arguments.owned)?;
    if !arguments.usage.contains(BufferUsage::INDIRECT) {
        let detail = format!("needs INDIRECT, the buffer has {:?}", arguments.usage);
        return Err(Error::clause(clause::BUFFER_USAGE, detail).on(arguments.label()));
    }
    let span = u64::from(count.saturating_sub(1)) * u64::from(stride) + bytes;
    let inside = offset.checked_add(span).is_some_and(|end| end <= arguments.raw.size);
    let aligned = offset.is_multiple_of(4) && (count <= 1 || (stride.is_multiple_of(4) && u64::from(stride) >= bytes));
    if !inside || !aligned {
        let detail = format!(
            "{count} arguments of {bytes} bytes at {offset} with stride {stride} in {} bytes",
            arguments.raw.size
        );
        return Err(Error::clause(clause::DRAW_RANGE, detail).on(arguments.label()));
    }
    Ok(())
}
