//! From the places of a program back to those of the data that it was made from.

use crate::report::{Failure, Place};
use base_diag::{Diagnostic, Findings, SourceMap};
use base_text::{FileId, LineIndex, Span};
use kcl_data::Anchors;
use kcl_hir::Program;

/// A document of a data file, and the source that stands for it in a program.
pub(crate) struct Traced<'d> {
    /// The name of the data file.
    pub(crate) name: &'d str,
    /// The text of the data file.
    pub(crate) text: &'d str,
    /// Which document of the file it is, from 1.
    pub(crate) document: usize,
    /// Where the parts of the source come from.
    pub(crate) anchors: Anchors,
}

/// The files of a program, with the data file in the place of its source.
struct Sources<'p> {
    program: &'p Program,
    file: FileId,
    traced: &'p Traced<'p>,
}

impl SourceMap for Sources<'_> {
    fn path(&self, file: FileId) -> &str {
        if file == self.file { self.traced.name } else { self.program.path(file) }
    }

    fn text(&self, file: FileId) -> &str {
        if file == self.file { self.traced.text } else { self.program.text(file) }
    }
}

impl Traced<'_> {
    /// Turns findings about a program, whose first file is the source of the data, into failures.
    pub(crate) fn failures(&self, found: Vec<Diagnostic>, program: &Program) -> Vec<Failure> {
        let file = program.main_package().and_then(|package| package.files.first()).copied();
        let sources = Sources { program, file: file.unwrap_or(FileId(u32::MAX)), traced: self };
        found.into_iter().map(|it| self.failure(it, &sources)).collect()
    }

    /// The start of the line of a place.
    fn line_of(&self, span: Span) -> Span {
        let before = self.text.get(..span.start as usize).unwrap_or_default();
        Span::empty(before.rfind('\n').map_or(0, |at| at + 1) as u32)
    }

    fn failure(&self, mut found: Diagnostic, sources: &Sources<'_>) -> Failure {
        // Fixes would change the source, which nobody sees.
        found.fixes.clear();
        for label in &mut found.labels {
            if let Some(at) = label.at.as_mut().filter(|at| at.file == sources.file) {
                let span = self.anchors.find(at.span.start).unwrap_or_default();
                // Evaluation knows lines only: an empty span is the start of one.
                at.span = if at.span.start == at.span.end { self.line_of(span) } else { span };
            }
        }
        let place = |is_data: bool| {
            let label = found
                .labels
                .iter()
                .find(|label| label.at.is_some_and(|at| (at.file == sources.file) == is_data))?;
            let at = label.at?;
            let text = sources.text(at.file);
            let line_col = LineIndex::new(text).line_col(text, at.span.start);
            Some(Place {
                file: sources.path(at.file).to_owned(),
                line: line_col.line,
                col: line_col.col,
                message: label.message.clone(),
            })
        };
        let (data, rule) = (place(true), place(false));
        // A failed check has its message at the rule.
        let message = match (found.message(), &rule) {
            ("Instance check failed", Some(rule)) => rule.message.clone(),
            ("", Some(rule)) if rule.message.is_empty() => "assertion failed".to_owned(),
            (message, _) => message.to_owned(),
        };
        Failure {
            code: Some(found.code),
            kind: Some(found.kind),
            message,
            document: self.document,
            data,
            rule,
            is_of_evaluation: found.code == "E3M38",
            findings: Findings::new(vec![found], sources),
        }
    }
}
