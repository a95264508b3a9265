//! Runs small programs from memory.

use base_system::MemorySystem;
use kcl_driver::{RunOptions, run};
use testkit::Fixture;

/// Runs a fixture (`#- path` starts a further input file) and gives its YAML, or the line and
/// the first line of the message of the first error.
fn outcome(source: &str) -> Result<String, (u32, String)> {
    let mut system = MemorySystem::new();
    let mut inputs = Vec::new();
    for file in Fixture::parse(source).files {
        let path = format!("/w/{}", file.path);
        system = system.with_file(&path, file.text);
        if file.path.ends_with(".k") && !file.path.contains('/') {
            inputs.push(path);
        }
    }
    run(&system, &RunOptions::files(inputs)).map(|output| output.result).map_err(|error| {
        let first = error.diagnostics.first().expect("an error has a diagnostic");
        let at = first.labels[0].at;
        let line = at.map_or(0, |at| error.program.line_col(at.file, at.span).line);
        (line, first.message().lines().next().unwrap_or_default().to_owned())
    })
}

/// Checks what a program gives.
#[track_caller]
pub(crate) fn evaluates(source: &str, yaml: &str) {
    let trim = |text: &str| text.trim_matches('\n').to_owned();
    match outcome(source) {
        Ok(found) => assert_eq!(trim(&found), trim(yaml)),
        Err((line, message)) => panic!("failed in line {line}: {message}"),
    }
}

/// Checks where a program fails and with what message.
#[track_caller]
pub(crate) fn fails(source: &str, line: u32, message: &str) {
    match outcome(source) {
        Ok(found) => panic!("does not fail: {found}"),
        Err(found) => assert_eq!(found, (line, message.to_owned())),
    }
}
