//! How a process or request ended, and whether that is as it must be.

use crate::Case;

/// What a process or a request gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Exit code, 128 and more for a signal, or the status of a response; none if the time was up.
    pub code: Option<i32>,
    /// All output.
    pub text: String,
}

/// Texts that only a fault of the program prints.
const FAULTS: &[&str] = &[
    "panicked at",
    "RUST_BACKTRACE",
    "memory allocation of",
    "overflowed its stack",
    "internal error",
    "Segmentation fault",
];

/// Says what is wrong with how a case ended; none if all is as expected.
pub fn broken(case: &Case, finished: &Finished) -> Option<String> {
    let Some(code) = finished.code else { return Some("not finished in time".into()) };
    if let Some(fault) = FAULTS.iter().find(|it| finished.text.contains(**it)) {
        return Some(format!("the output has `{fault}`"));
    }
    if code != case.code {
        return Some(format!("code {code}, expected {}", case.code));
    }
    if !finished.text.contains(&case.text) {
        return Some(format!("the output lacks `{}`", case.text));
    }
    if let Some(found) = case.family.never.iter().find(|it| finished.text.contains(it.as_str())) {
        return Some(format!("the output has `{found}`"));
    }
    let is_odd = |it: &char| it.is_control() && !"\n\t\r".contains(*it);
    finished.text.chars().find(is_odd).map(|it| format!("the output has the character {it:?}"))
}
