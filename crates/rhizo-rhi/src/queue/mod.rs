//! Queues and the submission transaction: validate, reserve, enqueue, commit or roll everything back.

mod fence;
mod semaphore;

pub use fence::{Fence, FenceState, FenceWait};
pub use semaphore::{Reservation, Semaphore, SemaphoreKind, SemaphoreSignal, SemaphoreWait};

use crate::backend::{NativeSubmission, ObjectRef};
use crate::clause;
use crate::encoder::{CommandBuffer, EXECUTABLE, PENDING};
use crate::error::{Error, Result};
use crate::handle::{DeviceKey, DeviceShared, ObjectId, User};
use crate::vocab::{QueueKind, Stages};
use smallvec::SmallVec;
use std::sync::atomic::Ordering;

/// Facts about a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueInfo {
    /// Kind it was asked for as.
    pub kind: QueueKind,
    /// Index among the queues of this kind.
    pub index: u32,
    /// Native family: queues of equal families need no hand-over between them.
    pub family: u32,
    /// Bits of a timestamp that count; 0 when the queue has none.
    pub timestamp_bits: u32,
    /// Set when the native queue also serves as an earlier queue of this device, by its position.
    pub shared_with: Option<u32>,
}

/// The place of a submission on its queue; grows by one with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubmissionIndex {
    pub(crate) key: DeviceKey,
    pub(crate) queue: u32,
    pub(crate) index: u64,
}

impl SubmissionIndex {
    /// The number, from 1.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.index
    }
}

/// Waits for a submission of another queue.
#[derive(Clone, Copy, Debug)]
pub struct SubmissionWait {
    /// Which.
    pub submission: SubmissionIndex,
    /// Stages that wait.
    pub stages: Stages,
}

/// One submission.
#[derive(Clone, Copy, Debug, Default)]
pub struct Submission<'a> {
    /// Command buffers in order.
    pub commands: &'a [&'a CommandBuffer],
    /// Semaphores waited for.
    pub waits: &'a [SemaphoreWait<'a>],
    /// Submissions of other queues waited for.
    pub after: &'a [SubmissionWait],
    /// Semaphores signalled.
    pub signals: &'a [SemaphoreSignal<'a>],
    /// Fence signalled at completion.
    pub fence: Option<&'a Fence>,
}

/// A queue of a device. Cheap to clone; submissions from several threads are put in some order.
#[derive(Clone)]
pub struct Queue {
    user: User,
    index: u32,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "queue {}: {:?}", self.index, self.info())
    }
}

impl Queue {
    pub(crate) fn new(user: User, index: u32) -> Self {
        Self { user, index }
    }

    /// Facts.
    #[must_use]
    pub fn info(&self) -> &QueueInfo {
        &self.user.queues[self.index as usize].info
    }

    /// Its position among the device's queues, as barriers name it.
    #[must_use]
    pub const fn position(&self) -> u32 {
        self.index
    }

    /// Makes a command pool for this queue.
    #[must_use]
    pub fn create_pool(&self) -> crate::encoder::CommandPool {
        crate::encoder::CommandPool::create(self.user.clone(), self.index)
    }

    /// Submits command buffers only.
    ///
    /// # Errors
    /// As [`Queue::submit`].
    #[track_caller]
    pub fn submit_commands(&self, commands: &[&CommandBuffer]) -> Result<SubmissionIndex> {
        self.submit(&Submission { commands, ..Submission::default() })
    }

    /// Submits as one transaction: on an error nothing was enqueued, every semaphore, fence and command buffer is as it
    /// was before.
    ///
    /// *Maps to*: see `QueueBackend::submit`.
    ///
    /// # Errors
    /// `SUBMIT_*`, `FENCE_STATE`, `SEMAPHORE_*`, `TIMELINE_VALUE`, `DEVICE_*`, native failures.
    #[track_caller]
    pub fn submit(&self, submission: &Submission<'_>) -> Result<SubmissionIndex> {
        let device = &self.user.0;
        device.check_alive()?;
        self.validate(submission)?;
        let reserved = Reserved::take(self.index, submission)?;
        // Semaphores may be dropped once this returns: the submission itself protects them until it has completed.
        let named = !submission.waits.is_empty() || !submission.signals.is_empty();
        let epoch = named.then(|| device.open_epoch(ObjectId(0)));
        let index = match reserved.enqueue(device, self.index, submission) {
            Ok(index) => index,
            Err(error) => {
                epoch.into_iter().for_each(|epoch| device.close_epoch(epoch));
                return Err(error);
            }
        };
        epoch.into_iter().for_each(|epoch| device.submit_epoch(epoch, self.index, index));
        reserved.commit(self.index, index);
        device.queues[self.index as usize].last.fetch_max(index, Ordering::AcqRel);
        device.collect();
        Ok(SubmissionIndex { key: device.key, queue: self.index, index })
    }

