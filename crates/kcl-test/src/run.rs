//! Running tests.

use crate::coverage::{Ran, collect};
use crate::find::TestFolder;
use crate::package::{Package, open};
use crate::report::{Outcome, TestCase, TestReport};
use base_diag::Findings;
use base_system::System;
use fancy_regex::Regex;
use kcl_driver::{Format, Input, Pool, RunError, RunOptions, Runner, Session, Sharing};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use thiserror::Error;

/// How tests are run.
#[derive(Clone, Debug, Default)]
pub struct TestOptions {
    /// What every test is run with: arguments, external packages, limits.
    pub run: RunOptions,
    /// Which tests are run; `None` for all.
    pub filter: Option<Filter>,
    /// Whether tests behind the first one that fails are skipped.
    pub fail_fast: bool,
    /// How many threads work; as many as there are cores if 0.
    pub threads: usize,
    /// The source of which it is reported what ran: patterns as those of
    /// [`find_packages`](crate::find_packages). `None` for no such report.
    pub coverage: Option<Vec<String>>,
}

/// A pattern that the names of tests match.
#[derive(Clone, Debug)]
pub struct Filter(Regex);

/// A pattern that is not valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid pattern '{pattern}': {reason}")]
pub struct InvalidFilter {
    pattern: String,
    reason: String,
}

impl Filter {
    /// Reads a regular expression.
    ///
    /// # Errors
    ///
    /// If it is not valid.
    pub fn new(pattern: &str) -> Result<Self, InvalidFilter> {
        Regex::new(pattern).map(Self).map_err(|error| InvalidFilter {
            pattern: pattern.to_owned(),
            reason: error.to_string(),
        })
    }

    fn matches(&self, name: &str) -> bool {
        self.0.is_match(name).unwrap_or(false)
    }
}

/// Runs the tests of packages. `progress` is told how many tests of how many have ended.
///
/// A package that does not compile is part of the report and does not stop the others.
pub fn run_tests(
    system: &(dyn System + Sync),
    folders: &[TestFolder],
    options: &TestOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> TestReport {
    let mut report = TestReport::default();
    let begun = system.now();
    let pool = Pool { threads: options.threads, chunk: 1 };
    let opened = pool.map(folders.len(), || (), |(), at| open(system, &folders[at], options));
    let mut packages = Vec::new();
    for package in opened {
        match package {
            Ok(package) => packages.push(package),
            Err(failure) => report.broken.push(failure),
        }
    }
    let is_run = |name: &str| options.filter.as_ref().is_none_or(|filter| filter.matches(name));
    let jobs: Vec<(usize, usize)> = packages
        .iter()
        .enumerate()
        .flat_map(|(at, package)| (0..package.tests.len()).map(move |test| (at, test)))
        .filter(|(at, test)| is_run(&packages[*at].tests[*test].name))
        .collect();
    let use_cache = options.run.use_cache && options.coverage.is_none();
    let session = if use_cache { Session::cached(system) } else { Session::new() };
    let first_failed = AtomicUsize::new(usize::MAX);
    let n_done = AtomicUsize::new(0);
    let begin = || Runner::new(&session, system, Sharing::Evaluated);
    let cases = pool.map(jobs.len(), begin, |runner, at| {
        let (package, test) = jobs[at];
        let is_skipped = options.fail_fast && first_failed.load(Ordering::Relaxed) < at;
        let (case, ran) = if is_skipped {
            (skipped(&packages[package], test), Ran::default())
        } else {
            run_one(system, runner, &packages[package], test)
        };
        if matches!(case.outcome, Outcome::Failed(_)) {
            first_failed.fetch_min(at, Ordering::Relaxed);
        }
        progress(n_done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        (case, ran)
    });
    let mut all_ran = Ran::default();
    let first_failed = first_failed.into_inner();
    for (at, (case, ran)) in cases.into_iter().enumerate() {
        // What ran at the same time as the first failure does not count: reports are the same on
        // any number of threads.
        if options.fail_fast && at > first_failed {
            let (package, test) = jobs[at];
            report.cases.push(skipped(&packages[package], test));
            continue;
        }
        report.cases.push(case);
        all_ran.add(ran);
    }
    report.coverage = options.coverage.as_ref().map(|patterns| collect(system, patterns, &all_ran));
    report.duration = system.now().saturating_sub(begun);
    report
}

fn skipped(package: &Package, test: usize) -> TestCase {
    let test = &package.tests[test];
    TestCase {
        package: package.name.clone(),
        file: test.file.clone(),
        line: test.line,
        name: test.name.clone(),
        duration: Duration::ZERO,
        printed: String::new(),
        outcome: Outcome::Skipped,
    }
}

fn run_one(
    system: &dyn System,
    runner: &mut Runner<'_>,
    package: &Package,
    test: usize,
) -> (TestCase, Ran) {
    let mut case = skipped(package, test);
    let mut options = package.options.clone();
    options.format = Some(Format::Data);
    // A private name: the result of the call is no output.
    let call = format!("_result_of_the_test = {}()\n", case.name);
    options.inputs.push(Input::text("call_of_the_test.k", call));
    let begun = system.now();
    let outcome = runner.run(&options, |output| {
        (std::mem::take(&mut output.printed), Ran::new(&output.coverage, &output.program))
    });
    case.duration = system.now().saturating_sub(begun);
    match outcome {
        Ok((printed, ran)) => {
            case.printed = printed;
            case.outcome = Outcome::Passed;
            (case, ran)
        }
        Err(error) => {
            let RunError { diagnostics, program, printed, coverage, .. } = *error;
            case.printed = printed;
            case.outcome = Outcome::Failed(Findings::new(diagnostics, &program));
            (case, Ran::new(&coverage, &program))
        }
    }
}
