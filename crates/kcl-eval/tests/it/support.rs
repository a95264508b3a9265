//! Runs small programs from memory.

use base_diag::Diagnostic;
use base_system::MemorySystem;
use kcl_eval::{Earlier, Request, evaluate};
use kcl_hir::{Input, LoadOptions, PackageMap, Program, load, resolve_entries};
use kcl_value::output::{OutputOptions, to_yaml};
use std::path::Path;
use testkit::Fixture;

/// A program and the files it is from.
pub(crate) struct Loaded {
    pub(crate) system: MemorySystem,
    pub(crate) program: Program,
    found: Vec<Diagnostic>,
}

/// Loads a fixture; `#- path` starts a further input file.
pub(crate) fn loaded(source: &str) -> Loaded {
    let mut system = MemorySystem::new();
    let mut inputs = Vec::new();
    for file in Fixture::parse(source).files {
        let path = format!("/w/{}", file.path);
        system = system.with_file(&path, file.text);
        if !file.path.contains('/')
            && Path::new(&file.path).extension().is_some_and(|ext| ext == "k")
        {
            inputs.push(Input::path(path));
        }
    }
    let entries = resolve_entries(&system, &inputs, Path::new("/w"), &PackageMap::default())
        .expect("the inputs exist");
    let loaded = load(&system, &entries, &LoadOptions::default()).expect("the inputs are read");
    Loaded { system, program: loaded.value, found: loaded.diagnostics }
}

/// Runs a fixture and gives its YAML, or the line and the first line of the message of the first
/// error.
fn outcome(source: &str) -> Result<String, (u32, String)> {
    let Loaded { system, program, found } = loaded(source);
    let found = found.into_iter().chain(kcl_types::check(&program));
    if let Some(error) = found.into_iter().find(Diagnostic::is_error) {
        return Err(place_and_message(&program, &error));
    }
    match evaluate(&program, &system, &Request::default(), Earlier::Nothing) {
        Ok(evaluated) => Ok(to_yaml(&evaluated.value, OutputOptions::default())),
        Err(error) => Err(place_and_message(&program, &error.diagnostics[0])),
    }
}

fn place_and_message(program: &Program, found: &Diagnostic) -> (u32, String) {
    let line = found.labels[0].at.map_or(0, |at| program.line_col(at.file, at.span).line);
    (line, found.message().lines().next().unwrap_or_default().to_owned())
}

/// Checks what a program gives.
#[track_caller]
pub(crate) fn evaluates(source: &str, yaml: &str) {
    let found = outcome(source).map(|found| found.trim_matches('\n').to_owned());
    assert_eq!(found, Ok(yaml.trim_matches('\n').to_owned()));
}

/// Checks where a program fails and with what message.
#[track_caller]
pub(crate) fn fails(source: &str, line: u32, message: &str) {
    assert_eq!(outcome(source), Err((line, message.to_owned())));
}
