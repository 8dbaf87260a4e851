//! Barriers, layouts and attachment operations for passes in a given order on one queue.
//!
//! Per cell the compiler knows the layout, the last write with its scope, the reads since, and the barrier that made
//! the write visible. An access then needs, by the table in `docs/graph.md`:
//!
//! * another layout: a transition, after the reads (or the write) so far;
//! * a read after a write: one barrier for all readers in this layout; later readers widen its destination;
//! * a write after a write: a barrier, equal layouts or not;
//! * a write after reads: execution order only, and nothing where other barriers already give it.

use rhizo_rhi::{Access, Layout, Scope};
use smallvec::SmallVec;

use super::cells::{Rect, Use, Work, flag};
use super::cull::{Live, has_initial_contents};
use super::place::Placement;
use crate::declare::{Graph, Lifetime, StoreOp};
use crate::plan::{Attachment, Barrier, BarrierRange, EndState, Hazard, NO_INDEX, PlanPass, Step, Submission, known};

mod execution;
mod ranges;

use execution::{Batch, Execution};

/// What this phase produces.
#[derive(Default)]
pub(super) struct Emitted {
    pub passes: Vec<PlanPass>,
    pub attachments: Vec<Attachment>,
    pub barriers: Vec<Barrier>,
    pub submissions: Vec<Submission>,
    pub end_states: Vec<EndState>,
    /// Parallel to the graph's accesses.
    pub layouts: Vec<Layout>,
}

/// What is known of a cell between two passes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cell {
    layout: Layout,
    /// It was written in this frame, changed layout in it, or came with an outstanding write.
    dirty: bool,
    /// Its first use in the frame is still to come.
    untouched: bool,
    /// The last write, while it is what later accesses must wait for or see.
    write: Scope,
    /// Reads since.
    reads: Scope,
    /// The barrier that made the last write or transition visible, or [`NO_INDEX`].
    barrier: u32,
    /// The pass of the last access.
    source: u32,
    /// One more than the position in the order of the last access; 0: before the frame.
    last_at: u32,
}

/// A change of one cell that needs a barrier; equal neighbours become one barrier.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Need {
    before: Scope,
    old: Layout,
    new: Layout,
    hazard: Hazard,
    source: u32,
    /// Execution order alone, where nothing was written: needless if other barriers order it.
    order_only: bool,
    /// One more than the position of the last access it waits for; 0: before the frame.
    until: u32,
}

struct Sync<'a> {
    graph: &'a Graph,
    work: &'a Work,
    placement: &'a Placement,
    cells: Vec<Cell>,
    out: Emitted,
    steps: Vec<Step>,
    execution: Execution,
    /// Where the batch being built starts.
    batch: u32,
    scratch: Vec<(Rect, Need)>,
    deferred: Vec<(Use, Rect, Need)>,
    /// Per resource the last pass whose overlapping reads were given a layout, and that layout.
    shared: Vec<(u32, Layout)>,
}

pub(super) fn synchronise(graph: &Graph, work: &Work, live: &Live, order: &[u32], placement: &Placement) -> Emitted {
    let mut sync = Sync {
        graph,
        work,
        placement,
        cells: initial_cells(graph, work),
        out: Emitted::default(),
        steps: Vec::with_capacity(order.len() * 2),
        execution: Execution::default(),
        batch: 0,
        scratch: Vec::new(),
        deferred: Vec::new(),
        shared: Vec::new(),
    };
    sync.out.layouts = work.uses.iter().map(|item| item.layout).collect();
    sync.out.barriers.reserve(work.uses.len());
    for (position, pass) in order.iter().enumerate() {
        sync.pass(narrow(position), *pass, live);
    }
    sync.final_states(narrow(order.len()));
    sync.end_states();
    if !sync.steps.is_empty() {
        sync.out.submissions.push(Submission { queue: 0, steps: sync.steps });
    }
    sync.out
}

fn narrow(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(NO_INDEX)
}

/// The scope of a state outside the frame, as far as queues see it.
fn state_scope(state: &crate::declare::State) -> Scope {
    Scope::new(known(state.stages), if state.stages.is_empty() { Access::empty() } else { state.access })
}

