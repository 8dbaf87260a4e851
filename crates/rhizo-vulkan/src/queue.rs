//! Queues: one submission, one timeline value.

use crate::convert::{self, Allowed};
use crate::device::Shared;
use ash::vk;
use rhizo_rhi::backend::{NativeSubmission, QueueBackend};
use rhizo_rhi::{Error, ErrorKind, QueueKind, Result};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A queue of the device as the contract counts them; several may share one native queue.
pub(crate) struct QueueState {
    pub(crate) kind: QueueKind,
    pub(crate) index: u32,
    pub(crate) family: u32,
    pub(crate) timestamp_bits: u32,
    pub(crate) allowed: Allowed,
    /// Position among the device's native queues.
    pub(crate) native: usize,
    /// Reaches the index of a submission when its work has completed.
    pub(crate) timeline: vk::Semaphore,
    submitted: AtomicU64,
    completed: AtomicU64,
}

/// A native queue with what a submission is put together in. The lock is what Vulkan calls external synchronization.
pub(crate) struct NativeQueue {
    pub(crate) raw: vk::Queue,
    scratch: Mutex<Scratch>,
}

#[derive(Default)]
struct Scratch {
    commands: Vec<vk::CommandBufferSubmitInfo<'static>>,
    waits: Vec<vk::SemaphoreSubmitInfo<'static>>,
    signals: Vec<vk::SemaphoreSubmitInfo<'static>>,
}

impl NativeQueue {
    pub(crate) fn new(raw: vk::Queue) -> Self {
        Self { raw, scratch: Mutex::default() }
    }
}

impl QueueState {
    pub(crate) fn new(kind: QueueKind, index: u32, native: usize, timeline: vk::Semaphore) -> Self {
        Self {
            kind,
            index,
            family: 0,
            timestamp_bits: 0,
            allowed: Allowed::of_family(vk::QueueFlags::empty()),
            native,
            timeline,
            submitted: AtomicU64::new(0),
            completed: AtomicU64::new(0),
        }
    }

    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }
}

/// A queue as the front holds it.
pub(crate) struct Queue {
    pub(crate) device: Arc<Shared>,
    pub(crate) position: usize,
}

impl Queue {
    fn state(&self) -> &QueueState {
        &self.device.queues[self.position]
    }
}

impl QueueBackend for Queue {
    fn submit(&self, submission: &NativeSubmission<'_>) -> Result<u64> {
        let (device, state) = (&*self.device, self.state());
        let native = &device.natives[state.native];
        let mut scratch = native.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        scratch.fill(device, state, submission);
        let index = state.submitted() + 1;
        scratch.signals.push(info(state.timeline, index, vk::PipelineStageFlags2::ALL_COMMANDS));
        let submit = vk::SubmitInfo2::default()
            .command_buffer_infos(&scratch.commands)
            .wait_semaphore_infos(&scratch.waits)
            .signal_semaphore_infos(&scratch.signals);
        // SAFETY: command buffers are executable and not pending, semaphores are alive, all of this device (the front
        // checked); the native queue is locked.
        let result = unsafe { device.raw.queue_submit2(native.raw, &[submit], vk::Fence::null()) };
        if let Err(error) = result {
            return Err(device.note(convert::error(error, "vkQueueSubmit2")));
        }
        state.submitted.store(index, Ordering::Release);
        for (semaphore, value, _) in submission.waits.iter().filter(|(s, ..)| s.aux == TIMELINE) {
            device.gates.note(vk::Handle::from_raw(semaphore.word), *value);
        }
        Ok(index)
    }

    fn completed(&self) -> u64 {
        let state = self.state();
        let known = state.completed.load(Ordering::Acquire);
        if known == state.submitted() {
            return known;
        }
        // SAFETY: the timeline lives as long as the device.
        match unsafe { self.device.raw.get_semaphore_counter_value(state.timeline) } {
            // A lost device may report the largest value: never claim more than was submitted.
            Ok(value) => {
                let value = value.min(state.submitted());
                known.max(state.completed.fetch_max(value, Ordering::AcqRel).max(value))
            }
            Err(error) => {
                self.device.note(convert::error(error, "vkGetSemaphoreCounterValue"));
                known
            }
        }
    }

    fn wait(&self, index: u64, timeout_ns: u64) -> Result<bool> {
        if self.completed() >= index {
            return Ok(true);
        }
        let done = self.device.wait_timeline(self.state().timeline, index, timeout_ns)?;
        if done {
            self.state().completed.fetch_max(index, Ordering::AcqRel);
        }
        Ok(done)
    }
}

