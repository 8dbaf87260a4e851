//! Command pools, recorders and command buffers.

use crate::backend::{BufferBarrierRef, GlobalBarrierRef, ObjectRef, RecorderBackend, TextureBarrierRef};
use crate::barrier::Barriers;
use crate::clause;
use crate::error::{Error, Located, Result};
use crate::handle::{DeviceKey, DeviceShared, EpochTicket, Grave, ObjectId, Owned, User};
use crate::pass::{ComputePass, ComputePassDesc, PassState, RasterPass, RasterPassDesc, TransferPass, not_bound};
use crate::pipeline::PipelineFacts;
use crate::query::{QueryKind, QuerySet, Statistics};
use crate::vocab::QueueKind;
use crossbeam_queue::ArrayQueue;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Free recorders a pool keeps; more are destroyed when their work has completed.
const POOL_CAPACITY: usize = 128;

/// Which pass is open, if one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenPass {
    None,
    Raster,
    Compute,
    Transfer,
}

/// Bit of [`RecorderCore::blocked`]: a check has failed. The lower bits are what draws still miss.
const POISONED: u64 = 1 << 63;

/// What commands of one command buffer are recorded with; reused once their work has completed.
///
/// In the order of its fields, because the first 64 bytes, which end inside the state, are what draws and the calls between
/// them touch: one cache line.
#[repr(C, align(64))]
pub(crate) struct RecorderCore {
    pub(crate) backend: Box<dyn RecorderBackend>,
    /// The first failure: `POISONED` is set with it.
    error: Option<Error>,
    /// Zero when a draw or dispatch may be recorded: healthy, and everything bound that the bound pipeline needs
    /// ([`PipelineFacts::missing`] and [`POISONED`]).
    blocked: u64,
    /// The device's, beside what else a check reads.
    key: DeviceKey,
    /// Vertex buffer slots of the device, at most the 32 of the mask.
    vertex_slots: u32,
    /// Bytes of push constants the bound pipeline takes; 0 when poisoned, so that one comparison checks both.
    push_room: u32,
    pub(crate) state: PassState,
    pub(crate) device: Arc<DeviceShared>,
    pub(crate) queue: u32,
    pub(crate) kind: QueueKind,
    pub(crate) open_pass: OpenPass,
    pub(crate) pass_label: String,
    label: String,
    groups: u32,
    /// Statistics query that passes are being counted in.
    statistics: Option<(ObjectRef, u32)>,
    /// Host-visible destinations were written: `finish` makes them visible to the CPU.
    pub(crate) wrote_readback: bool,
    global: Vec<GlobalBarrierRef>,
    buffers: Vec<BufferBarrierRef>,
    textures: Vec<TextureBarrierRef>,
    epoch: Option<EpochTicket>,
    /// (queue, index) of the last submission of this core.
    submitted: (u32, u64),
}

impl RecorderCore {
    /// Whether commands are still recorded.
    #[inline]
    pub(crate) fn healthy(&self) -> bool {
        self.blocked & POISONED == 0
    }

    /// Fails when an object is not of this device in this generation.
    #[inline]
    #[track_caller]
    pub(crate) fn check(&self, key: DeviceKey, object: &Owned) -> Result<()> {
        if key == self.key { Ok(()) } else { Err(self.key.mismatch(key, &object.label)) }
    }

