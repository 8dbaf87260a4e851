//! Object identity, ownership and reclamation by epoch.
//!
//! A front type carries its native word and the few facts checks need inline, and one [`Owned`] in an [`Arc`]. When the
//! last clone goes, the native object enters the device's graveyard and is freed once every use begun before the drop
//! has completed or been discarded. Nothing is counted per command.

use crate::backend::{DeviceBackend, Native, ObjectKind, QueueBackend, RecorderCore};
use crate::clause;
use crate::error::{Error, Located, Result};
use crate::limits::DeviceLimits;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A number no other object of the process ever has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u64);

impl ObjectId {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Device identity and generation in one word: the high half names the device, the low half its generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DeviceKey(u64);

impl DeviceKey {
    pub(crate) fn new(device: u32, generation: u32) -> Self {
        Self(u64::from(device) << 32 | u64::from(generation))
    }

    pub(crate) fn device(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(crate) fn generation(self) -> u32 {
        self.0 as u32
    }

    /// The error for an object of `other` used where `self` is expected.
    #[cold]
    #[track_caller]
    pub(crate) fn mismatch(self, other: Self, object: &str) -> Error {
        if self.device() == other.device() {
            let detail = format!("made in generation {}, the device is in {}", other.generation(), self.generation());
            Error::clause(clause::DEVICE_GENERATION, detail).on(object)
        } else {
            Error::clause(clause::DEVICE_OWNERSHIP, "the object belongs to another device").on(object)
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing under these locks can be left half done by a panic of ours; a poisoned lock is still good.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The cold, shared part of every object.
pub(crate) struct Owned {
    pub(crate) device: Arc<DeviceShared>,
    pub(crate) id: ObjectId,
    pub(crate) label: Box<str>,
    pub(crate) host: Mutex<()>,
    native: Native,
    kind: ObjectKind,
    keep: Vec<Keep>,
}

/// What a container holds alive.
pub(crate) type Keep = Arc<Owned>;

impl Owned {
    pub(crate) fn new(
        device: &Arc<DeviceShared>,
        kind: ObjectKind,
        label: &str,
        native: Native,
        keep: Vec<Keep>,
    ) -> Keep {
        Arc::new(Self {
            device: device.clone(),
            id: ObjectId::next(),
            label: label.into(),
            host: Mutex::new(()),
            native,
            kind,
            keep,
        })
    }
}

impl std::fmt::Debug for Owned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} \"{}\" (id {})", self.kind.name(), self.label, self.id.0)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let keep = std::mem::take(&mut self.keep);
        self.device.retire(Grave::Object { kind: self.kind, native: self.native, keep });
    }
}

/// Something waiting until nothing can use it.
pub(crate) enum Grave {
    Object { kind: ObjectKind, native: Native, keep: Vec<Keep> },
    Recorder(Box<RecorderCore>),
}

/// What is between begin and completion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenUse {
    /// Recording or executable, not submitted.
    Held,
    /// Submitted: closed when the queue reaches the index.
    Pending { queue: u32, index: u64 },
}

#[derive(Default)]
struct Epochs {
    open: Vec<(u64, OpenUse, ObjectId)>,
}

/// Bytes and objects that wait in the graveyard, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reclamation {
    /// Objects dropped but not yet freed.
    pub waiting_objects: usize,
    /// Uses (command buffers) begun and neither completed nor dropped.
    pub open_epochs: usize,
}

/// What all values of one device share.
pub(crate) struct DeviceShared {
    pub(crate) backend: Box<dyn DeviceBackend>,
    pub(crate) queues: Vec<QueueSlot>,
    pub(crate) key: DeviceKey,
    pub(crate) label: Box<str>,
    pub(crate) limits: DeviceLimits,
    pub(crate) layouts: Mutex<crate::binding::LayoutInterner>,
    clock: AtomicU64,
    users: AtomicUsize,
    lost: AtomicBool,
    epochs: Mutex<Epochs>,
    graveyard: Mutex<VecDeque<(u64, Grave)>>,
}

pub(crate) struct QueueSlot {
    pub(crate) backend: Box<dyn QueueBackend>,
    pub(crate) info: crate::queue::QueueInfo,
    pub(crate) last: AtomicU64,
}

/// A ticket for one use: from begin to completion or drop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct EpochTicket(u64);

impl DeviceShared {
    pub(crate) fn new(
        backend: Box<dyn DeviceBackend>,
        queues: Vec<QueueSlot>,
        key: DeviceKey,
        label: &str,
        limits: DeviceLimits,
    ) -> Self {
        Self {
            backend,
            queues,
            key,
            label: label.into(),
            limits,
            layouts: Mutex::default(),
            clock: AtomicU64::new(1),
            users: AtomicUsize::new(0),
            lost: AtomicBool::new(false),
            epochs: Mutex::default(),
            graveyard: Mutex::new(VecDeque::with_capacity(256)),
        }
    }

    /// Fails when `key` is not this device in this generation, or the device is lost.
    #[inline]
    #[track_caller]
    pub(crate) fn check(&self, key: DeviceKey, object: &Owned) -> Result<()> {
        if key == self.key { Ok(()) } else { Err(self.key.mismatch(key, &object.label)) }
    }

    #[track_caller]
    pub(crate) fn check_alive(&self) -> Result<()> {
        if self.lost.load(Ordering::Acquire) {
            return Err(Error::clause(clause::DEVICE_LOST, "the device was lost; recreate it").on(&*self.label));
        }
        Ok(())
    }

