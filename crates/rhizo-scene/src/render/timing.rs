//! GPU times of passes.

use rhizo_rhi::{Device, QueryKind, QuerySet, Queue};

use super::error::RenderError;

/// Passes of a frame that are timed, more than a frame has.
const PASSES: u32 = 8;

/// Timestamps around passes and what their ticks mean.
pub(super) struct PassClock {
    pub(super) set: QuerySet,
    ticks_per_second: f64,
    /// Bits of a timestamp that count.
    mask: u64,
}

impl PassClock {
    /// `None` where the queue writes no timestamps or the length of its ticks is not known.
    pub(super) fn new(device: &Device, queue: &Queue) -> Result<Option<Self>, RenderError> {
        let bits = queue.info().timestamp_bits;
        // A device that cannot tie its clock to the CPU's says so; times are then left out.
        let calibration = if bits > 0 { device.calibrate(queue).ok() } else { None };
        let Some(calibration) = calibration.filter(|c| c.frequency_hz > 0.0) else { return Ok(None) };
        let set = device.create_query_set("pass times", QueryKind::Timestamp, PASSES * 2)?;
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        Ok(Some(Self { set, ticks_per_second: calibration.frequency_hz, mask }))
    }

    /// Nanoseconds of the first `passes` passes of a frame that has completed.
    pub(super) fn read(&self, passes: u32) -> Result<Vec<u64>, RenderError> {
        let ticks = self.set.results(0, passes.min(PASSES) * 2)?.unwrap_or_default();
        // The counter may wrap between the two.
        let time = |pair: &[u64; 2]| (pair[1].wrapping_sub(pair[0]) & self.mask) as f64 / self.ticks_per_second * 1e9;
        Ok(ticks.as_chunks::<2>().0.iter().map(|pair| time(pair) as u64).collect())
    }
}
