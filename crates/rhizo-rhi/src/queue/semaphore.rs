//! Semaphores: queue to queue; binary ones alternate, timelines grow.

use crate::backend::{ObjectKind, ObjectRef};
use crate::clause;
use crate::error::{Error, Result};
use crate::handle::{DeviceKey, DeviceShared, Keep, ObjectId, Owned, lock};
use crate::vocab::Stages;
use std::cell::Cell;
use std::sync::{Arc, Mutex};

/// The kinds of semaphores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SemaphoreKind {
    /// Signalled, waited for, signalled again.
    Binary,
    /// A number that grows.
    Timeline {
        /// The number at creation.
        initial: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BinaryState {
    /// The next operation is a signal.
    Idle,
    /// The next operation is a wait.
    Signalled,
}

#[derive(Debug)]
struct State {
    binary: BinaryState,
    /// Queue that holds a reservation.
    holder: Option<u32>,
    /// Highest timeline value submitted or signalled.
    highest: u64,
}

impl State {
    /// Takes a raise of the highest value back, unless another thread has raised it further since.
    fn lower(&mut self, (previous, value): (u64, u64)) {
        if self.highest == value {
            self.highest = previous;
        }
    }
}

/// A semaphore. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Semaphore {
    raw: ObjectRef,
    key: DeviceKey,
    kind: SemaphoreKind,
    state: Arc<Mutex<State>>,
    owned: Keep,
}

/// A wait of a submission.
#[derive(Clone, Copy, Debug)]
pub struct SemaphoreWait<'a> {
    /// Semaphore.
    pub semaphore: &'a Semaphore,
    /// Timeline value; ignored for binary ones.
    pub value: u64,
    /// Stages that wait.
    pub stages: Stages,
    /// A reservation made earlier for this very wait.
    pub reservation: Option<&'a Reservation>,
}

/// A signal of a submission, made when all its work has completed.
#[derive(Clone, Copy, Debug)]
pub struct SemaphoreSignal<'a> {
    /// Semaphore.
    pub semaphore: &'a Semaphore,
    /// Timeline value; ignored for binary ones.
    pub value: u64,
    /// A reservation made earlier for this very signal.
    pub reservation: Option<&'a Reservation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Signal,
    Wait,
}

/// The right to the next operation of a binary semaphore, held by one queue; dropping it rolls back.
#[derive(Debug)]
pub struct Reservation {
    semaphore: Semaphore,
    operation: Operation,
    queue: u32,
    open: Cell<bool>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.open.get() {
            lock(&self.semaphore.state).holder = None;
        }
    }
}

/// What a submission in progress holds of one semaphore.
pub(super) struct Hold<'a> {
    semaphore: &'a Semaphore,
    operation: Operation,
    /// Timeline value before and of a signal, to go back from.
    raised: (u64, u64),
    reservation: Option<&'a Reservation>,
    open: bool,
}

impl Hold<'_> {
    pub(super) fn commit(mut self) {
        self.open = false;
        if let Some(reservation) = self.reservation {
            reservation.open.set(false);
        }
        let mut state = lock(&self.semaphore.state);
        if self.semaphore.kind == SemaphoreKind::Binary {
            state.holder = None;
            state.binary = match self.operation {
                Operation::Signal => BinaryState::Signalled,
                Operation::Wait => BinaryState::Idle,
            };
        }
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        let mut state = lock(&self.semaphore.state);
        match self.semaphore.kind {
            // A reservation of the user's stays the user's.
            SemaphoreKind::Binary if self.reservation.is_none() => state.holder = None,
            SemaphoreKind::Timeline { .. } if self.operation == Operation::Signal => state.lower(self.raised),
            _ => {}
        }
    }
}

