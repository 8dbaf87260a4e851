//! Presentation: mostly instance extensions of the loader, whose names are the promise.

use super::missing;
use super::query::Query;
use super::write::{Extension, Writer, on};
use ash::{ext, khr, vk};
use rhizo_rhi::{Fact, Provenance, Support};
use std::ffi::CStr;

pub(super) fn write(query: &Query<'_>, out: &mut Writer) {
    surfaces(query, out);
    swapchain(query, out);
    timing(query, out);
}

/// A fact that rests on instance extensions, any of which will do.
fn surface(query: &Query<'_>, out: &mut Writer, fact: Fact, names: &[&'static CStr]) {
    let text = |name: &&CStr| name.to_string_lossy().into_owned();
    let support = match names.iter().find(|name| query.loader_lists(name)) {
        Some(name) => Support::extension(Provenance::NativeExtensionQuery, text(name)),
        None => {
            let all = names.iter().map(text).collect::<Vec<_>>().join(" or ");
            let reason = format!("the loader does not list {all}");
            Support::unavailable(Provenance::NativeExtensionQuery, all, reason)
        }
    };
    out.put(fact, support);
}

fn surfaces(query: &Query<'_>, out: &mut Writer) {
    surface(query, out, Fact::SurfaceX11, &[khr::xlib_surface::NAME, khr::xcb_surface::NAME]);
    surface(query, out, Fact::SurfaceWayland, &[khr::wayland_surface::NAME]);
    surface(query, out, Fact::SurfaceWin32, &[khr::win32_surface::NAME]);
    surface(query, out, Fact::SurfaceCocoa, &[ext::metal_surface::NAME]);
    out.absent(Fact::SurfaceCanvas, "browsers have no Vulkan");
    surface(query, out, Fact::WideColorSpaces, &[ext::swapchain_colorspace::NAME]);
}

fn swapchain(query: &Query<'_>, out: &mut Writer) {
    let offered = query.loader_lists(khr::surface::NAME);
    let mut named = |fact, name, answer, set: bool| {
        let set = set && offered;
        let answer = if offered { answer } else { "VK_KHR_surface in the loader" };
        out.extension(query, fact, Extension { name, answer, set, commands: &[] });
    };
    named(Fact::Swapchain, khr::swapchain::NAME, "", true);
    named(Fact::MutableSwapchainFormats, khr::swapchain_mutable_format::NAME, "", true);
    named(Fact::PresentRegions, khr::incremental_present::NAME, "", true);
    named(Fact::HdrMetadata, ext::hdr_metadata::NAME, "", true);
}

fn timing(query: &Query<'_>, out: &mut Writer) {
    let name = query.listed_name(&[missing::SWAPCHAIN_MAINTENANCE, ext::swapchain_maintenance1::NAME]);
    let maintenance: vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT<'_> = query.features(name);
    let set = on(maintenance.swapchain_maintenance1);
    let claim = Extension { name, answer: "swapchainMaintenance1", set, commands: &[] };
    out.extension(query, Fact::PresentFence, claim);
    out.extension(query, Fact::PresentModeSwitch, claim);
    let name = khr::present_wait::NAME;
    let wait: vk::PhysicalDevicePresentWaitFeaturesKHR<'_> = query.features(name);
    let id: vk::PhysicalDevicePresentIdFeaturesKHR<'_> = query.features(khr::present_id::NAME);
    let set = on(wait.present_wait) && on(id.present_id);
    let claim = Extension { name, answer: "presentWait and presentId", set, commands: &[] };
    out.extension(query, Fact::PresentWait, claim);
}
