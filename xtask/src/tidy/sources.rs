//! Rules for Rust source: size, opening comment, ways to panic.

use super::scan::{code_only, test_lines};
use super::{Finding, Report};
use crate::tree::{File, Tree};

const MAX_FILE_LINES: usize = 1000;
const MAX_MEDIAN_LINES: usize = 200;
const MAX_PANICS_PER_KLOC: f64 = 1.0;

/// What may end a thread. `expect` counts when a text follows, to leave parsers' `expect` alone.
const PANICS: &[&str] = &[".unwrap()", ".expect(\"", "panic!(", "unreachable!(", "unimplemented!("];

/// What must not stand in any source, and what to do instead.
const BANNED: &[(&str, &str)] = &[
    ("#[allow(", "use `#[expect(…, reason = \"…\")]`, which goes away with its cause"),
    ("#![allow(", "use `#![expect(…, reason = \"…\")]`, which goes away with its cause"),
    ("todo!(", "write it, or report it as a diagnostic"),
    ("dbg!(", "remove the trace"),
];

/// Checks all Rust files.
pub(super) fn check(tree: &Tree, report: &mut Report) {
    let mut lengths = Vec::new();
    let mut panics: Vec<Finding> = Vec::new();
    let mut n_code_lines = 0;
    for file in tree.rust_files() {
        opening_comment(file, report);
        if !file.is_generated() {
            let n_lines = file.text.lines().count();
            lengths.push(n_lines);
            if n_lines > MAX_FILE_LINES {
                let message =
                    format!("{n_lines} lines: split by subject, {MAX_FILE_LINES} at most");
                report.findings.push(Finding::new(&file.path, n_lines, message));
            }
        }
        n_code_lines += code_lines(file, report, &mut panics);
    }
    sizes(lengths, report);
    panic_rate(&panics, n_code_lines, report);
}

fn opening_comment(file: &File, report: &mut Report) {
    if !file.text.starts_with("//!") {
        let message = "open with `//!`: what this is for, what it must not know, where to start";
        report.findings.push(Finding::new(&file.path, 1, message));
    }
}

/// Looks at each line of code; returns how many lines outside tests were seen.
fn code_lines(file: &File, report: &mut Report, panics: &mut Vec<Finding>) -> usize {
    let code = code_only(&file.text);
    let in_test = test_lines(&code);
    let mut n_lines = 0;
    for (idx, (line, in_test)) in code.lines().zip(in_test).enumerate() {
        for (banned, instead) in BANNED {
            if line.contains(banned) {
                let message = format!("`{banned}`: {instead}");
                report.findings.push(Finding::new(&file.path, idx + 1, message));
            }
        }
        if in_test || file.is_test() || file.path.starts_with("xtask/") {
            continue;
        }
        n_lines += usize::from(!line.trim().is_empty());
        if line.contains(".unwrap()") {
            let message = "`.unwrap()`: pass the error on, or `expect` with the invariant";
            report.findings.push(Finding::new(&file.path, idx + 1, message));
        }
        for call in PANICS.iter().filter(|call| line.contains(**call)) {
            panics.push(Finding::new(&file.path, idx + 1, format!("may panic: `{call}`")));
        }
    }
    n_lines
}

fn sizes(mut lengths: Vec<usize>, report: &mut Report) {
    lengths.sort_unstable();
    let Some(&longest) = lengths.last() else { return };
    let median = lengths[lengths.len() / 2];
    report.figures.push(format!(
        "rust files: {}, lines: {}, median {median}, longest {longest}",
        lengths.len(),
        lengths.iter().sum::<usize>()
    ));
    if median > MAX_MEDIAN_LINES {
        let message = format!("the median file has {median} lines, {MAX_MEDIAN_LINES} at most");
        report.findings.push(Finding::new("crates", 1, message));
    }
}

fn panic_rate(panics: &[Finding], n_code_lines: usize, report: &mut Report) {
    let rate = panics.len() as f64 * 1000.0 / n_code_lines.max(1) as f64;
    report.figures.push(format!(
        "calls that may panic: {} in {n_code_lines} lines of code = {rate:.2} per 1,000",
        panics.len()
    ));
    if rate > MAX_PANICS_PER_KLOC {
        let message = format!(
            "{rate:.2} calls that may panic per 1,000 lines, {MAX_PANICS_PER_KLOC} at most"
        );
        report.findings.push(Finding::new("crates", 1, message));
        let places = panics.iter().map(|it| Finding::new(&it.path, it.line, it.message.as_str()));
        report.findings.extend(places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.into(), text: text.into() };
        let mut report = Report::default();
        check(&Tree { files: vec![file] }, &mut report);
        report.findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_clean_file_passes() {
        let text = "//! A.\n// x.unwrap() todo!(\nfn a() -> &'static str {\n \".unwrap()\"\n}\n\
                    #[cfg(test)]\nmod tests {\n  fn b() { c().unwrap(); }\n}\n";
        assert_eq!(findings("crates/a/src/lib.rs", text), [""; 0]);
    }

    #[test]
    fn each_rule_names_its_line() {
        let found = findings("crates/a/src/b.rs", "//! A.\n#[allow(x)]\nfn a() { todo!() }\n");
        assert!(found[0].starts_with("crates/a/src/b.rs:2: `#[allow(`"), "{found:?}");
        assert!(found[1].starts_with("crates/a/src/b.rs:3: `todo!(`"), "{found:?}");
        assert!(findings("crates/a/src/b.rs", "fn a() {}")[0].contains(":1: open with"));
        let long = format!("//! A.\n{}", "\n".repeat(1001));
        assert!(findings("crates/a/src/b.rs", &long)[0].contains("split by subject"));
        let found = findings("crates/a/src/b.rs", "//! A.\nfn a() { b().unwrap() }\n");
        assert!(found[0].contains(":2: `.unwrap()`"), "{found:?}");
        assert!(found[1].contains("per 1,000 lines"), "{found:?}");
    }
}
