//! Kind `test`: which tests pass?

use crate::{Answer, finding, findings, words};
use base_system::OsSystem;
use kcl_driver::parse_argument;
use kcl_test::{Filter, Outcome, TestOptions, find_packages, run_tests};
use serde_json::{Value, json};
use testkit::Case;

/// Answers a case.
pub(crate) fn answer(case: &Case) -> anyhow::Result<Answer> {
    let mut options =
        TestOptions { fail_fast: case.meta["fail_fast"] == true, ..TestOptions::default() };
    for argument in words(case, "options") {
        options.run.arguments.push(parse_argument(&argument)?);
    }
    if let Some(pattern) = case.text("run_regexp").filter(|pattern| !pattern.is_empty()) {
        options.filter = Some(Filter::new(pattern)?);
    }
    let folders = find_packages(&OsSystem, &words(case, "pkg_list"))?;
    let report = run_tests(&OsSystem, &folders, &options, &|_, _| ());
    if let Some(broken) = report.broken.first() {
        return Ok(findings(&broken.findings));
    }
    let mut tests: Vec<Value> = Vec::new();
    for case in report.cases {
        let mut test = json!({"name": case.name, "pass": matches!(case.outcome, Outcome::Passed)});
        match &case.outcome {
            Outcome::Skipped => continue,
            Outcome::Failed(found) => test["error"] = found.iter().next().map(finding).into(),
            Outcome::Passed => {}
        }
        if !case.printed.is_empty() {
            test["log"] = case.printed.into();
        }
        tests.push(test);
    }
    Ok(Answer::json(&Value::Array(tests)))
}
