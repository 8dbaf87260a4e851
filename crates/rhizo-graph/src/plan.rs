//! The plan: what the compiler decided, as plain data in flat lists.
//!
//! Positions of passes and resources are those of the graph it was compiled from, so a runner attaches its own data by
//! index. The exchange format is made by [`crate::file::PlanFile`].

use std::ops::Range;
use std::sync::Arc;

use rhizo_rhi::{Aspects, BufferRange, Layout, QueueKind, Scope, Stages, TextureRange};
use smallvec::SmallVec;

use crate::declare::{AccessKinds, Labels, LoadOp, StoreOp};

/// "None" of the 32-bit positions in a plan.
pub const NO_INDEX: u32 = u32::MAX;

/// Why a pass is not in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CullReason {
    /// It writes nothing and has no side effect.
    NoEffect,
    /// Nothing reads what it writes.
    Unread,
    /// What it writes is replaced by this pass before anything reads it.
    Overwritten(u32),
    /// What it writes is read by this culled pass only.
    OnlyCulledReaders(u32),
}

/// A pass that is not in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CulledPass {
    /// Position in the graph.
    pub pass: u32,
    /// Why.
    pub reason: CullReason,
}

/// The resource as the plan needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanResource {
    /// Position in the graph.
    pub resource: u32,
    /// Usages of live passes: what it must be created for.
    pub usages: AccessKinds,
    /// Position in the order of its first use.
    pub first: u32,
    /// Position in the order of its last use (the last position for an extracted transient).
    pub last: u32,
    /// Index into [`Memory::slots`] for a transient, else [`NO_INDEX`].
    pub slot: u32,
}

/// A piece of memory with one committed object; transients of equal shape take turns in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Index into [`Memory::heaps`].
    pub heap: u32,
    /// Bytes from the start of the heap.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// A heap of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heap {
    /// Heap class of the profile.
    pub class: String,
    /// Bytes.
    pub size: u64,
}

/// Transient memory.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Memory {
    /// Heaps.
    pub heaps: Vec<Heap>,
    /// Slots.
    pub slots: Vec<Slot>,
    /// Bytes used: the sum of the heaps.
    pub used: u64,
    /// Bytes if nothing were shared.
    pub unaliased: u64,
    /// Bytes live at once at most: no placement can use less.
    pub lower_bound: u64,
}

/// What a barrier is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hazard {
    /// A read after a write.
    ReadAfterWrite,
    /// A write after a read.
    WriteAfterRead,
    /// A write after a write.
    WriteAfterWrite,
    /// Another layout.
    Layout,
    /// First use in the frame.
    Initial,
    /// The state wanted after the frame.
    Final,
    /// The memory had another user in the frame.
    Alias,
}

/// What a barrier covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierRange {
    /// Bytes of a buffer.
    Buffer(BufferRange),
    /// Sub-resources of a texture, with the layouts before and after.
    Texture(TextureRange, Layout, Layout),
}

/// One barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Position of the resource in the graph.
    pub resource: u32,
    /// Range and layouts.
    pub range: BarrierRange,
    /// What must have happened.
    pub before: Scope,
    /// What must wait.
    pub after: Scope,
    /// Why it is there.
    pub hazard: Hazard,
    /// The pass (position in the graph) whose access it waits for, or [`NO_INDEX`].
    pub source: u32,
    /// The resource takes over its memory here; `deactivates` says from whom.
    pub activates: bool,
    /// Resources (positions in the graph) that end here.
    pub deactivates: SmallVec<[u32; 1]>,
}

/// An attachment of a raster pass with its resolved operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// Position of the resource in the graph.
    pub resource: u32,
    /// Position of the access in the pass's list.
    pub access: u32,
    /// Load operation, as declared.
    pub load: LoadOp,
    /// Store operation of colour or depth.
    pub store: StoreOp,
    /// Store operation of stencil.
    pub stencil_store: StoreOp,
    /// Aspects it covers.
    pub aspects: Aspects,
    /// Layout during the pass.
    pub layout: Layout,
}

