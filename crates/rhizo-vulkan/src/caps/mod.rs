//! The capability report of a physical device.
//!
//! One file per group of domains; each asks [`query`] and hands its answers to [`write`], which decides what they make
//! of a fact. `lowered` says what this backend offers today, `missing` declares what `ash` does not.

mod advanced;
mod binding;
mod compute;
mod limits;
mod lowered;
mod memory;
mod missing;
mod pipelines;
mod presentation;
mod probe;
mod query;
mod raster;
mod synchronization;
#[cfg(test)]
mod tests;
mod write;

use ash::vk;
use query::Query;
use rhizo_rhi::{Capabilities, Format, FormatSupport};
use write::Writer;

/// Asks a physical device for everything in the report. `format` says what a format can be used for on it.
///
/// Makes and destroys a device once, to see whether the entry points of extensions resolve.
pub(crate) fn report(
    entry: &ash::Entry,
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    format: &dyn Fn(Format) -> FormatSupport,
) -> Capabilities {
    let query = Query::new(entry, instance, physical);
    if !query.has_13 {
        // The backend cannot open it, and most of the queries below would not be legal.
        return Capabilities::default();
    }
    let mut out = Writer::new();
    raster::write(&query, &mut out);
    binding::write(&query, &mut out);
    synchronization::write(&query, &mut out);
    memory::write(&query, &mut out);
    pipelines::write(&query, &mut out);
    presentation::write(&query, &mut out);
    advanced::write(&query, &mut out);
    compute::write(&query, &mut out);
    limits::write(&query, &mut out);
    for info in Format::all() {
        out.builder().format(info.format, format(info.format));
    }
    out.finish(&query)
}
