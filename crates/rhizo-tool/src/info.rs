//! `rhizo info`: backends, adapters and what they can do.

use crate::open::BackendName;
use crate::output;
use anyhow::Result;
use clap::Parser;
use rhizo::{AdapterInfo, Backend, Capabilities, Domain, Instance, InstanceDesc};
use serde_json::{Value, json};
use std::fmt::Write;

#[derive(Parser)]
pub struct Args {
    /// Only this backend
    #[arg(long, value_enum)]
    backend: Option<BackendName>,
    /// Only adapters whose name contains this text
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Only names, without the capability report
    #[arg(long)]
    brief: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let backends = match args.backend {
        Some(name) => vec![name.backend()],
        None => Backend::ALL.into_iter().filter(|b| *b != Backend::Null).collect(),
    };
    let reports: Vec<BackendReport> = backends.into_iter().map(|b| BackendReport::new(b, args)).collect();
    if args.json {
        let backends: Vec<Value> = reports.iter().map(BackendReport::json).collect();
        return output::print_json(&json!({ "version": 1, "backends": backends }));
    }
    let text: Result<Vec<String>, std::fmt::Error> = reports.iter().map(|r| r.text(args.brief)).collect();
    output::print(&text?.join("\n"))
}

/// An adapter with its capabilities, or why they can't be had.
type AdapterReport = (AdapterInfo, Result<Capabilities, String>);

struct BackendReport {
    backend: Backend,
    outcome: Result<Vec<AdapterReport>, String>,
}

impl BackendReport {
    fn new(backend: Backend, args: &Args) -> Self {
        let outcome = rhizo::support(backend)
            .and_then(|()| rhizo::instance(&InstanceDesc::new(backend)).map_err(|e| e.to_string()))
            .map(|instance| adapters(&instance, args));
        Self { backend, outcome }
    }

    fn json(&self) -> Value {
        match &self.outcome {
            Err(reason) => json!({ "backend": self.backend.name(), "available": false, "reason": reason }),
            Ok(adapters) => {
                let adapters: Vec<Value> = adapters.iter().map(|(info, caps)| adapter_json(info, caps)).collect();
                json!({ "backend": self.backend.name(), "available": true, "adapters": adapters })
            }
        }
    }

    fn text(&self, brief: bool) -> Result<String, std::fmt::Error> {
        let mut out = String::new();
        match &self.outcome {
            Err(reason) => writeln!(out, "{}: not available: {reason}", self.backend.name())?,
            Ok(adapters) if adapters.is_empty() => writeln!(out, "{}: no adapter", self.backend.name())?,
            Ok(adapters) => {
                writeln!(
                    out,
                    "{}: {} adapter{}",
                    self.backend.name(),
                    adapters.len(),
                    if adapters.len() == 1 { "" } else { "s" }
                )?;
                for (info, caps) in adapters {
                    adapter_text(&mut out, info, caps, brief)?;
                }
            }
        }
        Ok(out)
    }
}

fn adapters(instance: &Instance, args: &Args) -> Vec<AdapterReport> {
    let wanted = args.adapter.as_deref().unwrap_or("").to_lowercase();
    let all = instance.adapters().iter().enumerate();
    all.filter(|(_, info)| info.name.to_lowercase().contains(&wanted))
        .map(|(i, info)| (info.clone(), instance.capabilities(i).map_err(|e| e.to_string())))
        .collect()
}

fn adapter_json(info: &AdapterInfo, caps: &Result<Capabilities, String>) -> Value {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let queues: Vec<Value> =
        info.queues.iter().map(|(kind, count)| json!({ "kind": kind.name(), "count": count })).collect();
    let caps = match caps {
        Ok(caps) => capabilities_json(caps),
        Err(reason) => json!({ "error": reason }),
    };
    json!({
        "name": info.name,
        "kind": format!("{:?}", info.kind).to_lowercase(),
        "vendor": { "id": info.identity.vendor, "name": rhizo::vendor_name(info.identity.vendor) },
        "device": info.identity.device,
        "uuid": info.identity.uuid.map(|id| hex(&id)),
        "luid": info.identity.luid.map(|id| hex(&id)),
        "driver": info.driver,
        "api": info.api,
        "queues": queues,
        "unusable": info.unusable,
        "capabilities": caps,
    })
}

fn capabilities_json(caps: &Capabilities) -> Value {
    let facts = caps.entries().map(|e| {
        json!({
            "domain": e.domain, "fact": e.fact, "meaning": e.meaning,
            "native": e.native, "lowered": e.lowered, "qualified": e.qualified,
            "strategy": e.strategy, "provenance": e.provenance, "source": e.source, "reason": e.reason,
        })
    });
    let limits =
        caps.limits().map(|(kind, value)| json!({ "limit": kind.name(), "value": value, "unit": kind.unit().name() }));
    let tiers = Domain::ALL.iter().map(|domain| {
        let (usable, native) = (caps.tier(*domain).name(), caps.native_tier(*domain).name());
        json!({ "domain": domain.name(), "tier": usable, "native_tier": native })
    });
    json!({
        "feature_level": caps.feature_level().map(|level| level.name()),
        "native_feature_level": caps.native_feature_level().map(|level| level.name()),
        "domains": tiers.collect::<Vec<_>>(),
        "facts": facts.collect::<Vec<_>>(),
        "limits": limits.collect::<Vec<_>>(),
    })
}

fn adapter_text(
    out: &mut String,
    info: &AdapterInfo,
    caps: &Result<Capabilities, String>,
    brief: bool,
) -> std::fmt::Result {
    let kind = format!("{:?}", info.kind).to_lowercase();
    let queues: Vec<String> = info.queues.iter().map(|(kind, count)| format!("{count} {}", kind.name())).collect();
    writeln!(out, "\n  {}", info.name)?;
    writeln!(out, "    {kind}, {}, {}", rhizo::vendor_name(info.identity.vendor), info.api)?;
    writeln!(out, "    driver  {}", info.driver)?;
    writeln!(out, "    queues  {}", queues.join(", "))?;
    if let Some(reason) = &info.unusable {
        writeln!(out, "    cannot be opened: {reason}")?;
    }
    match caps {
        Ok(caps) if brief => {
            let level = caps.feature_level().map_or("below raster", |level| level.name());
            writeln!(out, "    level   {level}")?;
        }
        Ok(caps) => writeln!(out, "\n{}", indent(&caps.report().to_string()))?,
        Err(reason) => writeln!(out, "    capabilities: {reason}")?,
    }
    Ok(())
}

fn indent(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("    {line}") };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
