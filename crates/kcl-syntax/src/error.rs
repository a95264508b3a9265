//! What the lexer and the parser find wrong.

use base_diag::Severity;
use base_text::Span;
use rustc_hash::FxHashSet;

/// One syntax error and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// How bad.
    pub severity: Severity,
}

impl SyntaxError {
    /// Makes an error.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), severity: Severity::Error }
    }
}

/// Drops errors that say the same of the same place again; the first stays.
pub(crate) fn dedup(errors: &mut Vec<SyntaxError>) {
    if errors.len() < 2 {
        return;
    }
    let all = std::mem::take(errors);
    let mut seen: FxHashSet<(Span, &str)> = FxHashSet::default();
    let first: Vec<bool> = all.iter().map(|e| seen.insert((e.span, &e.message))).collect();
    errors.extend(all.into_iter().zip(first).filter(|(_, first)| *first).map(|(error, _)| error));
}
