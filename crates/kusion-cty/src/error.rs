//! Errors of encodings and conversions.

use crate::{Path, Step};
use std::fmt;

/// Why a value cannot be decoded, encoded or converted, and at which part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    // The last step first: errors pass from the inside to the outside.
    steps: Vec<Step>,
    message: String,
}

impl ValueError {
    /// Creates the error of a whole value.
    #[cold]
    pub fn new(message: impl Into<String>) -> Self {
        Self { steps: Vec::new(), message: message.into() }
    }

    /// Returns the error as one of the value around it.
    #[cold]
    #[must_use]
    pub fn under(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Returns the path of the part.
    pub fn path(&self) -> Path {
        Path(self.steps.iter().rev().cloned().collect())
    }

    /// Returns the message without the path.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.steps.is_empty() {
            write!(f, "{}: ", self.path())?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ValueError {}