    /// Whether a draw or dispatch with the bound pipeline may be recorded; poisons when something is not bound.
    #[inline]
    #[track_caller]
    pub(crate) fn ready(&mut self, facts: &PipelineFacts) -> bool {
        if self.blocked != 0 {
            self.refuse(facts);
            return false;
        }
        true
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn refuse(&mut self, facts: &PipelineFacts) {
        if self.healthy() {
            let error = not_bound(self, facts);
            self.poison(error);
        }
    }

    /// A pipeline was bound: notes what it misses of what is set.
    #[inline]
    pub(crate) fn bound(&mut self, facts: &PipelineFacts) {
        self.state.bind(facts);
        self.blocked = self.blocked & POISONED | facts.missing(&self.state);
        self.push_room = if self.healthy() { facts.tables.push_bytes } else { 0 };
    }

    /// Whether a push of so many bytes may be recorded; poisons when it is outside the bound pipeline's range.
    #[inline]
    #[track_caller]
    pub(crate) fn push_fits(&mut self, offset: u32, bytes: usize, facts: &PipelineFacts) -> bool {
        let inside = bytes as u64 + u64::from(offset) <= u64::from(self.push_room);
        if !inside || bytes == 0 || (bytes | offset as usize) & 3 != 0 {
            self.refuse_push(offset, bytes, facts);
            return false;
        }
        true
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn refuse_push(&mut self, offset: u32, bytes: usize, facts: &PipelineFacts) {
        if self.healthy() {
            let detail = format!("{bytes} bytes at {offset} of {}", facts.tables.push_bytes);
            self.poison(Error::clause(clause::PUSH_RANGE, detail));
        }
    }

    /// Whether the device has this vertex buffer slot.
    #[inline]
    pub(crate) fn has_slot(&self, slot: u32) -> bool {
        slot < self.vertex_slots
    }

    /// A table was set.
    #[inline]
    pub(crate) fn table_set(&mut self, index: usize) {
        self.state.tables |= 1 << index;
        self.blocked &= !PipelineFacts::table_bit(index);
    }

    /// A vertex buffer was set.
    #[inline]
    pub(crate) fn vertex_buffer_set(&mut self, slot: u32) {
        self.state.buffers |= 1 << slot;
        self.blocked &= !(1 << slot);
    }

    /// Keeps the first failure; later commands are skipped.
    #[cold]
    pub(crate) fn poison(&mut self, error: Error) {
        self.blocked |= POISONED;
        self.push_room = 0;
        if self.error.is_none() {
            let error = if error.object().is_none() { error.on(self.label.as_str()) } else { error };
            let in_pass = self.open_pass != OpenPass::None;
            self.error = Some(if in_pass { error.in_pass(self.pass_label.as_str()) } else { error });
        }
    }

    /// Poisons on failure, with the place of the caller; `None` also when already poisoned.
    #[inline]
    #[track_caller]
    pub(crate) fn try_record<T>(&mut self, check: impl FnOnce(&mut Self) -> Result<T>) -> Option<T> {
        if !self.healthy() {
            return None;
        }
        match check(self).located() {
            Ok(value) => Some(value),
            Err(error) => {
                self.poison(error);
                None
            }
        }
    }

    pub(crate) fn end_pass(&mut self) {
        let open = std::mem::replace(&mut self.open_pass, OpenPass::None);
        match open {
            OpenPass::Raster => self.backend.end_raster(),
            OpenPass::Compute => self.backend.end_compute(),
            OpenPass::Transfer => self.backend.pop_group(),
            OpenPass::None => {}
        }
        self.state.reset();
    }

    /// A pass that was forgotten instead of dropped is closed here, and the command buffer is poisoned.
    #[track_caller]
    fn close_forgotten(&mut self) {
        if self.open_pass != OpenPass::None {
            let detail = format!("pass \"{}\" was neither dropped nor ended", self.pass_label);
            self.poison(Error::clause(clause::PASS_OPEN, detail));
            self.end_pass();
        }
    }

    #[track_caller]
    pub(crate) fn barriers(&mut self, batch: &Barriers<'_>) {
        self.try_record(|core| {
            let own = core.queue;
            core.global.clear();
            core.buffers.clear();
            core.textures.clear();
            for barrier in batch.global {
                core.global.push(barrier.check()?);
            }
            for barrier in batch.buffers {
                core.buffers.push(barrier.check(&core.device, own)?);
            }
            for barrier in batch.textures {
                core.textures.push(barrier.check(&core.device, own)?);
            }
            core.backend.barriers(&core.global, &core.buffers, &core.textures);
            Ok(())
        });
    }

    /// Fails where a timestamp cannot be written, or its slot not be reset.
    #[track_caller]
    pub(crate) fn need_timestamps(&self) -> Result<()> {
        if self.kind > QueueKind::Compute {
            return Err(Error::clause(clause::POOL_QUEUE, "a timestamp on a transfer queue"));
        }
        if self.device.queues[self.queue as usize].info.timestamp_bits == 0 {
            let detail = format!("{} queue {} has no timestamps", self.kind.name(), self.queue);
            return Err(Error::clause(clause::CAPABILITY, detail));
        }
        Ok(())
    }

    /// Ends the open statistics query, if one is.
    fn close_statistics(&mut self) -> bool {
        let open = self.statistics.take();
        if let Some((set, index)) = open {
            self.backend.end_query(set, index);
        }
        open.is_some()
    }

    #[track_caller]
    pub(crate) fn need_queue(&mut self, least: QueueKind, what: &str) -> bool {
        if self.kind <= least {
            return true;
        }
        let detail = format!("{what} on a {} queue", self.kind.name());
        self.poison(Error::clause(clause::POOL_QUEUE, detail));
        false
    }
}

struct PoolShared {
    free: ArrayQueue<Box<RecorderCore>>,
    device: Arc<DeviceShared>,
}

impl PoolShared {
    fn give_back(&self, core: Box<RecorderCore>) {
        if let Err(core) = self.free.push(core) {
            self.device.retire(Grave::Recorder(core));
        }
    }
}

impl Drop for PoolShared {
    fn drop(&mut self) {
        while let Some(core) = self.free.pop() {
            self.device.retire(Grave::Recorder(core));
        }
    }
}

/// Makes command buffers for one queue; one recording at a time.
///
/// `Send` and not `Sync`: a pool belongs to one thread at a time. A steady state allocates nothing: command buffers
/// come back when dropped and are reused once their work has completed.
///
/// *Maps to* — Vulkan: `VkCommandPool`s; D3D12: `ID3D12CommandAllocator`s; Metal: the queue; WebGPU: the device; GL:
/// lists of commands.
pub struct CommandPool {
    shared: Arc<PoolShared>,
    user: User,
    queue: u32,
    kind: QueueKind,
    not_sync: PhantomData<std::cell::Cell<()>>,
}

impl CommandPool {
    pub(crate) fn create(user: User, queue: u32) -> Self {
        let kind = user.queues[queue as usize].info.kind;
        let shared = Arc::new(PoolShared { free: ArrayQueue::new(POOL_CAPACITY), device: user.0.clone() });
        Self { shared, user, queue, kind, not_sync: PhantomData }
    }

    /// Starts a command buffer; the label is what captures show.
    ///
    /// # Errors
    /// `DEVICE_LOST`; out of memory.
    #[track_caller]
    pub fn begin(&mut self, label: &str) -> Result<Recorder<'_>> {
        self.user.check_alive()?;
        let mut core = self.take_core()?;
        core.label.clear();
        core.label.push_str(label);
        core.error = None;
        core.blocked = 0;
        core.push_room = 0;
        core.groups = 0;
        core.statistics = None;
        core.open_pass = OpenPass::None;
        core.wrote_readback = false;
        core.state.reset();
        core.epoch = Some(self.user.open_epoch(ObjectId(0)));
        if let Err(error) = core.backend.begin(label) {
            release(&self.user, &mut core);
            self.shared.give_back(core);
            return self.user.native(Err(error));
        }
        Ok(Recorder { core: Some(core), pool: self })
    }

    #[track_caller]
    fn take_core(&self) -> Result<Box<RecorderCore>> {
        for _ in 0..self.shared.free.len() {
            let Some(core) = self.shared.free.pop() else { break };
            let (queue, index) = core.submitted;
            if index == 0 || self.user.queues[queue as usize].backend.completed() >= index {
                return Ok(core);
            }
            self.shared.give_back(core);
        }
        let backend = self.user.create(|backend| backend.create_recorder(self.queue))?;
        Ok(Box::new(RecorderCore {
            backend,
            blocked: 0,
            push_room: 0,
            key: self.user.key,
            vertex_slots: self.user.limits.max_vertex_bindings.min(u32::BITS),
            device: self.user.0.clone(),
            queue: self.queue,
            kind: self.kind,
            open_pass: OpenPass::None,
            pass_label: String::new(),
            state: PassState::default(),
            error: None,
            label: String::new(),
            groups: 0,
            statistics: None,
            wrote_readback: false,
            global: Vec::new(),
            buffers: Vec::new(),
            textures: Vec::new(),
            epoch: None,
            submitted: (0, 0),
        }))
    }
}

impl std::fmt::Debug for CommandPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "command pool of {} queue {}", self.kind.name(), self.queue)
    }
}

