//! Questions on a terminal.

use crate::terminal;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

/// How long an answer may be, in bytes.
const MAX_ANSWER: u64 = 1 << 16;

/// Returns whether questions can be asked: standard input is a terminal.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// Asks for a text.
pub(crate) fn ask(question: &str) -> io::Result<String> {
    terminal::write_err(question);
    let mut line = String::new();
    io::stdin().lock().take(MAX_ANSWER).read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// Asks for a text that the terminal does not show.
pub(crate) fn ask_hidden(question: &str) -> io::Result<String> {
    let old = tcgetattr(io::stdin())?;
    let mut hidden = old.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    // The end of the line is shown.
    hidden.local_modes.insert(LocalModes::ECHONL);
    tcsetattr(io::stdin(), OptionalActions::Now, &hidden)?;
    let answer = ask(question);
    tcsetattr(io::stdin(), OptionalActions::Now, &old)?;
    answer
}
