//! Diagnostics with the texts that they point into.

use crate::{Colour, Diagnostic, Severity, SourceMap, render_json, render_text};
use base_text::{FileId, LineCol, LineIndex};
use std::collections::BTreeMap;

/// Diagnostics together with the files that they point into: data that can be kept, sent to
/// another thread and rendered later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    diagnostics: Vec<Diagnostic>,
    files: BTreeMap<FileId, Source>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    path: String,
    text: String,
}

/// A diagnostic as one line of facts: its main message and where it points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding<'f> {
    /// How bad it is.
    pub severity: Severity,
    /// The stable code, e.g. `E2G22`.
    pub code: &'static str,
    /// The kind by name, e.g. `TypeError`.
    pub kind: &'static str,
    /// The main message.
    pub message: &'f str,
    /// The file and the place in it; `None` for what has no place in a file.
    pub at: Option<(&'f str, LineCol)>,
    /// What to do about it.
    pub help: Option<&'f str>,
}

impl Findings {
    /// Keeps diagnostics and the files of `sources` that they point into.
    pub fn new(diagnostics: Vec<Diagnostic>, sources: &dyn SourceMap) -> Self {
        let labels = diagnostics.iter().flat_map(|diagnostic| &diagnostic.labels);
        let mut files = BTreeMap::new();
        for at in labels.filter_map(|label| label.at) {
            files.entry(at.file).or_insert_with(|| Source {
                path: sources.path(at.file).to_owned(),
                text: sources.text(at.file).to_owned(),
            });
        }
        Self { diagnostics, files }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Returns each finding as facts, in order.
    pub fn iter(&self) -> impl Iterator<Item = Finding<'_>> {
        self.diagnostics.iter().map(|diagnostic| {
            let at = diagnostic.labels.first().and_then(|label| label.at);
            let place = at.and_then(|at| {
                let file = self.files.get(&at.file)?;
                let at = LineIndex::new(&file.text).line_col(&file.text, at.span.start);
                Some((file.path.as_str(), at))
            });
            Finding {
                severity: diagnostic.severity,
                code: diagnostic.code,
                kind: diagnostic.kind,
                message: diagnostic.message(),
                at: place,
                help: diagnostic.help.as_deref(),
            }
        })
    }

    /// Renders the findings as text.
    pub fn to_text(&self, colour: Colour) -> String {
        render_text(&self.diagnostics, self, colour)
    }

    /// Renders the findings as a JSON array.
    pub fn to_json(&self) -> String {
        render_json(&self.diagnostics, self)
    }
}

impl SourceMap for Findings {
    fn path(&self, file: FileId) -> &str {
        self.files.get(&file).map_or("", |source| &source.path)
    }

    fn text(&self, file: FileId) -> &str {
        self.files.get(&file).map_or("", |source| &source.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_text::{FileSpan, Span};

    struct Many;

    impl SourceMap for Many {
        fn path(&self, file: FileId) -> &str {
            if file.0 == 0 { "a.k" } else { "b.k" }
        }
        fn text(&self, _: FileId) -> &'static str {
            "a = 1\nb = x\n"
        }
    }

    #[test]
    fn findings_render_as_they_did_with_their_sources() {
        let at = FileSpan { file: FileId(1), span: Span::new(10, 11) };
        let found = vec![
            Diagnostic::error("E2L23", "CompileError", at, "name 'x' is not defined").help("set x"),
            Diagnostic::new(Severity::Warning, "W0001", "ModFile", None, "bad"),
        ];
        let text = render_text(&found, &Many, Colour::Never);
        let json = render_json(&found, &Many);
        let findings = Findings::new(found, &Many);
        assert_eq!(findings.to_text(Colour::Never), text);
        assert_eq!(findings.to_json(), json);
        let facts: Vec<_> = findings.iter().collect();
        assert_eq!(facts[0].at, Some(("b.k", LineCol { line: 2, col: 5 })));
        assert_eq!((facts[0].message, facts[0].help), ("name 'x' is not defined", Some("set x")));
        assert_eq!((facts[1].severity, facts[1].at), (Severity::Warning, None));
    }
}
