//! Queues as logical clocks, and what runs next.

use super::recorder::SLOT_BITS;
use super::state::{Body, Pending, Phase, Recording, Shared, State};
use super::{Op, Policy, STEP_NS};
use crate::backend::{NativeSubmission, QueueBackend};
use crate::clause;
use crate::error::{Error, Result};
use crate::handle::lock;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

pub(super) struct NullQueue {
    pub(super) shared: Arc<Shared>,
    pub(super) queue: u32,
}

impl QueueBackend for NullQueue {
    fn submit(&self, submission: &NativeSubmission<'_>) -> Result<u64> {
        let shared = &*self.shared;
        shared.fault(Op::Submit)?;
        let mut state = lock(&shared.state);
        let index = state.queues[self.queue as usize].submitted + 1;
        for word in submission.commands {
            self.check_commands(&state, *word, index);
        }
        if !matches!(state.policy, Policy::Immediate | Policy::Manual) {
            shared.step_any(&mut state);
        }
        state.sequence += 1;
        let pending = Pending {
            index,
            sequence: state.sequence,
            commands: submission.commands.iter().copied().collect(),
            waits: submission.waits.iter().map(|(s, value, _)| (s.word, *value)).collect(),
            after: submission.after.iter().map(|(queue, index, _)| (*queue, *index)).collect(),
            signals: submission.signals.iter().map(|(s, value)| (s.word, *value)).collect(),
        };
        let queue = &mut state.queues[self.queue as usize];
        queue.submitted = index;
        queue.pending.push_back(pending);
        shared.deadlocked.store(false, Ordering::Release);
        if state.policy == Policy::Immediate {
            while shared.step_any(&mut state) {}
        }
        Ok(index)
    }

    fn completed(&self) -> u64 {
        let mut state = lock(&self.shared.state);
        if !matches!(state.policy, Policy::Immediate | Policy::Manual) && !self.shared.lost.load(Ordering::Acquire) {
            self.shared.step_any(&mut state);
        }
        state.queues[self.queue as usize].completed
    }

    fn wait(&self, index: u64, timeout_ns: u64) -> Result<bool> {
        self.shared.fault(Op::Wait)?;
        let queue = self.queue as usize;
        let target = || format!("submission {index} of queue {queue}");
        self.shared.wait_until(timeout_ns, target, |state| state.queues[queue].completed >= index)
    }
}

impl NullQueue {
    /// Marks a recording pending, checking that it may be submitted.
    fn check_commands(&self, state: &State, word: u64, index: u64) {
        let shared = &*self.shared;
        let Some(recording) = recording_of(state, word) else {
            return shared.violation(format!("submission of {word:#x}, which was never recorded"));
        };
        let mut recording = lock(&recording);
        let label = &recording.label;
        if recording.serial != word >> SLOT_BITS || recording.phase != Phase::Executable {
            return shared.violation(format!("\"{label}\" submitted while {:?}", recording.phase));
        }
        if let Some(broken) = &recording.broken {
            shared.violation(format!("\"{label}\" submitted after {broken}, which it uses, was destroyed"));
        }
        for used in recording.uses.iter().filter(|word| !state.objects.contains_key(word)) {
            shared.violation(format!("\"{label}\" submitted and names #{used}, which is not alive"));
        }
        recording.phase = Phase::Pending { queue: self.queue, index };
    }
}

pub(super) fn recording_of(state: &State, word: u64) -> Option<Arc<Mutex<Recording>>> {
    let slot = word & ((1 << SLOT_BITS) - 1);
    state.recordings.get(usize::try_from(slot).ok()?).cloned()
}

impl Shared {
    /// Runs until `done`; false when the time is over; an error when nothing that was submitted can ever make it so.
    pub(super) fn wait_until(
        &self,
        timeout_ns: u64,
        target: impl Fn() -> String,
        mut done: impl FnMut(&State) -> bool,
    ) -> Result<bool> {
        let mut state = lock(&self.state);
        let steps = timeout_ns / STEP_NS;
        let driven = state.policy != Policy::Manual || timeout_ns == u64::MAX;
        let mut taken = 0;
        loop {
            if done(&state) {
                return Ok(true);
            }
            if taken >= steps {
                return Ok(false);
            }
            let runs = if driven { self.step_any(&mut state) } else { pick(&mut state).is_some() };
            if !runs {
                self.deadlocked.store(true, Ordering::Release);
                return Err(Error::clause(clause::DEADLOCK, deadlock_text(&state, &target())));
            }
            if !driven {
                return Ok(false);
            }
            taken += 1;
        }
    }

