//! Findings in the format SARIF 2.1.0, which code hosts and editors read.

use crate::explain::explain;
use base_diag::{Applicability, Diagnostic, Fix, Severity, SourceMap};
use base_text::{FileSpan, LineIndex, push_json_string};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Renders findings as one SARIF document, ending with a line end. `version` is that of the tool.
pub fn render_sarif(found: &[Diagnostic], sources: &dyn SourceMap, version: &str) -> String {
    let mut out = String::from(
        "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\
         \"runs\":[{\"tool\":{\"driver\":{\"name\":\"kcl\",\"version\":",
    );
    push_json_string(&mut out, version);
    out.push_str(",\"rules\":[");
    let codes: BTreeSet<&str> = found.iter().map(|it| it.code).collect();
    for (at, code) in codes.iter().enumerate() {
        out.push_str(if at == 0 { "\n{\"id\":" } else { ",\n{\"id\":" });
        push_json_string(&mut out, code);
        if let Some(page) = explain(code) {
            out.push_str(",\"shortDescription\":{\"text\":");
            push_json_string(&mut out, page.lines().next().unwrap_or("").trim_start_matches("# "));
            out.push_str("},\"fullDescription\":{\"text\":");
            push_json_string(&mut out, page);
            out.push('}');
        }
        out.push('}');
    }
    out.push_str("]}},\"columnKind\":\"unicodeCodePoints\",\"results\":[");
    for (at, diagnostic) in found.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        result(&mut out, diagnostic, sources);
    }
    out.push_str("]}]}\n");
    out
}

fn result(out: &mut String, diagnostic: &Diagnostic, sources: &dyn SourceMap) {
    out.push_str("{\"ruleId\":");
    push_json_string(out, diagnostic.code);
    out.push_str(match diagnostic.severity {
        Severity::Error => ",\"level\":\"error\"",
        Severity::Warning => ",\"level\":\"warning\"",
    });
    out.push_str(",\"message\":{\"text\":");
    push_json_string(out, diagnostic.message());
    out.push_str("},\"locations\":[");
    if let Some(at) = diagnostic.labels.first().and_then(|label| label.at) {
        out.push('{');
        physical_location(out, at, sources);
        out.push('}');
    }
    out.push(']');
    let fixes: Vec<&Fix> =
        diagnostic.fixes.iter().filter(|fix| fix.applicability == Applicability::Safe).collect();
    if !fixes.is_empty() {
        out.push_str(",\"fixes\":[");
        for (at, fix) in fixes.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { "," });
            write_fix(out, fix, sources);
        }
        out.push(']');
    }
    out.push('}');
}

fn physical_location(out: &mut String, at: FileSpan, sources: &dyn SourceMap) {
    out.push_str("\"physicalLocation\":{");
    artifact(out, at, sources);
    out.push(',');
    region(out, "region", at, sources);
    out.push('}');
}

fn artifact(out: &mut String, at: FileSpan, sources: &dyn SourceMap) {
    out.push_str("\"artifactLocation\":{\"uri\":");
    push_json_string(out, &uri(sources.path(at.file)));
    out.push('}');
}

fn region(out: &mut String, name: &str, at: FileSpan, sources: &dyn SourceMap) {
    let text = sources.text(at.file);
    let lines = LineIndex::new(text);
    let (start, end) = (lines.line_col(text, at.span.start), lines.line_col(text, at.span.end));
    let written = write!(
        out,
        "\"{name}\":{{\"startLine\":{},\"startColumn\":{},\"endLine\":{},\"endColumn\":{}}}",
        start.line, start.col, end.line, end.col
    );
    debug_assert!(written.is_ok(), "a String takes all text");
}

fn write_fix(out: &mut String, fix: &Fix, sources: &dyn SourceMap) {
    out.push_str("{\"description\":{\"text\":");
    push_json_string(out, &fix.title);
    out.push_str("},\"artifactChanges\":[");
    for (at, edit) in fix.edits.iter().enumerate() {
        out.push_str(if at == 0 { "{" } else { ",{" });
        artifact(out, edit.at, sources);
        out.push_str(",\"replacements\":[{");
        region(out, "deletedRegion", edit.at, sources);
        out.push_str(",\"insertedContent\":{\"text\":");
        push_json_string(out, &edit.text);
        out.push_str("}}]}");
    }
    out.push_str("]}");
}

/// A path as a URI: bytes that a URI cannot hold are written as `%20`.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
            out.push('%');
            out.extend([digit(byte >> 4), digit(byte & 15)].map(|c| c.to_ascii_uppercase()));
        }
    }
    out
}
