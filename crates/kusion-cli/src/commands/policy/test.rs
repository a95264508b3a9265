//! `kusion policy test`.

use super::folder::PolicyFolderArgs;
use crate::failure::{Exit, Failure};
use crate::view::style::one_line;
use crate::view::{self, words};
use base_system::{OsSystem, System as _};
use kusion_generate::{RuleCoverage, TestReport, run_tests};
use std::fmt::Write as _;

/// Arguments of `kusion policy test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    folder: PolicyFolderArgs,
    /// Fail if a rule is not covered: no test in which it finds something, or none in which it
    /// finds nothing
    #[arg(long)]
    covered: bool,
}

/// Runs the tests of policies.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let work_dir = OsSystem.current_dir().map_err(Failure::file("read", "."))?;
    let report = run_tests(&OsSystem, &args.folder.open()?, &work_dir)?;
    view::result(&text(&report))?;
    let failed = report.cases.iter().any(|it| it.problem.is_some());
    let uncovered = args.covered && report.coverage.iter().any(|it| !is_covered(it));
    Ok(if failed || uncovered { Exit::Failed } else { Exit::Success })
}

fn is_covered(rule: &RuleCoverage) -> bool {
    rule.passes > 0 && rule.finds > 0
}

fn text(report: &TestReport) -> String {
    let mut text = String::new();
    for case in &report.cases {
        if let Some(problem) = &case.problem {
            let name =
                if case.name.is_empty() { String::new() } else { format!(" `{}`", case.name) };
            let line = format!("{}: {}{name}: {problem}", case.file.display(), case.policy);
            let _ = writeln!(text, "failed: {}", one_line(&line));
        }
    }
    for rule in report.coverage.iter().filter(|it| !is_covered(it)) {
        let missing = match (rule.passes, rule.finds) {
            (0, 0) => "has no test",
            (0, _) => "has no test in which it finds nothing",
            _ => "has no test in which it finds something",
        };
        let _ = writeln!(text, "not covered: {} {missing}", one_line(&rule.policy));
    }
    let failed = report.cases.iter().filter(|it| it.problem.is_some()).count();
    let covered = report.coverage.iter().filter(|it| is_covered(it)).count();
    let _ = writeln!(
        text,
        "{}, {failed} failed; {covered} of {} covered",
        words::count(report.cases.len(), "test"),
        words::count(report.coverage.len(), "rule"),
    );
    text
}
