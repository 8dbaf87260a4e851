//! The `rhizo` program.
//!
//! Exit status: 0 success, 1 failure (one `error:` line and its causes on standard error), 2 wrong usage.
#![forbid(unsafe_code)]

mod graph;
mod info;
mod open;
mod output;
mod render;

use clap::{ColorChoice, Parser, Subcommand};
use std::process::ExitCode;

/// Explicit GPU work in Rust: capability reports, scene rendering, render-graph compilation.
#[derive(Parser)]
#[command(name = "rhizo", version, color = ColorChoice::Auto, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say which backends and adapters there are and what they can do
    Info(info::Args),
    /// Render the built-in scene
    Demo(render::DemoArgs),
    /// Render a glTF scene to a PNG
    Render(render::RenderArgs),
    /// Work with render-graph files
    #[command(subcommand)]
    Graph(graph::Command),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Info(args) => info::run(&args),
        Command::Demo(args) => render::demo(&args),
        Command::Render(args) => render::render(&args),
        Command::Graph(command) => graph::run(&command),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&error);
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
