//! Declaring a frame: resources, passes and what each pass does with them.

mod access;
mod pass;
mod resource;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rhizo_rhi::{BufferRange, QueueKind, Stages, TextureRange};

pub use access::{AccessKind, AccessKinds};
pub(crate) use access::{Target, preferred_layout};
pub use pass::PassBuilder;
pub use resource::{BufferDesc, Lifetime, ResourceDecl, ResourceDesc, State, TextureDesc, TextureDimension};

use crate::error::{CompileError, ErrorCode};

/// The index that stands for "no such object"; compiling a graph that uses it fails with `invalid-handle`.
pub(crate) const NONE: u32 = u32::MAX;

static NEXT_EPOCH: AtomicU32 = AtomicU32::new(1);

macro_rules! handle {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        ///
        /// Carries the epoch of its graph: in another graph it is `invalid-handle`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name {
            pub(crate) index: u32,
            pub(crate) epoch: u32,
        }

        impl $name {
            /// Position in declaration order, the key by which a runner attaches its own data.
            #[must_use]
            pub const fn index(self) -> usize {
                self.index as usize
            }
        }
    };
}

handle!(TextureId, "A declared texture.");
handle!(BufferId, "A declared buffer.");
handle!(PassId, "A declared pass.");
handle!(ResourceId, "A declared texture or buffer.");

impl From<TextureId> for ResourceId {
    fn from(id: TextureId) -> Self {
        Self { index: id.index, epoch: id.epoch }
    }
}

impl From<BufferId> for ResourceId {
    fn from(id: BufferId) -> Self {
        Self { index: id.index, epoch: id.epoch }
    }
}

/// What a pass records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PassKind {
    /// Draws into attachments.
    Raster,
    /// Dispatches.
    Compute,
    /// Copies, clears, resolves.
    Transfer,
    /// Traces rays.
    RayTracing,
}

impl PassKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Raster, Self::Compute, Self::Transfer, Self::RayTracing];

    /// The name in files and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raster => "raster",
            Self::Compute => "compute",
            Self::Transfer => "transfer",
            Self::RayTracing => "ray-tracing",
        }
    }
}

/// The value an attachment is cleared to; carried for the runner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClearValue {
    /// Colour, as floats (integer formats convert).
    Color([f32; 4]),
    /// Depth and stencil.
    DepthStencil(f32, u32),
}

/// What an attachment holds when its pass begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadOp {
    /// Its earlier contents.
    Load,
    /// A value.
    Clear(ClearValue),
    /// Anything.
    Discard,
}

impl LoadOp {
    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Clear(_) => "clear",
            Self::Discard => "discard",
        }
    }
}

/// What remains of an attachment when its pass ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreOp {
    /// What was drawn.
    Store,
    /// Nothing.
    Discard,
}

impl StoreOp {
    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Discard => "discard",
        }
    }
}

/// The part of a resource that an access names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessRange {
    /// All of it.
    Whole,
    /// Mips, layers, aspects of a texture.
    Texture(TextureRange),
    /// Bytes of a buffer.
    Buffer(BufferRange),
}

/// One declared access.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessDecl {
    pub(crate) resource: u32,
    /// How.
    pub kind: AccessKind,
    /// Where; empty means the default of the kind.
    pub stages: Stages,
    /// What part.
    pub range: AccessRange,
    /// Attachments only.
    pub load: LoadOp,
    /// Attachments only.
    pub store: StoreOp,
}

impl AccessDecl {
    /// An access to a whole resource; load and store matter for attachments alone.
    #[must_use]
    pub const fn new(kind: AccessKind) -> Self {
        Self {
            resource: NONE,
            kind,
            stages: Stages::empty(),
            range: AccessRange::Whole,
            load: LoadOp::Load,
            store: StoreOp::Store,
        }
    }

    /// Position of the resource in declaration order.
    #[must_use]
    pub const fn resource_index(&self) -> usize {
        self.resource as usize
    }

    /// Whether earlier contents are needed.
    #[must_use]
    pub fn reads(&self) -> bool {
        if self.kind.is_attachment() {
            matches!(self.load, LoadOp::Load)
        } else {
            !self.kind.writes() || self.kind == AccessKind::StorageReadWrite
        }
    }
}

