//! Compute passes.

use super::raster::check_indirect;
use super::{OneThread, PassTimestamps, push_constants, set_tables};
use crate::backend::BindPoint;
use crate::barrier::Barriers;
use crate::binding::BindingTable;
use crate::buffer::Buffer;
use crate::clause;
use crate::encoder::{OpenPass, RecorderCore};
use crate::error::Error;
use crate::pipeline::{ComputePipeline, PipelineFacts};
use crate::vocab::QueueKind;
use std::marker::PhantomData;

/// Describes a compute pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComputePassDesc<'a> {
    /// Name in messages and captures.
    pub label: &'a str,
    /// Timestamps at begin and end.
    pub timestamps: Option<PassTimestamps<'a>>,
}

/// An open compute pass; nothing is bound at its begin.
pub struct ComputePass<'a> {
    core: &'a mut RecorderCore,
    one_thread: OneThread,
}

impl<'a> ComputePass<'a> {
    #[track_caller]
    pub(crate) fn begin(core: &'a mut RecorderCore, desc: &ComputePassDesc<'_>) -> Self {
        core.pass_label.clear();
        core.pass_label.push_str(desc.label);
        if core.need_queue(QueueKind::Compute, "a compute pass") {
            core.try_record(|core| {
                let timestamps = desc.timestamps.map(|t| t.check(core)).transpose()?;
                core.backend.begin_compute(desc.label, timestamps);
                core.open_pass = OpenPass::Compute;
                Ok(())
            });
        }
        Self { core, one_thread: PhantomData }
    }

    /// Records one batch of barriers between dispatches.
    #[track_caller]
    pub fn barriers(&mut self, batch: &Barriers<'_>) {
        self.core.barriers(batch);
    }

    /// Binds a pipeline; dispatches borrow the pass.
    #[track_caller]
    pub fn bind(&mut self, pipeline: &ComputePipeline) -> BoundCompute<'_> {
        let facts = pipeline.facts;
        self.core.try_record(|core| {
            core.check(pipeline.key, &pipeline.owned)?;
            core.bound(&facts);
            core.backend.set_pipeline(BindPoint::Compute, pipeline.raw);
            Ok(())
        });
        BoundCompute { core: self.core, one_thread: PhantomData, facts }
    }
}

impl Drop for ComputePass<'_> {
    fn drop(&mut self) {
        self.core.end_pass();
    }
}

/// A compute pass with a pipeline bound: dispatches exist only here.
pub struct BoundCompute<'p> {
    core: &'p mut RecorderCore,
    one_thread: OneThread,
    facts: PipelineFacts,
}

impl BoundCompute<'_> {
    /// Sets tables from index `first`, with the dynamic offsets of all of them in slot order.
    #[inline]
    #[track_caller]
    pub fn set_tables(&mut self, first: u32, tables: &[&BindingTable], offsets: &[u32]) {
        let facts = &self.facts;
        self.core.try_record(|core| set_tables(core, BindPoint::Compute, facts, first, tables, offsets));
    }

    /// Writes push constants.
    #[inline]
    #[track_caller]
    pub fn push_constants(&mut self, offset: u32, data: &[u8]) {
        push_constants(self.core, BindPoint::Compute, &self.facts, offset, data);
    }

    /// Runs groups of threads.
    #[inline]
    #[track_caller]
    pub fn dispatch(&mut self, groups: [u32; 3]) {
        if !self.core.ready(&self.facts) {
            return;
        }
        self.core.try_record(|core| {
            let max = core.device.limits.max_dispatch;
            if groups.iter().zip(max).any(|(n, max)| *n > max) {
                return Err(Error::clause(clause::DRAW_RANGE, format!("{groups:?} groups, the limit is {max:?}")));
            }
            core.backend.dispatch(groups);
            Ok(())
        });
    }

    /// Runs groups with counts from a buffer: three words.
    #[track_caller]
    pub fn dispatch_indirect(&mut self, arguments: &Buffer, offset: u64) {
        if !self.core.ready(&self.facts) {
            return;
        }
        self.core.try_record(|core| {
            check_indirect(core, arguments, offset, 1, 0, 12)?;
            core.backend.dispatch_indirect(arguments.raw, offset);
            Ok(())
        });
    }
}
