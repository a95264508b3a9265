//! Failures of operations on values.

use std::fmt;

/// Why an operation on values failed: the message that a user sees.
///
/// The evaluator adds the place. Always boxed, so that a result stays small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The message, in the reference's words.
    pub message: String,
}

impl Fault {
    /// Makes a boxed fault.
    #[cold]
    pub fn new(message: impl Into<String>) -> Box<Self> {
        Box::new(Self { message: message.into() })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// The result of an operation on values.
pub type Result<T> = std::result::Result<T, Box<Fault>>;
