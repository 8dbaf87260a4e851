//! Queries and clock calibration.

use crate::backend::{ObjectKind, ObjectRef};
use crate::clause;
use crate::error::{Error, Result};
use crate::handle::{DeviceKey, DeviceShared, Keep, Owned};
use crate::vocab::QueueKind;
use bitflags::bitflags;
use std::sync::Arc;

bitflags! {
    /// The classic pipeline-statistics counters, in the order results are written.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Statistics: u32 {
        /// Vertices assembled.
        const INPUT_VERTICES = 1 << 0;
        /// Primitives assembled.
        const INPUT_PRIMITIVES = 1 << 1;
        /// Vertex shader invocations.
        const VERTEX_INVOCATIONS = 1 << 2;
        /// Geometry shader invocations.
        const GEOMETRY_INVOCATIONS = 1 << 3;
        /// Primitives out of geometry shaders.
        const GEOMETRY_PRIMITIVES = 1 << 4;
        /// Primitives into the clipper.
        const CLIPPING_INVOCATIONS = 1 << 5;
        /// Primitives out of the clipper.
        const CLIPPING_PRIMITIVES = 1 << 6;
        /// Fragment shader invocations.
        const FRAGMENT_INVOCATIONS = 1 << 7;
        /// Tessellation-control patches.
        const TESSELLATION_CONTROL_PATCHES = 1 << 8;
        /// Tessellation-evaluation invocations.
        const TESSELLATION_EVALUATION_INVOCATIONS = 1 << 9;
        /// Compute shader invocations.
        const COMPUTE_INVOCATIONS = 1 << 10;
    }
}

/// What a query set counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueryKind {
    /// GPU ticks.
    Timestamp,
    /// Samples that passed the tests.
    Occlusion,
    /// Pipeline statistics.
    Statistics(Statistics),
}

impl QueryKind {
    /// 64-bit words of one result.
    #[must_use]
    pub fn words(self) -> u32 {
        match self {
            Self::Timestamp | Self::Occlusion => 1,
            Self::Statistics(which) => which.bits().count_ones(),
        }
    }
}

/// GPU and CPU clocks read together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Queue kind.
    pub queue: QueueKind,
    /// Index among the device's queues.
    pub index: u32,
    /// GPU ticks.
    pub gpu_ticks: u64,
    /// CPU clock, nanoseconds (`CLOCK_MONOTONIC` on Unix, the performance counter elsewhere).
    pub cpu_ns: u64,
    /// Ticks per second.
    pub frequency_hz: f64,
    /// Largest error between the two readings, nanoseconds.
    pub max_deviation_ns: u64,
}

impl Calibration {
    /// The CPU time at which the GPU counter showed `ticks`, nanoseconds.
    #[must_use]
    pub fn cpu_ns_at(&self, ticks: u64) -> i128 {
        let delta = i128::from(ticks) - i128::from(self.gpu_ticks);
        i128::from(self.cpu_ns) + (delta as f64 * 1e9 / self.frequency_hz) as i128
    }
}

/// `count` query slots of one kind.
#[derive(Clone, Debug)]
pub struct QuerySet {
    pub(crate) raw: ObjectRef,
    pub(crate) key: DeviceKey,
    pub(crate) kind: QueryKind,
    pub(crate) count: u32,
    owned: Keep,
}

impl QuerySet {
    #[track_caller]
    pub(crate) fn create(device: &Arc<DeviceShared>, label: &str, kind: QueryKind, count: u32) -> Result<Self> {
        device.check_alive()?;
        if count == 0 || count > 65_536 || kind.words() == 0 {
            let detail = format!("{count} slots of {kind:?}; a set has 1 to 65536");
            return Err(Error::clause(clause::QUERY_RANGE, detail).on(label));
        }
        let native = device.create(|backend| backend.create_query_set(kind, count, label))?;
        let owned = Owned::new(device, ObjectKind::QuerySet, label, native, Vec::new());
        let raw = ObjectRef { word: native.word, aux: native.aux, id: owned.id };
        Ok(Self { raw, key: device.key, kind, count, owned })
    }

    /// Name.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.owned.label
    }

    /// What it counts.
    #[must_use]
    pub fn kind(&self) -> QueryKind {
        self.kind
    }

    /// Number of slots.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    #[track_caller]
    pub(crate) fn check_range(&self, first: u32, count: u32) -> Result<()> {
        if count == 0 || first.checked_add(count).is_none_or(|end| end > self.count) {
            let detail = format!("{count} from {first} of {}", self.count);
            return Err(Error::clause(clause::QUERY_RANGE, detail).on(self.label()));
        }
        Ok(())
    }

    #[track_caller]
    pub(crate) fn check_kind(&self, ok: bool) -> Result<()> {
        if ok {
            return Ok(());
        }
        Err(Error::clause(clause::QUERY_KIND, format!("the set counts {:?}", self.kind)).on(self.label()))
    }

    /// The raw results of `count` slots, `kind().words()` words each, or `None` when one is not ready.
    ///
    /// # Errors
    /// `QUERY_RANGE`; `DEVICE_LOST`.
    #[track_caller]
    pub fn results(&self, first: u32, count: u32) -> Result<Option<Vec<u64>>> {
        self.check_range(first, count)?;
        self.owned.device.check_alive()?;
        let mut words = vec![0; count as usize * self.kind.words() as usize];
        let device = &self.owned.device;
        let ready = device.native(device.backend.query_results(self.raw, first, count, &mut words))?;
        Ok(ready.then_some(words))
    }

    /// GPU ticks of a slot, or `None` when not ready.
    ///
    /// # Errors
    /// `QUERY_KIND`, `QUERY_RANGE`.
    #[track_caller]
    pub fn try_get_timestamp(&self, index: u32) -> Result<Option<u64>> {
        self.check_kind(self.kind == QueryKind::Timestamp)?;
        Ok(self.results(index, 1)?.map(|words| words[0]))
    }

    /// Samples that passed, or `None` when not ready.
    ///
    /// # Errors
    /// `QUERY_KIND`, `QUERY_RANGE`.
    #[track_caller]
    pub fn try_get_occlusion(&self, index: u32) -> Result<Option<u64>> {
        self.check_kind(self.kind == QueryKind::Occlusion)?;
        Ok(self.results(index, 1)?.map(|words| words[0]))
    }

    /// The counters asked for, in bit order, or `None` when not ready.
    ///
    /// # Errors
    /// `QUERY_KIND`, `QUERY_RANGE`.
    #[track_caller]
    pub fn try_get_statistics(&self, index: u32) -> Result<Option<Vec<(Statistics, u64)>>> {
        let QueryKind::Statistics(which) = self.kind else {
            return self.check_kind(false).map(|()| None);
        };
        Ok(self.results(index, 1)?.map(|words| which.iter().zip(words).collect()))
    }
}

impl QuerySet {
    pub(crate) fn owned(&self) -> &Owned {
        &self.owned
    }
}
