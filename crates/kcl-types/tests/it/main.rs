//! Tests of the type checker through its only function.
//!
//! Small programs have their findings written under the code; see [`check_findings`].

mod calls;
mod configs;
mod details;
mod fits;
mod fixes;
mod library;
mod limits;
mod names;
mod operators;
mod packages;
mod schemas;
mod unions;

use base_diag::{Diagnostic, Outcome, SourceMap as _};
use base_system::MemorySystem;
use kcl_hir::{Input, LoadOptions, PackageMap, Program, load, resolve_entries};
use std::path::Path;
use testkit::Fixture;

/// Loads a fixture as a program; its last file is the main one, `main*.k` belong together.
fn load_fixture(fixture: &Fixture) -> Program {
    let outcome = try_load(fixture);
    assert!(!outcome.has_errors(), "{:#?}", outcome.diagnostics);
    outcome.value
}

/// The same for a program that may have errors before it is checked.
fn try_load(fixture: &Fixture) -> Outcome<Program> {
    let mut system = MemorySystem::new().with_file("/app/kcl.mod", "");
    for file in &fixture.files {
        system = system.with_file(format!("/app/{}", file.path), file.text.clone());
    }
    let is_main = |path: &&str| path.starts_with("main");
    let inputs: Vec<Input> = fixture
        .files
        .iter()
        .map(|file| file.path.as_str())
        .filter(is_main)
        .map(Input::path)
        .collect();
    let work_dir = Path::new("/app");
    let entries = resolve_entries(&system, &inputs, work_dir, &PackageMap::default())
        .expect("fixtures can be loaded");
    load(&system, &entries, &LoadOptions::default()).expect("fixtures can be loaded")
}

/// Checks that the errors in a program are those that its annotations name.
///
/// Carets point at the column of a finding, unless it is one of the first two, where no
/// caret can stand.
fn check_findings(source: &str) {
    let fixture = Fixture::parse(source);
    let program = load_fixture(&fixture);
    let mut found: Vec<(String, u32, u32, String)> = kcl_types::check(&program)
        .iter()
        .filter(|finding| finding.is_error())
        .map(|finding| place(&program, finding))
        .collect();
    let mut expected: Vec<(String, u32, u32, String)> = Vec::new();
    for file in &fixture.files {
        for annotation in &file.annotations {
            let code = annotation.code.as_deref().unwrap_or("");
            let text = format!("{code}: {}", annotation.message);
            expected.push((file.path.clone(), annotation.line, annotation.col, text));
        }
    }
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "findings differ from annotations");
}

fn place(program: &Program, finding: &Diagnostic) -> (String, u32, u32, String) {
    let at = finding.labels[0].at.expect("findings have a place");
    let place = program.line_col(at.file, at.span);
    let path = Path::new(program.path(at.file));
    let path = path.strip_prefix("/app").unwrap_or(path).display().to_string();
    (path, place.line, place.col.max(3), format!("{}: {}", finding.code, finding.message()))
}