/// One declared pass. Its accesses and predecessors are ranges of the graph's flat lists.
#[derive(Clone, Copy, Debug)]
pub struct PassDecl {
    /// What it records.
    pub kind: PassKind,
    /// The queue it would like to run on.
    pub queue: QueueKind,
    /// It is a root: never culled.
    pub side_effect: bool,
    pub(crate) first_access: u32,
    pub(crate) access_count: u32,
    pub(crate) first_after: u32,
    pub(crate) after_count: u32,
}

/// Labels, stored end to end: one allocation, and a plan copies them with two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    text: String,
    ends: Vec<u32>,
}

impl Labels {
    fn push(&mut self, label: &str) {
        self.text.push_str(label);
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
    }

    /// The label of an index; `?` beyond the last.
    #[must_use]
    pub fn get(&self, index: usize) -> &str {
        let Some(end) = self.ends.get(index) else { return "?" };
        let start = index.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        self.text.get(start as usize..*end as usize).unwrap_or("?")
    }

    /// Number of labels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// A declared frame. Building it checks nothing but handles; [`crate::compile()`] checks the rest.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) name: String,
    epoch: u32,
    pub(crate) resources: Vec<ResourceDecl>,
    pub(crate) resource_labels: Arc<Labels>,
    pub(crate) passes: Vec<PassDecl>,
    pub(crate) pass_labels: Arc<Labels>,
    pub(crate) accesses: Vec<AccessDecl>,
    pub(crate) after: Vec<u32>,
    /// Found while declaring; the first one is the result of compiling.
    pub(crate) deferred: Option<Box<CompileError>>,
}