fn initial_cells(graph: &Graph, work: &Work) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(work.cell_count);
    for (decl, grid) in graph.resources.iter().zip(&work.grids) {
        let mut cell = Cell {
            layout: Layout::Undefined,
            dirty: false,
            untouched: true,
            write: Scope::NONE,
            reads: Scope::NONE,
            barrier: NO_INDEX,
            source: NO_INDEX,
            last_at: 0,
        };
        if let Some(state) = &decl.initial {
            let scope = state_scope(state);
            cell.layout = if decl.desc.is_texture() { state.layout } else { Layout::Undefined };
            // Stages without accesses hold everybody back: it is not said that they only read.
            let reads_only = !scope.access.is_empty() && !scope.access.writes();
            *(if reads_only { &mut cell.reads } else { &mut cell.write }) = scope;
            cell.dirty = scope.access.writes();
        }
        cells.resize(cells.len() + usize::try_from(grid.whole().count()).unwrap_or(0), cell);
    }
    cells
}

impl Sync<'_> {
    fn pass(&mut self, position: u32, pass: u32, live: &Live) {
        let (graph, work) = (self.graph, self.work);
        let first = graph.passes[pass as usize].first_access;
        let uses = work.pass_uses(graph, pass);
        for (offset, item) in uses.iter().enumerate() {
            let life = &self.placement.lives[item.resource as usize];
            if life.first == position && life.previous != NO_INDEX {
                self.take_over(item, life.previous);
            }
            let item = Use { layout: self.choose_layout(item, uses, pass), ..*item };
            self.out.layouts[first as usize + offset] = item.layout;
            self.access(&item, pass, position);
        }
        self.close_batch();
        let attachments = narrow(self.out.attachments.len());
        for (offset, item) in uses.iter().enumerate().filter(|(_, item)| item.has(flag::ATTACHMENT)) {
            let dead = live.dead_after[first as usize + offset];
            self.attachment(item, first as usize + offset, narrow(offset), dead);
        }
        self.steps.push(Step::Pass(narrow(self.out.passes.len())));
        let attachments = attachments..narrow(self.out.attachments.len());
        self.out.passes.push(PlanPass { pass, queue: 0, submission: 0, attachments });
    }

    /// The layout for an access: the one its cells are in where that is legal and no barrier is due anyway, else the
    /// preferred one. Overlapping reads of a pass decide together.
    fn choose_layout(&mut self, item: &Use, uses: &[Use], pass: u32) -> Layout {
        if item.legal == 0 {
            return item.layout;
        }
        if !item.has(flag::SHARED) {
            return self.stays(item).unwrap_or(item.layout);
        }
        self.shared.resize(self.graph.resources.len(), (NO_INDEX, Layout::Undefined));
        let (decided, layout) = self.shared[item.resource as usize];
        if decided == pass {
            return layout;
        }
        let group = uses.iter().filter(|other| other.resource == item.resource && other.has(flag::SHARED));
        let mut layouts = group.map(|other| self.stays(other));
        let first = layouts.next().flatten();
        let layout = first.filter(|_| layouts.all(|other| other == first)).unwrap_or(item.layout);
        self.shared[item.resource as usize] = (pass, layout);
        layout
    }

    /// The layout that all cells of an access are in, if it is legal for it and the access needs no barrier there.
    fn stays(&self, item: &Use) -> Option<Layout> {
        let work = self.work;
        let grid = &work.grids[item.resource as usize];
        let first = grid.index(item.rect.aspects[0], item.rect.mips[0], item.rect.layers[0]);
        let layout = self.cells[first].layout;
        if layout == item.layout || item.legal & (1 << layout as u16) == 0 {
            return (layout == item.layout).then_some(layout);
        }
        // Mere order is no reason to move: another barrier may give it.
        let due = |cell: &Cell| {
            let unseen = !cell.write.stages.is_empty() && cell.barrier == NO_INDEX;
            cell.dirty && (unseen || (item.has(flag::WRITES) && !self.pending(cell).stages.is_empty()))
        };
        let moves = work.any_cell(item, |cell| self.cells[cell].layout != layout || due(&self.cells[cell]));
        (!moves).then_some(layout)
    }

    /// The first use of a transient whose slot another had: all its cells wait for that one's last uses.
    fn take_over(&mut self, item: &Use, previous: u32) {
        let grid = &self.work.grids[item.resource as usize];
        let first = grid.base as usize;
        if !self.cells[first].untouched || self.cells[first].dirty {
            return; // Another access of the pass has done it.
        }
        let old = &self.work.grids[previous as usize];
        let mut last = Scope::NONE;
        let mut source = NO_INDEX;
        let old_cells = old.base as usize..old.base as usize + usize::try_from(old.whole().count()).unwrap_or(0);
        for cell in &self.cells[old_cells] {
            let scope = if cell.reads.stages.is_empty() { cell.write } else { cell.reads };
            last = Scope::new(last.stages | scope.stages, last.access | scope.access);
            if cell.source != NO_INDEX {
                source = cell.source;
            }
        }
        for cell in &mut self.cells[first..first + usize::try_from(grid.whole().count()).unwrap_or(0)] {
            cell.write = last;
            cell.dirty = true;
            cell.source = source;
        }
    }

    /// One access of a pass: finds what each cell needs, emits it, and moves the cells on.
    fn access(&mut self, item: &Use, pass: u32, position: u32) {
        if self.work.grids[item.resource as usize].whole().count() == 1 {
            let cell = self.work.grids[item.resource as usize].base as usize;
            if let Some(need) = self.need(cell, item) {
                self.emit(item, &item.rect, &need);
            }
            self.advance(cell, item, pass, position);
            return;
        }
        let mut found = std::mem::take(&mut self.scratch);
        ranges::collect(&self.work.grids[item.resource as usize], &item.rect, &mut found, |cell| self.need(cell, item));
        for (rect, need) in found.drain(..) {
            self.emit(item, &rect, &need);
        }
        self.scratch = found;
        let work = self.work;
        work.each_cell(item.resource, &item.rect, |cell| self.advance(cell, item, pass, position));
    }

    /// What a cell needs before this access; widens an earlier barrier instead where that is enough.
    fn need(&mut self, index: usize, item: &Use) -> Option<Need> {
        let cell = self.cells[index];
        let (reads, writes) = (item.has(flag::READS), item.has(flag::WRITES));
        let pending = self.pending(&cell);
        let mut need = Need {
            before: pending,
            old: cell.layout,
            new: item.layout,
            hazard: Hazard::Layout,
            source: cell.source,
            order_only: false,
            until: cell.last_at,
        };
        if item.layout != cell.layout && item.legal != 0 {
            need.old = if self.drops_contents(item, reads, writes) { Layout::Undefined } else { cell.layout };
            need.hazard = self.hazard(&cell, item.resource, reads, writes, true);
            return Some(need);
        }
        need.new = cell.layout;
        if item.scope.stages.is_empty() {
            return None; // Outside the queue: fences and signals order it.
        }
        need.hazard = self.hazard(&cell, item.resource, reads, writes, false);
        let transition_only = cell.dirty && cell.write.stages.is_empty() && cell.reads.stages.is_empty();
        if transition_only || (!writes && cell.dirty && cell.barrier != NO_INDEX) {
            self.widen(cell.barrier, item.scope);
            return None;
        }
        // Nothing to make available, or nobody to make it visible to.
        need.order_only = !cell.dirty || item.scope.access.is_empty();
        if !writes {
            need.before = cell.write;
            need.until = if cell.dirty { cell.last_at } else { 0 };
            return (!cell.write.stages.is_empty()).then_some(need);
        }
        (!pending.stages.is_empty()).then_some(need)
    }

    /// A replacing write has no use for old contents. Objects that outlive the frame keep their layout in sight unless
    /// they are cleared as attachments, where it pays: there a wrong declaration should cost no contents.
    fn drops_contents(&self, item: &Use, reads: bool, writes: bool) -> bool {
        let transient = self.graph.resources[item.resource as usize].lifetime == Lifetime::Transient;
        writes && !reads && (transient || item.has(flag::ATTACHMENT))
    }

    /// What an access that conflicts must wait for: the reads since the last write, else that write, else the work
    /// before a transition that nobody on the queue has used yet.
    fn pending(&self, cell: &Cell) -> Scope {
        if !cell.reads.stages.is_empty() {
            return cell.reads;
        }
        match self.out.barriers.get(cell.barrier as usize) {
            Some(barrier) if cell.write.stages.is_empty() => Scope::new(barrier.before.stages, Access::empty()),
            _ => cell.write,
        }
    }

    fn hazard(&self, cell: &Cell, resource: u32, reads: bool, writes: bool, layout: bool) -> Hazard {
        if cell.untouched {
            let aliased = self.placement.lives[resource as usize].previous != NO_INDEX;
            return if aliased { Hazard::Alias } else { Hazard::Initial };
        }
        match (cell.reads.stages.is_empty(), cell.write.stages.is_empty()) {
            (false, _) if writes => Hazard::WriteAfterRead,
            (true, false) if reads => Hazard::ReadAfterWrite,
            (true, false) if writes => Hazard::WriteAfterWrite,
            _ if layout => Hazard::Layout,
            _ => Hazard::ReadAfterWrite,
        }
    }

    /// Lets an earlier barrier serve a later reader too. Its source is over by then, so only its destination grows.
    fn widen(&mut self, barrier: u32, scope: Scope) {
        if let Some(barrier) = self.out.barriers.get_mut(barrier as usize) {
            barrier.after.stages |= scope.stages;
            barrier.after.access |= scope.access;
        }
    }

    fn emit(&mut self, item: &Use, rect: &Rect, need: &Need) {
        if need.order_only {
            self.deferred.push((*item, *rect, *need));
            return;
        }
        let barrier = self.push(item, rect, need);
        let (work, cells) = (self.work, &mut self.cells);
        work.each_cell(item.resource, rect, |cell| {
            let cell = &mut cells[cell];
            let transition = cell.layout != need.new;
            *cell = Cell { layout: need.new, barrier, dirty: true, ..*cell };
            if transition {
                // What came before is behind the transition: later accesses look at the barrier.
                cell.write = Scope::NONE;
                cell.reads = Scope::NONE;
            }
        });
    }

    /// Adds a barrier to the open batch.
    fn push(&mut self, item: &Use, rect: &Rect, need: &Need) -> u32 {
        let life = &self.placement.lives[item.resource as usize];
        let activates = life.previous != NO_INDEX && need.hazard == Hazard::Alias && self.position() == life.first;
        let mut deactivates = SmallVec::new();
        if activates {
            deactivates.push(life.previous);
        }
        let range = self.work.range(self.graph, item.resource, rect, (need.old, need.new));
        let barrier = narrow(self.out.barriers.len());
        self.out.barriers.push(Barrier {
            resource: item.resource,
            range,
            before: need.before,
            after: item.scope,
            hazard: need.hazard,
            source: need.source,
            activates,
            deactivates,
        });
        barrier
    }

    /// The position in the order of the pass being worked on.
    fn position(&self) -> u32 {
        narrow(self.out.passes.len())
    }

    fn advance(&mut self, index: usize, item: &Use, pass: u32, position: u32) {
        let cell = &mut self.cells[index];
        cell.untouched = false;
        if item.scope.stages.is_empty() {
            return;
        }
        cell.source = pass;
        cell.last_at = position + 1;
        if item.has(flag::WRITES) {
            cell.write = item.scope;
            cell.reads = Scope::NONE;
            cell.barrier = NO_INDEX;
            cell.dirty = true;
        } else {
            cell.reads.stages |= item.scope.stages;
            cell.reads.access |= item.scope.access;
        }
    }

    /// Ends the batch: adds the barriers that only order execution, where nothing else does.
    fn close_batch(&mut self) {
        if !self.deferred.is_empty() {
            let mut deferred = std::mem::take(&mut self.deferred);
            self.execution.catch_up(&self.steps, &self.out.barriers);
            for (item, rect, need) in self.unordered(&mut deferred) {
                // The cells have moved on to the access already; nothing but the barrier is missing.
                self.push(&item, &rect, &need);
            }
            deferred.clear();
            self.deferred = deferred;
        }
        let end = narrow(self.out.barriers.len());
        if end > self.batch {
            self.steps.push(Step::Barriers(self.batch..end));
            self.batch = end;
        }
    }

    /// Of the needs for mere order those that neither earlier batches, nor this one, nor each other give.
    fn unordered(&self, deferred: &mut [(Use, Rect, Need)]) -> Vec<(Use, Rect, Need)> {
        let mut memory = Batch::default();
        for barrier in &self.out.barriers[self.batch as usize..] {
            memory.add(barrier.before.stages, barrier.after.stages);
        }
        let ordered = |batch: &Batch, (item, _, need): &(Use, Rect, Need)| {
            self.execution.ordered(batch, need.before.stages, item.scope.stages, need.until)
        };
        // The widest first: a narrower one is then often covered.
        deferred.sort_by_key(|(item, _, need)| {
            std::cmp::Reverse(need.before.stages.bits().count_ones() * item.scope.stages.bits().count_ones())
        });
        let mut kept: Vec<(Use, Rect, Need)> = Vec::new();
        let mut all = memory;
        for entry in deferred.iter() {
            if !ordered(&all, entry) {
                all.add(entry.2.before.stages, entry.0.scope.stages);
                kept.push(*entry);
            }
        }
        // Several together may cover an earlier one. Each kept entry added a pair of stages, so there are few.
        let mut index = 0;
        while index < kept.len() {
            let mut others = memory;
            for (_, entry) in kept.iter().enumerate().filter(|(other, _)| *other != index) {
                others.add(entry.2.before.stages, entry.0.scope.stages);
            }
            if ordered(&others, &kept[index]) {
                kept.remove(index);
            } else {
                index += 1;
            }
        }
        kept
    }

    fn attachment(&mut self, item: &Use, access: usize, offset: u32, dead: u8) {
        let decl = &self.graph.accesses[access];
        let desc = &self.graph.resources[item.resource as usize].desc;
        // Read-only attachments keep their operation: dropping contents would write.
        let weaken = |row: u8| item.has(flag::WRITES) && dead & (1 << row) != 0;
        let store = |row: u8| if weaken(row) { StoreOp::Discard } else { decl.store };
        let split = self.work.grids[item.resource as usize].aspects == 2;
        self.out.attachments.push(Attachment {
            resource: item.resource,
            access: offset,
            load: decl.load,
            store: store(0),
            stencil_store: store(u8::from(split)),
            aspects: self.work.aspects(item.resource, desc, item.rect.aspects),
            layout: self.out.layouts[access],
        });
    }

    /// Brings imported and persistent resources into the state that is wanted after the frame.
    fn final_states(&mut self, position: u32) {
        let graph = self.graph;
        for (resource, decl) in graph.resources.iter().enumerate() {
            let used = self.placement.lives[resource].first != NO_INDEX;
            let Some(state) = decl.final_state.filter(|_| used) else { continue };
            let scope = state_scope(&state);
            let writes = if scope.access.writes() { flag::WRITES } else { 0 };
            let texture = decl.desc.is_texture();
            let item = Use {
                resource: narrow(resource),
                flags: flag::READS | writes,
                layout: if texture { state.layout } else { Layout::Undefined },
                legal: u16::from(texture),
                scope,
                rect: self.work.grids[resource].whole(),
            };
            self.access(&item, NO_INDEX, position);
        }
        for index in self.batch as usize..self.out.barriers.len() {
            self.out.barriers[index].hazard = Hazard::Final;
        }
        for (_, _, need) in &mut self.deferred {
            need.hazard = Hazard::Final;
        }
        self.close_batch();
    }

    /// Says how imported and persistent resources are left, which the next frame starts from.
    fn end_states(&mut self) {
        let graph = self.graph;
        for (resource, decl) in graph.resources.iter().enumerate() {
            let used = self.placement.lives[resource].first != NO_INDEX;
            if decl.lifetime == Lifetime::Transient && !decl.output || !used {
                continue;
            }
            let rect = self.work.grids[resource].whole();
            let mut found = Vec::new();
            let cells = &self.cells;
            ranges::collect(&self.work.grids[resource], &rect, &mut found, |cell| {
                let cell = &cells[cell];
                let scope = if cell.reads.stages.is_empty() { cell.write } else { cell.reads };
                Some((cell.layout, scope, cell.untouched))
            });
            for (rect, (layout, scope, untouched)) in found {
                let range: BarrierRange = self.work.range(graph, narrow(resource), &rect, (layout, layout));
                let contents = !untouched || has_initial_contents(decl);
                self.out.end_states.push(EndState { resource: narrow(resource), range, scope, contents });
            }
        }
    }
}
