//! Tests of the graph compiler: the shared workloads, an independent checker of plans, random graphs, bad input.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests have no users and may fail")]

mod bad_input;
mod checker;
mod corpus;
mod declare;
mod files;
mod model;
mod random;
mod scale;
mod snapshots;

use rhizo_graph::file::{GraphFile, PlanFile};
use rhizo_graph::{CompileError, OrderPolicy, Plan, Policy, Profile, compile};
use serde_json::Value;

/// A graph file compiled: the plan and its exchange form as JSON.
pub struct Compiled {
    pub graph: rhizo_graph::Graph,
    pub plan: Plan,
    pub json: Value,
}

/// Compiles a graph file given as text.
pub fn compile_text(text: &str, profile: &Profile, order: OrderPolicy) -> Result<Compiled, CompileError> {
    let graph = GraphFile::parse(text).expect("a well-formed graph file").graph;
    let plan = compile(&graph, profile, &Policy { order })?;
    let json = serde_json::from_str(&PlanFile::new(&graph, &plan).to_json()).expect("plan files are JSON");
    Ok(Compiled { graph, plan, json })
}
