//! The compiler: table of contents.

mod cells;
mod cull;
mod order;
mod place;
mod sync;
mod validate;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rhizo_rhi::QueueKind;

use crate::declare::Graph;
use crate::error::{CompileError, ErrorCode};
use crate::plan::{NO_INDEX, Plan, PlanQueue, PlanResource};
use crate::profile::Profile;

/// Bounds on what is compiled, so that a hostile file costs neither memory nor time without limit.
pub mod limits {
    /// Passes.
    pub const PASSES: usize = 65_536;
    /// Resources.
    pub const RESOURCES: usize = 65_536;
    /// Accesses, all passes together; `after` entries alike.
    pub const ACCESSES: usize = 1 << 20;
    /// Distinct pieces (of mips, layers, aspects or bytes) that the accesses cut the resources into.
    pub const CELLS: usize = 1 << 20;
    /// Pieces named by all accesses together.
    pub const CELL_VISITS: u64 = 1 << 24;
    /// Colour attachments of a pass.
    pub const COLOR_ATTACHMENTS: u32 = 8;
}

/// In which legal order passes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum OrderPolicy {
    /// Of the ready passes always the one declared first (stable topological).
    #[default]
    Declaration,
    /// Of the ready passes the one whose producers lie furthest back.
    Overlap,
    /// Of the ready passes the one that frees most and claims least transient memory.
    Memory,
    /// Any legal order, from a seed: for tests.
    Random(u64),
}

impl fmt::Display for OrderPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declaration => f.write_str("declaration"),
            Self::Overlap => f.write_str("overlap"),
            Self::Memory => f.write_str("memory"),
            Self::Random(seed) => write!(f, "random:{seed}"),
        }
    }
}

/// A policy name that nothing has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown order policy `{0}`: expected declaration, overlap, memory or random:SEED")]
pub struct UnknownPolicy(String);

impl FromStr for OrderPolicy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        match text {
            "declaration" => Ok(Self::Declaration),
            "overlap" => Ok(Self::Overlap),
            "memory" => Ok(Self::Memory),
            _ => text
                .strip_prefix("random:")
                .and_then(|seed| seed.parse().ok())
                .map(Self::Random)
                .ok_or_else(|| UnknownPolicy(text.to_owned())),
        }
    }
}

/// What the caller prefers where several plans are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Policy {
    /// Order of passes.
    pub order: OrderPolicy,
}

/// Compiles a graph for a device.
///
/// # Errors
///
/// [`CompileError`] with a stable code; the graph is only borrowed, so the caller still has it.
pub fn compile(graph: &Graph, profile: &Profile, policy: &Policy) -> Result<Plan, CompileError> {
    validate::limits(graph)?;
    let uses = validate::uses(graph, profile)?;
    let mut work = cells::partition(graph, uses)?;
    validate::overlaps(graph, &mut work)?;
    let dependencies = order::check_cycles(graph, &work)?;
    let live = cull::liveness(graph, &work);
    cull::check_contents(graph, &work, &live)?;
    validate::live_usages(graph, &live.passes)?;
    let order = order::order(graph, profile, &work, &live.passes, dependencies, policy.order);
    let placement = place::place(graph, profile, &work, &order)?;
    let emitted = sync::synchronise(graph, &work, &live, &order, &placement);

    let (queue, notes) = choose_queue(graph, profile, &order)?;
    Ok(Plan {
        graph: graph.name.clone(),
        profile: profile.name.clone(),
        policy: policy.order.to_string(),
        queues: vec![queue],
        resources: plan_resources(&placement),
        passes: emitted.passes,
        culled: cull::reasons(graph, &work, &live.passes),
        attachments: emitted.attachments,
        barriers: emitted.barriers,
        submissions: emitted.submissions,
        memory: placement.memory,
        end_states: emitted.end_states,
        layouts: emitted.layouts,
        notes,
        pass_labels: Arc::clone(&graph.pass_labels),
        resource_labels: Arc::clone(&graph.resource_labels),
    })
}

/// All passes run on the graphics queue; what a profile with more queues loses by that is said in a note.
fn choose_queue(graph: &Graph, profile: &Profile, order: &[u32]) -> Result<(PlanQueue, Vec<String>), CompileError> {
    let Some(queue) = profile.queues.iter().find(|queue| queue.kind == QueueKind::Graphics && queue.count > 0) else {
        let message = format!("profile `{}` has no graphics queue", profile.name);
        return Err(CompileError::new(ErrorCode::Unsupported, message));
    };
    let mut notes = Vec::new();
    let moved = order.iter().filter(|pass| graph.passes[**pass as usize].queue != QueueKind::Graphics).count();
    if profile.queues.len() > 1 && moved > 0 {
        notes.push(format!(
            "{moved} of {} passes prefer another queue; all are placed on the graphics queue, because passes are not \
             spread over queues yet",
            order.len()
        ));
    }
    Ok((PlanQueue { kind: queue.kind, family: queue.family }, notes))
}

fn plan_resources(placement: &place::Placement) -> Vec<PlanResource> {
    let used = placement.lives.iter().enumerate().filter(|(_, life)| life.first != NO_INDEX);
    used.map(|(resource, life)| PlanResource {
        resource: u32::try_from(resource).unwrap_or(NO_INDEX),
        usages: life.usages,
        first: life.first,
        last: life.last,
        slot: life.slot,
    })
    .collect()
}
