//! Execution order that the barriers so far already give, whatever resource they were for.
//!
//! The execution part of a barrier holds for the whole queue. So a write after reads, which needs execution order and
//! nothing else, may need no barrier of its own.

use std::ops::Range;

use rhizo_rhi::Stages;

use crate::plan::{Barrier, Step};

const STAGES: usize = 13;

/// `done[t][s] = n + 1`: the work in stage `s` before the frame and of its first `n` passes is over before stage `t` of
/// the next pass starts; 0: nothing is known.
#[derive(Default)]
pub(super) struct Execution {
    done: [[u32; STAGES]; STAGES],
    /// Steps that are in the table.
    steps: usize,
    /// Passes among them.
    passes: u32,
}

fn stages(mask: Stages) -> impl Iterator<Item = usize> {
    (0..STAGES).filter(move |stage| mask.bits() & (1 << stage) != 0)
}

impl Execution {
    /// Enters the steps that came since. Each is entered once, and only if anyone asks.
    pub fn catch_up(&mut self, steps: &[Step], barriers: &[Barrier]) {
        for step in &steps[self.steps..] {
            match step {
                Step::Pass(_) => self.passes += 1,
                Step::Barriers(range) => self.enter(barriers, range),
            }
        }
        self.steps = steps.len();
    }

    /// Barriers of one batch do not chain: all look at the table as it was before.
    fn enter(&mut self, barriers: &[Barrier], range: &Range<u32>) {
        let old = self.done;
        for barrier in &barriers[range.start as usize..range.end as usize] {
            for after in stages(barrier.after.stages) {
                for before in stages(barrier.before.stages) {
                    let row = &mut self.done[after];
                    row[before] = self.passes + 1;
                    for (new, through) in row.iter_mut().zip(&old[before]) {
                        *new = (*new).max(*through);
                    }
                }
            }
        }
    }

    /// Whether the table and the open batch order the work before the frame and of the first `until` passes in the
    /// stages `before` before the stages `after` of the coming pass.
    pub fn ordered(&self, batch: &Batch, before: Stages, after: Stages, until: u32) -> bool {
        let direct = |from: usize, to: usize| {
            let middles = batch.0[to];
            middles & (1 << from) != 0
                || stages(Stages::from_bits_retain(middles.into())).any(|middle| self.done[middle][from] > until)
        };
        stages(before).all(|from| stages(after).all(|to| self.done[to][from] > until || direct(from, to)))
    }
}

/// The barriers of one batch together: by stage after them, the stages before them.
#[derive(Clone, Copy, Default)]
pub(super) struct Batch([u16; STAGES]);

impl Batch {
    pub fn add(&mut self, before: Stages, after: Stages) {
        // Plans name the 13 known stages only.
        let mask = u16::try_from(before.bits() & 0x1fff).unwrap_or(0);
        stages(after).for_each(|stage| self.0[stage] |= mask);
    }
}
