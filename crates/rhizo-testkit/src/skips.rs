//! Loud skips: a test that cannot run here says so, and `cargo xtask test` lists and counts it.
//!
//! The test runner knows no skip at run time: a skipped test returns and counts as passed. So each skip is appended to
//! the file that `RHIZO_SKIP_LOG` names, one line each: kind, test and reason between tabs.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Environment variable naming the file that skips are appended to.
pub const LOG_VARIABLE: &str = "RHIZO_SKIP_LOG";

/// One skip, as logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Path of the test (`crate::module::test`).
    pub test: String,
    /// What of it was left out (a driver, an asset); `None` when the whole test was.
    pub part: Option<String>,
    /// Why.
    pub reason: String,
}

/// Leaves a test function that returns `()`, reporting it as skipped. Takes what `format!` takes: the reason.
///
/// ```no_run
/// # fn mesh_shaders() -> Result<(), String> { Ok(()) }
/// fn draws_meshlets() {
///     if let Err(reason) = mesh_shaders() {
///         rhizo_testkit::skip!("no mesh shaders: {reason}");
///     }
/// }
/// # draws_meshlets();
/// ```
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        fn here() {}
        $crate::skips::report_skip(&$crate::skips::enclosing_function(&here), &::std::format!($($reason)+));
        return;
    }};
}

/// Reports that the test was skipped as a whole; the caller then returns.
///
/// # Panics
/// When the log cannot be written: a skip must not get lost, so the test fails instead.
pub fn report_skip(test: &str, reason: &str) {
    report(&Skip { test: test.into(), part: None, reason: reason.into() });
}

/// Reports that a part of the test (one driver, one asset) was left out while the rest ran.
///
/// # Panics
/// As [`report_skip`].
pub fn report_partial_skip(test: &str, part: &str, reason: &str) {
    report(&Skip { test: test.into(), part: Some(part.into()), reason: reason.into() });
}

fn report(skip: &Skip) {
    let part = skip.part.as_ref().map(|part| format!(" [{part}]")).unwrap_or_default();
    eprintln!("skipped: {}{part}: {}", skip.test, skip.reason);
    if let Some(path) = env::var_os(LOG_VARIABLE).map(PathBuf::from)
        && let Err(error) = append(&path, skip)
    {
        panic!("cannot log a skipped test in {}: {error}", path.display());
    }
}

/// Appends one line to the log.
///
/// # Errors
/// What the file system says.
pub fn append(path: &Path, skip: &Skip) -> std::io::Result<()> {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let part = skip.part.as_deref().map(plain).unwrap_or_default();
    let line = format!("{}\t{part}\t{}\n", plain(&skip.test), plain(&skip.reason));
    // One write of one line in append mode: lines of parallel test processes don't mix.
    OpenOptions::new().append(true).create(true).open(path)?.write_all(line.as_bytes())
}

/// Reads the log; a file that does not exist holds no skips.
///
/// # Errors
/// Unreadable, or a line that is not three fields.
pub fn read_log(path: &Path) -> Result<Vec<Skip>, String> {
    let at = path.display();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{at}: {error}")),
    };
    let mut skips = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [test, part, reason] = fields[..] else {
            return Err(format!("{at}:{}: not three fields", number + 1));
        };
        let part = (!part.is_empty()).then(|| part.to_owned());
        skips.push(Skip { test: test.into(), part, reason: reason.into() });
    }
    Ok(skips)
}

/// Path of the function in which `inner`, a nested function, was declared. For [`skip!`].
#[doc(hidden)]
pub fn enclosing_function<F>(inner: &F) -> String {
    let name = std::any::type_name_of_val(inner);
    let outer = name.rsplit_once("::").map_or(name, |(outer, _)| outer);
    outer.replace("::{{closure}}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_survives_the_log_whatever_it_contains() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("skips.log");
        let whole = Skip { test: "a::b".into(), part: None, reason: "two\nlines\tand a tab".into() };
        let partial = Skip { test: "a::c".into(), part: Some("SwiftShader".into()), reason: "no mesh shaders".into() };
        append(&path, &whole).unwrap();
        append(&path, &partial).unwrap();
        let read = read_log(&path).unwrap();
        assert_eq!(read[0].reason, "two lines and a tab");
        assert_eq!(read[1], partial);
    }

    /// Runs itself as a child process, in which it skips.
    #[test]
    fn a_skip_of_a_test_process_reaches_the_log() {
        const CHILD: &str = "RHIZO_TESTKIT_SKIP_CHILD";
        if std::env::var_os(CHILD).is_some() {
            crate::skip!("reason {}", 7);
        }
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("skips.log");
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "skips::tests::a_skip_of_a_test_process_reaches_the_log"])
            .envs([(CHILD, "1".as_ref()), (LOG_VARIABLE, log.as_os_str())])
            .output()
            .unwrap();
        assert!(output.status.success());
        let test = "rhizo_testkit::skips::tests::a_skip_of_a_test_process_reaches_the_log".to_owned();
        assert_eq!(read_log(&log).unwrap(), [Skip { test, part: None, reason: "reason 7".into() }]);
    }

    #[test]
    fn a_missing_log_is_empty_and_a_broken_one_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("skips.log");
        assert_eq!(read_log(&path).unwrap(), []);
        std::fs::write(&path, "one field\n").unwrap();
        assert!(read_log(&path).unwrap_err().contains(":1: not three fields"));
    }

    #[test]
    fn the_enclosing_function_is_the_test_itself() {
        fn here() {}
        let closure = || {
            fn here() {}
            enclosing_function(&here)
        };
        let want = "rhizo_testkit::skips::tests::the_enclosing_function_is_the_test_itself";
        assert_eq!(enclosing_function(&here), want);
        assert_eq!(closure(), want);
    }
}