impl Semaphore {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, label: &str, kind: SemaphoreKind) -> Result<Self> {
        device.check_alive()?;
        let initial = match kind {
            SemaphoreKind::Binary => None,
            SemaphoreKind::Timeline { initial } => Some(initial),
        };
        let native = device.create(|backend| backend.create_semaphore(initial, label))?;
        let owned = Owned::new(device, ObjectKind::Semaphore, label, native, Vec::new());
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        let state = State { binary: BinaryState::Idle, holder: None, highest: initial.unwrap_or(0) };
        Ok(Self { raw, key: device.key, kind, state: Arc::new(Mutex::new(state)), owned })
    }

    /// Name.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.owned.label
    }

    /// Identity.
    #[must_use]
    pub fn id(&self) -> ObjectId {
        self.raw.id
    }

    pub(super) fn raw(&self) -> ObjectRef {
        self.raw
    }

    pub(super) fn is_binary(&self) -> bool {
        self.kind == SemaphoreKind::Binary
    }

    #[track_caller]
    pub(super) fn check(&self, device: &DeviceShared) -> Result<()> {
        device.check(self.key, &self.owned)
    }

    #[track_caller]
    fn reserve(&self, operation: Operation, queue: u32) -> Result<()> {
        if self.kind != SemaphoreKind::Binary {
            return Err(Error::clause(clause::SEMAPHORE_KIND, "a reservation of a timeline").on(self.label()));
        }
        let mut state = lock(&self.state);
        if let Some(holder) = state.holder {
            return Err(Error::clause(clause::SEMAPHORE_RESERVED, format!("held by queue {holder}")).on(self.label()));
        }
        let expected = match operation {
            Operation::Signal => BinaryState::Idle,
            Operation::Wait => BinaryState::Signalled,
        };
        if state.binary != expected {
            let detail = format!("{operation:?} while {:?}", state.binary);
            return Err(Error::clause(clause::SEMAPHORE_STATE, detail).on(self.label()));
        }
        state.holder = Some(queue);
        Ok(())
    }

    #[track_caller]
    fn reserve_guard(&self, operation: Operation, queue: &super::Queue) -> Result<Reservation> {
        queue.check_device(self.key)?;
        self.owned.device.check_alive()?;
        self.reserve(operation, queue.position())?;
        Ok(Reservation { semaphore: self.clone(), operation, queue: queue.position(), open: Cell::new(true) })
    }

    /// Reserves the next signal for a queue.
    ///
    /// # Errors
    /// `SEMAPHORE_RESERVED` naming the holder, `SEMAPHORE_STATE`, `SEMAPHORE_KIND`.
    #[track_caller]
    pub fn reserve_signal(&self, queue: &super::Queue) -> Result<Reservation> {
        self.reserve_guard(Operation::Signal, queue)
    }

    /// Reserves the next wait for a queue.
    ///
    /// # Errors
    /// `SEMAPHORE_RESERVED` naming the holder, `SEMAPHORE_STATE`, `SEMAPHORE_KIND`.
    #[track_caller]
    pub fn reserve_wait(&self, queue: &super::Queue) -> Result<Reservation> {
        self.reserve_guard(Operation::Wait, queue)
    }

    #[track_caller]
    fn hold<'a>(
        &'a self,
        operation: Operation,
        queue: u32,
        value: u64,
        reservation: Option<&'a Reservation>,
    ) -> Result<Hold<'a>> {
        let mut raised = (0, 0);
        match (self.kind, reservation) {
            (SemaphoreKind::Binary, None) => self.reserve(operation, queue)?,
            (SemaphoreKind::Binary, Some(r)) => {
                let fits =
                    r.open.get() && r.operation == operation && r.queue == queue && r.semaphore.id() == self.id();
                if !fits {
                    let detail = format!("the reservation is for a {:?} on queue {}, or used up", r.operation, r.queue);
                    return Err(Error::clause(clause::SEMAPHORE_RESERVED, detail).on(self.label()));
                }
            }
            (SemaphoreKind::Timeline { .. }, Some(_)) => {
                return Err(Error::clause(clause::SEMAPHORE_KIND, "a reservation of a timeline").on(self.label()));
            }
            (SemaphoreKind::Timeline { .. }, None) if operation == Operation::Signal => {
                raised = (self.raise(value)?, value);
            }
            (SemaphoreKind::Timeline { .. }, None) => {}
        }
        Ok(Hold { semaphore: self, operation, raised, reservation, open: true })
    }

    #[track_caller]
    pub(super) fn hold_wait<'a>(
        &'a self,
        queue: u32,
        value: u64,
        reservation: Option<&'a Reservation>,
    ) -> Result<Hold<'a>> {
        self.hold(Operation::Wait, queue, value, reservation)
    }

    #[track_caller]
    pub(super) fn hold_signal<'a>(
        &'a self,
        queue: u32,
        value: u64,
        reservation: Option<&'a Reservation>,
    ) -> Result<Hold<'a>> {
        self.hold(Operation::Signal, queue, value, reservation)
    }

    /// Raises the highest value, giving the one before.
    #[track_caller]
    fn raise(&self, value: u64) -> Result<u64> {
        let mut state = lock(&self.state);
        if value <= state.highest {
            let detail = format!("signal of {value} after {}", state.highest);
            return Err(Error::clause(clause::TIMELINE_VALUE, detail).on(self.label()));
        }
        Ok(std::mem::replace(&mut state.highest, value))
    }

    #[track_caller]
    fn need_timeline(&self) -> Result<()> {
        self.owned.device.check_alive()?;
        if self.kind == SemaphoreKind::Binary {
            return Err(Error::clause(clause::SEMAPHORE_KIND, "a binary semaphore has no value").on(self.label()));
        }
        Ok(())
    }

    /// The value a timeline has reached.
    ///
    /// # Errors
    /// `SEMAPHORE_KIND`, `DEVICE_LOST`.
    #[track_caller]
    pub fn value(&self) -> Result<u64> {
        self.need_timeline()?;
        let device = &self.owned.device;
        device.native(device.backend.semaphore_value(self.raw))
    }

    /// Signals a timeline from the CPU.
    ///
    /// # Errors
    /// `TIMELINE_VALUE`, `SEMAPHORE_KIND`, `DEVICE_LOST`.
    #[track_caller]
    pub fn signal(&self, value: u64) -> Result<()> {
        self.need_timeline()?;
        let previous = self.raise(value)?;
        let device = &self.owned.device;
        let signalled = device.native(device.backend.signal_semaphore(self.raw, value));
        signalled.inspect_err(|_| lock(&self.state).lower((previous, value)))
    }

    /// Waits for a timeline value; false on time-out.
    ///
    /// # Errors
    /// `SEMAPHORE_KIND`, `DEVICE_LOST`; `Unsupported` where nothing may block.
    #[track_caller]
    pub fn wait(&self, value: u64, timeout_ns: u64) -> Result<bool> {
        self.need_timeline()?;
        let device = &self.owned.device;
        device.native(device.backend.wait_semaphore(self.raw, value, timeout_ns))
    }
}
