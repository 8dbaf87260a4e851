//! Carrying a plan out through the contract.
//!
//! The runner makes what the plan says exists, runs each pass's *prepare* while nothing is recorded, then records the
//! plan's steps: batches of barriers as they stand, and passes opened from their declared attachments and lent to the
//! pass's *execute*. It decides nothing the plan has decided.
//!
//! # Transients across frames
//! A plan counts earlier frames as finished with transient memory. On one queue that is made true without waiting: the
//! first barrier of a pooled object also waits for what the frame before did with it.

mod attach;
mod pool;

use crate::declare::{BufferId, Graph, Lifetime, PassId, PassKind, ResourceDesc, ResourceId, TextureId};
use crate::plan::{Barrier, BarrierRange, Hazard, NO_INDEX, Plan, Step};
use pool::{Pool, ViewCache};
use rhizo_rhi::{
    Barriers, Buffer, BufferBarrier, ComputePass, ComputePassDesc, Device, GlobalBarrier, PassTimestamps, QuerySet,
    RasterPass, Recorder, Scope, Texture, TextureBarrier, TransferPass,
};
use smallvec::SmallVec;
use std::cell::RefCell;

/// What running a plan can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The contract refused a call.
    #[error(transparent)]
    Rhi(#[from] rhizo_rhi::Error),
    /// A pass asked for a resource it did not declare.
    #[error("error[undeclared-access]: pass `{pass}` uses `{resource}` without declaring it")]
    UndeclaredAccess {
        /// Pass.
        pass: String,
        /// Resource.
        resource: String,
    },
    /// An imported resource was not given, or is of another shape than declared.
    #[error("error[invalid-state]: imported resource `{resource}`: {detail}")]
    Import {
        /// Resource.
        resource: String,
        /// What is wrong.
        detail: String,
    },
    /// A pass has no work, or work of another kind.
    #[error("error[invalid-state]: pass `{pass}`: {detail}")]
    Work {
        /// Pass.
        pass: String,
        /// What is wrong.
        detail: String,
    },
    /// The pass's own failure.
    #[error("pass `{pass}` failed: {message}")]
    Pass {
        /// Pass.
        pass: String,
        /// What it said.
        message: String,
    },
}

/// Result of running.
pub type Result<T, E = RunError> = std::result::Result<T, E>;

/// What a resource of the graph is during a run.
#[derive(Clone, Debug)]
pub enum Bound {
    /// A texture.
    Texture(Texture),
    /// A buffer.
    Buffer(Buffer),
}

/// The caller's objects for imported resources.
#[derive(Debug, Default)]
pub struct Imports {
    bound: Vec<Option<Bound>>,
}

impl Imports {
    fn set(&mut self, index: usize, bound: Bound) {
        if self.bound.len() <= index {
            self.bound.resize_with(index + 1, || None);
        }
        self.bound[index] = Some(bound);
    }

    /// Gives the texture of an imported resource.
    pub fn texture(&mut self, id: TextureId, texture: &Texture) {
        self.set(id.index(), Bound::Texture(texture.clone()));
    }

    /// Gives the buffer of an imported resource.
    pub fn buffer(&mut self, id: BufferId, buffer: &Buffer) {
        self.set(id.index(), Bound::Buffer(buffer.clone()));
    }
}

/// What a pass may reach: the resources it declared.
pub struct Resolved<'a> {
    graph: &'a Graph,
    pass: usize,
    bound: &'a [Option<Bound>],
    failure: RefCell<Option<RunError>>,
}

impl Resolved<'_> {
    fn find(&self, resource: ResourceId) -> Result<&Bound> {
        let declared = self.graph.accesses(self.pass).iter().any(|a| a.resource_index() == resource.index());
        let found = declared.then(|| self.bound.get(resource.index())?.as_ref()).flatten();
        found.ok_or_else(|| self.undeclared(resource))
    }

    #[cold]
    fn undeclared(&self, resource: ResourceId) -> RunError {
        let error = || RunError::UndeclaredAccess {
            pass: self.graph.pass_label(self.pass).to_owned(),
            resource: self.graph.resource_label(resource.index()).to_owned(),
        };
        // Kept as well: a pass that swallows the error still fails.
        self.failure.borrow_mut().get_or_insert_with(error);
        error()
    }

    /// A declared texture.
    ///
    /// # Errors
    /// `undeclared-access`, which also fails the run.
    pub fn texture(&self, id: TextureId) -> Result<&Texture> {
        match self.find(id.into())? {
            Bound::Texture(texture) => Ok(texture),
            Bound::Buffer(_) => Err(self.undeclared(id.into())),
        }
    }

    /// A declared buffer.
    ///
    /// # Errors
    /// `undeclared-access`, which also fails the run.
    pub fn buffer(&self, id: BufferId) -> Result<&Buffer> {
        match self.find(id.into())? {
            Bound::Buffer(buffer) => Ok(buffer),
            Bound::Texture(_) => Err(self.undeclared(id.into())),
        }
    }
}