    /// Runs the next submission by policy; false when none can run.
    pub(super) fn step_any(&self, state: &mut State) -> bool {
        let Some(queue) = pick(state) else { return false };
        self.run_front(state, queue);
        true
    }

    /// Runs the first submission of a queue, whose waits are satisfied.
    pub(super) fn run_front(&self, state: &mut State, queue: usize) -> Option<u64> {
        let pending = state.queues[queue].pending.pop_front()?;
        state.ticks += 1;
        for (word, _) in &pending.waits {
            if let Some(Body::Binary(signalled)) = state.objects.get_mut(word).map(|o| &mut o.body) {
                *signalled = false;
            }
        }
        if self.config.log {
            let line = format!("queue {queue} submission {}", pending.index);
            state.log.push(line);
        }
        for word in &pending.commands {
            let Some(recording) = recording_of(state, *word) else { continue };
            let mut recording = lock(&recording);
            self.execute(state, &recording);
            recording.phase = Phase::Idle;
        }
        for (word, value) in &pending.signals {
            self.signal(state, *word, *value);
        }
        state.queues[queue].completed = pending.index;
        Some(pending.index)
    }

    pub(super) fn signal(&self, state: &mut State, word: u64, value: u64) {
        match state.objects.get_mut(&word).map(|object| &mut object.body) {
            Some(Body::Binary(signalled)) if !*signalled => *signalled = true,
            Some(Body::Timeline(now)) if *now < value => *now = value,
            Some(Body::Timeline(now)) => {
                let detail = format!("signalled with {value} after {now}");
                self.violation(format!("semaphore {} {detail}", state.name(word)));
            }
            Some(_) => self.violation(format!("semaphore {} signalled twice", state.name(word))),
            None => self.violation(format!("semaphore #{word} signalled after its destruction")),
        }
    }
}

/// Whether the first submission of a queue can run.
pub(super) fn runnable(state: &State, queue: usize) -> bool {
    state.queues[queue].pending.front().is_some_and(|p| {
        p.waits.iter().all(|(word, value)| state.signalled(*word, *value))
            && p.after.iter().all(|(queue, index)| state.queues[*queue as usize].completed >= *index)
    })
}

/// The queue whose first submission runs next.
fn pick(state: &mut State) -> Option<usize> {
    let oldest = |state: &State, except: Option<usize>| {
        let fits = |queue: &usize| Some(*queue) != except && runnable(state, *queue);
        let age = |queue: &usize| state.queues[*queue].pending.front().map(|p| p.sequence);
        (0..state.queues.len()).filter(fits).min_by_key(age)
    };
    match state.policy {
        Policy::Immediate | Policy::Manual | Policy::Fifo => oldest(state, None),
        Policy::Starve(queue) => oldest(state, Some(queue as usize)).or_else(|| oldest(state, None)),
        Policy::Random(_) => {
            let count = (0..state.queues.len()).filter(|queue| runnable(state, *queue)).count();
            // xorshift64, Marsaglia 2003.
            state.random ^= state.random << 13;
            state.random ^= state.random >> 7;
            state.random ^= state.random << 17;
            let nth = (state.random >> 16) as usize % count.max(1);
            (0..state.queues.len()).filter(|queue| runnable(state, *queue)).nth(nth)
        }
    }
}

/// What every blocked queue waits for.
fn deadlock_text(state: &State, target: &str) -> String {
    let mut text = format!("{target} is never reached");
    for (queue, blocked) in state.queues.iter().enumerate() {
        let Some(p) = blocked.pending.front() else { continue };
        let semaphores = p.waits.iter().filter(|(word, value)| !state.signalled(*word, *value));
        let semaphores = semaphores.map(|(word, value)| format!("semaphore {} at {value}", state.name(*word)));
        let after = p.after.iter().filter(|(queue, index)| state.queues[*queue as usize].completed < *index);
        let after = after.map(|(queue, index)| format!("submission {index} of queue {queue}"));
        let waits: Vec<String> = semaphores.chain(after).collect();
        text.push_str(&format!("; queue {queue} submission {} waits for {}", p.index, waits.join(", ")));
    }
    text
}
