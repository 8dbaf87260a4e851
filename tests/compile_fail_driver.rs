//! Programs that must not compile, each with the error codes it must fail with.
//!
//! A case is a file of `compile_fail/`. Its first line is `// expect: E0499` (several codes with spaces, or `nothing`
//! for a program that must compile); every line that must be reported ends in `//~`. Codes and lines are compared, not
//! the compiler's words.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a case reported: codes, and lines of their primary spans.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    codes: BTreeSet<String>,
    lines: BTreeSet<u64>,
}

/// The built library that cases are compiled against.
pub struct Library {
    file: PathBuf,
}

impl Library {
    /// Builds `rhizo-rhi` (nothing to do after the first time) and finds its metadata.
    pub fn build() -> Self {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["build", "-p", "rhizo-rhi", "--message-format=json", "--quiet"])
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
        let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let files: Vec<Value> = messages
            .filter(|m| m["reason"] == "compiler-artifact" && m["target"]["name"] == "rhizo_rhi")
            .flat_map(|m| m["filenames"].as_array().cloned().unwrap_or_default())
            .collect();
        let rlib = files.iter().filter_map(Value::as_str).find(|name| name.ends_with(".rlib"));
        Self { file: rlib.unwrap_or_else(|| panic!("no rlib among {files:?}")).into() }
    }

    /// Compiles one source file as far as errors go.
    pub fn compile(&self, source: &Path) -> Outcome {
        let folder = self.file.parent().expect("a file lies in a folder");
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        let scratch = std::env::temp_dir().join(format!("rhizo-compile-fail-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&scratch).expect("the temporary folder can be written");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(rustc)
            .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--error-format", "json"])
            .arg("--out-dir")
            .arg(&scratch)
            .arg("-L")
            .arg(format!("dependency={}", folder.join("deps").display()))
            .arg("--extern")
            .arg(format!("rhizo_rhi={}", self.file.display()))
            .arg(source)
            .output()
            .expect("rustc runs");
        let _ = std::fs::remove_dir_all(&scratch);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let outcome = outcome(&text);
        assert_eq!(output.status.success(), outcome.codes.is_empty(), "{}: {text}", source.display());
        outcome
    }
}

fn outcome(messages: &str) -> Outcome {
    let mut outcome = Outcome { codes: BTreeSet::new(), lines: BTreeSet::new() };
    for message in messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let text = message["message"].as_str().unwrap_or_default();
        if message["level"] != "error" || text.starts_with("aborting due to") {
            continue;
        }
        // An error without a code (a syntax error, say) is kept by its words, so that no case can expect it.
        outcome.codes.insert(message["code"]["code"].as_str().unwrap_or(text).to_owned());
        let spans = message["spans"].as_array().into_iter().flatten();
        outcome.lines.extend(spans.filter(|s| s["is_primary"] == true).filter_map(|s| s["line_start"].as_u64()));
    }
    outcome
}

/// What the comments of a case ask for.
pub fn expected(source: &str) -> Outcome {
    let first = source.lines().next().unwrap_or_default();
    let codes = first.strip_prefix("// expect: ").expect("the first line says what to expect");
    let codes = codes.split_whitespace().filter(|code| *code != "nothing").map(str::to_owned).collect();
    let marked = source.lines().enumerate().filter(|(_, line)| line.trim_end().ends_with("//~"));
    Outcome { codes, lines: marked.map(|(i, _)| i as u64 + 1).collect() }
}

#[test]
fn cases_fail_with_their_codes_at_their_lines() {
    let library = Library::build();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("compile_fail");
    let files = std::fs::read_dir(&folder).expect("the folder of cases exists").map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
    cases.sort();
    let passing = |path: &&PathBuf| expected(&std::fs::read_to_string(path).unwrap()).codes.is_empty();
    assert!(cases.iter().any(|path| passing(&path)), "one case is the control that must compile");
    assert!(cases.len() >= 20, "{} cases", cases.len());
    let mut wrong = Vec::new();
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    std::thread::scope(|scope| {
        let (library, cases) = (&library, &cases);
        let run = move |thread: usize| {
            let own = cases.iter().skip(thread).step_by(threads);
            own.filter_map(|path| check(library, path)).collect::<Vec<String>>()
        };
        let workers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        wrong.extend(workers.into_iter().flat_map(|worker| worker.join().unwrap()));
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn check(library: &Library, path: &Path) -> Option<String> {
    let source = std::fs::read_to_string(path).unwrap();
    let (expected, outcome) = (expected(&source), library.compile(path));
    let name = path.file_name()?.to_string_lossy();
    (outcome != expected).then(|| format!("{name}: expected {expected:?}, got {outcome:?}"))
}

#[test]
fn errors_without_a_code_match_no_case() {
    let syntax =
        r#"{"message":"expected `;`","code":null,"level":"error","spans":[{"is_primary":true,"line_start":2}]}"#;
    assert_ne!(outcome(syntax), expected("// expect: E0499\nlet x //~"));
    let warning = r#"{"message":"unused","code":{"code":"unused"},"level":"warning","spans":[]}"#;
    assert_eq!(outcome(warning), expected("// expect: nothing\n"));
}
