//! What a null device keeps: live objects, recordings, queues, and the breaches it saw.

use super::command::NullCommand;
use super::{Fault, NullConfig, Op, Policy};
use crate::backend::{Native, ObjectKind};
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::handle::lock;
use crate::query::QueryKind;
use crate::vocab::{Aspects, Extent, TextureRange};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Where a recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Recording,
    Executable,
    Pending {
        queue: u32,
        index: u64,
    },
    /// Its recorder was destroyed; the slot is free.
    Gone,
}

/// The commands of one command buffer and every word they name.
pub(super) struct Recording {
    pub(super) phase: Phase,
    pub(super) serial: u64,
    pub(super) label: String,
    pub(super) commands: Vec<NullCommand>,
    pub(super) uses: HashSet<u64>,
    /// Set when an object that it names was destroyed: it must not be submitted any more.
    pub(super) broken: Option<String>,
}

impl Recording {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Idle,
            serial: 0,
            label: String::new(),
            commands: Vec::new(),
            uses: HashSet::new(),
            broken: None,
        }
    }
}

/// One aspect of a texture.
pub(super) struct Plane {
    pub(super) aspect: Aspects,
    /// Bytes of one block, all samples.
    pub(super) texel: usize,
    /// Bytes by `mip * layers + layer`, rows of blocks tightly packed.
    pub(super) subresources: Vec<Vec<u8>>,
}

pub(super) struct TextureData {
    pub(super) format: Format,
    pub(super) extent: Extent,
    pub(super) is_3d: bool,
    pub(super) layers: u32,
    pub(super) planes: SmallVec<[Plane; 2]>,
}

/// What an object holds.
pub(super) enum Body {
    Plain,
    Buffer(Vec<u8>),
    Texture(TextureData),
    View { texture: u64, format: Format, range: TextureRange },
    Queries { words: usize, results: Vec<Option<u64>> },
    Binary(bool),
    Timeline(u64),
    Cache(Vec<u8>),
}

pub(super) struct Object {
    pub(super) kind: ObjectKind,
    pub(super) label: String,
    pub(super) body: Body,
    pub(super) bytes: u64,
    /// Objects that it names.
    refs: Vec<u64>,
    /// Objects that name it.
    named_by: u32,
}

/// A submission that has not run.
pub(super) struct Pending {
    pub(super) index: u64,
    pub(super) sequence: u64,
    pub(super) commands: SmallVec<[u64; 8]>,
    pub(super) waits: SmallVec<[(u64, u64); 4]>,
    pub(super) after: SmallVec<[(u32, u64); 4]>,
    pub(super) signals: SmallVec<[(u64, u64); 4]>,
}

#[derive(Default)]
pub(super) struct QueueState {
    pub(super) pending: VecDeque<Pending>,
    pub(super) submitted: u64,
    pub(super) completed: u64,
}

pub(super) struct State {
    pub(super) objects: HashMap<u64, Object>,
    pub(super) recordings: Vec<Arc<Mutex<Recording>>>,
    pub(super) queues: Vec<QueueState>,
    pub(super) policy: Policy,
    pub(super) random: u64,
    pub(super) sequence: u64,
    /// The logical clock: one tick per executed command and submission.
    pub(super) ticks: u64,
    pub(super) log: Vec<String>,
    pub(super) scratch: Vec<u8>,
    pub(super) used_bytes: u64,
    last_word: u64,
}

/// One device's state and the handles its parts share.
pub(super) struct Shared {
    pub(super) config: Arc<NullConfig>,
    pub(super) state: Mutex<State>,
    pub(super) lost: AtomicBool,
    /// The last wait found that nothing can run; until the next submission or signal, pending work counts as discarded.
    pub(super) deadlocked: AtomicBool,
    pub(super) violations: Arc<Mutex<Vec<String>>>,
    pub(super) faults: Arc<Mutex<Vec<Fault>>>,
}

impl Shared {
    /// Keeps a breach of what backends rely on.
    #[cold]
    pub(super) fn violation(&self, detail: String) {
        lock(&self.violations).push(detail);
    }

    /// Whether pending work counts as discarded.
    pub(super) fn forgives(&self) -> bool {
        self.lost.load(Ordering::Acquire) || self.deadlocked.load(Ordering::Acquire)
    }

    /// Fails when the device is lost or a failure of `op` is due.
    pub(super) fn fault(&self, op: Op) -> Result<()> {
        let due = due_fault(&self.faults, op);
        if due == Some(ErrorKind::DeviceLost) {
            self.lost.store(true, Ordering::Release);
        }
        if self.lost.load(Ordering::Acquire) {
            return Err(Error::new(ErrorKind::DeviceLost, format!("the null device was lost; {op:?} failed")));
        }
        due.map_or(Ok(()), |kind| Err(Error::new(kind, format!("injected failure of {op:?}"))))
    }