impl Graph {
    /// An empty graph.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            epoch: NEXT_EPOCH.fetch_add(1, Ordering::Relaxed),
            resources: Vec::new(),
            resource_labels: Arc::default(),
            passes: Vec::new(),
            pass_labels: Arc::default(),
            accesses: Vec::new(),
            after: Vec::new(),
            deferred: None,
        }
    }

    /// Empties the graph and keeps its storage; handles made before are foreign from now on.
    pub fn reset(&mut self) {
        self.epoch = NEXT_EPOCH.fetch_add(1, Ordering::Relaxed);
        self.resources.clear();
        self.passes.clear();
        self.accesses.clear();
        self.after.clear();
        self.deferred = None;
        for labels in [&mut self.resource_labels, &mut self.pass_labels] {
            let labels = Arc::make_mut(labels);
            labels.text.clear();
            labels.ends.clear();
        }
    }

    /// Name of the graph.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The resources, in declaration order.
    #[must_use]
    pub fn resources(&self) -> &[ResourceDecl] {
        &self.resources
    }

    /// The label of a resource by its position.
    #[must_use]
    pub fn resource_label(&self, index: usize) -> &str {
        self.resource_labels.get(index)
    }

    /// The passes, in declaration order.
    #[must_use]
    pub fn passes(&self) -> &[PassDecl] {
        &self.passes
    }

    /// The label of a pass by its position.
    #[must_use]
    pub fn pass_label(&self, index: usize) -> &str {
        self.pass_labels.get(index)
    }

    /// The accesses of a pass by its position.
    #[must_use]
    pub fn accesses(&self, pass: usize) -> &[AccessDecl] {
        let pass = &self.passes[pass];
        &self.accesses[pass.first_access as usize..(pass.first_access + pass.access_count) as usize]
    }

    /// The positions of the passes that a pass was declared to come after.
    #[must_use]
    pub fn after(&self, pass: usize) -> &[u32] {
        let pass = &self.passes[pass];
        &self.after[pass.first_after as usize..(pass.first_after + pass.after_count) as usize]
    }

    /// A texture that the graph owns for this frame.
    pub fn texture(&mut self, label: &str, desc: TextureDesc) -> TextureId {
        self.add(label, ResourceDesc::Texture(desc), Lifetime::Transient, None).into_texture()
    }

    /// A buffer that the graph owns for this frame.
    pub fn buffer(&mut self, label: &str, desc: BufferDesc) -> BufferId {
        self.add(label, ResourceDesc::Buffer(desc), Lifetime::Transient, None).into_buffer()
    }

    /// A texture of the caller's.
    pub fn import_texture(&mut self, label: &str, desc: TextureDesc, initial: State) -> TextureId {
        self.add(label, ResourceDesc::Texture(desc), Lifetime::Imported, Some(initial)).into_texture()
    }

    /// A buffer of the caller's.
    pub fn import_buffer(&mut self, label: &str, desc: BufferDesc, initial: State) -> BufferId {
        self.add(label, ResourceDesc::Buffer(desc), Lifetime::Imported, Some(initial)).into_buffer()
    }

    /// A texture that lives on across frames under its label; `None` when it has no contents yet.
    pub fn persistent_texture(&mut self, label: &str, desc: TextureDesc, initial: Option<State>) -> TextureId {
        self.add(label, ResourceDesc::Texture(desc), Lifetime::Persistent, initial).into_texture()
    }

    /// A buffer that lives on across frames under its label; `None` when it has no contents yet.
    pub fn persistent_buffer(&mut self, label: &str, desc: BufferDesc, initial: Option<State>) -> BufferId {
        self.add(label, ResourceDesc::Buffer(desc), Lifetime::Persistent, initial).into_buffer()
    }

    /// Makes the contents at the end of the frame a result: what produces them is live. A transient output is
    /// *extracted*: the caller takes it after the frame.
    pub fn output(&mut self, resource: impl Into<ResourceId>) {
        self.edit(resource.into(), "output", |decl| decl.output = true);
    }

    /// States what an imported or persistent resource is used for after the frame.
    pub fn final_state(&mut self, resource: impl Into<ResourceId>, state: State) {
        self.edit(resource.into(), "final_state", |decl| decl.final_state = Some(state));
    }

    /// States size and placement alignment as the device reports them, in bytes.
    pub fn memory(&mut self, resource: impl Into<ResourceId>, bytes: Option<u64>, alignment: Option<u64>) {
        self.edit(resource.into(), "memory", |decl| {
            decl.bytes = bytes;
            decl.alignment = alignment;
        });
    }

    /// States what an imported object was created for; live accesses outside are `invalid-descriptor`.
    pub fn usages(&mut self, resource: impl Into<ResourceId>, usages: AccessKinds) {
        self.edit(resource.into(), "usages", |decl| decl.usages = Some(usages));
    }

    /// Adds a pass and returns the builder for what it does.
    pub fn pass(&mut self, label: &str, kind: PassKind) -> PassBuilder<'_> {
        let index = index_of(self.passes.len());
        Arc::make_mut(&mut self.pass_labels).push(label);
        self.passes.push(PassDecl {
            kind,
            queue: QueueKind::Graphics,
            side_effect: false,
            first_access: index_of(self.accesses.len()),
            access_count: 0,
            first_after: index_of(self.after.len()),
            after_count: 0,
        });
        PassBuilder::new(self, index)
    }

    pub(crate) fn push_resource(&mut self, label: &str, decl: ResourceDecl) {
        Arc::make_mut(&mut self.resource_labels).push(label);
        self.resources.push(decl);
    }

    pub(crate) fn push_access(&mut self, access: AccessDecl) {
        self.accesses.push(access);
        if let Some(pass) = self.passes.last_mut() {
            pass.access_count += 1;
        }
    }

    /// Adds an order to the last pass; `index` may name a pass that is declared later.
    pub(crate) fn push_after(&mut self, index: u32) {
        self.after.push(index);
        if let Some(pass) = self.passes.last_mut() {
            pass.after_count += 1;
        }
    }

    pub(crate) fn defer(&mut self, error: CompileError) {
        self.deferred.get_or_insert_with(|| Box::new(error));
    }

    fn add(&mut self, label: &str, desc: ResourceDesc, lifetime: Lifetime, initial: Option<State>) -> ResourceId {
        let index = index_of(self.resources.len());
        self.push_resource(
            label,
            ResourceDecl {
                desc,
                lifetime,
                output: false,
                bytes: None,
                alignment: None,
                initial,
                final_state: None,
                usages: None,
            },
        );
        ResourceId { index, epoch: self.epoch }
    }

    fn edit(&mut self, id: ResourceId, what: &str, change: impl FnOnce(&mut ResourceDecl)) {
        let epoch = self.epoch;
        match self.resources.get_mut(id.index()) {
            Some(decl) if id.epoch == epoch => change(decl),
            _ => self.defer(CompileError::new(
                ErrorCode::InvalidHandle,
                format!("`{what}` was called with a resource handle of another graph"),
            )),
        }
    }
}

impl ResourceId {
    fn into_texture(self) -> TextureId {
        TextureId { index: self.index, epoch: self.epoch }
    }

    fn into_buffer(self) -> BufferId {
        BufferId { index: self.index, epoch: self.epoch }
    }
}

/// Positions are 32 bits; graphs are refused long before (`compile::limits`), so saturation is never observed.
fn index_of(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(NONE)
}
