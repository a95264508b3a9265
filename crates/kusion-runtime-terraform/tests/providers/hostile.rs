//! Programs that are no providers, or broken ones.

use crate::found::{launch, wait_for_end};
use kusion_runtime_terraform::{Limits, ProviderError};
use std::time::Duration;
use testkit::Suite;

/// Programs that do not get as far as a connection, and what the error says.
const START: &[(&str, &str)] = &[
    (
        "exit",
        "it ended without a handshake (exit code 7); it printed: cannot\\u{1b}[31m load the library",
    ),
    ("silence", "timed out after 1 s"),
    ("greeting", "it printed no handshake; is it a Terraform provider?"),
    ("endless line", "its first line is too long"),
    ("flood", "timed out after 1 s"),
    ("nobody", "cannot connect"),
    ("other certificate", "cannot connect"),
    ("other key", "cannot connect"),
];

/// Programs that answer badly, and what the error says.
const CALL: &[(&str, &str)] = &[
    ("no answer", "did not answer, cannot read its schemas: timed out after 1 s"),
    ("end", "ended (exit code 9), cannot read its schemas"),
    ("garbage", "failed, cannot read its schemas"),
    ("huge", "failed, cannot read its schemas"),
    ("endless", "failed, cannot read its schemas"),
    (
        "bad schema",
        "gave an invalid answer, cannot read its schemas: in the schema of `t`: `a`: invalid type",
    ),
    ("no message", "failed, cannot read its schemas"),
];

pub(crate) fn add(suite: &mut Suite) {
    suite.add("hostile::a_program_that_is_missing_is_reported", || {
        let error = failure("", "/nonexistent/program");
        assert!(error.contains("the program cannot be run"), "{error}");
        let mut launch = launch("/nonexistent/program".into(), &[]);
        launch.guard = None;
        let error = crate::run(launch.start()).err().expect("an error").to_string();
        assert!(error.contains("No such file or directory"), "{error}");
    });
    for (how, message) in START {
        suite.add(format!("hostile::at_start::{}", how.replace(' ', "_")), move || {
            let own = std::env::current_exe().expect("this program");
            let error = failure(how, own.to_str().expect("a text"));
            let start = "cannot start the provider `test/provider`: ";
            assert!(error.starts_with(start) && error.contains(message), "{error}");
        });
    }
    for (how, message) in CALL {
        suite.add(format!("hostile::in_calls::{}", how.replace(' ', "_")), move || {
            let error = crate::run(bad_answer(how)).to_string();
            assert!(error.contains(message), "{error}");
            assert!(error.contains("`test/provider`"), "{error}");
        });
    }
}

fn limits() -> Limits {
    let second = Duration::from_secs(1);
    Limits { start: second, call: second, message: 1 << 20, ..Limits::default() }
}

/// Returns the error of a program that does not start.
fn failure(how: &str, program: &str) -> String {
    let mut launch = launch(program.into(), &[("PRETEND", how)]);
    launch.limits = limits();
    // A slow machine must not turn every error into the one about time.
    if !matches!(how, "silence" | "flood") {
        launch.limits.start = Duration::from_mins(1);
    }
    crate::run(launch.start()).err().expect("an error").to_string()
}

/// Returns the error of a call, and checks that the program ends.
async fn bad_answer(how: &str) -> ProviderError {
    let own = std::env::current_exe().expect("this program");
    let mut launch = launch(own, &[("PRETEND", how)]);
    launch.limits = Limits { start: Duration::from_mins(1), ..limits() };
    let provider = launch.start().await.expect("a connection");
    let process = provider.process_id();
    let error = provider.schemas().await.map(|_| ()).expect_err("an error");
    provider.shut_down().await;
    if let Some(process) = process {
        wait_for_end(process);
    }
    error
}
