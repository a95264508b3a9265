//! Kind `parse`: is the file accepted, and what is wrong with it?

use base_diag::Severity;
use base_text::LineIndex;
use serde_json::{Value, json};
use testkit::Case;

/// Answers a case.
pub(crate) fn answer(case: &Case) -> anyhow::Result<Value> {
    let text = case.read_file(case.text("file").unwrap_or("main.k"))?;
    let parsed = kcl_syntax::parse(&text);
    let lines = LineIndex::new(&text);
    let mut errors: Vec<Value> = Vec::new();
    for error in &parsed.diagnostics {
        let place = lines.line_col(&text, error.span.start);
        let level = match error.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let entry = json!({
            "level": level,
            "kind": "InvalidSyntax",
            "line": place.line,
            // The reference counts columns from 0 here.
            "col": place.col - 1,
            "message": error.message,
        });
        if !errors.contains(&entry) {
            errors.push(entry);
        }
    }
    let accept = errors.iter().all(|error| error["level"] != "error");
    Ok(json!({ "accept": accept, "errors": errors }))
}
