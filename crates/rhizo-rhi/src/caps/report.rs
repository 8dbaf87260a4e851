//! The capability report as text for terminals: aligned columns, words, no colour.

use std::collections::HashMap;
use std::fmt;

use super::{
    Capabilities, Capability, Domain, Fact, FeatureLevel, Ladder, LimitKind, LimitUnit, Lowering, Qualification, Tier,
};

/// Columns a line may take; longer texts go on in the next line under the same column.
const WIDTH: usize = 120;

/// Shows [`Capabilities`] as text.
///
/// A summary with one line per domain, then the facts of each domain with their columns, then the limits.
/// [`summary`](Self::summary) leaves it at the first part.
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
        let common = common_reason(self.capabilities);
        if let Some(reason) = common {
            writeln!(f, "\nWhere the driver can and a program cannot, and nothing else is said: {reason}.")?;
        }
        for domain in Domain::ALL {
            writeln!(f)?;
            write_domain(f, self.capabilities, *domain, common)?;
        }
        writeln!(f)?;
        write_limits(f, self.capabilities)
    }
}

/// A tier in the report: none rather than unavailable.
fn word(tier: Tier) -> &'static str {
    if tier == Tier::Unavailable { "none" } else { tier.name() }
}

/// Facts missing for the next level that are listed before the rest is only counted.
const SHOWN: usize = 12;

fn write_level(f: &mut fmt::Formatter<'_>, caps: &Capabilities) -> fmt::Result {
    let name = |level: Option<FeatureLevel>| level.map_or("none", FeatureLevel::name);
    let (usable, native) = (caps.feature_level(), caps.native_feature_level());
    writeln!(f, "Feature level: {} (of the driver alone: {})", name(usable), name(native))?;
    let next = FeatureLevel::ALL.into_iter().find(|level| usable.is_none_or(|have| *level > have));
    let Some(next) = next else { return Ok(()) };
    writeln!(f, "Missing for {}:", next.name())?;
    let missing = caps.missing_for(next);
    for item in missing.iter().take(SHOWN) {
        write_wrapped(f, "  ", item)?;
    }
    match missing.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(f, "  and {more} more"),
    }
}

fn write_tiers(f: &mut fmt::Formatter<'_>, caps: &Capabilities) -> fmt::Result {
    let width = Domain::ALL.iter().map(|domain| domain.name().len()).max().unwrap_or(0);
    writeln!(f, "{:width$}  native  usable  facts native / usable / all", "domain")?;
    for domain in Domain::ALL {
        let (usable, native) = (caps.tier(*domain), caps.native_tier(*domain));
        let facts = domain.facts();
        let can = facts.iter().filter(|fact| caps.has(**fact)).count();
        let driver = facts.iter().filter(|fact| caps.support(**fact).is_available()).count();
        let line = format!(
            "{:width$}  {:6}  {:6}  {driver:2} / {can:2} / {:2}    {}",
            domain.name(),
            word(native),
            word(usable),
            facts.len(),
            tier_meaning(*domain, native),
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

/// Why facts that the driver has are not offered, if one reason is given for several: said once.
fn common_reason(caps: &Capabilities) -> Option<&str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for fact in Fact::ALL {
        let capability = caps.capability(*fact);
        if let (true, Lowering::No(reason)) = (capability.native().is_available(), capability.lowering()) {
            *counts.entry(reason).or_default() += 1;
        }
    }
    // By text where counts are equal, so that the report does not depend on the map's order.
    let most = counts.into_iter().max_by_key(|(reason, count)| (*count, *reason))?;
    (most.1 > 1).then_some(most.0)
}

fn write_domain(f: &mut fmt::Formatter<'_>, caps: &Capabilities, domain: Domain, common: Option<&str>) -> fmt::Result {
    let (usable, native) = (caps.tier(domain), caps.native_tier(domain));
    writeln!(f, "{} (native: {}, usable: {})", domain.name(), word(native), word(usable))?;
    let width = domain.facts().iter().map(|fact| short(*fact).len()).max().unwrap_or(0);
    writeln!(f, "  {:width$}  native  usable  qualified  source or reason", "fact")?;
    for fact in domain.facts() {
        write_fact(f, caps.capability(*fact), short(*fact), width, common)?;
    }
    let values = caps.domain_values();
    for (_, name, text) in values.iter().filter(|(of, ..)| *of == domain) {
        write_value(f, name, text)?;
    }
    Ok(())
}

/// The name without its domain.
fn short(fact: Fact) -> &'static str {
    &fact.name()[fact.domain().name().len() + 1..]
}

fn write_value(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    if !text.contains("; ") {
        return writeln!(f, "  {name}: {text}");
    }
    writeln!(f, "  {name}:")?;
    text.split("; ").try_for_each(|item| writeln!(f, "    {item}"))
}

fn write_fact(
    f: &mut fmt::Formatter<'_>,
    capability: &Capability,
    name: &str,
    width: usize,
    common: Option<&str>,
) -> fmt::Result {
    let native = capability.native();
    let yes = if native.is_available() { "yes" } else { "no" };
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
    let head = format!("  {name:width$}  {yes:6}  {usable:6}  {qualified:9}  ");
    let text = match (native.reason(), capability.lowering()) {
        (Some(_), Lowering::Helper(how)) => how.to_string(),
        (Some(reason), _) => reason.to_owned(),
        (None, Lowering::Direct) => native.source().to_owned(),
        (None, Lowering::No(reason)) if Some(&**reason) == common => native.source().to_owned(),
        (None, Lowering::Helper(text) | Lowering::No(text)) => format!("{} ({text})", native.source()),
    };
    write_wrapped(f, &head, &text)
}

/// Writes a text after a head, in lines no longer than [`WIDTH`] where words allow.
fn write_wrapped(f: &mut fmt::Formatter<'_>, head: &str, text: &str) -> fmt::Result {
    let indent = head.chars().count();
    let mut column = indent;
    write!(f, "{head}")?;
    for (index, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 && column + 1 + length > WIDTH {
            write!(f, "\n{:indent$}", "")?;
            column = indent;
        } else if index > 0 {
            write!(f, " ")?;
            column += 1;
        }
        write!(f, "{word}")?;
        column += length;
    }
    writeln!(f)
}

fn write_limits(f: &mut fmt::Formatter<'_>, caps: &Capabilities) -> fmt::Result {
    let width = LimitKind::ALL.iter().map(|kind| kind.name().len()).max().unwrap_or(0);
    let reported = caps.limits().count();
    writeln!(f, "limits ({reported} of {} reported)", LimitKind::ALL.len())?;
    for kind in LimitKind::ALL {
        let name = kind.name();
        match caps.limit(*kind) {
            Some(value) => writeln!(f, "  {name:width$}  {:>20}  {}", number(value), unit(*kind, value))?,
            None => writeln!(f, "  {name:width$}  {:>20}", "not reported")?,
        }
    }
    Ok(())
}

/// The unit, with the size in larger units behind large byte counts.
fn unit(kind: LimitKind, value: u64) -> String {
    const UNITS: [(u32, &str); 4] = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let name = kind.unit().name();
    let large = UNITS.iter().find(|(bits, _)| value >> bits > 0);
    match large {
        Some((bits, prefix)) if kind.unit() == LimitUnit::Bytes && value != u64::MAX => {
            if value.trailing_zeros() >= *bits {
                return format!("{name} ({} {prefix})", value >> bits);
            }
            // For people: one decimal is enough, and losing low bits to the float does not change it.
            format!("{name} ({:.1} {prefix})", value as f64 / f64::from(*bits).exp2())
        }
        _ => name.to_owned(),
    }
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
