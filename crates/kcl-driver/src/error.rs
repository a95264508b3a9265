//! Why a run stopped.

use base_diag::{Colour, Diagnostic, Findings, Severity, render_json, render_text};
use kcl_eval::Hit;
use kcl_hir::Program;
use std::error::Error;
use std::fmt;

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The program or its inputs: the message says what to change.
    User,
    /// A bug of ours.
    Internal,
}

/// A run that failed, with all there is to say about it.
#[derive(Debug)]
pub struct RunError {
    /// Whose fault it is.
    pub kind: FailureKind,
    /// What was found, errors only, in order. Never empty.
    pub diagnostics: Vec<Diagnostic>,
    /// What `print` had written until then.
    pub printed: String,
    /// What of the program ran, if that was asked for.
    pub coverage: Vec<Hit>,
    /// The program so far; it knows the files that diagnostics point into.
    pub program: Program,
}

impl RunError {
    /// Makes an error that lies in no file.
    pub(crate) fn plain(message: impl fmt::Display) -> Box<Self> {
        let message = message.to_string();
        let diagnostic =
            Diagnostic::new(Severity::Error, "E3M38", "EvaluationError", None, message);
        Self::new(vec![diagnostic], Program::default())
    }

    pub(crate) fn new(diagnostics: Vec<Diagnostic>, program: Program) -> Box<Self> {
        let kind = FailureKind::User;
        Box::new(Self { kind, diagnostics, printed: String::new(), coverage: Vec::new(), program })
    }

    /// The findings with the files that they point into.
    pub fn into_findings(self) -> Findings {
        Findings::new(self.diagnostics, &self.program)
    }

    /// The findings as text.
    pub fn to_text(&self, colour: Colour) -> String {
        render_text(&self.diagnostics, &self.program, colour)
    }

    /// The findings as a JSON array.
    pub fn to_json(&self) -> String {
        render_json(&self.diagnostics, &self.program)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.diagnostics.first().map_or("", Diagnostic::message))
    }
}

impl Error for RunError {}
