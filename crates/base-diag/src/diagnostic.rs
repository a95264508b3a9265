//! The diagnostic value.

use crate::Fix;
use base_text::{FileId, FileSpan};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The program can't go on.
    Error,
    /// The program is valid, yet probably not what was meant.
    Warning,
}

/// A place and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where. `None` for what has no place in a file (options, the command line).
    pub at: Option<FileSpan>,
    /// What is said there; the first line is the headline of the label.
    pub message: String,
    /// A remark shown below (`note`).
    pub note: Option<String>,
    /// What to try instead, e.g. a similar name.
    pub suggestions: Vec<String>,
}

/// One finding of one stage.
///
/// In the text form the first label carries the message, as in
/// `error[E2G22]: TypeError` / ` --> main.k:1:5` / `expected int, got str`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// The stable code, e.g. `E2G22`.
    pub code: &'static str,
    /// The kind of finding by name, e.g. `TypeError`.
    pub kind: &'static str,
    /// Places with messages, the main one first. Never empty.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
    /// Changes that would settle it, the best first. The text form does not show them.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// Makes an error with one place.
    pub fn error(
        code: &'static str,
        kind: &'static str,
        at: FileSpan,
        message: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Error, code, kind, Some(at), message)
    }

    /// Makes a warning with one place.
    pub fn warning(
        code: &'static str,
        kind: &'static str,
        at: FileSpan,
        message: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Warning, code, kind, Some(at), message)
    }

    /// Makes a diagnostic; `at` is `None` for what lies in no file.
    pub fn new(
        severity: Severity,
        code: &'static str,
        kind: &'static str,
        at: Option<FileSpan>,
        message: impl Into<String>,
    ) -> Self {
        let label = Label { at, message: message.into(), note: None, suggestions: Vec::new() };
        Self { severity, code, kind, labels: vec![label], help: None, fixes: Vec::new() }
    }

    /// Adds a further place.
    #[must_use]
    pub fn label(mut self, at: FileSpan, message: impl Into<String>) -> Self {
        self.labels.push(Label {
            at: Some(at),
            message: message.into(),
            note: None,
            suggestions: Vec::new(),
        });
        self
    }

    /// Adds a note to the last label.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        if let Some(label) = self.labels.last_mut() {
            label.note = Some(note.into());
        }
        self
    }

    /// Adds suggestions to the last label.
    #[must_use]
    pub fn suggest(mut self, suggestions: Vec<String>) -> Self {
        if let Some(label) = self.labels.last_mut() {
            label.suggestions = suggestions;
        }
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a fix behind the others.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// Whether this stops the program.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The main message.
    pub fn message(&self) -> &str {
        self.labels.first().map_or("", |label| label.message.as_str())
    }
}

/// What one front-end stage made, and what it found wrong on the way.
///
/// A stage never returns `Result`: a file with an error still has a tree, so the
/// formatter, the editor and the later stages can go on working.
#[derive(Clone, Debug)]
pub struct Outcome<T> {
    /// The best value that could be built.
    pub value: T,
    /// What was found wrong.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Outcome<T> {
    /// Whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Gives renderers the names and texts of files.
pub trait SourceMap {
    /// The path to show for a file.
    fn path(&self, file: FileId) -> &str;
    /// The text of a file.
    fn text(&self, file: FileId) -> &str;
}
