//! The workspace's automation, called `cargo xtask COMMAND`. Continuous integration calls the same commands.
#![forbid(unsafe_code)]

mod demo;
mod setup;
mod test;
mod tidy;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  setup [--check]   install what demo and tests need (Debian, Ubuntu); --check only says what is missing
  demo              setup, then render the built-in scene to out/demo.png
  test [FILTER...]  setup, then all tests; FILTER goes to the test runner (-p rhizo-graph, a test's name)
  tidy              the workspace's own rules: lengths, words, dependency arrows
";

/// What a command ends with: nothing, or the sentence to print before leaving with exit code 1.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["setup"] => setup::run(setup::Mode::Install),
        ["setup", "--check"] => setup::run(setup::Mode::Check),
        ["demo"] => demo::run(),
        ["test", filter @ ..] => test::run(filter),
        ["tidy"] => tidy::run(),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            if !message.is_empty() {
                eprintln!("xtask: {message}"); // empty where the command has said everything itself
            }
            ExitCode::FAILURE
        }
    }
}

/// The workspace's root: the folder above this crate.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace root").to_path_buf()
}