    /// Adds an object that names `refs`.
    pub(super) fn add(
        &self,
        kind: ObjectKind,
        label: &str,
        body: Body,
        bytes: u64,
        refs: impl IntoIterator<Item = u64>,
    ) -> Result<Native> {
        let refs: Vec<u64> = refs.into_iter().collect();
        let state = &mut *lock(&self.state);
        if state.used_bytes + bytes > self.config.memory_bytes {
            let (used, all) = (state.used_bytes, self.config.memory_bytes);
            let detail = format!("{bytes} bytes for \"{label}\", {used} of {all} are in use");
            return Err(Error::new(ErrorKind::OutOfMemory, detail));
        }
        for word in &refs {
            match state.objects.get_mut(word) {
                Some(object) => object.named_by += 1,
                None => self.violation(format!("{} \"{label}\" names #{word}, which is not alive", kind.name())),
            }
        }
        state.used_bytes += bytes;
        state.last_word += 1;
        let object = Object { kind, label: label.to_owned(), body, bytes, refs, named_by: 0 };
        state.objects.insert(state.last_word, object);
        Ok(Native { word: state.last_word, aux: 0 })
    }

    /// Removes an object, checking that nothing can still reach it.
    pub(super) fn remove(&self, kind: ObjectKind, word: u64) {
        let mut state = lock(&self.state);
        let Some(object) = state.objects.remove(&word) else {
            return self.violation(format!("{} #{word} destroyed twice or never made", kind.name()));
        };
        let name = format!("{} \"{}\"", object.kind.name(), object.label);
        if object.kind != kind {
            self.violation(format!("{name} destroyed as {}", kind.name()));
        }
        if object.named_by != 0 {
            self.violation(format!("{name} destroyed while {} objects name it", object.named_by));
        }
        state.used_bytes -= object.bytes;
        for other in &object.refs {
            if let Some(other) = state.objects.get_mut(other) {
                other.named_by -= 1;
            }
        }
        if kind == ObjectKind::Semaphore && !self.forgives() {
            self.check_semaphore_unused(&state, word, &name);
        }
        for recording in &state.recordings {
            self.check_unused(&mut lock(recording), word, &name);
        }
    }

    fn check_unused(&self, recording: &mut Recording, word: u64, name: &str) {
        if !recording.uses.contains(&word) {
            return;
        }
        match recording.phase {
            Phase::Idle | Phase::Gone => {}
            Phase::Pending { queue, index } => {
                if !self.forgives() {
                    let detail = format!("\"{}\" uses it on queue {queue} as {index}", recording.label);
                    self.violation(format!("{name} destroyed while {detail}"));
                }
            }
            // Discarding an unsubmitted recording is not told to backends: only its submission would be a breach.
            Phase::Recording | Phase::Executable => recording.broken = Some(name.to_owned()),
        }
    }

    fn check_semaphore_unused(&self, state: &State, word: u64, name: &str) {
        for (queue, pending) in state.queues.iter().enumerate().flat_map(|(q, s)| s.pending.iter().map(move |p| (q, p)))
        {
            if pending.waits.iter().chain(&pending.signals).any(|(semaphore, _)| *semaphore == word) {
                self.violation(format!("{name} destroyed while queue {queue} uses it as {}", pending.index));
            }
        }
    }
}

/// Counts down the failures of `op` and gives the one that is due.
pub(super) fn due_fault(faults: &Mutex<Vec<Fault>>, op: Op) -> Option<ErrorKind> {
    let mut faults = lock(faults);
    let mut due = None;
    faults.retain_mut(|fault| {
        if fault.op != op {
            return true;
        }
        fault.countdown = fault.countdown.saturating_sub(1);
        if fault.countdown == 0 && due.is_none() {
            due = Some(fault.kind);
            return false;
        }
        true
    });
    due
}

impl State {
    pub(super) fn new(queues: usize, policy: Policy) -> Self {
        let seed = if let Policy::Random(seed) = policy { seed } else { 0 };
        Self {
            objects: HashMap::new(),
            recordings: Vec::new(),
            queues: (0..queues).map(|_| QueueState::default()).collect(),
            policy,
            random: seed | 1,
            sequence: 0,
            ticks: 0,
            log: Vec::new(),
            scratch: Vec::new(),
            used_bytes: 0,
            last_word: 0,
        }
    }

    /// An object's label in quotes, or its word.
    pub(super) fn name(&self, word: u64) -> String {
        match self.objects.get(&word) {
            Some(object) if !object.label.is_empty() => format!("\"{}\"", object.label),
            _ => format!("#{word}"),
        }
    }

    /// Whether a semaphore is signalled up to a value; a dead one never is.
    pub(super) fn signalled(&self, word: u64, value: u64) -> bool {
        match self.objects.get(&word).map(|object| &object.body) {
            Some(Body::Binary(signalled)) => *signalled,
            Some(Body::Timeline(now)) => *now >= value,
            _ => false,
        }
    }

    pub(super) fn query_slots(&mut self, word: u64) -> Option<(usize, &mut [Option<u64>])> {
        match &mut self.objects.get_mut(&word)?.body {
            Body::Queries { words, results } => Some((*words, results)),
            _ => None,
        }
    }
}

impl Body {
    pub(super) fn queries(kind: QueryKind, count: u32) -> Self {
        let words = kind.words() as usize;
        Self::Queries { words, results: vec![None; words * count as usize] }
    }
}