fn release(device: &DeviceShared, core: &mut RecorderCore) {
    if let Some(epoch) = core.epoch.take() {
        device.close_epoch(epoch);
    }
}

/// A command buffer being recorded. Recording calls return nothing: the first failed check is reported by
/// [`Recorder::finish`], with the place of the call.
pub struct Recorder<'pool> {
    core: Option<Box<RecorderCore>>,
    pool: &'pool mut CommandPool,
}

impl<'pool> Recorder<'pool> {
    #[track_caller]
    fn core(&mut self) -> &mut RecorderCore {
        let core = self.core.as_mut().expect("the core is taken only by finish and drop, which consume the recorder");
        core.close_forgotten();
        core
    }

    /// Opens a debug group; passes inside it show up under it in captures.
    #[track_caller]
    pub fn push_group(&mut self, label: &str) {
        let core = self.core();
        if core.healthy() {
            core.groups += 1;
            core.backend.push_group(label);
        }
    }

    /// Closes the last debug group.
    #[track_caller]
    pub fn pop_group(&mut self) {
        let core = self.core();
        core.try_record(|core| {
            core.groups =
                core.groups.checked_sub(1).ok_or_else(|| Error::clause(clause::GROUP_BALANCE, "no group is open"))?;
            core.backend.pop_group();
            Ok(())
        });
    }

