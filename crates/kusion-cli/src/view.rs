//! What the user sees: results on standard output, failures on standard error.

use crate::failure::Failure;
use std::io::{ErrorKind, Write};

/// The form of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Output {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// Prints a result; a reader that has gone is no failure.
pub(crate) fn result(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Prints a failure.
pub(crate) fn error(failure: &Failure) {
    // Nobody is left to tell when this fails.
    let _ = writeln!(std::io::stderr(), "error: {failure}");
}
