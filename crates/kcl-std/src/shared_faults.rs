//! Messages of the reference that are the texts of its own failures.
//!
//! Where the reference meets input that it did not expect, it ends in a panic of its library and
//! shows that text as the message of an evaluation error. Codes, lines and messages of diagnostics
//! are facts that we share with it: scripts compare them, and so do the conformance vectors and
//! `tests/fixtures`. So the texts are kept byte for byte, and only here. None of them comes from a
//! panic of ours.

use kcl_value::Fault;
use std::fmt::Display;

/// The message for something that is missing: a key, or a character at a byte position.
const NONE: &str = "called `Option::unwrap()` on a `None` value";

/// How the message for a failed conversion begins; the failure follows.
const FAILED: &str = "called `Result::unwrap()` on an `Err` value: ";

/// The fault for something that is missing.
#[cold]
pub(crate) fn missing_value() -> Box<Fault> {
    Fault::new(NONE)
}

/// The fault for a conversion that failed, with the failure as the reference's libraries print it.
#[cold]
pub(crate) fn failed_conversion(failure: impl Display) -> Box<Fault> {
    Fault::new(format!("{FAILED}{failure}"))
}
