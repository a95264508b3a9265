//! How tests ended.

use crate::coverage::Coverage;
use base_diag::{Colour, Findings};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// How all tests of a run ended.
#[derive(Clone, Debug, Default)]
pub struct TestReport {
    /// The tests in the order of packages, files and lines.
    pub cases: Vec<TestCase>,
    /// The packages that do not compile.
    pub broken: Vec<PackageFailure>,
    /// How long all took.
    pub duration: Duration,
    /// What of the source ran, if that was asked for.
    pub coverage: Option<Coverage>,
}

/// How one test ended.
#[derive(Clone, Debug)]
pub struct TestCase {
    /// The folder of its package, as messages show it.
    pub package: String,
    /// Its file, as messages show it.
    pub file: String,
    /// Its line in the file.
    pub line: u32,
    /// Its name.
    pub name: String,
    /// How long it took.
    pub duration: Duration,
    /// What `print` wrote.
    pub printed: String,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a test ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Without an error.
    Passed,
    /// With errors.
    Failed(Findings),
    /// It did not run, because another one failed.
    Skipped,
}

/// A package that does not compile.
#[derive(Clone, Debug)]
pub struct PackageFailure {
    /// Its folder, as messages show it.
    pub package: String,
    /// What is wrong.
    pub findings: Findings,
}

/// How many tests ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that did not run.
    pub skipped: usize,
}

impl TestReport {
    /// Whether nothing failed.
    pub fn is_success(&self) -> bool {
        self.broken.is_empty() && self.counts().failed == 0
    }

    /// How many tests ended in which way.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for case in &self.cases {
            *match case.outcome {
                Outcome::Passed => &mut counts.passed,
                Outcome::Failed(_) => &mut counts.failed,
                Outcome::Skipped => &mut counts.skipped,
            } += 1;
        }
        counts
    }

    /// The report for a terminal: a line for each test, failures with their places, a summary.
    pub fn to_text(&self, colour: Colour) -> String {
        let mut text = String::new();
        for broken in &self.broken {
            let _ = writeln!(text, "{}: does not compile\n", broken.package);
            text.push_str(&broken.findings.to_text(colour));
        }
        for case in &self.cases {
            let TestCase { name, file, .. } = case;
            let time = duration_text(case.duration);
            match &case.outcome {
                Outcome::Passed => drop(writeln!(text, "{name}: PASS ({time})")),
                Outcome::Skipped => drop(writeln!(text, "{name}: SKIP")),
                Outcome::Failed(findings) => {
                    let _ = writeln!(text, "{name}: FAIL ({time}) {file}:{}\n", case.line);
                    text.push_str(&findings.to_text(colour));
                }
            }
            for line in case.printed.lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
        text.push_str(&self.summary());
        if let Some(coverage) = &self.coverage {
            text.push('\n');
            text.push_str(&coverage.to_text());
        }
        text
    }

    fn summary(&self) -> String {
        let Counts { passed, failed, skipped } = self.counts();
        let time = duration_text(self.duration);
        let mut text = format!("{passed} passed, {failed} failed");
        if skipped > 0 {
            let _ = write!(text, ", {skipped} skipped");
        }
        match self.broken.len() {
            0 => {}
            1 => text.push_str(", 1 package does not compile"),
            n => drop(write!(text, ", {n} packages do not compile")),
        }
        if self.cases.is_empty() && self.broken.is_empty() {
            return "no tests: a test is a lambda test_… in a file *_test.k\n".to_owned();
        }
        format!("{text} ({time})\n")
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let Counts { passed, failed, skipped } = self.counts();
        let tests: Vec<Value> = self.cases.iter().map(TestCase::to_json).collect();
        let broken = self.broken.iter().map(
            |broken| json!({"package": broken.package, "errors": findings_json(&broken.findings)}),
        );
        let mut value = json!({
            "passed": passed,
            "failed": failed,
            "skipped": skipped,
            "seconds": self.duration.as_secs_f64(),
            "tests": tests,
            "broken_packages": broken.collect::<Vec<_>>(),
        });
        if let Some(coverage) = &self.coverage {
            value["coverage"] = coverage.to_json();
        }
        value
    }
}

impl TestCase {
    fn to_json(&self) -> Value {
        let (outcome, errors) = match &self.outcome {
            Outcome::Passed => ("passed", Value::Null),
            Outcome::Skipped => ("skipped", Value::Null),
            Outcome::Failed(findings) => ("failed", findings_json(findings)),
        };
        json!({
            "package": self.package,
            "file": self.file,
            "line": self.line,
            "name": self.name,
            "outcome": outcome,
            "seconds": self.duration.as_secs_f64(),
            "printed": self.printed,
            "errors": errors,
        })
    }
}

fn findings_json(findings: &Findings) -> Value {
    serde_json::from_str(&findings.to_json()).unwrap_or(Value::Null)
}

/// A duration in three digits or so.
pub(crate) fn duration_text(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds >= 1.0 { format!("{seconds:.2} s") } else { format!("{:.1} ms", seconds * 1e3) }
}