    /// Records one batch of barriers between passes. *Maps to*: see `RecorderBackend::barriers`.
    #[track_caller]
    pub fn barriers(&mut self, batch: &Barriers<'_>) {
        self.core().barriers(batch);
    }

    /// Opens a raster pass; dropping it ends it.
    #[track_caller]
    pub fn raster_pass(&mut self, desc: &RasterPassDesc<'_>) -> RasterPass<'_> {
        RasterPass::begin(self.core(), desc)
    }

    /// Opens a compute pass; dropping it ends it.
    #[track_caller]
    pub fn compute_pass(&mut self, desc: &ComputePassDesc<'_>) -> ComputePass<'_> {
        ComputePass::begin(self.core(), desc)
    }

    /// Opens a transfer pass; dropping it ends it.
    #[track_caller]
    pub fn transfer_pass(&mut self, label: &str) -> TransferPass<'_> {
        TransferPass::begin(self.core(), label)
    }

    /// Writes a timestamp between passes once earlier commands have completed.
    #[track_caller]
    pub fn write_timestamp(&mut self, set: &QuerySet, index: u32) {
        self.core().try_record(|core| {
            core.check(set.key, set.owned())?;
            set.check_kind(set.kind == QueryKind::Timestamp)?;
            set.check_range(index, 1)?;
            core.need_timestamps()?;
            core.backend.reset_queries(set.raw, index, 1);
            core.backend.write_timestamp(set.raw, index);
            Ok(())
        });
    }

    /// Begins counting what the passes until [`Recorder::end_statistics`] do, into a slot of a statistics set.
    ///
    /// *Maps to* — Vulkan: `vkCmdBeginQuery` around whole passes; D3D12: `BeginQuery`; Metal: samples of the counter set at
    /// the encoders' boundaries; WebGPU, GL: no such sets can be made.
    #[track_caller]
    pub fn begin_statistics(&mut self, set: &QuerySet, index: u32) {
        self.core().try_record(|core| {
            core.check(set.key, set.owned())?;
            let QueryKind::Statistics(which) = set.kind else { return set.check_kind(false) };
            set.check_range(index, 1)?;
            if core.kind > QueueKind::Compute
                || (core.kind == QueueKind::Compute && which != Statistics::COMPUTE_INVOCATIONS)
            {
                let detail = format!("{which:?} on a {} queue", core.kind.name());
                return Err(Error::clause(clause::POOL_QUEUE, detail).on(set.label()));
            }
            if core.statistics.is_some() {
                return Err(Error::clause(clause::QUERY_NESTING, "statistics are already counted").on(set.label()));
            }
            core.backend.reset_queries(set.raw, index, 1);
            core.backend.begin_query(set.raw, index);
            core.statistics = Some((set.raw, index));
            Ok(())
        });
    }

    /// Ends counting.
    #[track_caller]
    pub fn end_statistics(&mut self) {
        self.core().try_record(|core| {
            if core.close_statistics() {
                return Ok(());
            }
            Err(Error::clause(clause::QUERY_NESTING, "no statistics are counted"))
        });
    }

    /// Ends recording.
    ///
    /// # Errors
    /// The first check that failed while recording, or the native failure.
    #[track_caller]
    pub fn finish(mut self) -> Result<CommandBuffer> {
        let core = self.core();
        if core.close_statistics() {
            core.poison(Error::clause(clause::QUERY_NESTING, "statistics are still counted"));
        }
        if core.healthy() && core.groups != 0 {
            let detail = format!("{} groups are still open", core.groups);
            core.poison(Error::clause(clause::GROUP_BALANCE, detail));
        }
        let mut core = self.core.take().expect("taken once");
        let native = core.backend.finish(core.wrote_readback);
        let late = core.backend.take_error();
        let outcome = match (core.error.take(), native, late) {
            (Some(error), ..) | (None, Err(error), _) | (None, Ok(_), Some(error)) => Err(error),
            (None, Ok(word), None) => Ok(word),
        };
        match outcome {
            Ok(word) => Ok(CommandBuffer {
                shared: self.pool.shared.clone(),
                word,
                state: AtomicU8::new(EXECUTABLE),
                submitted: AtomicU64::new(0),
                submitted_to: AtomicU32::new(0),
                user: self.pool.user.clone(),
                core: Some(core),
            }),
            Err(error) => {
                release(&self.pool.user, &mut core);
                self.pool.shared.give_back(core);
                self.pool.user.note_loss(Err(error))
            }
        }
    }
}

impl std::fmt::Debug for Recorder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "recorder of \"{}\"", self.core.as_ref().map_or("", |core| &core.label))
    }
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        if let Some(mut core) = self.core.take() {
            core.end_pass();
            core.close_statistics();
            let _ = core.backend.finish(false); // the commands are discarded with the recording
            release(&self.pool.user, &mut core);
            self.pool.shared.give_back(core);
        }
    }
}

