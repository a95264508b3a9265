//! Where output goes.

use crate::Exit;
use base_diag::Colour;
use std::env;
use std::io::{self, IoSlice, IsTerminal as _, Write as _};

/// Writes to standard output. A reader that has gone away is no failure.
pub(crate) fn write_out(text: &str) -> Exit {
    write_all_out(&[text])
}

/// Writes several texts to standard output, one after the other.
pub(crate) fn write_all_out(texts: &[&str]) -> Exit {
    match write_together(&mut io::stdout().lock(), texts) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            write_err(&format!("error: failed to write: {error}\n"));
            Exit::User
        }
        _ => Exit::Done,
    }
}

/// Writes several texts with one call of the system, if it takes them all.
fn write_together(out: &mut impl io::Write, texts: &[&str]) -> io::Result<()> {
    let mut parts: Vec<IoSlice<'_>> = texts
        .iter()
        .map(|text| IoSlice::new(text.as_bytes()))
        .filter(|part| !part.is_empty())
        .collect();
    let mut left = &mut parts[..];
    while !left.is_empty() {
        match out.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => IoSlice::advance_slices(&mut left, n),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    out.flush()
}

/// Writes to standard error, as far as that goes.
pub(crate) fn write_err(text: &str) {
    let mut err = io::stderr().lock();
    // There is nowhere left to report a failure to.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Reports a wrong command line.
pub(crate) fn usage(message: &str) -> Exit {
    write_err(&format!("error: {message}\n\nFor more information, try '--help'.\n"));
    Exit::Usage
}

/// Reports why a command cannot go on.
pub(crate) fn fail(message: &str) -> Exit {
    write_err(&format!("error: {message}\n"));
    Exit::User
}

/// Reads the value of `--color`; `None` lets the terminal decide.
pub(crate) fn colour_choice(when: &str) -> Result<Option<Colour>, String> {
    match when {
        "auto" => Ok(None),
        "always" => Ok(Some(Colour::Always)),
        "never" => Ok(Some(Colour::Never)),
        _ => Err(format!("invalid colour choice '{when}'")),
    }
}

/// Whether messages are coloured: on a terminal, unless `NO_COLOR` is set.
pub(crate) fn auto_colour() -> Colour {
    let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if io::stderr().is_terminal() && !unwanted { Colour::Always } else { Colour::Never }
}
