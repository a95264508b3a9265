//! Why something can't be imported.

use base_text::{LineCol, LineIndex, Span};
use kcl_data::DataError;
use thiserror::Error;

/// Why something can't be imported.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImportError {
    /// The data can't be read.
    #[error("{format} at {0}", format = .0.format)]
    Data(DataError),
    /// What it says can't be written as KCL.
    #[error("line {line}, column {col}: {message}", line = at.line, col = at.col)]
    At {
        /// The place in the input.
        at: LineCol,
        /// What is wrong, and what to do.
        message: String,
    },
    /// The input as a whole.
    #[error("{0}")]
    Whole(String),
}

impl ImportError {
    /// Makes an error at a place of a text.
    pub(crate) fn at(text: &str, span: Span, message: impl Into<String>) -> Self {
        let at = LineIndex::new(text).line_col(text, span.start);
        Self::At { at, message: message.into() }
    }
}