pub(crate) const EXECUTABLE: u8 = 0;
pub(crate) const PENDING: u8 = 1;

/// Recorded commands, submitted once. `Send` and `Sync`.
pub struct CommandBuffer {
    core: Option<Box<RecorderCore>>,
    shared: Arc<PoolShared>,
    user: User,
    pub(crate) word: u64,
    pub(crate) state: AtomicU8,
    submitted: AtomicU64,
    /// Queue of the submission: of the recording's family, not always the recording's queue.
    submitted_to: AtomicU32,
}

// SAFETY: the core is touched through `&self` only to read its plain fields (queue, label, epoch); the backend recorder in
// it, which is not `Sync`, is reached only in `Drop` and by the pool, both of which own it.
unsafe impl Sync for CommandBuffer {}

impl CommandBuffer {
    fn core(&self) -> &RecorderCore {
        self.core.as_ref().expect("present until drop")
    }

    /// Name.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.core().label
    }

    pub(crate) fn queue(&self) -> u32 {
        self.core().queue
    }

    pub(crate) fn device(&self) -> &Arc<DeviceShared> {
        &self.user.0
    }

    pub(crate) fn commit(&self, queue: u32, index: u64) {
        self.submitted_to.store(queue, Ordering::Release);
        self.submitted.store(index, Ordering::Release);
        if let Some(epoch) = self.core().epoch {
            self.user.submit_epoch(epoch, queue, index);
        }
    }
}

impl std::fmt::Debug for CommandBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "command buffer \"{}\"", self.label())
    }
}

impl Drop for CommandBuffer {
    fn drop(&mut self) {
        let Some(mut core) = self.core.take() else { return };
        let index = self.submitted.load(Ordering::Acquire);
        core.submitted = (self.submitted_to.load(Ordering::Acquire), index);
        if index == 0 {
            release(&self.user, &mut core);
        }
        core.epoch = None;
        self.shared.give_back(core);
    }
}
