//! `rhizo graph`: compiling render-graph files.

use crate::output;
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use rhizo::graph::file::{self, GraphFile, PlanFile};
use rhizo::graph::{CompileError, OrderPolicy, Policy, Profile, compile, dump};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Subcommand)]
pub enum Command {
    /// Compile a graph file and show the plan
    Compile(CompileArgs),
}

#[derive(Args)]
pub struct CompileArgs {
    /// Graph file (*.graph.json)
    file: PathBuf,
    /// Write the plan file here
    #[arg(long, value_name = "OUT")]
    emit_plan: Option<PathBuf>,
    /// Write a Graphviz drawing here
    #[arg(long, value_name = "OUT")]
    dot: Option<PathBuf>,
    /// Device profile: portable, single-queue or a file
    #[arg(long, default_value = "portable")]
    profile: String,
    /// Order policy: declaration, overlap, memory or random:SEED
    #[arg(long, default_value = "declaration")]
    policy: OrderPolicy,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

pub fn run(command: &Command) -> Result<()> {
    match command {
        Command::Compile(args) => run_compile(args),
    }
}

fn run_compile(args: &CompileArgs) -> Result<()> {
    let text = read_text(&args.file)?;
    let file = GraphFile::parse(&text).map_err(|e| anyhow!("{}: {e}", args.file.display()));
    let graph = match file {
        Ok(file) => file.graph,
        Err(error) if args.json => return fail_json(&json!({"code": "invalid-file", "message": error.to_string()})),
        Err(error) => return Err(error),
    };
    let profile = read_profile(&args.profile)?;
    let policy = Policy { order: args.policy };
    let plan = match compile(&graph, &profile, &policy) {
        Ok(plan) => plan,
        Err(error) if args.json => return fail_json(&describe(&error)),
        Err(error) => return Err(anyhow!("error[{}]: {}", error.code, error.message)),
    };
    let plan_json = PlanFile::new(&graph, &plan).to_json();
    if let Some(out) = &args.emit_plan {
        output::write_file(out, plan_json.as_bytes())?;
    }
    if let Some(out) = &args.dot {
        output::write_file(out, dump::dot(&graph, &plan).as_bytes())?;
    }
    if args.json { output::print(&plan_json) } else { output::print(&dump::text(&graph, &plan)) }
}

/// The file as text, refused unread when it is larger than any graph file may be.
fn read_text(path: &Path) -> Result<String> {
    let size = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
    if size > file::MAX_FILE_BYTES as u64 {
        bail!("{} has {size} bytes; the limit is {}", path.display(), file::MAX_FILE_BYTES);
    }
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn read_profile(name: &str) -> Result<Profile> {
    if let Some(profile) = Profile::built_in(name) {
        return Ok(profile);
    }
    let path = Path::new(name);
    if !path.exists() {
        bail!("profile `{name}` is neither built in (portable, single-queue) nor a file");
    }
    file::parse_profile(&read_text(path)?).map_err(|e| anyhow!("{name}: {e}"))
}

fn describe(error: &CompileError) -> serde_json::Value {
    json!({
        "code": error.code.name(),
        "message": error.message,
        "passes": error.passes,
        "resources": error.resources,
    })
}

/// Failures in the form programs read; the exit status says the same.
fn fail_json(error: &serde_json::Value) -> Result<()> {
    output::print_json(&json!({ "error": error }))?;
    Err(output::Reported.into())
}