    #[track_caller]
    fn validate(&self, s: &Submission<'_>) -> Result<()> {
        if s.commands.is_empty()
            && s.waits.is_empty()
            && s.signals.is_empty()
            && s.after.is_empty()
            && s.fence.is_none()
        {
            return Err(Error::clause(clause::SUBMIT_EMPTY, "nothing was given").on(&*self.user.label));
        }
        for (i, commands) in s.commands.iter().enumerate() {
            self.validate_commands(commands)?;
            if s.commands[..i].iter().any(|other| std::ptr::eq(*other, *commands)) {
                return Err(Error::clause(clause::SUBMIT_DUPLICATE, "given twice").on(commands.label()));
            }
        }
        self.validate_semaphores(s)?;
        for wait in s.after {
            let SubmissionIndex { queue, index, .. } = wait.submission;
            self.check_submission(wait.submission)?;
            let known = self.user.queues.get(queue as usize).is_some_and(|q| q.last.load(Ordering::Acquire) >= index);
            if !known {
                return Err(Error::clause(clause::SUBMIT_INDEX, format!("{:?}", wait.submission)));
            }
            check_stages(wait.stages)?;
        }
        if let Some(fence) = s.fence {
            fence.check(&self.user)?;
        }
        Ok(())
    }

    #[track_caller]
    fn validate_commands(&self, commands: &CommandBuffer) -> Result<()> {
        let (own, other) = (self.user.key, commands.device().key);
        if own != other {
            return Err(own.mismatch(other, commands.label()));
        }
        let recorded = &self.user.queues[commands.queue() as usize].info;
        if recorded.family != self.info().family || recorded.kind != self.info().kind {
            let detail = format!("recorded for {} family {}", recorded.kind.name(), recorded.family);
            return Err(Error::clause(clause::SUBMIT_QUEUE, detail).on(commands.label()));
        }
        if commands.state.load(Ordering::Acquire) != EXECUTABLE {
            return Err(Error::clause(clause::SUBMIT_STATE, "it was submitted before").on(commands.label()));
        }
        Ok(())
    }

    #[track_caller]
    fn validate_semaphores(&self, s: &Submission<'_>) -> Result<()> {
        for (i, wait) in s.waits.iter().enumerate() {
            wait.semaphore.check(&self.user)?;
            check_stages(wait.stages)?;
            if s.waits[..i].iter().any(|other| other.semaphore.id() == wait.semaphore.id()) {
                return Err(Error::clause(clause::SUBMIT_DUPLICATE, "waited for twice").on(wait.semaphore.label()));
            }
        }
        for (i, signal) in s.signals.iter().enumerate() {
            signal.semaphore.check(&self.user)?;
            if s.signals[..i].iter().any(|other| other.semaphore.id() == signal.semaphore.id()) {
                return Err(Error::clause(clause::SUBMIT_DUPLICATE, "signalled twice").on(signal.semaphore.label()));
            }
            if signal.semaphore.is_binary() && s.waits.iter().any(|w| w.semaphore.id() == signal.semaphore.id()) {
                let detail = "waited for and signalled";
                return Err(Error::clause(clause::SUBMIT_DUPLICATE, detail).on(signal.semaphore.label()));
            }
        }
        Ok(())
    }

