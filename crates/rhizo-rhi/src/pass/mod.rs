//! Typed passes: each borrows the recorder, and ends when dropped.

mod compute;
mod raster;
mod transfer;

pub use compute::{BoundCompute, ComputePass, ComputePassDesc};
pub use raster::{
    BoundRaster, ColorAttachment, DepthOps, DepthStencilAttachment, RasterPass, RasterPassDesc, StencilOps,
};
pub use transfer::TransferPass;

use crate::backend::{BindPoint, TimestampRef};
use crate::binding::{BindingTable, LayoutFacts, MAX_TABLES};
use crate::clause;
use crate::encoder::RecorderCore;
use crate::error::{Error, Result};
use crate::pipeline::PipelineFacts;
use crate::query::{QueryKind, QuerySet};
use crate::shader::ShaderStages;
use smallvec::SmallVec;

/// What happens to an attachment's contents at the start of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadOp {
    /// Kept.
    Load,
    /// Replaced: red, green, blue, alpha (converted to the format's class), or depth or stencil in the first number.
    Clear([f32; 4]),
    /// Undefined.
    Discard,
}

/// What happens to an attachment's contents at the end of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum StoreOp {
    /// Kept.
    #[default]
    Store,
    /// Undefined.
    Discard,
}

/// Width of indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum IndexFormat {
    /// 16 bits.
    U16,
    /// 32 bits.
    #[default]
    U32,
}

impl IndexFormat {
    /// Bytes of one index.
    #[must_use]
    pub const fn size_bytes(self) -> u64 {
        match self {
            Self::U16 => 2,
            Self::U32 => 4,
        }
    }
}

/// A viewport: origin top-left, depth range inside 0..1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Left edge.
    pub x: f32,
    /// Top edge.
    pub y: f32,
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
    /// Depth that 0 maps to.
    pub min_depth: f32,
    /// Depth that 1 maps to.
    pub max_depth: f32,
}

/// Timestamps at both ends of a pass; the portable place for them.
#[derive(Clone, Copy, Debug)]
pub struct PassTimestamps<'a> {
    /// A set of kind timestamp.
    pub set: &'a QuerySet,
    /// Slot written at the beginning.
    pub begin: Option<u32>,
    /// Slot written at the end.
    pub end: Option<u32>,
}

impl PassTimestamps<'_> {
    #[track_caller]
    fn check(&self, core: &mut RecorderCore) -> Result<TimestampRef> {
        core.check(self.set.key, self.set.owned())?;
        self.set.check_kind(self.set.kind == QueryKind::Timestamp)?;
        core.need_timestamps()?;
        if self.begin.is_some() && self.begin == self.end {
            let detail = format!("slot {:?} for both begin and end", self.begin);
            return Err(Error::clause(clause::QUERY_RANGE, detail).on(self.set.label()));
        }
        for index in [self.begin, self.end].into_iter().flatten() {
            self.set.check_range(index, 1)?;
            core.backend.reset_queries(self.set.raw, index, 1);
        }
        Ok(TimestampRef { set: self.set.raw, begin: self.begin, end: self.end })
    }
}

/// Makes passes neither `Send` nor `Sync`: they belong to the thread that opened them.
pub(crate) type OneThread = std::marker::PhantomData<*const ()>;

/// What is bound in the open pass; what draws look at first (see [`RecorderCore`]).
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct PassState {
    /// Bytes of the index buffer divided by the index size; 0 when none is bound.
    pub(crate) indices: u64,
    /// Vertex buffer slots set, as a mask.
    pub(crate) buffers: u32,
    /// Tables set, as a mask.
    pub(crate) tables: u8,
    pub(crate) layout: LayoutFacts,
    pub(crate) abi: crate::pipeline::AttachmentAbi,
    pub(crate) depth_read_only: bool,
    pub(crate) stencil_read_only: bool,
    pub(crate) occlusion: Option<crate::backend::ObjectRef>,
    pub(crate) occlusion_slots: u32,
    pub(crate) open_query: Option<(crate::backend::ObjectRef, u32)>,
}

impl PassState {
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Tables stay while the next pipeline has the same layout.
    #[inline]
    pub(crate) fn bind(&mut self, facts: &PipelineFacts) {
        if self.layout != facts.tables {
            self.layout = facts.tables;
            self.tables = 0;
        }
    }
}

impl PipelineFacts {
    /// The bit of [`PipelineFacts::missing`] for a table; vertex buffers have the lower 32.
    #[inline]
    pub(crate) const fn table_bit(index: usize) -> u64 {
        1 << (u32::BITS as usize + index)
    }

