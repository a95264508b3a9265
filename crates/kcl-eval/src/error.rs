//! Failures of evaluation.

use base_diag::Diagnostic;
use kcl_value::{Fault, Origin};
use std::fmt;

/// Why a program could not be evaluated.
#[derive(Debug)]
pub struct EvalError {
    /// What went wrong and where; more than one only with
    /// [`all_checks`](crate::Options::all_checks). Never empty.
    pub diagnostics: Vec<Diagnostic>,
    /// What `print` had written until then.
    pub printed: String,
    /// What ran, if that was asked for.
    pub coverage: Vec<crate::Hit>,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.diagnostics.first().map_or("", Diagnostic::message))
    }
}

impl std::error::Error for EvalError {}

/// A failure on its way up.
///
/// Without `at` it happened at the expression that was evaluated last.
#[derive(Debug)]
pub(crate) struct Failure(Box<Details>);

#[derive(Debug)]
pub(crate) struct Details {
    /// What the user is told.
    pub(crate) message: String,
    /// The place, if it is not the last expression.
    pub(crate) at: Option<Origin>,
    /// For a failed check: the instance, and what failed.
    pub(crate) check: Option<FailedCheck>,
    /// A remark for the user.
    pub(crate) note: Option<String>,
}

/// The places of a failed check.
#[derive(Debug)]
pub(crate) struct FailedCheck {
    /// Where the instance was written.
    pub(crate) instance: Option<Origin>,
    /// The condition and its message, for the second label.
    pub(crate) headline: String,
}

impl Failure {
    #[cold]
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Details { message: message.into(), at: None, check: None, note: None }))
    }

    #[cold]
    pub(crate) fn at(message: impl Into<String>, at: Origin) -> Self {
        Self(Box::new(Details { message: message.into(), at: Some(at), check: None, note: None }))
    }

    #[cold]
    pub(crate) fn check(message: String, check: FailedCheck) -> Self {
        Self(Box::new(Details { message, at: None, check: Some(check), note: None }))
    }

    /// Adds a remark for the user.
    pub(crate) fn with_note(mut self, note: Option<String>) -> Self {
        self.0.note = note;
        self
    }

    pub(crate) fn details(&self) -> &Details {
        &self.0
    }
}

impl From<Box<Fault>> for Failure {
    #[cold]
    fn from(fault: Box<Fault>) -> Self {
        Self::new(fault.message)
    }
}

/// The result of evaluating something.
pub(crate) type Eval<T> = Result<T, Failure>;

/// A failure at the expression that was evaluated last.
#[cold]
pub(crate) fn fail<T>(message: impl Into<String>) -> Eval<T> {
    Err(Failure::new(message))
}
