//! Reads how many tests passed, failed and were ignored out of a runner's own summary.

use std::fmt;
use std::ops::AddAssign;

/// A test runner.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// `cargo nextest run`.
    Nextest,
    /// `cargo test`, unit, integration and documentation tests.
    Cargo,
    /// `cargo test --doc`.
    Doc,
}

impl Runner {
    /// Arguments of `cargo`.
    pub fn arguments(self) -> &'static [&'static str] {
        match self {
            Runner::Nextest => &["nextest", "run", "--config-file", "xtask/nextest.toml", "--no-tests", "pass"],
            Runner::Cargo => &["test", "--no-fail-fast"],
            Runner::Doc => &["test", "--doc", "--no-fail-fast"],
        }
    }
}

/// Tests by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ran to their end.
    pub passed: usize,
    /// Failed, timed out, or did not end.
    pub failed: usize,
    /// Did not run.
    pub skipped: usize,
}

impl Counts {
    /// Corrects for tests that reported a skip and that the runner counted as passed.
    pub fn move_to_skipped(&mut self, tests: usize) {
        self.passed = self.passed.saturating_sub(tests);
        self.skipped += tests;
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Whether a line can belong to a summary.
pub fn may_count(line: &str) -> bool {
    line.starts_with("test result: ") || line.trim_start().starts_with("Summary [")
}

/// Reads the counts; `None` when the runner printed no summary.
pub fn read(runner: Runner, lines: &[String]) -> Option<Counts> {
    match runner {
        // The last one: a test's own output, shown when it fails, comes before it.
        Runner::Nextest => lines.iter().rev().find_map(|line| nextest_line(line)),
        Runner::Cargo | Runner::Doc => {
            let results: Vec<Counts> = lines.iter().filter_map(|line| libtest_line(line)).collect();
            (!results.is_empty()).then(|| {
                let mut sum = Counts::default();
                results.into_iter().for_each(|counts| sum += counts);
                sum
            })
        }
    }
}

/// `test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`
fn libtest_line(line: &str) -> Option<Counts> {
    let (_, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
    Some(Counts {
        passed: number_before(numbers, ';', &["passed"]),
        failed: number_before(numbers, ';', &["failed"]),
        skipped: number_before(numbers, ';', &["ignored"]),
    })
}

/// `Summary [   1.2s] 12 tests run: 10 passed (1 slow), 1 failed, 1 timed out, 2 skipped`
fn nextest_line(line: &str) -> Option<Counts> {
    let (_, rest) = line.trim_start().strip_prefix("Summary [")?.split_once(']')?;
    let (_, numbers) = rest.split_once(':')?;
    Some(Counts {
        passed: number_before(numbers, ',', &["passed"]),
        failed: number_before(numbers, ',', &["failed", "timed out", "exec failed"]),
        skipped: number_before(numbers, ',', &["skipped"]),
    })
}

/// Sum of the numbers in a list (`10 passed (1 slow), 2 skipped`) that stand before one of the words.
fn number_before(list: &str, separator: char, words: &[&str]) -> usize {
    list.split(separator)
        .filter_map(|part| {
            let (number, word) = part.trim().split_once(' ')?;
            let word = word.split(" (").next()?.trim();
            words.contains(&word).then(|| number.parse::<usize>().ok())?
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().filter(|line| may_count(line)).map(str::to_owned).collect()
    }

    #[test]
    fn cargo_results_are_summed() {
        let text = "running 2 tests\ntest result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; x\n\
            test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n";
        let want = Counts { passed: 6, failed: 3, skipped: 1 };
        assert_eq!(read(Runner::Cargo, &lines(text)), Some(want));
    }

    #[test]
    fn nextest_summary_counts_timeouts_as_failed() {
        let text =
            "     Summary [   1.234s] 14 tests run: 10 passed (1 slow, 2 flaky), 2 failed, 2 timed out, 3 skipped";
        assert_eq!(read(Runner::Nextest, &lines(text)), Some(Counts { passed: 10, failed: 4, skipped: 3 }));
    }

    #[test]
    fn no_summary_is_no_success() {
        assert_eq!(read(Runner::Nextest, &lines("error: could not compile")), None);
        assert_eq!(read(Runner::Cargo, &[]), None);
    }

    #[test]
    fn a_reported_skip_is_not_a_pass() {
        let mut counts = Counts { passed: 5, failed: 1, skipped: 1 };
        counts.move_to_skipped(2);
        assert_eq!(counts.to_string(), "3 passed, 1 failed, 3 skipped");
    }
}
