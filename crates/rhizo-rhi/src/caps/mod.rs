//! What adapters are and can do: facts with their origin, in fourteen domains.
//!
//! A *fact* is one independent thing a device can or cannot do. Each has three columns:
//!
//! - *native*: the driver can do it, by which [`Strategy`], and how that is known ([`Provenance`] and a source: the name
//!   of the extension, feature or version). What is unavailable always has a reason.
//! - *lowered*: this backend offers it through the contract, directly or by bounded GPU work of its own.
//! - *qualified*: the conformance suite has run something that uses it on this machine.
//!
//! A [`Tier`] per domain and the [`FeatureLevel`] of a device are summaries over facts. Capabilities say what a device
//! can do; `Device::format_support` and its relatives say whether one combination works.

mod adapter;
mod domains;
mod levels;
mod limits;
mod report;
mod support;
#[cfg(test)]
mod tests;
mod tiers;
mod values;

pub use adapter::*;
pub use domains::*;
pub use levels::*;
pub use limits::*;
pub use report::CapabilityReport;
pub use support::*;
pub use tiers::*;
pub use values::*;

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::format::Format;

/// One row of a capability report: plain text, for programs that print or serialise it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapabilityEntry<'a> {
    /// Domain, e.g. `ray-tracing`.
    pub domain: &'static str,
    /// Fact with its domain, e.g. `ray-tracing.inline-queries`.
    pub fact: &'static str,
    /// What the fact means.
    pub meaning: &'static str,
    /// Whether the driver can do it.
    pub native: bool,
    /// Whether the backend offers it: `direct`, `helper` or `no`.
    pub lowered: &'static str,
    /// Whether the conformance suite confirmed it: `not-run`, `no` or `yes`.
    pub qualified: &'static str,
    /// By which means the driver does it.
    pub strategy: &'static str,
    /// How the native column is known.
    pub provenance: &'static str,
    /// Name of the extension, feature, version or call behind the native column.
    pub source: &'a str,
    /// Why it is not native or, if it is, why it is not lowered; how, if it is lowered by a helper.
    pub reason: Option<&'a str>,
}

impl Capabilities {
    /// Whether a program can use what the fact names: the lowered column.
    #[must_use]
    pub fn has(&self, fact: Fact) -> bool {
        self.capability(fact).usable()
    }

    /// What the driver says about a fact: the native column.
    #[must_use]
    pub fn support(&self, fact: Fact) -> &Support {
        self.capability(fact).native()
    }

    /// Fails unless a program can use every one of the facts.
    ///
    /// # Errors
    /// `CAPABILITY` (kind `Unsupported`), with each missing fact and its reason.
    #[track_caller]
    pub fn require(&self, facts: &[Fact]) -> Result<()> {
        let missing: Vec<String> = facts.iter().filter_map(|fact| self.missing(*fact)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::clause(crate::clause::CAPABILITY, missing.join("; ")))
    }

    /// Why a fact cannot be used, with its name; None if it can.
    pub(crate) fn missing(&self, fact: Fact) -> Option<String> {
        let capability = self.capability(fact);
        if capability.usable() {
            return None;
        }
        let side = if capability.native().is_available() { "the device can, but " } else { "" };
        let reason = capability.reason().unwrap_or(NOT_REPORTED);
        Some(format!("{} is unavailable: {side}{reason}", fact.name()))
    }

    /// The highest rung of a domain's ladder that a program can use.
    #[must_use]
    pub fn tier(&self, domain: Domain) -> Tier {
        Ladder::of(domain).tier(|fact| self.has(fact))
    }

    /// The highest rung of a domain's ladder that the driver reaches, whether or not the backend offers it.
    #[must_use]
    pub fn native_tier(&self, domain: Domain) -> Tier {
        Ladder::of(domain).tier(|fact| self.support(fact).is_available())
    }

    /// The value of a limit; None means that the backend does not report it, not that there is none.
    #[must_use]
    pub fn limit(&self, kind: LimitKind) -> Option<u64> {
        self.limits.get(kind)
    }

    /// The value of a limit, or a conservative one where the backend does not report it.
    #[must_use]
    pub fn limit_or(&self, kind: LimitKind, conservative: u64) -> u64 {
        self.limit(kind).unwrap_or(conservative)
    }

    /// What a format can be used for; nothing if the backend did not report it.
    #[must_use]
    pub fn format(&self, format: Format) -> FormatSupport {
        self.formats.iter().find(|(f, _)| *f == format).map(|(_, support)| *support).unwrap_or_default()
    }

    /// Every format reported, in the backend's order.
    pub fn formats(&self) -> impl Iterator<Item = (Format, FormatSupport)> + '_ {
        self.formats.iter().copied()
    }

    /// Every limit reported, in the order of [`LimitKind::ALL`].
    pub fn limits(&self) -> impl Iterator<Item = (LimitKind, u64)> + '_ {
        LimitKind::ALL.iter().filter_map(|kind| self.limit(*kind).map(|value| (*kind, value)))
    }

    /// Every fact as a plain row, in the order of [`Fact::ALL`].
    pub fn entries(&self) -> impl Iterator<Item = CapabilityEntry<'_>> + '_ {
        Fact::ALL.iter().map(|fact| self.entry(*fact))
    }

    /// One fact as a plain row.
    #[must_use]
    pub fn entry(&self, fact: Fact) -> CapabilityEntry<'_> {
        let capability = self.capability(fact);
        let native = capability.native();
        CapabilityEntry {
            domain: fact.domain().name(),
            fact: fact.name(),
            meaning: fact.meaning(),
            native: native.is_available(),
            lowered: capability.lowering().name(),
            qualified: capability.qualified.name(),
            strategy: native.strategy().name(),
            provenance: native.provenance().name(),
            source: native.source(),
            reason: capability.reason(),
        }
    }
}

/// Builds [`Capabilities`]: what a backend does not mention stays unavailable as "not reported by this backend".
#[derive(Clone, Debug, Default)]
pub struct CapabilitiesBuilder {
    capabilities: Capabilities,
}

impl CapabilitiesBuilder {
    /// Starts with nothing reported.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a fact.
    pub fn set(&mut self, fact: Fact, capability: Capability) -> &mut Self {
        *self.capabilities.capability_mut(fact) = capability;
        self
    }

    /// Sets a limit.
    pub fn limit(&mut self, kind: LimitKind, value: u64) -> &mut Self {
        self.capabilities.limits.set(kind, value);
        self
    }

    /// Sets what a format can be used for.
    pub fn format(&mut self, format: Format, support: FormatSupport) -> &mut Self {
        self.capabilities.formats.retain(|(f, _)| *f != format);
        self.capabilities.formats.push((format, support));
        self
    }

    /// The domains' structs, to fill in their values (heaps, matrix shapes, counts).
    pub fn values(&mut self) -> &mut Capabilities {
        &mut self.capabilities
    }

    /// The report.
    #[must_use]
    pub fn finish(self) -> Capabilities {
        self.capabilities
    }
}

/// Text in reports: fixed for most, made at run time for some.
pub(crate) type Text = Cow<'static, str>;
