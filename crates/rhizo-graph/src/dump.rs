//! Plans in words: a readable listing for people and snapshot tests, and a drawing for Graphviz.

use std::fmt::Write as _;

use rhizo_rhi::{ACCESS_NAMES, Aspects, STAGE_NAMES, Scope};

use crate::declare::{Graph, ResourceDesc};
use crate::plan::{Barrier, BarrierRange, CullReason, Hazard, NO_INDEX, Plan, Step};

/// Why a pass was culled, in words.
#[must_use]
pub fn cull_reason(plan: &Plan, reason: CullReason) -> String {
    match reason {
        CullReason::NoEffect => "it writes nothing and has no side effect".to_owned(),
        CullReason::Unread => "nothing reads what it writes".to_owned(),
        CullReason::Overwritten(by) => {
            format!("what it writes is replaced by `{}` before anything live reads it", plan.pass_label(by))
        }
        CullReason::OnlyCulledReaders(by) => {
            format!("what it writes is read only by culled passes (`{}`)", plan.pass_label(by))
        }
    }
}

/// Why a barrier is there, in words.
#[must_use]
pub fn barrier_reason(plan: &Plan, barrier: &Barrier) -> String {
    let resource = plan.resource_label(barrier.resource);
    let source = plan.pass_label(barrier.source);
    let known = barrier.source != NO_INDEX;
    match barrier.hazard {
        Hazard::ReadAfterWrite if known => format!("`{resource}` is read after `{source}`"),
        Hazard::ReadAfterWrite => format!("`{resource}` is read after earlier work"),
        Hazard::WriteAfterRead if known => format!("`{resource}` is written after `{source}` read it"),
        Hazard::WriteAfterRead => format!("`{resource}` is written after earlier reads"),
        Hazard::WriteAfterWrite if known => format!("`{resource}` is written after `{source}`"),
        Hazard::WriteAfterWrite => format!("`{resource}` is written after earlier work"),
        Hazard::Layout if known => format!("`{resource}` needs another layout than for `{source}`"),
        Hazard::Layout => format!("`{resource}` needs another layout"),
        Hazard::Initial => format!("`{resource}` is used first"),
        Hazard::Final => format!("`{resource}` is handed on"),
        Hazard::Alias => {
            let old: Vec<&str> = barrier.deactivates.iter().map(|old| plan.resource_label(*old)).collect();
            match old.is_empty() {
                true => format!("`{resource}` is used first in memory that another had"),
                false => format!("`{resource}` takes over the memory of `{}`", old.join("`, `")),
            }
        }
    }
}

/// Why a batch is there: its barriers' reasons, for `next` or the end of the frame.
pub(crate) fn batch_reason(plan: &Plan, batch: &[Barrier], next: u32) -> String {
    let mut text =
        if next == NO_INDEX { "end of frame: ".to_owned() } else { format!("for `{}`: ", plan.pass_label(next)) };
    let mut reasons: Vec<String> = batch.iter().map(|barrier| barrier_reason(plan, barrier)).collect();
    reasons.dedup();
    text.push_str(&reasons.join("; "));
    text
}

fn scope(scope: Scope) -> String {
    let stages = STAGE_NAMES.iter().filter(|(bit, _)| scope.stages.contains(*bit)).map(|(_, name)| *name);
    let access = ACCESS_NAMES.iter().filter(|(bit, _)| scope.access.contains(*bit)).map(|(_, name)| *name);
    let (stages, access): (Vec<_>, Vec<_>) = (stages.collect(), access.collect());
    match (stages.is_empty(), access.is_empty()) {
        (true, _) => "nothing".to_owned(),
        (false, true) => stages.join("+"),
        (false, false) => format!("{}({})", stages.join("+"), access.join("+")),
    }
}

/// The part of a resource that is not all of it, with a leading space.
fn part(range: &BarrierRange, desc: &ResourceDesc) -> String {
    let mut text = String::new();
    match (range, desc) {
        (BarrierRange::Buffer(range), ResourceDesc::Buffer(buffer)) if range.size != buffer.size => {
            let _ = write!(text, " bytes {}+{}", range.offset, range.size);
        }
        (BarrierRange::Texture(range, ..), ResourceDesc::Texture(texture)) => {
            if range.mip_count != texture.mips {
                let _ = write!(text, " mips {}+{}", range.base_mip, range.mip_count);
            }
            if range.layer_count != texture.layers {
                let _ = write!(text, " layers {}+{}", range.base_layer, range.layer_count);
            }
            if range.aspects != desc.aspects() {
                text.push_str(if range.aspects == Aspects::DEPTH { " depth" } else { " stencil" });
            }
        }
        _ => {}
    }
    text
}

