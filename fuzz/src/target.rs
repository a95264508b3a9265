//! What is expected of any input: no panic, no endless work, and the laws below.

use crate::input::Kind;

/// How far an input got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reached {
    /// It has syntax errors.
    Rejected,
    /// It is a program, and the static checks say no.
    Accepted,
    /// It was evaluated, with a value or an error at the end.
    Evaluated,
}

/// Feeds one input to its target; an error says which law is broken.
pub(crate) fn feed(kind: Kind, text: &str) -> Result<Reached, String> {
    match kind {
        Kind::Parse | Kind::Run => parse(text),
    }
}

/// Diagnostics lie inside the text.
fn parse(text: &str) -> Result<Reached, String> {
    let parsed = kcl_syntax::parse(text);
    for error in &parsed.diagnostics {
        let (start, end) = (error.span.start as usize, error.span.end as usize);
        if start > end || end > text.len() {
            return Err(format!("a diagnostic lies outside of the text: {error:?}"));
        }
    }
    if !parsed.diagnostics.is_empty() {
        return Ok(Reached::Rejected);
    }
    Ok(Reached::Accepted)
}
