//! `cargo xtask test`: setup, then every test, then the skipped ones with their reasons, then one closing line.

mod summary;

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use rhizo_testkit::skips::{self, Skip};
use rhizo_testkit::{drivers, flip_report};

use crate::Outcome;
use crate::setup::{self, Mode, on_path};
use summary::{Counts, Runner};

/// Runs the command. `filter` goes to the test runner as it is (`-p rhizo-graph`, a name); with one, documentation
/// tests are left out.
///
/// # Errors
/// Setup failed, a test failed, or a runner could not be started.
pub fn run(filter: &[&str]) -> Outcome {
    setup::run(Mode::BeforeUse)?;
    let session = Session::start()?;
    let runner = if on_path("cargo-nextest").is_some() { Runner::Nextest } else { Runner::Cargo };
    let mut counts = session.run(runner, filter)?;
    // nextest runs no documentation tests; `cargo test` has run them already.
    if runner == Runner::Nextest && filter.is_empty() {
        counts += session.run(Runner::Doc, &[])?;
    }
    session.close(counts, filter)
}

/// What the test processes are given, and where they report.
struct Session {
    skip_log: PathBuf,
    runtime_folder: PathBuf,
    driver_files: Option<OsString>,
}

impl Session {
    fn start() -> Result<Session, String> {
        let out = crate::root().join("out");
        let skip_log = out.join("test/skips.log");
        let runtime_folder = env::temp_dir().join(format!("rhizo-runtime-{}", std::process::id()));
        for stale in [out.join("flip"), out.join("test")] {
            if stale.exists() {
                fs::remove_dir_all(&stale).map_err(|error| format!("{}: {error}", stale.display()))?;
            }
        }
        for folder in [out.join("test"), runtime_folder.clone()] {
            fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        make_private(&runtime_folder)?;
        let states = drivers::installed_drivers();
        for state in states.iter().filter(|state| drivers::TestDriver::SOFTWARE.contains(&state.driver)) {
            match &state.manifest {
                Ok(manifest) => println!("test: {}: {}", state.driver, manifest.path.display()),
                Err(reason) => println!("test: {} is missing: {reason}", state.driver),
            }
        }
        Ok(Session { skip_log, runtime_folder, driver_files: drivers::driver_files(&states) })
    }

    /// Runs one runner over the workspace, passing its output through, and reads the counts out of it.
    fn run(&self, runner: Runner, filter: &[&str]) -> Result<Counts, String> {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .current_dir(crate::root())
            .args(runner.arguments())
            .args(filter)
            .env(skips::LOG_VARIABLE, &self.skip_log);
        if !filter.iter().any(|word| matches!(*word, "-p" | "--package")) {
            command.arg("--workspace");
        }
        // A user's own choice of drivers wins.
        if let Some(files) = &self.driver_files
            && env::var_os("VK_DRIVER_FILES").is_none()
            && env::var_os("VK_ICD_FILENAMES").is_none()
        {
            command.env("VK_DRIVER_FILES", files).env("VK_ICD_FILENAMES", files);
        }
        if env::var_os("XDG_RUNTIME_DIR").is_none() {
            command.env("XDG_RUNTIME_DIR", &self.runtime_folder); // Wayland needs one
        }
        println!("test: cargo {} {}", runner.arguments().join(" "), filter.join(" "));
        let (status, lines) = pass_through(&mut command)?;
        let counts = summary::read(runner, &lines);
        match counts {
            Some(counts) if counts.failed == 0 && !status.success() => {
                Err(format!("the test runner failed without naming a failed test: {status}"))
            }
            // nextest calls what the filter leaves out skipped; tests themselves skip only through the log.
            Some(counts) if !filter.is_empty() => Ok(Counts { skipped: 0, ..counts }),
            Some(counts) => Ok(counts),
            None => Err(format!("the test runner ended without a summary: {status}")),
        }
    }

    /// Reports skips and pictures, and prints the closing line last.
    fn close(self, mut counts: Counts, filter: &[&str]) -> Outcome {
        fs::remove_dir_all(&self.runtime_folder)
            .map_err(|error| format!("{}: {error}", self.runtime_folder.display()))?;
        let report = crate::root().join("out/flip");
        let pictures = flip_report::write_index(&report)?;
        println!("\n---");
        if pictures > 0 {
            println!("pictures compared: {pictures}, see {}", report.join("index.html").display());
        }
        if !filter.is_empty() {
            println!("documentation tests were not run: only `{}` was asked for", filter.join(" "));
        }
        let (whole, parts): (Vec<Skip>, Vec<Skip>) =
            skips::read_log(&self.skip_log)?.into_iter().partition(|skip| skip.part.is_none());
        for skip in &parts {
            println!("partly skipped: {} [{}]: {}", skip.test, skip.part.as_deref().unwrap_or(""), skip.reason);
        }
        for skip in &whole {
            println!("skipped: {}: {}", skip.test, skip.reason);
        }
        let skipped: BTreeSet<_> = whole.iter().map(|skip| &skip.test).collect();
        println!("skipped tests: {}, skipped parts of other tests: {}", skipped.len(), parts.len());
        counts.move_to_skipped(skipped.len());
        println!("{counts}");
        io::stdout().flush().map_err(|error| error.to_string())?;
        if counts.failed == 0 { Ok(()) } else { Err(String::new()) }
    }
}

#[cfg(unix)]
fn make_private(folder: &Path) -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
        .map_err(|error| format!("{}: {error}", folder.display()))
}

#[cfg(not(unix))]
fn make_private(_: &Path) -> Outcome {
    Ok(())
}

/// Runs a command and returns those of its lines that a summary can be in. Both its outputs go on to our standard
/// output, line by line: in one stream nothing can overtake the closing line.
fn pass_through(command: &mut Command) -> Result<(ExitStatus, Vec<String>), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{name}: {error}"))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let errors = thread::spawn(move || stderr.map(copy_lines));
    let mut lines = stdout.map(copy_lines).unwrap_or_default();
    let status = child.wait().map_err(|error| format!("{name}: {error}"))?;
    lines.extend(errors.join().ok().flatten().unwrap_or_default());
    Ok((status, lines))
}

/// Copies a stream until it ends; keeps only the lines a summary can be in.
fn copy_lines(pipe: impl Read) -> Vec<String> {
    let mut kept = Vec::new();
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        // Nobody reading our output is no reason to stop the tests.
        let _ = io::stdout().write_all(&line);
        let text = String::from_utf8_lossy(&line);
        if summary::may_count(&text) {
            kept.push(text.trim_end().to_owned());
        }
        line.clear();
    }
    kept
}
