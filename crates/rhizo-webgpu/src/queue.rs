//! The one queue: submission, completion, waiting.

use crate::convert;
use crate::device::{Shared, lock};
use rhizo_rhi::backend::{NativeSubmission, QueueBackend};
use rhizo_rhi::{Error, ErrorKind, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Submissions that are not known to have completed, oldest first.
#[derive(Default)]
pub(crate) struct Submissions {
    pending: VecDeque<(u64, wgpu::SubmissionIndex)>,
}

/// The queue as the contract sees it.
pub(crate) struct WebGpuQueue {
    pub(crate) shared: Arc<Shared>,
}

impl QueueBackend for WebGpuQueue {
    /// Binary semaphores need nothing: signals and waits of one queue are in its order.
    fn submit(&self, submission: &NativeSubmission<'_>) -> Result<u64> {
        let shared = &self.shared;
        // Held to the end: indices are in the order of the native submissions.
        let mut submissions = lock(&shared.submissions);
        let commands = {
            let mut table = lock(&shared.commands);
            let known = submission.commands.iter().all(|word| table.contains_key(word));
            if !known {
                let detail = "WebGPU used the command buffer up in a submission that failed; record it again";
                return Err(Error::new(ErrorKind::InvalidState, detail));
            }
            submission.commands.iter().filter_map(|word| table.remove(word)).collect::<Vec<_>>()
        };
        let native = shared.scoped("submit", || shared.queue.submit(commands))?;
        shared.check_alive()?;
        let index = shared.last.load(Ordering::Acquire) + 1;
        let completed = shared.completed.clone();
        shared.queue.on_submitted_work_done(move || {
            completed.fetch_max(index, Ordering::AcqRel);
        });
        submissions.pending.push_back((index, native));
        shared.last.store(index, Ordering::Release);
        Ok(index)
    }

    fn completed(&self) -> u64 {
        let shared = &self.shared;
        if shared.completed.load(Ordering::Acquire) < shared.last.load(Ordering::Acquire) {
            // Callbacks run inside a poll. What it could report is reported by the waits.
            let _ = shared.device.poll(wgpu::PollType::Poll);
        }
        shared.completed.load(Ordering::Acquire)
    }

    fn wait(&self, index: u64, timeout_ns: u64) -> Result<bool> {
        let shared = &self.shared;
        if self.completed() >= index {
            return Ok(true);
        }
        let native = {
            let pending = &mut lock(&shared.submissions).pending;
            let done = shared.completed.load(Ordering::Acquire);
            while pending.front().is_some_and(|(i, _)| *i <= done) {
                pending.pop_front();
            }
            pending.iter().find(|(i, _)| *i == index).map(|(_, native)| native.clone())
        };
        let Some(native) = native else {
            // Completed between the two looks, or never made.
            return Ok(shared.completed.load(Ordering::Acquire) >= index);
        };
        let timeout = (timeout_ns != u64::MAX).then(|| Duration::from_nanos(timeout_ns));
        match shared.device.poll(wgpu::PollType::Wait { submission_index: Some(native), timeout }) {
            Ok(_) => {
                // Another thread's poll may still be running the callback.
                shared.completed.fetch_max(index, Ordering::AcqRel);
                shared.check_alive()?;
                Ok(true)
            }
            Err(wgpu::PollError::Timeout) => {
                shared.check_alive()?;
                Ok(false)
            }
            Err(error) => Err(shared.check_alive().err().unwrap_or_else(|| convert::poll_error(&error))),
        }
    }
}