    /// Creates a native object; out of memory frees what waits in the graveyard and tries once more.
    #[track_caller]
    pub(crate) fn create<T>(&self, make: impl Fn(&dyn DeviceBackend) -> Result<T>) -> Result<T> {
        let made = make(&*self.backend);
        if made.as_ref().is_err_and(|e| e.kind() == crate::error::ErrorKind::OutOfMemory) {
            self.collect();
            return self.native(make(&*self.backend));
        }
        self.native(made)
    }

    /// The result of a native call, with the caller's place, and the device marked lost when the call says so.
    #[inline]
    #[track_caller]
    pub(crate) fn native<T>(&self, result: Result<T>) -> Result<T> {
        self.note_loss(result).located()
    }

    /// Marks the device lost when a native call says that it is.
    #[inline]
    pub(crate) fn note_loss<T>(&self, result: Result<T>) -> Result<T> {
        if result.as_ref().is_err_and(|e| e.kind() == crate::error::ErrorKind::DeviceLost) {
            self.mark_lost();
        }
        result
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    pub(crate) fn mark_lost(&self) {
        self.lost.store(true, Ordering::Release);
    }

    pub(crate) fn take_errors(&self) -> Vec<Error> {
        self.backend.take_errors()
    }

    pub(crate) fn open_epoch(&self, user: ObjectId) -> EpochTicket {
        let mut epochs = lock(&self.epochs);
        let epoch = self.clock.fetch_add(1, Ordering::AcqRel);
        epochs.open.push((epoch, OpenUse::Held, user));
        EpochTicket(epoch)
    }

    pub(crate) fn close_epoch(&self, ticket: EpochTicket) {
        let mut epochs = lock(&self.epochs);
        if let Some(at) = epochs.open.iter().position(|(epoch, ..)| *epoch == ticket.0) {
            epochs.open.swap_remove(at);
        }
    }

    pub(crate) fn submit_epoch(&self, ticket: EpochTicket, queue: u32, index: u64) {
        let mut epochs = lock(&self.epochs);
        if let Some(entry) = epochs.open.iter_mut().find(|(epoch, ..)| *epoch == ticket.0) {
            entry.1 = OpenUse::Pending { queue, index };
        }
    }

    pub(crate) fn retire(&self, grave: Grave) {
        let tag = self.clock.fetch_add(1, Ordering::AcqRel);
        lock(&self.graveyard).push_back((tag, grave));
        if self.users.load(Ordering::Acquire) == 0 {
            // No queue, pool or command buffer is left: nothing can be in flight.
            self.collect();
        }
    }

    /// Frees what no open use can reach any more. Never called while recording.
    pub(crate) fn collect(&self) {
        let oldest = self.oldest_open();
        loop {
            let grave = {
                let mut graveyard = lock(&self.graveyard);
                // Tags are pushed in nearly ascending order; two threads may swap neighbours, which only delays one.
                match graveyard.front() {
                    Some((tag, _)) if *tag < oldest => graveyard.pop_front(),
                    _ => None,
                }
            };
            let Some((_, grave)) = grave else { break };
            self.bury(grave);
        }
    }

    fn oldest_open(&self) -> u64 {
        let mut epochs = lock(&self.epochs);
        let lost = self.is_lost();
        // A use that begins after this lock is released may name objects dropped later, never ones with a tag below now.
        let now = self.clock.load(Ordering::Acquire);
        epochs.open.retain(|(_, state, _)| match *state {
            OpenUse::Held => true,
            OpenUse::Pending { queue, index } => !lost && self.queues[queue as usize].backend.completed() < index,
        });
        epochs.open.iter().map(|(epoch, ..)| *epoch).min().unwrap_or(now)
    }

    fn bury(&self, grave: Grave) {
        match grave {
            Grave::Object { kind, native, keep } => {
                // SAFETY: the native object came from this backend, is named nowhere else (its `Owned` was dropped), and
                // every use begun before that drop has completed or been discarded.
                unsafe { self.backend.destroy(kind, native) };
                drop(keep); // retires what it held, with younger tags
            }
            Grave::Recorder(core) => drop(core),
        }
    }

    pub(crate) fn add_user(&self) {
        self.users.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn remove_user(&self) {
        if self.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            if self.backend.close().is_err() {
                self.mark_lost(); // a lost device counts as complete
            }
            self.collect();
        }
    }

    pub(crate) fn reclamation(&self) -> Reclamation {
        Reclamation { waiting_objects: lock(&self.graveyard).len(), open_epochs: lock(&self.epochs).open.len() }
    }
}

impl Drop for DeviceShared {
    fn drop(&mut self) {
        let _ = self.backend.close();
        let rest = std::mem::take(&mut *lock(&self.graveyard));
        for (_, grave) in rest {
            self.bury(grave);
        }
    }
}

/// Keeps a device awake: devices, queues, pools and command buffers hold one, resources do not.
pub(crate) struct User(pub(crate) Arc<DeviceShared>);

impl User {
    pub(crate) fn new(device: &Arc<DeviceShared>) -> Self {
        device.add_user();
        Self(device.clone())
    }
}

impl Clone for User {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.0.remove_user();
    }
}

impl std::ops::Deref for User {
    type Target = Arc<DeviceShared>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
