//! Where output goes.

use crate::{Exit, help};
use base_diag::Colour;
use std::env;
use std::io::{self, IoSlice, IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

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

/// Reports a failure that lies in no source.
pub(crate) fn fail(message: &str) -> Exit {
    write_err(&format!("error: {message}\n"));
    Exit::User
}

/// Reports a bug of ours.
pub(crate) fn bug() -> Exit {
    write_err(&format!(
        "error: this is a bug in {}please report it with the program that shows it\n",
        help::VERSION
    ));
    Exit::Internal
}

/// A text of another origin, such as a path, without control characters.
pub(crate) fn safe(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Whether messages are coloured: on a terminal, unless `NO_COLOR` is set.
pub(crate) fn auto_colour() -> Colour {
    if io::stderr().is_terminal() && !is_colour_unwanted() { Colour::Always } else { Colour::Never }
}

/// Whether results are coloured: on a terminal, unless `NO_COLOR` is set.
pub(crate) fn auto_colour_out() -> Colour {
    if io::stdout().is_terminal() && !is_colour_unwanted() { Colour::Always } else { Colour::Never }
}

fn is_colour_unwanted() -> bool {
    env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// A line on standard error that says how far work has come; only on a terminal.
pub(crate) struct Progress {
    what: &'static str,
    is_shown: bool,
    begun: Instant,
    /// When the line was written last.
    last: Mutex<Option<Instant>>,
}

impl Progress {
    /// Short work needs no line.
    const DELAY: Duration = Duration::from_millis(250);
    /// The line is written at most so often.
    const PERIOD: Duration = Duration::from_millis(50);

    pub(crate) fn new(what: &'static str) -> Self {
        let is_shown = io::stderr().is_terminal();
        Self { what, is_shown, begun: Instant::now(), last: Mutex::new(None) }
    }

    /// Says that so many of so many are done.
    pub(crate) fn show(&self, done: usize, total: usize) {
        if !self.is_shown || self.begun.elapsed() < Self::DELAY {
            return;
        }
        let Ok(mut last) = self.last.lock() else { return };
        if last.is_none_or(|last| last.elapsed() >= Self::PERIOD) {
            *last = Some(Instant::now());
            write_err(&format!("\r{done}/{total} {}\x1b[K", self.what));
        }
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        if self.last.lock().is_ok_and(|last| last.is_some()) {
            write_err("\r\x1b[K");
        }
    }
}
