//! The report in the XML form of `JUnit`, which build servers read.

use crate::report::{Counts, Outcome, TestCase, TestReport};
use base_diag::Colour;
use std::fmt::Write as _;

impl TestReport {
    /// The report as `JUnit` XML, with a suite for each package.
    pub fn to_junit(&self) -> String {
        let Counts { failed, skipped, .. } = self.counts();
        let n_tests = self.cases.len() + self.broken.len();
        let n_errors = self.broken.len();
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = writeln!(
            text,
            "<testsuites tests=\"{n_tests}\" failures=\"{failed}\" errors=\"{n_errors}\" \
             skipped=\"{skipped}\" time=\"{:.6}\">",
            self.duration.as_secs_f64()
        );
        for broken in &self.broken {
            let name = escape(&broken.package);
            let _ = writeln!(text, "  <testsuite name=\"{name}\" tests=\"1\" errors=\"1\">");
            let _ = writeln!(text, "    <testcase classname=\"{name}\" name=\"compile\">");
            let found = escape(broken.findings.to_text(Colour::Never).trim_end());
            let _ = writeln!(text, "      <error message=\"does not compile\">{found}</error>");
            text.push_str("    </testcase>\n  </testsuite>\n");
        }
        for cases in self.cases.chunk_by(|a, b| a.package == b.package) {
            suite(&mut text, cases);
        }
        text.push_str("</testsuites>\n");
        text
    }
}

fn suite(text: &mut String, cases: &[TestCase]) {
    let Some(first) = cases.first() else { return };
    let count = |is: fn(&Outcome) -> bool| cases.iter().filter(|case| is(&case.outcome)).count();
    let failed = count(|outcome| matches!(outcome, Outcome::Failed(_)));
    let skipped = count(|outcome| matches!(outcome, Outcome::Skipped));
    let seconds: f64 = cases.iter().map(|case| case.duration.as_secs_f64()).sum();
    let _ = writeln!(
        text,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" skipped=\"{skipped}\" \
         time=\"{seconds:.6}\">",
        escape(&first.package),
        cases.len()
    );
    for case in cases {
        let (name, file) = (escape(&case.name), escape(&case.file));
        let _ = write!(
            text,
            "    <testcase classname=\"{file}\" name=\"{name}\" file=\"{file}\" line=\"{}\" \
             time=\"{:.6}\"",
            case.line,
            case.duration.as_secs_f64()
        );
        let mut inner = String::new();
        match &case.outcome {
            Outcome::Passed => {}
            Outcome::Skipped => inner.push_str("      <skipped/>\n"),
            Outcome::Failed(findings) => {
                let message = findings.iter().next().map_or("", |found| found.message);
                let message = escape(message.lines().next().unwrap_or_default());
                let found = escape(findings.to_text(Colour::Never).trim_end());
                let _ = writeln!(inner, "      <failure message=\"{message}\">{found}</failure>");
            }
        }
        if !case.printed.is_empty() {
            let _ = writeln!(inner, "      <system-out>{}</system-out>", escape(&case.printed));
        }
        if inner.is_empty() {
            text.push_str("/>\n");
        } else {
            let _ = writeln!(text, ">\n{inner}    </testcase>");
        }
    }
    text.push_str("  </testsuite>\n");
}

/// Text as XML may hold it. Characters that XML forbids become U+FFFD.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(it),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(it),
        }
    }
    out
}
