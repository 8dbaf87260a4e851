//! The capability report as text for terminals: aligned columns, words, no colour.

use std::fmt;

use super::{Capabilities, Domain, Fact, FeatureLevel, Ladder, LimitKind, LimitUnit, Lowering, Qualification, Tier};

/// Shows [`Capabilities`] as text.
///
/// A summary with one line per domain, then the facts of each domain with their columns, then limits and what is missing
/// for the next feature level. `summary()` leaves it at the first part.
#[derive(Clone, Copy, Debug)]
pub struct CapabilityReport<'a> {
    capabilities: &'a Capabilities,
    details: bool,
}

impl Capabilities {
    /// The whole report as text.
    #[must_use]
    pub fn report(&self) -> CapabilityReport<'_> {
        CapabilityReport { capabilities: self, details: true }
    }
}

impl CapabilityReport<'_> {
    /// Only levels and tiers.
    #[must_use]
    pub fn summary(self) -> Self {
        Self { details: false, ..self }
    }
}

impl fmt::Display for CapabilityReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_level(f, self.capabilities)?;
        writeln!(f)?;
        write_tiers(f, self.capabilities)?;
        if !self.details {
            return Ok(());
        }
        for domain in Domain::ALL {
            writeln!(f)?;
            write_domain(f, self.capabilities, *domain)?;
        }
        writeln!(f)?;
        write_limits(f, self.capabilities)
    }
}

fn write_level(f: &mut fmt::Formatter<'_>, caps: &Capabilities) -> fmt::Result {
    let name = |level: Option<FeatureLevel>| level.map_or("none", FeatureLevel::name);
    let (usable, native) = (caps.feature_level(), caps.native_feature_level());
    writeln!(f, "Feature level: {} (the driver alone: {})", name(usable), name(native))?;
    let next = FeatureLevel::ALL.into_iter().find(|level| usable.is_none_or(|have| *level > have));
    let Some(next) = next else { return Ok(()) };
    writeln!(f, "Missing for {}:", next.name())?;
    caps.missing_for(next).iter().try_for_each(|item| writeln!(f, "  {item}"))
}

fn write_tiers(f: &mut fmt::Formatter<'_>, caps: &Capabilities) -> fmt::Result {
    let width = Domain::ALL.iter().map(|domain| domain.name().len()).max().unwrap_or(0);
    writeln!(
        f,
        "{:width$}  {:11}  {:11}  facts usable / native / all; what the tier means",
        "Domain", "usable", "native"
    )?;
    for domain in Domain::ALL {
        let (usable, native) = (caps.tier(*domain), caps.native_tier(*domain));
        let facts = domain.facts();
        let can = facts.iter().filter(|fact| caps.has(**fact)).count();
        let driver = facts.iter().filter(|fact| caps.support(**fact).is_available()).count();
        let meaning = tier_meaning(*domain, usable.max(native));
        let line = format!(
            "{:width$}  {:11}  {:11}  {can:2} / {driver:2} / {:2}  {meaning}",
            domain.name(),
            usable.name(),
            native.name(),
            facts.len(),
        );
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

fn tier_meaning(domain: Domain, tier: Tier) -> &'static str {
    match tier {
        Tier::Unavailable => "",
        reached => Ladder::of(domain).rungs.get(reached as usize - 1).map_or("", |rung| rung.meaning),
    }
}

fn write_domain(f: &mut fmt::Formatter<'_>, caps: &Capabilities, domain: Domain) -> fmt::Result {
    let (usable, native) = (caps.tier(domain), caps.native_tier(domain));
    writeln!(f, "{}: {} usable, {} native", domain.name(), usable.name(), native.name())?;
    let short = |fact: &Fact| fact.name().strip_prefix(domain.name()).map_or(0, |rest| rest.len() - 1);
    let width = domain.facts().iter().map(short).max().unwrap_or(0);
    writeln!(f, "  {:width$}  native  usable  qualified  source or reason", "fact")?;
    for fact in domain.facts() {
        write_fact(f, caps, *fact, width)?;
    }
    let values = caps.domain_values();
    for (_, name, text) in values.iter().filter(|(of, ..)| *of == domain) {
        writeln!(f, "  {name}:")?;
        text.split("; ").try_for_each(|item| writeln!(f, "    {item}"))?;
    }
    Ok(())
}

fn write_fact(f: &mut fmt::Formatter<'_>, caps: &Capabilities, fact: Fact, width: usize) -> fmt::Result {
    let capability = caps.capability(fact);
    let native = capability.native();
    let name = &fact.name()[fact.domain().name().len() + 1..];
    let yes = |on: bool| if on { "yes" } else { "no" };
    let usable = match capability.lowering() {
        Lowering::Direct => "yes",
        Lowering::Helper(_) => "helper",
        Lowering::No(_) => "no",
    };
    let qualified = match capability.qualified {
        Qualification::NotRun => "not run",
        Qualification::No => "no",
        Qualification::Yes => "yes",
    };
    write!(f, "  {name:width$}  {:6}  {usable:6}  {qualified:9}  ", yes(native.is_available()))?;
    match (native.reason(), capability.lowering()) {
        (Some(_), Lowering::Helper(how)) => writeln!(f, "{how}"),
        (Some(reason), _) => writeln!(f, "{reason}"),
        (None, Lowering::Direct) => writeln!(f, "{}", native.source()),
        (None, Lowering::Helper(text) | Lowering::No(text)) => writeln!(f, "{} ({text})", native.source()),
    }
}

fn write_limits(f: &mut fmt::Formatter<'_>, caps: &Capabilities) -> fmt::Result {
    let width = LimitKind::ALL.iter().map(|kind| kind.name().len()).max().unwrap_or(0);
    let reported = caps.limits().count();
    writeln!(f, "limits: {reported} of {} reported", LimitKind::ALL.len())?;
    for kind in LimitKind::ALL {
        let name = kind.name();
        match caps.limit(*kind) {
            Some(value) => writeln!(f, "  {name:width$}  {:>20}  {}", number(value), unit(*kind, value))?,
            None => writeln!(f, "  {name:width$}  {:>20}", "not reported")?,
        }
    }
    Ok(())
}

/// The unit, with a size in words behind large byte counts.
fn unit(kind: LimitKind, value: u64) -> String {
    let name = kind.unit().name();
    let (size, prefix) = match value {
        _ if kind.unit() != LimitUnit::Bytes => return name.to_owned(),
        u64::MAX => return name.to_owned(),
        v if v >= 1 << 40 => (v >> 40, "TiB"),
        v if v >= 1 << 30 => (v >> 30, "GiB"),
        v if v >= 1 << 20 => (v >> 20, "MiB"),
        v if v >= 1 << 10 => (v >> 10, "KiB"),
        _ => return name.to_owned(),
    };
    format!("{name} ({size} {prefix})")
}

/// Digits in groups of three.
fn number(value: u64) -> String {
    if value == u64::MAX {
        return "no limit".to_owned();
    }
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}
