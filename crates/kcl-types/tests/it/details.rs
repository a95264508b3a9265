//! All there is to the findings of wrong programs: places, notes, suggestions and fixes; and the
//! types of their globals.
//!
//! The programs are those of `tests/fixtures/types/refused.txt`, whose messages are compared with
//! the reference. `data/details.txt` has the rest; `UPDATE=1` rewrites it.

use crate::try_load;
use base_diag::{Diagnostic, SourceMap as _};
use base_text::FileSpan;
use kcl_hir::{PackageId, Program};
use std::fmt::Write as _;
use std::path::Path;
use testkit::{Fixture, golden};

#[test]
fn findings_have_places_notes_suggestions_and_fixes() {
    let text = include_str!("../../../../tests/fixtures/types/refused.txt");
    let mut shown = String::new();
    for case in text.split("=== ").filter(|case| !case.is_empty()) {
        let (name, rest) = case.split_once('\n').expect("a case has a program");
        let source = rest.split("--- ").next().unwrap_or_default();
        if source.starts_with("$ ") {
            continue;
        }
        let program = try_load(&Fixture::parse(source)).value;
        let _ = writeln!(shown, "=== {name}");
        let checked = kcl_types::check_with_types(&program);
        assert_eq!(kcl_types::check(&program), checked.diagnostics, "{name}");
        for finding in &checked.diagnostics {
            show(&mut shown, &program, finding);
        }
        for (name, ty) in checked.types.globals(PackageId(0)) {
            let _ = writeln!(shown, "{name}: {ty}");
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/details.txt");
    golden::check(&path, &shown).expect("the findings are those of the file");
}

fn show(shown: &mut String, program: &Program, finding: &Diagnostic) {
    let place = |at: FileSpan| {
        let start = program.line_col(at.file, at.span);
        let text = at.span.slice(&program.file(at.file).text);
        let text = text.lines().next().unwrap_or_default();
        let path = program.path(at.file).trim_start_matches("/app/");
        format!("{path}:{}:{} `{text}`", start.line, start.col)
    };
    let _ = writeln!(shown, "{:?} {} {}", finding.severity, finding.code, finding.kind);
    for label in &finding.labels {
        let at = label.at.map(place).unwrap_or_default();
        let _ = writeln!(shown, "  {at}: {}", label.message);
        if let Some(note) = &label.note {
            let _ = writeln!(shown, "    note: {note}");
        }
        if !label.suggestions.is_empty() {
            let _ = writeln!(shown, "    similar: {}", label.suggestions.join(", "));
        }
    }
    if let Some(help) = &finding.help {
        let _ = writeln!(shown, "  help: {help}");
    }
    for fix in &finding.fixes {
        let edits = fix.edits.iter().map(|edit| format!("{} -> `{}`", place(edit.at), edit.text));
        let edits: Vec<String> = edits.collect();
        let _ =
            writeln!(shown, "  {:?} fix: {}: {}", fix.applicability, fix.title, edits.join("; "));
    }
}
