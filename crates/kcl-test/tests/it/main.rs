//! Tests of tests, in memory.

mod coverage;

use base_system::MemorySystem;
use kcl_test::{Counts, Filter, Outcome, TestOptions, TestReport, find_packages, run_tests};

const CODE: &str = "\
add = lambda x: int, y: int -> int {
    x + y
}

schema P:
    n: int
    check:
        n > 0, \"n must be positive\"
";

const TESTS: &str = "\
import runtime

test_add = lambda {
    print(\"adding\")
    assert add(1, 2) == 3
}

test_wrong = lambda {
    sum = add(1, 2)
    assert sum == 4, \"the sum\"
}

test_refused = lambda {
    message = runtime.catch(lambda {
        p = P {n = 0}
    })
    assert message == \"n must be positive\"
}

helper = lambda {
    assert False
}
";

fn report(files: &[(&str, &str)], change: impl FnOnce(&mut TestOptions)) -> TestReport {
    let system = files
        .iter()
        .fold(MemorySystem::new(), |system, (path, text)| system.with_file(*path, *text));
    let mut options = TestOptions { threads: 2, ..TestOptions::default() };
    change(&mut options);
    let folders = find_packages(&system, &["/m/...".to_owned()]).expect("the folder is there");
    run_tests(&system, &folders, &options, &|_, _| ())
}

const FILES: &[(&str, &str)] = &[("/m/kcl.mod", ""), ("/m/p/p.k", CODE), ("/m/p/p_test.k", TESTS)];

fn outcomes(report: &TestReport) -> Vec<(&str, &str)> {
    let word = |outcome: &Outcome| match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed(_) => "failed",
        Outcome::Skipped => "skipped",
    };
    report.cases.iter().map(|case| (case.name.as_str(), word(&case.outcome))).collect()
}

#[test]
fn lambdas_of_test_files_are_tests() {
    let report = report(FILES, |_| ());
    assert_eq!(
        outcomes(&report),
        [("test_add", "passed"), ("test_wrong", "failed"), ("test_refused", "passed")]
    );
    assert_eq!(report.counts(), Counts { passed: 2, failed: 1, skipped: 0 });
    assert_eq!(report.cases[0].printed, "adding\n");
    assert_eq!(report.cases[1].line, 8);
    assert!(!report.is_success());
}

#[test]
fn a_failure_shows_the_values_compared() {
    let report = report(FILES, |_| ());
    let text = report.to_text(base_diag::Colour::Never);
    assert!(text.contains("^ the sum\n"), "{text}");
    assert!(text.contains("note: left == right, where left is 3, right is 4\n"), "{text}");
}

#[test]
fn filters_and_the_first_failure() {
    let found = report(FILES, |options| {
        options.filter = Some(Filter::new("^test_re").expect("the pattern is valid"));
    });
    assert_eq!(outcomes(&found), [("test_refused", "passed")]);
    let found = report(FILES, |options| options.fail_fast = true);
    assert_eq!(
        outcomes(&found),
        [("test_add", "passed"), ("test_wrong", "failed"), ("test_refused", "skipped")]
    );
    assert!(Filter::new("(").is_err());
}

#[test]
fn a_package_that_does_not_compile_does_not_stop_others() {
    let mut files = FILES.to_vec();
    files.push(("/m/broken/b_test.k", "test_b = lambda {\n    assert nope\n}\n"));
    let report = report(&files, |_| ());
    assert_eq!(report.broken.len(), 1);
    assert_eq!(report.cases.len(), 3);
    let found = report.broken[0].findings.iter().next().expect("there is a finding");
    assert_eq!(found.message, "name 'nope' is not defined");
}

#[test]
fn machine_readable_reports() {
    let report = report(FILES, |_| ());
    let json = report.to_json();
    assert_eq!(json["tests"][1]["outcome"], "failed");
    assert_eq!(json["passed"], 2);
    let xml = report.to_junit();
    assert!(xml.contains("<testsuites tests=\"3\" failures=\"1\" errors=\"0\""), "{xml}");
    assert!(xml.contains("<failure message=\"the sum\">error[E3M38]"), "{xml}");
    assert!(xml.contains("<system-out>adding\n</system-out>"), "{xml}");
}

#[test]
fn a_test_that_never_ends_is_stopped() {
    let text = "forever = lambda n: int -> int {\n    forever(n + 1)\n}\ntest_a = lambda {\n    \
                forever(0)\n}\n";
    let found = report(&[("/m/a_test.k", text)], |options| options.run.eval.limits.steps = 10_000);
    assert_eq!(outcomes(&found), [("test_a", "failed")]);
}
