//! Query sets and clock calibration.

use crate::convert;
use crate::device::Shared;
use crate::memory::check;
use ash::vk;
use rhizo_rhi::backend::{Native, ObjectRef};
use rhizo_rhi::{Calibration, Error, ErrorKind, QueryKind, Result};

pub(crate) fn create(device: &Shared, kind: QueryKind, count: u32, label: &str) -> Result<Native> {
    let refused = |detail: &str| Err(Error::new(ErrorKind::Unsupported, detail).on(label));
    let mut info = vk::QueryPoolCreateInfo::default().query_count(count);
    match kind {
        QueryKind::Timestamp => {
            if device.queues.iter().all(|q| q.timestamp_bits == 0) {
                return refused("no queue of the device has timestamps");
            }
            info = info.query_type(vk::QueryType::TIMESTAMP);
        }
        QueryKind::Occlusion => info = info.query_type(vk::QueryType::OCCLUSION),
        QueryKind::Statistics(which) => {
            if device.features.core.pipeline_statistics_query != vk::TRUE {
                return refused("the device lacks pipelineStatisticsQuery");
            }
            info = info.query_type(vk::QueryType::PIPELINE_STATISTICS).pipeline_statistics(convert::statistics(which));
        }
    }
    // SAFETY: the device is alive; a new pool may be reset from the host at once (hostQueryReset is enabled).
    let pool = check(unsafe { device.raw.create_query_pool(&info, None) }, "vkCreateQueryPool", label)?;
    if device.features.v12.host_query_reset == vk::TRUE {
        // SAFETY: as above.
        unsafe { device.raw.reset_query_pool(pool, 0, count) };
    }
    device.name(pool, label);
    let words = u64::from(kind.words());
    let precise = kind == QueryKind::Occlusion && device.features.core.occlusion_query_precise == vk::TRUE;
    Ok(Native { word: vk::Handle::as_raw(pool), aux: words | u64::from(precise) << 32 })
}

/// Words of one result.
pub(crate) fn words(set: ObjectRef) -> u32 {
    set.aux as u32
}

/// How a query of the set begins.
pub(crate) fn control(set: ObjectRef) -> vk::QueryControlFlags {
    if set.aux >> 32 != 0 { vk::QueryControlFlags::PRECISE } else { vk::QueryControlFlags::empty() }
}

/// Reads results without waiting.
pub(crate) fn results(device: &Shared, set: ObjectRef, first: u32, count: u32, into: &mut [u64]) -> Result<bool> {
    let stride = words(set) as usize;
    let call = device.raw.fp_v1_0().get_query_pool_results;
    if into.len() < stride * count as usize {
        return Err(Error::new(ErrorKind::InvalidArgument, "too little room for the results"));
    }
    // SAFETY: the pool is alive, the slots are inside it, and the destination has room for every result.
    let result = unsafe {
        call(
            device.raw.handle(),
            vk::Handle::from_raw(set.word),
            first,
            count,
            size_of_val(into),
            into.as_mut_ptr().cast(),
            stride as u64 * 8,
            vk::QueryResultFlags::TYPE_64,
        )
    };
    match result {
        vk::Result::SUCCESS => Ok(true),
        vk::Result::NOT_READY => Ok(false),
        other => Err(convert::error(other, "vkGetQueryPoolResults")),
    }
}

/// The clocks that can be read together.
pub(crate) enum Clocks {
    /// `VK_KHR_calibrated_timestamps`.
    Khr(ash::khr::calibrated_timestamps::Device),
    /// `VK_EXT_calibrated_timestamps`.
    Ext(ash::ext::calibrated_timestamps::Device),
}

pub(crate) fn calibrate(device: &Shared, queue: u32) -> Result<Calibration> {
    let own = &device.queues[queue as usize];
    let refused = |detail: &str| Err(Error::new(ErrorKind::Unsupported, detail));
    if own.timestamp_bits == 0 {
        return refused("the queue has no timestamps");
    }
    let Some(clocks) = &device.clocks else {
        return refused("the device lacks VK_KHR_calibrated_timestamps and a monotonic host clock to tie it to");
    };
    let infos = [vk::TimeDomainKHR::DEVICE, device.host_clock]
        .map(|domain| vk::CalibratedTimestampInfoKHR::default().time_domain(domain));
    // SAFETY: both domains were found to be calibrateable when the device was opened.
    let read = unsafe {
        match clocks {
            Clocks::Khr(clocks) => clocks.get_calibrated_timestamps(&infos),
            Clocks::Ext(clocks) => clocks.get_calibrated_timestamps(&infos),
        }
    };
    let (ticks, max_deviation_ns) = read.map_err(|e| convert::error(e, "vkGetCalibratedTimestamps"))?;
    Ok(Calibration {
        queue: own.kind,
        index: own.index,
        gpu_ticks: ticks[0],
        cpu_ns: ticks[1],
        frequency_hz: 1e9 / f64::from(device.timestamp_period_ns),
        max_deviation_ns,
    })
}