    /// What the pipeline needs and `state` lacks: vertex buffers by slot in the low half, tables by index above.
    pub(crate) fn missing(&self, state: &PassState) -> u64 {
        u64::from(self.needs_buffers & !state.buffers) | u64::from(self.needs_tables & !state.tables) << u32::BITS
    }
}

/// The table belongs to the device and has the layout that index `index` of the pipeline layout has.
#[inline]
#[track_caller]
fn check_table(core: &RecorderCore, facts: &PipelineFacts, index: usize, table: &BindingTable) -> Result<()> {
    core.check(table.key, &table.owned)?;
    if facts.tables.numbers.get(index) != Some(&table.number) {
        return Err(other_layout(table, index));
    }
    Ok(())
}

#[cold]
#[track_caller]
fn other_layout(table: &BindingTable, index: usize) -> Error {
    let detail = format!("index {index} of the pipeline layout has another layout or none");
    Error::clause(clause::TABLE_COMPATIBLE, detail).on(table.label())
}

/// Checks and sets tables from index `first`.
#[inline]
#[track_caller]
fn set_tables(
    core: &mut RecorderCore,
    point: BindPoint,
    facts: &PipelineFacts,
    first: u32,
    tables: &[&BindingTable],
    offsets: &[u32],
) -> Result<()> {
    let ([table], []) = (tables, offsets) else {
        return set_table_list(core, point, facts, first, tables, offsets);
    };
    // One table without offsets, the usual call, needs no list.
    check_table(core, facts, first as usize, table)?;
    if !table.dynamic.is_empty() {
        return Err(wrong_offsets(table, offsets));
    }
    core.table_set(first as usize);
    core.backend.set_tables(point, facts.layout, first, std::slice::from_ref(&table.raw), offsets);
    Ok(())
}

#[inline(never)]
#[track_caller]
fn set_table_list(
    core: &mut RecorderCore,
    point: BindPoint,
    facts: &PipelineFacts,
    first: u32,
    tables: &[&BindingTable],
    offsets: &[u32],
) -> Result<()> {
    let mut rest = offsets;
    let mut raw: SmallVec<[_; MAX_TABLES]> = SmallVec::new();
    let alignment = core.device.limits.uniform_alignment_bytes;
    for (i, table) in tables.iter().enumerate() {
        let index = first as usize + i;
        check_table(core, facts, index, table)?;
        let (own, others) = rest.split_at_checked(table.dynamic.len()).ok_or_else(|| wrong_offsets(table, offsets))?;
        if own.iter().zip(&table.dynamic).any(|(o, room)| u64::from(*o) > *room || o % alignment != 0) {
            return Err(wrong_offsets(table, own));
        }
        rest = others;
        raw.push(table.raw);
        core.table_set(index);
    }
    if !rest.is_empty() {
        let detail = format!("{} offsets more than dynamic slots", rest.len());
        return Err(Error::clause(clause::DYNAMIC_OFFSETS, detail));
    }
    if !raw.is_empty() {
        core.backend.set_tables(point, facts.layout, first, &raw, offsets);
    }
    Ok(())
}

#[cold]
#[track_caller]
fn wrong_offsets(table: &BindingTable, offsets: &[u32]) -> Error {
    let detail = format!("offsets {offsets:?} for {} dynamic slots with room {:?}", table.dynamic.len(), table.dynamic);
    Error::clause(clause::DYNAMIC_OFFSETS, detail).on(table.label())
}

/// Checks and writes push constants.
#[inline]
#[track_caller]
fn push_constants(core: &mut RecorderCore, point: BindPoint, facts: &PipelineFacts, offset: u32, data: &[u8]) {
    if core.push_fits(offset, data.len(), facts) {
        core.backend.push_constants(point, facts.layout, offset, data);
    }
}

/// The error of a draw or dispatch that lacks a binding.
#[cold]
#[track_caller]
pub(crate) fn not_bound(core: &RecorderCore, facts: &PipelineFacts) -> Error {
    let tables = facts.needs_tables & !core.state.tables;
    let buffers = facts.needs_buffers & !core.state.buffers;
    let list = |mask: u32| (0..32).filter(|i| mask >> i & 1 == 1).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let detail = format!("missing tables [{}], vertex buffers [{}]", list(u32::from(tables)), list(buffers));
    Error::clause(clause::DRAW_BOUND, detail)
}

impl Default for LayoutFacts {
    fn default() -> Self {
        Self { numbers: [0; MAX_TABLES], push_bytes: 0, push_stages: ShaderStages::empty() }
    }
}
