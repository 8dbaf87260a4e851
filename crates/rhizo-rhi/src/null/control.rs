//! The test's side of the null device.

use super::command::NullCommand;
use super::queue::{recording_of, runnable};
use super::state::{Body, Phase, Shared};
use super::{Fault, Op, Policy};
use crate::backend::ObjectKind;
use crate::encoder::CommandBuffer;
use crate::error::ErrorKind;
use crate::handle::lock;
use crate::transfer::TextureLayers;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// What a step of a queue did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Ran the submission of this index.
    Ran(u64),
    /// The next submission waits for something.
    Blocked,
    /// Nothing is submitted.
    Idle,
}

/// Drives and inspects null devices. What names a queue or a device's state concerns the device opened last, or the one
/// chosen with [`NullControl::device`].
#[derive(Clone)]
pub struct NullControl {
    pub(super) violations: Arc<Mutex<Vec<String>>>,
    pub(super) faults: Arc<Mutex<Vec<Fault>>>,
    devices: Arc<Mutex<Vec<Arc<Shared>>>>,
    chosen: Option<usize>,
}

impl NullControl {
    pub(super) fn new() -> Self {
        Self { violations: Arc::default(), faults: Arc::default(), devices: Arc::default(), chosen: None }
    }

    pub(super) fn opened(&self, device: &Arc<Shared>) {
        lock(&self.devices).push(device.clone());
    }

    /// The same control for the `index`-th device that was opened.
    #[must_use]
    pub fn device(&self, index: usize) -> Self {
        Self { chosen: Some(index), ..self.clone() }
    }

    /// How many devices were opened so far.
    #[must_use]
    pub fn devices_opened(&self) -> usize {
        lock(&self.devices).len()
    }

    fn shared(&self) -> Option<Arc<Shared>> {
        let devices = lock(&self.devices);
        match self.chosen {
            Some(index) => devices.get(index).cloned(),
            None => devices.last().cloned(),
        }
    }

    /// Runs the next submission of the queue at this position, if it can run.
    #[must_use]
    pub fn step(&self, queue: u32) -> Step {
        let Some(shared) = self.shared() else { return Step::Idle };
        let mut state = lock(&shared.state);
        let queue = queue as usize;
        match state.queues.get(queue) {
            None => Step::Idle,
            Some(own) if own.pending.is_empty() => Step::Idle,
            Some(_) if !runnable(&state, queue) => Step::Blocked,
            Some(_) => shared.run_front(&mut state, queue).map_or(Step::Idle, Step::Ran),
        }
    }

    /// Runs everything that can run, by policy; gives how many submissions ran.
    pub fn run(&self) -> usize {
        let Some(shared) = self.shared() else { return 0 };
        let mut state = lock(&shared.state);
        let mut ran = 0;
        while shared.step_any(&mut state) {
            ran += 1;
        }
        ran
    }

    /// Changes when work runs from now on.
    pub fn set_policy(&self, policy: Policy) {
        let Some(shared) = self.shared() else { return };
        let mut state = lock(&shared.state);
        state.policy = policy;
        if let Policy::Random(seed) = policy {
            state.random = seed | 1;
        }
    }

    /// Makes the next call of `op` fail. A failure of kind device lost loses the device.
    pub fn fail_next(&self, op: Op, kind: ErrorKind) {
        self.fail_nth(op, 1, kind);
    }

    /// Makes the `nth` call of `op` from now fail; 1 is the next.
    pub fn fail_nth(&self, op: Op, nth: u32, kind: ErrorKind) {
        lock(&self.faults).push(Fault { op, countdown: nth.max(1), kind });
    }

    /// Takes back every failure that has not happened.
    pub fn clear_faults(&self) {
        lock(&self.faults).clear();
    }

    /// Loses the device: every later call fails.
    pub fn lose_device(&self) {
        if let Some(shared) = self.shared() {
            shared.lost.store(true, Ordering::Release);
        }
    }