/// A step of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// These barriers, as one batch.
    Barriers(Range<u32>),
    /// Records the pass at this position of [`Plan::passes`].
    Pass(u32),
}

/// A pass of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanPass {
    /// Position in the graph.
    pub pass: u32,
    /// Index into [`Plan::queues`].
    pub queue: u32,
    /// Index into [`Plan::submissions`].
    pub submission: u32,
    /// Range of [`Plan::attachments`].
    pub attachments: Range<u32>,
}

/// A queue of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanQueue {
    /// Kind.
    pub kind: QueueKind,
    /// Family.
    pub family: u32,
}

/// Work handed to a queue at once.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Submission {
    /// Index into [`Plan::queues`].
    pub queue: u32,
    /// Steps in order.
    pub steps: Vec<Step>,
}

/// The state an imported or persistent resource is left in: what the next frame's `initial` must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndState {
    /// Position of the resource in the graph.
    pub resource: u32,
    /// Range, with the layout it is left in twice for a texture.
    pub range: BarrierRange,
    /// Outstanding accesses.
    pub scope: Scope,
    /// Whether it has contents.
    pub contents: bool,
}

/// What was compiled.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the graph.
    pub graph: String,
    /// Name of the profile.
    pub profile: String,
    /// The order policy, as in files.
    pub policy: String,
    /// Queues.
    pub queues: Vec<PlanQueue>,
    /// Resources used by live passes, in declaration order.
    pub resources: Vec<PlanResource>,
    /// Live passes in order.
    pub passes: Vec<PlanPass>,
    /// The others.
    pub culled: Vec<CulledPass>,
    /// Attachments of all passes.
    pub attachments: Vec<Attachment>,
    /// Barriers of all batches.
    pub barriers: Vec<Barrier>,
    /// Submissions in order.
    pub submissions: Vec<Submission>,
    /// Transient memory.
    pub memory: Memory,
    /// How imported and persistent resources end.
    pub end_states: Vec<EndState>,
    /// The layout of each access during its pass, parallel to the graph's flat list of accesses (those of a pass lie
    /// together, in its order; see [`Plan::access_layouts`]). Undefined for buffers.
    pub layouts: Vec<Layout>,
    /// What the compiler wants its user to know.
    pub notes: Vec<String>,
    pub(crate) pass_labels: Arc<Labels>,
    pub(crate) resource_labels: Arc<Labels>,
}

impl Plan {
    /// The label of a pass by its position in the graph.
    #[must_use]
    pub fn pass_label(&self, pass: u32) -> &str {
        self.pass_labels.get(pass as usize)
    }

    /// The label of a resource by its position in the graph.
    #[must_use]
    pub fn resource_label(&self, resource: u32) -> &str {
        self.resource_labels.get(resource as usize)
    }

    /// The barriers of a step's range.
    #[must_use]
    pub fn batch(&self, range: &Range<u32>) -> &[Barrier] {
        &self.barriers[range.start as usize..range.end as usize]
    }

    /// The layouts of a live pass's accesses, in the order of [`crate::Graph::accesses`]: what views are bound with.
    #[must_use]
    pub fn access_layouts(&self, graph: &crate::Graph, pass: u32) -> &[Layout] {
        let decl = &graph.passes[pass as usize];
        &self.layouts[decl.first_access as usize..(decl.first_access + decl.access_count) as usize]
    }

    /// Number of barrier batches.
    #[must_use]
    pub fn batch_count(&self) -> usize {
        self.submissions.iter().flat_map(|s| &s.steps).filter(|step| matches!(step, Step::Barriers(_))).count()
    }
}

/// The stages a mask names, without unknown bits ("all" has them).
pub(crate) fn known(stages: Stages) -> Stages {
    stages & Stages::from_bits_retain((1 << 13) - 1)
}