impl Scratch {
    fn fill(&mut self, device: &Shared, own: &QueueState, submission: &NativeSubmission<'_>) {
        self.commands.clear();
        self.waits.clear();
        self.signals.clear();
        for word in submission.commands {
            let buffer = vk::Handle::from_raw(*word);
            self.commands.push(vk::CommandBufferSubmitInfo::default().command_buffer(buffer));
        }
        for (semaphore, value, stages) in submission.waits {
            let stages = convert::wait_stages(*stages, own.allowed);
            self.waits.push(info(vk::Handle::from_raw(semaphore.word), *value, stages));
        }
        for (queue, index, stages) in submission.after {
            let stages = convert::wait_stages(*stages, own.allowed);
            self.waits.push(info(device.queues[*queue as usize].timeline, *index, stages));
        }
        for (semaphore, value) in submission.signals {
            let all = vk::PipelineStageFlags2::ALL_COMMANDS;
            self.signals.push(info(vk::Handle::from_raw(semaphore.word), *value, all));
        }
    }
}

/// The value of a binary semaphore is not looked at.
fn info(semaphore: vk::Semaphore, value: u64, stages: vk::PipelineStageFlags2) -> vk::SemaphoreSubmitInfo<'static> {
    vk::SemaphoreSubmitInfo::default().semaphore(semaphore).value(value).stage_mask(stages)
}

/// `Native::aux` of a timeline semaphore.
pub(crate) const TIMELINE: u64 = 1;

/// The highest value of each of the program's timelines that a submission waits for.
#[derive(Default)]
pub(crate) struct Gates(Mutex<Vec<(vk::Semaphore, u64)>>);

impl Gates {
    fn note(&self, semaphore: vk::Semaphore, value: u64) {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match gates.iter_mut().find(|(known, _)| *known == semaphore) {
            Some((_, highest)) => *highest = value.max(*highest),
            None => gates.push((semaphore, value)),
        }
    }

    /// A semaphore is being destroyed.
    pub(crate) fn forget(&self, semaphore: vk::Semaphore) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _)| *known != semaphore);
    }
}

/// How long closing waits for progress before it signals what nobody else will.
const PATIENCE_NS: u64 = 500_000_000;

impl Shared {
    /// Waits until all work has completed when nobody can submit any more. Where no queue gets on for a while, the values
    /// that submissions wait for are signalled from here.
    pub(crate) fn close(&self) -> Result<()> {
        let behind =
            |q: &&QueueState| -> Result<bool> { Ok(!self.wait_timeline(q.timeline, q.submitted(), PATIENCE_NS)?) };
        for queue in &self.queues {
            let mut seen = 0;
            while behind(&queue)? {
                // SAFETY: the timeline lives as long as the device.
                let now = unsafe { self.raw.get_semaphore_counter_value(queue.timeline) };
                let now = now.map_err(|e| self.note(convert::error(e, "vkGetSemaphoreCounterValue")))?;
                if now == seen {
                    self.release_gates();
                }
                seen = now;
            }
        }
        Ok(())
    }

    fn release_gates(&self) {
        for (semaphore, value) in self.gates.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let info = vk::SemaphoreSignalInfo::default().semaphore(*semaphore).value(*value);
            // SAFETY: destroyed semaphores were forgotten, so this one is alive; the value is above the present one. Should
            // a submission signal a smaller one afterwards, that submission is waiting for this very release.
            let signalled = unsafe {
                match self.raw.get_semaphore_counter_value(*semaphore) {
                    Ok(now) if now < *value => self.raw.signal_semaphore(&info),
                    _ => continue,
                }
            };
            tracing::warn!(
                value,
                ?signalled,
                "signalled a timeline that work still waits for, as its device is closed"
            );
        }
    }

    /// Waits for a timeline value; false on time-out.
    pub(crate) fn wait_timeline(&self, semaphore: vk::Semaphore, value: u64, timeout_ns: u64) -> Result<bool> {
        let (semaphores, values) = ([semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive and a timeline.
        match unsafe { self.raw.wait_semaphores(&info, timeout_ns) } {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(error) => Err(self.note(convert::error(error, "vkWaitSemaphores"))),
        }
    }

    /// Waits until everything submitted so far has completed.
    pub(crate) fn wait_all(&self) -> Result<()> {
        for queue in &self.queues {
            if !self.wait_timeline(queue.timeline, queue.submitted(), u64::MAX)? {
                return Err(Error::new(ErrorKind::Native, "waiting for a queue timed out"));
            }
        }
        Ok(())
    }
}