/// A readable listing of a plan; the same text for equal plans.
#[must_use]
pub fn text(graph: &Graph, plan: &Plan) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "plan of `{}` for {}, order {}", plan.graph, plan.profile, plan.policy);
    let memory = &plan.memory;
    let _ = writeln!(
        out,
        "memory: {} bytes used, {} unaliased, {} lower bound",
        memory.used, memory.unaliased, memory.lower_bound
    );
    for resource in plan.resources.iter().filter(|resource| resource.slot != NO_INDEX) {
        let slot = &memory.slots[resource.slot as usize];
        let _ = writeln!(
            out,
            "  {}: passes {}..={}, heap {} at {} ({} bytes)",
            plan.resource_label(resource.resource),
            resource.first,
            resource.last,
            slot.heap,
            slot.offset,
            slot.size
        );
    }
    for culled in &plan.culled {
        let _ = writeln!(out, "culled {}: {}", plan.pass_label(culled.pass), cull_reason(plan, culled.reason));
    }
    for note in &plan.notes {
        let _ = writeln!(out, "note: {note}");
    }
    for (i, submission) in plan.submissions.iter().enumerate() {
        let _ = writeln!(out, "submission {i} on queue {}", submission.queue);
        submission.steps.iter().for_each(|step| text_step(graph, plan, step, &mut out));
    }
    out
}

fn text_step(graph: &Graph, plan: &Plan, step: &Step, out: &mut String) {
    match step {
        Step::Barriers(range) => plan.batch(range).iter().for_each(|barrier| text_barrier(graph, plan, barrier, out)),
        Step::Pass(index) => {
            let pass = &plan.passes[*index as usize];
            let kind = graph.passes()[pass.pass as usize].kind.name();
            let _ = write!(out, "  pass {} ({kind})", plan.pass_label(pass.pass));
            for attachment in &plan.attachments[pass.attachments.start as usize..pass.attachments.end as usize] {
                let (name, load) = (plan.resource_label(attachment.resource), attachment.load.name());
                let store = match attachment.aspects {
                    Aspects::STENCIL => attachment.stencil_store,
                    _ => attachment.store,
                };
                let _ = write!(out, " {name}:{load}/{}", store.name());
                if attachment.aspects == Aspects::DEPTH_STENCIL && attachment.stencil_store != store {
                    let _ = write!(out, "/stencil-{}", attachment.stencil_store.name());
                }
            }
            out.push('\n');
        }
    }
}

fn text_barrier(graph: &Graph, plan: &Plan, barrier: &Barrier, out: &mut String) {
    let desc = &graph.resources()[barrier.resource as usize].desc;
    let name = plan.resource_label(barrier.resource);
    let _ = write!(out, "  barrier {name}{}", part(&barrier.range, desc));
    if let BarrierRange::Texture(_, old, new) = barrier.range {
        let _ = match old == new {
            true => write!(out, " {}", new.name()),
            false => write!(out, " {} -> {}", old.name(), new.name()),
        };
    }
    let _ = write!(out, ": {} => {}", scope(barrier.before), scope(barrier.after));
    let _ = writeln!(out, "  # {}", barrier_reason(plan, barrier));
}

/// The live and culled passes with the resources that flow between them, as a Graphviz drawing.
#[must_use]
pub fn dot(graph: &Graph, plan: &Plan) -> String {
    let mut out = format!("digraph \"{}\" {{\n  rankdir=LR;\n  node [shape=box];\n", escape(&plan.graph));
    for pass in &plan.passes {
        let kind = graph.passes()[pass.pass as usize].kind.name();
        let label = escape(plan.pass_label(pass.pass));
        let _ = writeln!(out, "  p{} [label=\"{label}\\n{kind}\"];", pass.pass);
    }
    for culled in &plan.culled {
        let (label, why) = (escape(plan.pass_label(culled.pass)), escape(&cull_reason(plan, culled.reason)));
        let style = "style=dashed, color=gray";
        let _ = writeln!(out, "  p{} [label=\"{label}\", tooltip=\"{why}\", {style}];", culled.pass);
    }
    let mut writers = vec![NO_INDEX; graph.resources().len()];
    for pass in &plan.passes {
        let accesses = graph.accesses(pass.pass as usize);
        let mut drawn: Vec<(u32, usize)> = Vec::new();
        for access in accesses.iter().filter(|access| access.reads()) {
            let edge = (writers[access.resource_index()], access.resource_index());
            if edge.0 != NO_INDEX && edge.0 != pass.pass {
                drawn.push(edge);
            }
        }
        drawn.sort_unstable();
        drawn.dedup();
        for (from, resource) in drawn {
            let label = escape(graph.resource_label(resource));
            let _ = writeln!(out, "  p{from} -> p{} [label=\"{label}\"];", pass.pass);
        }
        for access in accesses.iter().filter(|access| access.kind.writes()) {
            writers[access.resource_index()] = pass.pass;
        }
        for earlier in graph.after(pass.pass as usize) {
            let _ = writeln!(out, "  p{earlier} -> p{} [style=dotted];", pass.pass);
        }
    }
    out.push_str("}\n");
    out
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
