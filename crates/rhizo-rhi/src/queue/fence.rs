//! Fences: GPU to CPU.

use crate::clause;
use crate::error::{Error, Result};
use crate::handle::{DeviceKey, DeviceShared, lock};
use std::sync::{Arc, Mutex};

/// Where a fence is in its cycle: ready, pending, signaled, resetting, ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceState {
    /// May be given to a submission.
    Ready,
    /// Given to a submission that is not known to have completed.
    Pending,
    /// Its submission has completed.
    Signaled,
    /// Being made ready again.
    Resetting,
}

/// The outcome of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceWait {
    /// Signaled.
    Signaled,
    /// Not within the time.
    TimedOut,
    /// The fence is ready: no submission will signal it. Returned at once.
    NotSubmitted,
}

#[derive(Clone, Copy)]
struct Inner {
    state: FenceState,
    queue: u32,
    index: u64,
}

/// A fence: pending from a submission until that submission completes.
///
/// *Maps to* — every backend: the completion value of the queue it was submitted to (Vulkan: a timeline semaphore;
/// D3D12: `ID3D12Fence`; Metal: `MTLSharedEvent`; WebGPU: `onSubmittedWorkDone`; GL: `glFenceSync`).
pub struct Fence {
    device: Arc<DeviceShared>,
    key: DeviceKey,
    label: Box<str>,
    inner: Mutex<Inner>,
}

impl Fence {
    pub(crate) fn create(device: &Arc<DeviceShared>, label: &str) -> Self {
        let inner = Mutex::new(Inner { state: FenceState::Ready, queue: 0, index: 0 });
        Self { device: device.clone(), key: device.key, label: label.into(), inner }
    }

    #[track_caller]
    pub(super) fn check(&self, device: &DeviceShared) -> Result<()> {
        if self.key != device.key {
            return Err(device.key.mismatch(self.key, &self.label));
        }
        let state = self.state();
        if state == FenceState::Ready { Ok(()) } else { Err(self.wrong("submitted", state)) }
    }

    #[cold]
    #[track_caller]
    fn wrong(&self, what: &str, state: FenceState) -> Error {
        Error::clause(clause::FENCE_STATE, format!("{what} while {state:?}")).on(&*self.label)
    }

    #[track_caller]
    pub(super) fn reserve(&self) -> Result<()> {
        let mut inner = lock(&self.inner);
        if inner.state != FenceState::Ready {
            return Err(self.wrong("submitted", inner.state));
        }
        inner.state = FenceState::Pending;
        inner.index = u64::MAX; // not known until the native call returns
        Ok(())
    }

    pub(super) fn roll_back(&self) {
        lock(&self.inner).state = FenceState::Ready;
    }

    pub(super) fn commit(&self, queue: u32, index: u64) {
        let mut inner = lock(&self.inner);
        (inner.queue, inner.index) = (queue, index);
    }

    /// The state now.
    #[must_use]
    pub fn state(&self) -> FenceState {
        let mut inner = lock(&self.inner);
        let done =
            || self.device.is_lost() || self.device.queues[inner.queue as usize].backend.completed() >= inner.index;
        if inner.state == FenceState::Pending && inner.index != u64::MAX && done() {
            inner.state = FenceState::Signaled;
        }
        inner.state
    }

    /// Waits at most `timeout_ns` nanoseconds.
    ///
    /// # Errors
    /// `DEVICE_LOST`; `Unsupported` where nothing may block.
    #[track_caller]
    pub fn wait(&self, timeout_ns: u64) -> Result<FenceWait> {
        match self.state() {
            FenceState::Ready | FenceState::Resetting => return Ok(FenceWait::NotSubmitted),
            FenceState::Signaled => return Ok(FenceWait::Signaled),
            FenceState::Pending => {}
        }
        let Inner { queue, index, .. } = *lock(&self.inner);
        if index == u64::MAX {
            return Ok(FenceWait::TimedOut); // another thread is inside the submission
        }
        if !self.device.native(self.device.queues[queue as usize].backend.wait(index, timeout_ns))? {
            return Ok(FenceWait::TimedOut);
        }
        let _ = self.state();
        Ok(FenceWait::Signaled)
    }

    /// Makes a signaled fence ready again. Resetting a ready fence does nothing.
    ///
    /// # Errors
    /// `FENCE_STATE` while pending.
    #[track_caller]
    pub fn reset(&self) -> Result<()> {
        match self.state() {
            FenceState::Pending | FenceState::Resetting => Err(self.wrong("reset", self.state())),
            FenceState::Ready => Ok(()),
            FenceState::Signaled => {
                let mut inner = lock(&self.inner);
                inner.state = FenceState::Resetting;
                (inner.queue, inner.index) = (0, 0);
                inner.state = FenceState::Ready;
                Ok(())
            }
        }
    }
}

impl std::fmt::Debug for Fence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "fence \"{}\", {:?}", self.label, self.state())
    }
}
