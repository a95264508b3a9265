//! The JSON form of diagnostics, for tools.

use crate::{Applicability, Diagnostic, Fix, Severity, SourceMap};
use base_text::{FileSpan, LineIndex, push_json_string};
use std::fmt::Write as _;

/// Renders diagnostics as one JSON array, ending with a line end.
///
/// Each object has `severity`, `code`, `kind`, `message`, the place (`file`, `line`,
/// `column`, `end_line`, `end_column`, all from 1, or `null`), `labels` with every place,
/// `help`, and `fixes`: `title`, `applicability` (`safe` or `suggestion`) and `edits`, each a
/// place and the `text` that replaces what is there.
pub fn render_json(diagnostics: &[Diagnostic], sources: &dyn SourceMap) -> String {
    let mut out = String::from("[");
    for (i, diagnostic) in diagnostics.iter().enumerate() {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        write_diagnostic(&mut out, diagnostic, sources);
    }
    out.push_str(if diagnostics.is_empty() { "]\n" } else { "\n]\n" });
    out
}

fn write_diagnostic(out: &mut String, diagnostic: &Diagnostic, sources: &dyn SourceMap) {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    out.push_str("{\"severity\":\"");
    out.push_str(severity);
    out.push_str("\",\"code\":");
    push_json_string(out, diagnostic.code);
    out.push_str(",\"kind\":");
    push_json_string(out, diagnostic.kind);
    out.push_str(",\"message\":");
    push_json_string(out, diagnostic.message());
    if let Some(label) = diagnostic.labels.first() {
        write_place(out, label.at, sources);
    }
    out.push_str(",\"labels\":[");
    for (i, label) in diagnostic.labels.iter().enumerate() {
        out.push_str(if i == 0 { "{\"message\":" } else { ",{\"message\":" });
        push_json_string(out, &label.message);
        write_place(out, label.at, sources);
        out.push_str(",\"note\":");
        write_option(out, label.note.as_deref());
        out.push_str(",\"suggestions\":[");
        for (i, suggestion) in label.suggestions.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            push_json_string(out, suggestion);
        }
        out.push_str("]}");
    }
    out.push_str("],\"help\":");
    write_option(out, diagnostic.help.as_deref());
    out.push_str(",\"fixes\":[");
    for (i, fix) in diagnostic.fixes.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_fix(out, fix, sources);
    }
    out.push_str("]}");
}

fn write_fix(out: &mut String, fix: &Fix, sources: &dyn SourceMap) {
    out.push_str("{\"title\":");
    push_json_string(out, &fix.title);
    out.push_str(match fix.applicability {
        Applicability::Safe => ",\"applicability\":\"safe\",\"edits\":[",
        Applicability::Suggestion => ",\"applicability\":\"suggestion\",\"edits\":[",
    });
    for (i, edit) in fix.edits.iter().enumerate() {
        out.push_str(if i == 0 { "{\"text\":" } else { ",{\"text\":" });
        push_json_string(out, &edit.text);
        write_place(out, Some(edit.at), sources);
        out.push('}');
    }
    out.push_str("]}");
}

fn write_place(out: &mut String, at: Option<FileSpan>, sources: &dyn SourceMap) {
    let Some(at) = at else {
        out.push_str(
            ",\"file\":null,\"line\":null,\"column\":null,\"end_line\":null,\"end_column\":null",
        );
        return;
    };
    let text = sources.text(at.file);
    let lines = LineIndex::new(text);
    let start = lines.line_col(text, at.span.start);
    let end = lines.line_col(text, at.span.end.max(at.span.start));
    out.push_str(",\"file\":");
    push_json_string(out, sources.path(at.file));
    // Writing to a string does not fail.
    let _ = write!(
        out,
        ",\"line\":{},\"column\":{},\"end_line\":{},\"end_column\":{}",
        start.line, start.col, end.line, end.col
    );
}

fn write_option(out: &mut String, text: Option<&str>) {
    match text {
        Some(text) => push_json_string(out, text),
        None => out.push_str("null"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_text::{FileId, FileSpan, Span};

    struct One;

    impl SourceMap for One {
        fn path(&self, _: FileId) -> &'static str {
            "/w/main.k"
        }
        fn text(&self, _: FileId) -> &'static str {
            "a = \"x\"\n"
        }
    }

    #[test]
    fn an_array_of_objects_with_places() {
        let at = FileSpan { file: FileId(0), span: Span::new(4, 7) };
        let found = Diagnostic::error("E2G22", "TypeError", at, "got \"x\"");
        let cli = Diagnostic::new(Severity::Error, "E3M38", "EvaluationError", None, "bad")
            .help("try again");
        assert_eq!(
            render_json(&[found, cli], &One),
            "[\n{\"severity\":\"error\",\"code\":\"E2G22\",\"kind\":\"TypeError\",\
             \"message\":\"got \\\"x\\\"\",\"file\":\"/w/main.k\",\"line\":1,\"column\":5,\
             \"end_line\":1,\"end_column\":8,\"labels\":[{\"message\":\"got \\\"x\\\"\",\
             \"file\":\"/w/main.k\",\"line\":1,\"column\":5,\"end_line\":1,\"end_column\":8,\
             \"note\":null,\"suggestions\":[]}],\"help\":null,\"fixes\":[]},\n\
             {\"severity\":\"error\",\"code\":\"E3M38\",\"kind\":\"EvaluationError\",\
             \"message\":\"bad\",\"file\":null,\"line\":null,\"column\":null,\"end_line\":null,\
             \"end_column\":null,\"labels\":[{\"message\":\"bad\",\"file\":null,\"line\":null,\
             \"column\":null,\"end_line\":null,\"end_column\":null,\"note\":null,\
             \"suggestions\":[]}],\"help\":\"try again\",\"fixes\":[]}\n]\n"
        );
        assert_eq!(render_json(&[], &One), "[]\n");
    }

    #[test]
    fn fixes_have_places_and_texts() {
        let at = FileSpan { file: FileId(0), span: Span::new(4, 7) };
        let found = Diagnostic::error("E2G22", "TypeError", at, "got a text")
            .fix(Fix::suggestion("write a number").edit(at, "1"));
        let text = render_json(&[found], &One);
        let want = "\"fixes\":[{\"title\":\"write a number\",\"applicability\":\"suggestion\",\
                    \"edits\":[{\"text\":\"1\",\"file\":\"/w/main.k\",\"line\":1,\"column\":5,\
                    \"end_line\":1,\"end_column\":8}]}]}\n]\n";
        assert!(text.ends_with(want), "{text}");
    }
}
