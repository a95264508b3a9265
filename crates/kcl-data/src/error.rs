//! Data that can't be read.

use crate::Format;
use base_text::{LineCol, LineIndex};
use thiserror::Error;

/// Why a text is not valid data.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{at}: {message}", at = place(*at))]
pub struct DataError {
    /// The form that was expected.
    pub format: Format,
    /// Where the text stops making sense.
    pub at: LineCol,
    /// What is wrong there.
    pub message: String,
}

impl DataError {
    /// Makes an error at a byte of a text.
    pub(crate) fn at(
        format: Format,
        text: &str,
        offset: usize,
        message: impl Into<String>,
    ) -> Self {
        let offset = u32::try_from(offset.min(text.len())).unwrap_or(u32::MAX);
        let at = LineIndex::new(text).line_col(text, offset);
        Self { format, at, message: message.into() }
    }
}

fn place(at: LineCol) -> String {
    format!("line {}, column {}", at.line, at.col)
}