    /// The last submission known to have completed, 0 for none.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.user.queues[self.index as usize].backend.completed()
    }

    #[track_caller]
    fn check_submission(&self, submission: SubmissionIndex) -> Result<()> {
        if submission.key == self.user.key {
            return Ok(());
        }
        Err(self.user.key.mismatch(submission.key, &format!("submission {}", submission.index)))
    }

    /// Whether a submission has completed. One of a lost device or an earlier generation counts as complete, one of
    /// another device never is.
    #[must_use]
    pub fn is_complete(&self, submission: SubmissionIndex) -> bool {
        let own = self.user.key;
        if submission.key != own {
            return submission.key.device() == own.device() && submission.key.generation() < own.generation();
        }
        self.user.is_lost() || self.user.queues[submission.queue as usize].backend.completed() >= submission.index
    }

    /// Waits for a submission of this device; false on time-out. A Synchronization capability: absent on the web.
    ///
    /// # Errors
    /// `DEVICE_OWNERSHIP`, `DEVICE_GENERATION`, `DEVICE_LOST`; `Unsupported` where nothing may block.
    #[track_caller]
    pub fn wait(&self, submission: SubmissionIndex, timeout_ns: u64) -> Result<bool> {
        self.user.check_alive()?;
        self.check_submission(submission)?;
        let done = self.user.queues[submission.queue as usize].backend.wait(submission.index, timeout_ns);
        self.user.native(done)
    }

    /// Fails unless the queue belongs to the device of this key.
    #[track_caller]
    pub(crate) fn check_device(&self, key: DeviceKey) -> Result<()> {
        if key == self.user.key { Ok(()) } else { Err(key.mismatch(self.user.key, &format!("queue {}", self.index))) }
    }
}

#[track_caller]
fn check_stages(stages: Stages) -> Result<()> {
    if stages.is_empty() {
        return Err(Error::clause(clause::SUBMIT_STAGES, "no stage waits"));
    }
    Ok(())
}

/// Everything a submission holds between validation and commit; dropping it rolls back.
struct Reserved<'a> {
    commands: SmallVec<[&'a CommandBuffer; 8]>,
    fence: Option<&'a Fence>,
    semaphores: SmallVec<[semaphore::Hold<'a>; 4]>,
}

impl<'a> Reserved<'a> {
    #[track_caller]
    fn take(queue: u32, s: &Submission<'a>) -> Result<Self> {
        let mut held = Self { commands: SmallVec::new(), fence: None, semaphores: SmallVec::new() };
        for wait in s.waits {
            held.semaphores.push(wait.semaphore.hold_wait(queue, wait.value, wait.reservation)?);
        }
        for signal in s.signals {
            held.semaphores.push(signal.semaphore.hold_signal(queue, signal.value, signal.reservation)?);
        }
        if let Some(fence) = s.fence {
            fence.reserve()?;
            held.fence = Some(fence);
        }
        for commands in s.commands {
            // The state decides a race between two threads that submit the same command buffer.
            if commands.state.compare_exchange(EXECUTABLE, PENDING, Ordering::AcqRel, Ordering::Acquire).is_err() {
                return Err(Error::clause(clause::SUBMIT_STATE, "it was submitted before").on(commands.label()));
            }
            held.commands.push(commands);
        }
        Ok(held)
    }

    #[track_caller]
    fn enqueue(&self, device: &DeviceShared, queue: u32, s: &Submission<'_>) -> Result<u64> {
        let commands: SmallVec<[u64; 8]> = s.commands.iter().map(|c| c.word).collect();
        let waits: SmallVec<[(ObjectRef, u64, Stages); 4]> =
            s.waits.iter().map(|w| (w.semaphore.raw(), w.value, w.stages)).collect();
        let signals: SmallVec<[(ObjectRef, u64); 4]> = s.signals.iter().map(|w| (w.semaphore.raw(), w.value)).collect();
        let after: SmallVec<[(u32, u64, Stages); 4]> = s
            .after
            .iter()
            .filter(|a| a.submission.queue != queue)
            .map(|a| (a.submission.queue, a.submission.index, a.stages))
            .collect();
        let native = NativeSubmission { commands: &commands, waits: &waits, after: &after, signals: &signals };
        device.native(device.queues[queue as usize].backend.submit(&native))
    }

    fn commit(mut self, queue: u32, index: u64) {
        for commands in self.commands.drain(..) {
            commands.commit(queue, index);
        }
        if let Some(fence) = self.fence.take() {
            fence.commit(queue, index);
        }
        for hold in self.semaphores.drain(..) {
            hold.commit();
        }
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        for commands in &self.commands {
            commands.state.store(EXECUTABLE, Ordering::Release);
        }
        if let Some(fence) = self.fence {
            fence.roll_back();
        }
        // Each semaphore hold rolls itself back when dropped.
    }
}
