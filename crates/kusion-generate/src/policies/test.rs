//! Tests of policies: inputs with the findings that they must give.

use super::folder::{PolicyFolder, call};
use crate::GenerateError;
use crate::find::unreadable;
use crate::origins::shown;
use base_system::System;
use kusion_policy::{Policy, messages};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The folder of tests, below that of policies.
const TESTS: &str = "tests";
/// The largest size of a file with tests, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// A test.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    policy: String,
    #[serde(default)]
    name: String,
    input: Map<String, Value>,
    expect: Expected,
}

/// What a rule must find.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected `pass`, `fail`, or a list of parts of messages")]
enum Expected {
    Word(Word),
    Messages(Vec<String>),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Pass,
    Fail,
}

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseOutcome {
    /// The policy.
    pub policy: String,
    /// The name of the test; may be empty.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// Why it failed; `None` if it passed.
    pub problem: Option<String>,
    /// Whether the rule found something.
    pub found: bool,
}

/// Which results of a rule tests show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleCoverage {
    /// The policy.
    pub policy: String,
    /// The number of tests in which it finds nothing.
    pub passes: usize,
    /// The number of tests in which it finds something.
    pub finds: usize,
}

/// The tests of a folder of policies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestReport {
    /// The tests, in the order of files.
    pub cases: Vec<CaseOutcome>,
    /// The policies, in the order of names.
    pub coverage: Vec<RuleCoverage>,
}

/// Runs the tests of a folder of policies: the files `tests/*.yaml` in it.
///
/// # Errors
///
/// If policies or tests are invalid, or a test names a policy that does not exist.
pub fn run_tests(
    system: &(dyn System + Sync),
    folder: &PolicyFolder,
    work_dir: &Path,
) -> Result<TestReport, GenerateError> {
    let cases = read_cases(system, &folder.folder.join(TESTS), work_dir)?;
    folder.with_rules(system, |set, evaluator| {
        let mut report = TestReport::default();
        for (file, case) in &cases {
            let at = set.policies.iter().position(|it| it.name == case.policy);
            let outcome = match at {
                Some(at) => {
                    let input = Value::Object(full_input(&case.input));
                    let result = call(evaluator, at, &input).map_err(|it| it.message);
                    let found = result.and_then(|it| messages(&set.policies[at], it));
                    outcome(file, case, found)
                }
                None => CaseOutcome {
                    problem: Some(format!("there is no policy `{}`", case.policy)),
                    ..outcome(file, case, Ok(Vec::new()))
                },
            };
            report.cases.push(outcome);
        }
        report.coverage = set.policies.iter().map(|it| coverage(it, &report.cases)).collect();
        Ok(report)
    })
}

fn coverage(policy: &Policy, cases: &[CaseOutcome]) -> RuleCoverage {
    let own = |found| {
        let is_own = |it: &&CaseOutcome| it.policy == policy.name && it.found == found;
        cases.iter().filter(|it| it.problem.is_none()).filter(is_own).count()
    };
    RuleCoverage { policy: policy.name.clone(), passes: own(false), finds: own(true) }
}

fn outcome(file: &Path, case: &Case, found: Result<Vec<String>, String>) -> CaseOutcome {
    let problem = match (&found, &case.expect) {
        (Err(message), _) => Some(format!("the rule failed: {message}")),
        (Ok(found), Expected::Word(Word::Pass)) if !found.is_empty() => {
            Some(format!("expected no finding, but found: {}", found.join("; ")))
        }
        (Ok(found), Expected::Word(Word::Fail)) if found.is_empty() => {
            Some("expected a finding, but there is none".to_owned())
        }
        (Ok(_), Expected::Word(_)) => None,
        (Ok(found), Expected::Messages(parts)) => {
            let fits = found.len() == parts.len()
                && found.iter().zip(parts).all(|(text, part)| text.contains(part.as_str()));
            let (expected, found) = (parts.join("; "), found.join("; "));
            (!fits).then(|| format!("expected: {expected}, but found: {found}"))
        }
    };
    CaseOutcome {
        policy: case.policy.clone(),
        name: case.name.clone(),
        file: file.to_owned(),
        problem,
        found: found.is_ok_and(|it| !it.is_empty()),
    }
}

/// Adds what a test does not give.
fn full_input(given: &Map<String, Value>) -> Map<String, Value> {
    let mut input = Map::new();
    for (key, value) in [
        ("id", json!("")),
        ("resource", Value::Null),
        ("old", Value::Null),
        ("change", json!({"action": "create", "fields": []})),
        ("resources", json!([])),
        ("layer", Value::Null),
        ("stack", json!({"project": "", "name": "", "place": "main", "owner": null})),
        ("cell", json!({})),
        ("actor", json!("")),
        ("release", json!({"operation": "apply", "changes": [], "approvals": []})),
        ("now", Value::Null),
    ] {
        input.insert(key.to_owned(), value);
    }
    input.extend(given.clone());
    input
}

fn read_cases(
    system: &dyn System,
    folder: &Path,
    work_dir: &Path,
) -> Result<Vec<(PathBuf, Case)>, GenerateError> {
    let mut cases = Vec::new();
    if !system.is_dir(folder) {
        return Ok(cases);
    }
    for path in system.read_dir(folder).map_err(unreadable(folder))? {
        let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        if !matches!(ending, "yaml" | "yml") {
            continue;
        }
        let text = system.read_to_string(&path).map_err(unreadable(&path))?;
        let file = shown(work_dir, &path).to_owned();
        let wrong = |line: Option<u32>, message: String| {
            Err(GenerateError::File { path: file.clone(), line, message })
        };
        if text.len() > MAX_BYTES {
            return wrong(None, format!("the file has more than {MAX_BYTES} bytes"));
        }
        match yaml_serde::from_str::<Vec<Case>>(&text) {
            Ok(read) => cases.extend(read.into_iter().map(|it| (file.clone(), it))),
            Err(error) => {
                let line = error.location().and_then(|it| u32::try_from(it.line()).ok());
                return wrong(line, error.to_string());
            }
        }
    }
    Ok(cases)
}