type Prepare<'f> = Box<dyn FnOnce(&Device, &Resolved<'_>) -> Result<()> + Send + 'f>;

type Raster<'f> = Box<dyn FnOnce(&mut RasterPass<'_>, &Resolved<'_>) -> Result<()> + Send + 'f>;
type Compute<'f> = Box<dyn FnOnce(&mut ComputePass<'_>, &Resolved<'_>) -> Result<()> + Send + 'f>;
type Transfer<'f> = Box<dyn FnOnce(&mut TransferPass<'_>, &Resolved<'_>) -> Result<()> + Send + 'f>;

enum Execute<'f> {
    Raster(Raster<'f>),
    Compute(Compute<'f>),
    Transfer(Transfer<'f>),
}

#[derive(Default)]
struct Job<'f> {
    prepare: Option<Prepare<'f>>,
    execute: Option<Execute<'f>>,
}

/// What the passes do: prepare and execute by pass. Work of culled passes is dropped unused.
#[derive(Default)]
pub struct Work<'f> {
    jobs: Vec<Job<'f>>,
}

impl<'f> Work<'f> {
    /// No work yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn job(&mut self, pass: PassId) -> &mut Job<'f> {
        if self.jobs.len() <= pass.index() {
            self.jobs.resize_with(pass.index() + 1, Job::default);
        }
        &mut self.jobs[pass.index()]
    }

    /// Runs once all resources exist and before anything is recorded: for pipelines and tables.
    pub fn prepare(&mut self, pass: PassId, f: impl FnOnce(&Device, &Resolved<'_>) -> Result<()> + Send + 'f) {
        self.job(pass).prepare = Some(Box::new(f));
    }

    /// Records a raster pass.
    pub fn raster(
        &mut self,
        pass: PassId,
        f: impl FnOnce(&mut RasterPass<'_>, &Resolved<'_>) -> Result<()> + Send + 'f,
    ) {
        self.job(pass).execute = Some(Execute::Raster(Box::new(f)));
    }

    /// Records a compute pass.
    pub fn compute(
        &mut self,
        pass: PassId,
        f: impl FnOnce(&mut ComputePass<'_>, &Resolved<'_>) -> Result<()> + Send + 'f,
    ) {
        self.job(pass).execute = Some(Execute::Compute(Box::new(f)));
    }

    /// Records a transfer pass.
    pub fn transfer(
        &mut self,
        pass: PassId,
        f: impl FnOnce(&mut TransferPass<'_>, &Resolved<'_>) -> Result<()> + Send + 'f,
    ) {
        self.job(pass).execute = Some(Execute::Transfer(Box::new(f)));
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RunStats {
    /// Passes recorded.
    pub passes: u32,
    /// Barriers recorded.
    pub barriers: u32,
    /// Batches of barriers.
    pub batches: u32,
    /// Transient objects created by this run.
    pub transients_created: u32,
    /// Transient objects taken from the pool.
    pub transients_reused: u32,
}

/// Runs plans on one queue of a device and owns their transient and persistent objects.
pub struct Runner {
    device: Device,
    pool: Pool,
    views: ViewCache,
    bound: Vec<Option<Bound>>,
}

/// Everything one run reads.
pub struct Run<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The graph it was compiled from.
    pub graph: &'a Graph,
    /// The caller's objects.
    pub imports: &'a Imports,
    /// A timestamp set: slots 2n and 2n + 1 are written around the plan's n-th pass, as far as it has slots.
    pub timestamps: Option<&'a QuerySet>,
}

impl Runner {
    /// A runner with an empty pool.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), pool: Pool::default(), views: ViewCache::default(), bound: Vec::new() }
    }

    /// Makes the plan's resources, prepares, and records all steps.
    ///
    /// # Errors
    /// [`RunError`]; the recorder then holds half a frame: drop it.
    pub fn run(&mut self, run: &Run<'_>, mut work: Work<'_>, recorder: &mut Recorder<'_>) -> Result<RunStats> {
        let mut stats = RunStats::default();
        self.pool.begin();
        self.views.begin();
        self.realize(run, &mut stats)?;
        self.prepare(run, &mut work)?;
        self.guard_reused_buffers(recorder, &mut stats);
        for submission in &run.plan.submissions {
            for step in &submission.steps {
                match step {
                    Step::Barriers(range) => self.barriers(run, run.plan.batch(range), recorder, &mut stats),
                    Step::Pass(position) => {
                        self.pass(run, *position, &mut work, recorder)?;
                        stats.passes += 1;
                    }
                }
            }
        }
        self.pool.end(run.plan, run.graph);
        Ok(stats)
    }

    /// The object a resource was during the last run: how an extracted transient is taken.
    #[must_use]
    pub fn bound(&self, id: impl Into<ResourceId>) -> Option<&Bound> {
        self.bound.get(id.into().index())?.as_ref()
    }

    /// Frees all pooled transient objects.
    pub fn trim(&mut self) {
        self.pool = Pool::default();
        self.views = ViewCache::default();
        self.bound.clear();
    }

    fn realize(&mut self, run: &Run<'_>, stats: &mut RunStats) -> Result<()> {
        self.bound.clear();
        self.bound.resize_with(run.graph.resources().len(), || None);
        for used in &run.plan.resources {
            let index = used.resource as usize;
            let decl = &run.graph.resources()[index];
            let bound = match decl.lifetime {
                Lifetime::Imported => imported(run, index)?,
                Lifetime::Transient if used.slot != NO_INDEX && !decl.output => {
                    self.pool.transient(&self.device, run, used, stats)?
                }
                Lifetime::Transient => self.pool.extracted(&self.device, run, used, stats)?,
                Lifetime::Persistent => self.pool.persistent(&self.device, run, used, stats)?,
            };
            self.bound[index] = Some(bound);
        }
        Ok(())
    }

    fn prepare(&self, run: &Run<'_>, work: &mut Work<'_>) -> Result<()> {
        for pass in &run.plan.passes {
            let Some(prepare) = work.jobs.get_mut(pass.pass as usize).and_then(|job| job.prepare.take()) else {
                continue;
            };
            let resolved = self.resolved(run, pass.pass as usize);
            prepare(&self.device, &resolved)?;
            resolved.failure.into_inner().map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    fn resolved<'a>(&'a self, run: &Run<'a>, pass: usize) -> Resolved<'a> {
        Resolved { graph: run.graph, pass, bound: &self.bound, failure: RefCell::new(None) }
    }

    /// Buffers have no first transition to carry the wait for the frame before.
    fn guard_reused_buffers(&self, recorder: &mut Recorder<'_>, stats: &mut RunStats) {
        let scope = self.pool.reused_buffer_scope();
        if scope != Scope::NONE {
            let barrier = GlobalBarrier { before: scope, after: scope };
            recorder.barriers(&Barriers { global: &[barrier], ..Barriers::default() });
            stats.barriers += 1;
            stats.batches += 1;
        }
    }

    fn barriers(&self, run: &Run<'_>, batch: &[Barrier], recorder: &mut Recorder<'_>, stats: &mut RunStats) {
        let mut textures: SmallVec<[TextureBarrier<'_>; 16]> = SmallVec::new();
        let mut buffers: SmallVec<[BufferBarrier<'_>; 16]> = SmallVec::new();
        for barrier in batch {
            let before = self.before(run, barrier);
            match (&barrier.range, &self.bound[barrier.resource as usize]) {
                (BarrierRange::Texture(range, from, to), Some(Bound::Texture(texture))) => {
                    textures.push(TextureBarrier {
                        texture,
                        range: *range,
                        before,
                        before_layout: *from,
                        after: barrier.after,
                        after_layout: *to,
                        queues: None,
                    });
                }
                (BarrierRange::Buffer(range), Some(Bound::Buffer(buffer))) => {
                    buffers.push(BufferBarrier { buffer, range: *range, before, after: barrier.after, queues: None });
                }
                // A plan names no resource that was not made: `realize` binds all it lists.
                _ => debug_assert!(false, "barrier on an unbound resource"),
            }
        }
        recorder.barriers(&Barriers { global: &[], buffers: &buffers, textures: &textures });
        stats.barriers += batch.len() as u32;
        stats.batches += 1;
    }

    /// What a barrier waits for: the first one of a pooled object also for the frame before.
    fn before(&self, run: &Run<'_>, barrier: &Barrier) -> Scope {
        let transient = run.graph.resources()[barrier.resource as usize].lifetime == Lifetime::Transient;
        if !transient || barrier.hazard != Hazard::Initial {
            return barrier.before;
        }
        let last = self.pool.last_scope(self.bound[barrier.resource as usize].as_ref());
        Scope { stages: barrier.before.stages | last.stages, access: barrier.before.access | last.access }
    }

    fn pass(&mut self, run: &Run<'_>, position: u32, work: &mut Work<'_>, recorder: &mut Recorder<'_>) -> Result<()> {
        let planned = &run.plan.passes[position as usize];
        let pass = planned.pass as usize;
        let label = run.graph.pass_label(pass);
        let execute = work.jobs.get_mut(pass).and_then(|job| job.execute.take());
        let wrong = |detail: &str| RunError::Work { pass: label.to_owned(), detail: detail.to_owned() };
        let execute = execute.ok_or_else(|| wrong("no work was given"))?;
        let timestamps = timestamps_of(run, position);
        let resolved = Resolved { graph: run.graph, pass, bound: &self.bound, failure: RefCell::new(None) };
        match (run.graph.passes()[pass].kind, execute) {
            (PassKind::Raster, Execute::Raster(execute)) => {
                let attachments = attach::attachments(run, planned, &self.bound, &mut self.views)?;
                let mut raster = attachments.begin(label, timestamps, recorder);
                execute(&mut raster, &resolved)?;
            }
            (PassKind::Compute, Execute::Compute(execute)) => {
                execute(&mut recorder.compute_pass(&ComputePassDesc { label, timestamps }), &resolved)?;
            }
            (PassKind::Transfer, Execute::Transfer(execute)) => {
                write_timestamp(recorder, timestamps.and_then(|t| Some((t.set, t.begin?))));
                execute(&mut recorder.transfer_pass(label), &resolved)?;
                write_timestamp(recorder, timestamps.and_then(|t| Some((t.set, t.end?))));
            }
            (PassKind::RayTracing, _) => return Err(wrong("ray-tracing passes are not lowered yet")),
            (kind, _) => return Err(wrong(&format!("it is declared {} and given other work", kind.name()))),
        }
        resolved.failure.into_inner().map_or(Ok(()), Err)
    }
}

fn write_timestamp(recorder: &mut Recorder<'_>, at: Option<(&QuerySet, u32)>) {
    if let Some((set, index)) = at {
        recorder.write_timestamp(set, index);
    }
}

fn timestamps_of<'a>(run: &Run<'a>, position: u32) -> Option<PassTimestamps<'a>> {
    let set = run.timestamps?;
    let begin = position.checked_mul(2).filter(|begin| begin + 1 < set.count())?;
    Some(PassTimestamps { set, begin: Some(begin), end: Some(begin + 1) })
}

fn imported(run: &Run<'_>, index: usize) -> Result<Bound> {
    let resource = run.graph.resource_label(index);
    let fail = |detail: String| Err(RunError::Import { resource: resource.to_owned(), detail });
    let Some(bound) = run.imports.bound.get(index).and_then(Option::as_ref) else {
        return fail("nothing was given for it".into());
    };
    match (&run.graph.resources()[index].desc, bound) {
        (ResourceDesc::Texture(desc), Bound::Texture(t)) => {
            let same = (t.format(), t.extent(), t.mips(), t.samples())
                == (desc.format, desc.extent(), desc.mips, desc.samples);
            if same { Ok(bound.clone()) } else { fail(format!("declared as {desc:?}, given {t:?}")) }
        }
        (ResourceDesc::Buffer(desc), Bound::Buffer(buffer)) if buffer.size_bytes() >= desc.size => Ok(bound.clone()),
        (ResourceDesc::Buffer(desc), Bound::Buffer(buffer)) => {
            fail(format!("declared with {} bytes, given {}", desc.size, buffer.size_bytes()))
        }
        (ResourceDesc::Texture(_), Bound::Buffer(_)) => fail("declared as a texture, given a buffer".into()),
        (ResourceDesc::Buffer(_), Bound::Texture(_)) => fail("declared as a buffer, given a texture".into()),
    }
}