    /// The text of what was executed so far, one line per submission, command buffer and command.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.shared().map_or_else(Vec::new, |shared| lock(&shared.state).log.clone())
    }

    /// Empties the log and gives it.
    #[must_use]
    pub fn take_log(&self) -> Vec<String> {
        self.shared().map_or_else(Vec::new, |shared| std::mem::take(&mut lock(&shared.state).log))
    }

    /// What a command buffer recorded.
    #[must_use]
    pub fn commands(&self, commands: &CommandBuffer) -> Vec<NullCommand> {
        let Some(shared) = self.shared() else { return Vec::new() };
        let recording = recording_of(&lock(&shared.state), commands.word);
        recording.map_or_else(Vec::new, |recording| lock(&recording).commands.clone())
    }

    /// What a command buffer recorded, as text with the objects' labels.
    #[must_use]
    pub fn text(&self, commands: &CommandBuffer) -> Vec<String> {
        let Some(shared) = self.shared() else { return Vec::new() };
        let list = self.commands(commands);
        let state = lock(&shared.state);
        list.iter().map(|command| command.text(&|word| state.name(word))).collect()
    }

    /// Live native objects by kind, those with none left out.
    #[must_use]
    pub fn live(&self) -> Vec<(ObjectKind, usize)> {
        let mut counts: Vec<(ObjectKind, usize)> = Vec::new();
        let Some(shared) = self.shared() else { return counts };
        for object in lock(&shared.state).objects.values() {
            match counts.iter_mut().find(|(kind, _)| *kind == object.kind) {
                Some((_, count)) => *count += 1,
                None => counts.push((object.kind, 1)),
            }
        }
        counts.sort_by_key(|(kind, _)| *kind as u8);
        counts
    }

    /// Live native objects of a kind.
    #[must_use]
    pub fn live_count(&self, kind: ObjectKind) -> usize {
        self.live().iter().find(|(k, _)| *k == kind).map_or(0, |(_, count)| *count)
    }

    /// Live recorders: command buffers and what their pools keep for reuse.
    #[must_use]
    pub fn live_recorders(&self) -> usize {
        let Some(shared) = self.shared() else { return 0 };
        let state = lock(&shared.state);
        state.recordings.iter().filter(|r| lock(r).phase != Phase::Gone).count()
    }

    /// Whether an object with this label is alive.
    #[must_use]
    pub fn is_alive(&self, label: &str) -> bool {
        self.shared().is_some_and(|shared| lock(&shared.state).objects.values().any(|o| o.label == label))
    }

    /// The contents of the live buffer of this label, whatever its memory.
    #[must_use]
    pub fn buffer_bytes(&self, label: &str) -> Option<Vec<u8>> {
        let shared = self.shared()?;
        let state = lock(&shared.state);
        state.objects.values().filter(|o| o.label == label).find_map(|o| match &o.body {
            Body::Buffer(bytes) => Some(bytes.clone()),
            _ => None,
        })
    }

    /// The contents of one sub-resource (first layer of `layers`, one aspect) of the live texture of this label, rows of
    /// blocks tightly packed.
    #[must_use]
    pub fn texture_bytes(&self, label: &str, layers: TextureLayers) -> Option<Vec<u8>> {
        self.shared()?.texture_bytes(label, layers)
    }

    /// Submissions of a queue that have not run.
    #[must_use]
    pub fn pending(&self, queue: u32) -> usize {
        let Some(shared) = self.shared() else { return 0 };
        lock(&shared.state).queues.get(queue as usize).map_or(0, |queue| queue.pending.len())
    }

    /// Breaches of what backends rely on, by any device of the instance: objects destroyed twice or too early, recordings
    /// submitted or reused wrongly, objects that outlived their device.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        lock(&self.violations).clone()
    }

    /// Empties the list of breaches and gives it.
    #[must_use]
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.violations))
    }
}

impl std::fmt::Debug for NullControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "control of {} null devices", lock(&self.devices).len())
    }
}
