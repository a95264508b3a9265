//! Kind `parse`: is the file accepted, and what is wrong with it?

use base_diag::{Diagnostic, Severity};
use base_system::OsSystem;
use base_text::FileId;
use kcl_hir::{Input, LoadOptions, PackageMap, Program};
use serde_json::{Value, json};
use testkit::Case;

/// The file of the case is the first that is loaded.
const FILE: FileId = FileId(0);

/// Answers a case.
pub(crate) fn answer(case: &Case) -> anyhow::Result<Value> {
    let input = Input::path(case.text("file").unwrap_or("main.k"));
    let entries = kcl_hir::resolve_entries(&OsSystem, &[input], &case.dir, &PackageMap::default())?;
    let loaded = kcl_hir::load(&OsSystem, &entries, &LoadOptions::default())?;
    let mut errors: Vec<Value> = Vec::new();
    for diagnostic in loaded.diagnostics.iter().filter(|it| is_of_one_file(it)) {
        for entry in entries_of(diagnostic, &loaded.value) {
            if !errors.contains(&entry) {
                errors.push(entry);
            }
        }
    }
    let accept = errors.iter().all(|error| error["level"] != "error");
    Ok(json!({ "accept": accept, "errors": errors }))
}

/// Whether a finding can be made from the file alone, without the rest of the program.
fn is_of_one_file(diagnostic: &Diagnostic) -> bool {
    let here = diagnostic.labels.iter().all(|label| label.at.is_some_and(|at| at.file == FILE));
    let message = diagnostic.message();
    let of_program = ["Cannot find the module ", "Failed to import the module "];
    here && !of_program.iter().any(|start| message.starts_with(start))
}

/// A diagnostic and its suggestions, as the reference lists them.
fn entries_of(diagnostic: &Diagnostic, program: &Program) -> Vec<Value> {
    let Some(label) = diagnostic.labels.first() else { return Vec::new() };
    let file = program.file(FILE);
    let offset = label.at.map_or(0, |at| at.span.start);
    let place = file.line_col(offset);
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    // The reference counts columns from 0 here.
    let (line, col) = (place.line, place.col - 1);
    let main = json!({
        "level": level, "kind": diagnostic.kind, "line": line, "col": col, "message": label.message,
    });
    let suggestions = label.suggestions.iter().map(|message| {
        let level = "suggestions";
        json!({ "level": level, "kind": "Suggestions", "line": 0, "col": 0, "message": message })
    });
    std::iter::once(main).chain(suggestions).collect()
}
