//! Execution order that the barriers so far already give, whatever resource they were for.
//!
//! The execution part of a barrier holds for the whole queue. So a write after reads, which needs execution order and
//! nothing else, may need no barrier of its own.

use std::ops::Range;

use rhizo_rhi::Stages;

use crate::plan::{Barrier, Step};

const STAGES: usize = 13;

/// `done[t][s] = n`: the work in stage `s` of the first `n` passes is over before stage `t` of the next pass starts.
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
                    row[before] = self.passes;
                    for (new, through) in row.iter_mut().zip(&old[before]) {
                        *new = (*new).max(*through);
                    }
                }
            }
        }
    }

    /// Whether the table and the barriers of the open batch order the first `until + 1` passes in the stages `before`
    /// before the stages `after` of the coming pass.
    pub fn ordered(&self, batch: &[Barrier], before: Stages, after: Stages, until: u32) -> bool {
        let direct = |from: usize, to: usize| {
            let names = |mask: Stages, stage: usize| mask.bits() & (1 << stage) != 0;
            batch.iter().any(|barrier| {
                let chained = || stages(barrier.before.stages).any(|middle| self.done[middle][from] > until);
                names(barrier.after.stages, to) && (names(barrier.before.stages, from) || chained())
            })
        };
        stages(before).all(|from| stages(after).all(|to| self.done[to][from] > until || direct(from, to)))
    }
}
