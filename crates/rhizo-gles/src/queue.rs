//! The one queue: lists are replayed in order, each submission ends with a fence.

use crate::device::{State, Thread, check, lock};
use crate::encoder::{List, Lists};
use glow::HasContext;
use rhizo_rhi::backend::{NativeSubmission, QueueBackend};
use rhizo_rhi::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// What the thread tells the others: how far it is, and what went wrong.
#[derive(Default)]
pub(crate) struct Progress {
    completed: AtomicU64,
    /// Whether the thread has ended; the condition variable tells of this and of completions.
    ended: Mutex<bool>,
    changed: Condvar,
    errors: Mutex<Vec<Error>>,
    /// Whether the driver said the context is lost.
    lost: AtomicBool,
}

/// Errors kept until someone takes them; a program that never does must not grow without end.
const MAX_ERRORS: usize = 256;

impl Progress {
    fn complete(&self, index: u64) {
        let _ended = lock(&self.ended); // so that a waiter is either before its check or waiting
        self.completed.fetch_max(index, Ordering::AcqRel);
        self.changed.notify_all();
    }

    /// Keeps a late error.
    pub(crate) fn report(&self, result: Result<()>) {
        if let Err(error) = result {
            self.lost.fetch_or(error.kind() == ErrorKind::DeviceLost, Ordering::AcqRel);
            let mut errors = lock(&self.errors);
            if errors.len() < MAX_ERRORS {
                errors.push(error);
            }
        }
    }

    /// Fails once the driver has said that the context is lost.
    pub(crate) fn check_alive(&self) -> Result<()> {
        if self.lost.load(Ordering::Acquire) {
            return Err(Error::new(ErrorKind::DeviceLost, "the driver has lost the OpenGL ES context"));
        }
        Ok(())
    }

    pub(crate) fn take_errors(&self) -> Vec<Error> {
        std::mem::take(&mut *lock(&self.errors))
    }

    /// Marks the thread ended when dropped, by return or panic.
    pub(crate) fn end_guard(self: &Arc<Self>) -> impl Drop + use<> {
        struct End(Arc<Progress>);
        impl Drop for End {
            fn drop(&mut self) {
                *lock(&self.0.ended) = true;
                self.0.changed.notify_all();
            }
        }
        End(self.clone())
    }
}

impl State {
    /// Looks whether the oldest submissions have completed, waiting at most `timeout_ns` for the first of them.
    pub(crate) fn poll(&mut self, timeout_ns: i32) {
        let mut timeout = timeout_ns;
        while let Some((index, fence)) = self.pending.front().copied() {
            let gl = &self.context.gl;
            // SAFETY: the context is current on this thread; the fence is one of it and not yet deleted.
            let status = unsafe { gl.client_wait_sync(fence, glow::SYNC_FLUSH_COMMANDS_BIT, timeout) };
            if status == glow::TIMEOUT_EXPIRED {
                return;
            }
            // A failed wait means a lost context: it never completes otherwise, and a loss counts as complete.
            if status == glow::WAIT_FAILED {
                self.progress.report(check(gl, "waiting for a submission"));
            }
            // SAFETY: as above; it leaves the list now.
            unsafe { gl.delete_sync(fence) };
            self.pending.pop_front();
            self.progress.complete(index);
            timeout = 0;
        }
    }

    fn run_submission(&mut self, index: u64, lists: &[Arc<Mutex<List>>]) {
        for list in lists {
            let list = lock(list);
            let outcome = self.replay(&list);
            self.progress.report(outcome.map_err(|e| e.on(list.label.as_str())));
        }
        let gl = &self.context.gl;
        self.progress.report(check(gl, "executing a submission"));
        // SAFETY: the context is current on this thread.
        match unsafe { gl.fence_sync(glow::SYNC_GPU_COMMANDS_COMPLETE, 0) } {
            Ok(fence) => self.pending.push_back((index, fence)),
            Err(cause) => {
                // SAFETY: as above. Without a fence, finishing is the only way to know.
                unsafe { gl.finish() };
                self.progress.report(Err(Error::new(ErrorKind::Native, format!("no fence: {cause}"))));
                self.poll(0);
                self.progress.complete(index);
            }
        }
    }
}

/// The queue.
pub(crate) struct GlesQueue {
    thread: Arc<Thread>,
    lists: Arc<Lists>,
    /// Index of the last submission; held while one is sent, so that indices are in order.
    last: Mutex<u64>,
}

impl GlesQueue {
    pub(crate) fn new(thread: Arc<Thread>, lists: Arc<Lists>) -> Self {
        Self { thread, lists, last: Mutex::new(0) }
    }
}

impl QueueBackend for GlesQueue {
    fn submit(&self, submission: &NativeSubmission<'_>) -> Result<u64> {
        // Waits and signals need nothing: binary semaphores are signalled by earlier submissions of this very queue.
        let lists: Vec<_> = submission.commands.iter().map(|word| self.lists.get(*word)).collect::<Result<_>>()?;
        self.thread.progress.check_alive()?;
        let mut last = lock(&self.last);
        let index = *last + 1;
        self.thread.send(move |state| state.run_submission(index, &lists))?;
        *last = index;
        Ok(index)
    }

    fn completed(&self) -> u64 {
        self.thread.progress.completed.load(Ordering::Acquire)
    }

    fn wait(&self, index: u64, timeout_ns: u64) -> Result<bool> {
        let progress = &self.thread.progress;
        progress.check_alive()?;
        let deadline = Instant::now().checked_add(Duration::from_nanos(timeout_ns));
        let mut ended = lock(&progress.ended);
        while progress.completed.load(Ordering::Acquire) < index {
            if *ended {
                return Err(Error::new(ErrorKind::DeviceLost, "the thread of the OpenGL ES context has ended"));
            }
            let now = Instant::now();
            let left = deadline.map_or(Duration::from_secs(3600), |d| d.saturating_duration_since(now));
            if left.is_zero() {
                return Ok(false);
            }
            ended = progress.changed.wait_timeout(ended, left).unwrap_or_else(|e| e.into_inner()).0;
        }
        Ok(true)
    }
}
