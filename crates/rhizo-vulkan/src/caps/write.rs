//! Turning answers into facts. An extension becomes one only when the driver lists it, its feature bit or property is
//! set, and its entry points resolve.

use super::lowered::{NOT_YET, OFFERED};
use super::probe;
use super::query::Query;
use ash::vk;
use rhizo_rhi::{Capabilities, CapabilitiesBuilder, Capability, Fact, LimitKind, Provenance, Support};
use std::ffi::CStr;

/// A claim that rests on an extension.
#[derive(Clone, Copy)]
pub(super) struct Extension {
    /// Its name.
    pub(super) name: &'static CStr,
    /// The feature bit or property that has to be set; blank when the extension has none.
    pub(super) answer: &'static str,
    /// Whether it is.
    pub(super) set: bool,
    /// Device commands that must resolve.
    pub(super) commands: &'static [&'static CStr],
}

impl Extension {
    pub(super) fn text(&self) -> String {
        let name = self.name.to_string_lossy();
        if self.answer.is_empty() { name.into_owned() } else { format!("{name}: {}", self.answer) }
    }
}

/// Collects facts and limits; extension claims wait for their entry points.
pub(super) struct Writer {
    builder: CapabilitiesBuilder,
    waiting: Vec<(Fact, Extension)>,
}

/// True of a Vulkan boolean.
pub(super) fn on(value: vk::Bool32) -> bool {
    value != vk::FALSE
}

impl Writer {
    pub(super) fn new() -> Self {
        Self { builder: CapabilitiesBuilder::new(), waiting: Vec::new() }
    }

    pub(super) fn builder(&mut self) -> &mut CapabilitiesBuilder {
        &mut self.builder
    }

    pub(super) fn limit(&mut self, kind: LimitKind, value: impl Into<u64>) {
        self.builder.limit(kind, value.into());
    }

    /// Writes a fact; whether it is offered is the table's word.
    pub(super) fn put(&mut self, fact: Fact, native: Support) {
        let offered = OFFERED.contains(&fact);
        let capability = if offered { Capability::direct(native) } else { Capability::native_only(native, NOT_YET) };
        self.builder.set(fact, capability);
    }

    /// Part of a core version that every device of this backend has.
    pub(super) fn version(&mut self, fact: Fact, source: &'static str) {
        self.put(fact, Support::core(Provenance::ApiVersion, source));
    }

    /// What Vulkan does not have, in words.
    pub(super) fn absent(&mut self, fact: Fact, reason: &'static str) {
        self.put(fact, Support::unavailable(Provenance::BackendContract, "Vulkan", reason));
    }

    /// Core features that must all be on.
    pub(super) fn features(&mut self, fact: Fact, features: &[(&'static str, vk::Bool32)]) {
        let conditions: Vec<_> = features.iter().map(|(name, value)| (*name, on(*value))).collect();
        self.conditions(fact, &conditions);
    }

    /// Core properties or features that must all hold.
    pub(super) fn conditions(&mut self, fact: Fact, conditions: &[(&'static str, bool)]) {
        let list = |keep: &dyn Fn(bool) -> bool| {
            let names = conditions.iter().filter(|(_, holds)| keep(*holds)).map(|(name, _)| *name);
            names.collect::<Vec<_>>().join(", ")
        };
        let (source, missing) = (list(&|_| true), list(&|holds| !holds));
        let support = if missing.is_empty() {
            Support::core(Provenance::NativeFeatureQuery, source)
        } else {
            Support::unavailable(Provenance::NativeFeatureQuery, source, format!("the driver reports no {missing}"))
        };
        self.put(fact, support);
    }

    /// A claim that rests on an extension; final when its entry points have been looked for.
    pub(super) fn extension(&mut self, query: &Query<'_>, fact: Fact, extension: Extension) {
        let name = extension.name.to_string_lossy();
        let reason = if !query.lists(extension.name) {
            format!("the driver does not list {name}")
        } else if !extension.set {
            format!("the driver lists {name} but reports no {}", extension.answer)
        } else if extension.commands.is_empty() {
            return self.put(fact, by_extension(&extension));
        } else {
            return self.waiting.push((fact, extension));
        };
        self.put(fact, Support::unavailable(Provenance::NativeExtensionQuery, extension.text(), reason));
    }

    /// Looks for the entry points of what waits, and gives the report.
    pub(super) fn finish(mut self, query: &Query<'_>) -> Capabilities {
        let waiting = std::mem::take(&mut self.waiting);
        let wanted: Vec<Extension> = waiting.iter().map(|(_, extension)| *extension).collect();
        let found = probe::entry_points(query, &wanted);
        for (fact, extension) in waiting {
            let support = match &found {
                Ok(found) => match extension.commands.iter().find(|command| !found.contains(*command)) {
                    None => by_extension(&extension),
                    Some(command) => unresolved(&extension, &format!("{} does not resolve", command.to_string_lossy())),
                },
                Err(reason) => unresolved(&extension, reason),
            };
            self.put(fact, support);
        }
        self.builder.finish()
    }
}

fn unresolved(extension: &Extension, why: &str) -> Support {
    let reason = format!("the driver lists {}, but {why}", extension.name.to_string_lossy());
    Support::unavailable(Provenance::RuntimeObjectProbe, extension.text(), reason)
}

/// Cross-vendor extensions are named KHR or EXT; all others are somebody's own path.
fn by_extension(extension: &Extension) -> Support {
    let name = extension.name.to_bytes();
    let shared = name.starts_with(b"VK_KHR_") || name.starts_with(b"VK_EXT_");
    let provenance = Provenance::NativeExtensionQuery;
    if shared {
        Support::extension(provenance, extension.text())
    } else {
        Support::specialized(provenance, extension.text())
    }
}
