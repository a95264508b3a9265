//! An `if` that sets private variables is decided once, and its statements count in order.

use base_system::MemorySystem;
use kcl_driver::{Format, RunOptions, run};
use properties::Program;
use std::collections::BTreeMap;
use testkit::Rng;

/// How many programs a test tries; `KCL_TEST_ROUNDS` times as many on request.
fn n_programs() -> u64 {
    let rounds = std::env::var("KCL_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    500 * rounds.unwrap_or(1)
}

/// Runs `text` beside the file of a package `made`, and compares with the program's meaning.
fn check(program: &Program, text: &str, made: &str, within: Option<&str>) {
    let system = MemorySystem::new()
        .with_file("/kcl.mod", "[package]\nname = \"checked\"\n")
        .with_file("/main.k", text)
        .with_file("/made/made.k", made);
    let options = RunOptions { format: Some(Format::Json), ..RunOptions::files(["/main.k"]) };
    let output = run(&system, &options);
    assert!(output.is_ok(), "{:?}\n{text}\n--- made\n{made}", output.err());
    let Ok(output) = output else { return };
    let want = program.run();
    let value: serde_json::Value = serde_json::from_str(&output.result).expect("it is JSON");
    let value = within.map_or(&value, |name| &value[name]);
    let names = value.as_object().into_iter().flatten().filter(|(name, _)| *name != "own");
    let got: BTreeMap<String, String> =
        names.map(|(name, value)| (name.clone(), value.to_string().replace(',', ", "))).collect();
    assert_eq!(got, want.names, "\n{text}\n--- made\n{made}");
    let printed: Vec<&str> = output.printed.lines().collect();
    assert_eq!(printed, want.printed, "\n{text}\n--- made\n{made}");
}

fn try_many(seed: u64, test: impl Fn(&Program)) {
    for index in 0..n_programs() {
        test(&Program::new(&mut Rng::new(seed, index)));
    }
}

#[test]
fn globals_change_in_order() {
    try_many(11, |program| check(program, &program.globals(), "", None));
}

#[test]
fn attributes_change_in_order() {
    try_many(12, |program| check(program, &program.schema(), "", Some("made")));
}

#[test]
fn attributes_of_bases_change_in_order() {
    try_many(13, |program| check(program, &program.base(), "", Some("made")));
}

#[test]
fn attributes_of_mixins_change_in_order() {
    try_many(15, |program| check(program, &program.mixin(), "", Some("made")));
}

#[test]
fn globals_of_imported_packages_change_in_order() {
    try_many(14, |program| check(program, &program.importer(), &program.globals(), None));
}
