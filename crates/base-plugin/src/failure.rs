//! Why a program gave no result.

use std::fmt;
use std::time::Duration;
use thiserror::Error;

/// A question without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// How messages name the program.
    pub title: String,
    /// What happened.
    pub problem: Problem,
    /// The last line that it wrote to standard error.
    pub last_line: Option<String>,
}

/// What happened to a question.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// The program cannot be started.
    #[error("cannot be started: {0}")]
    NotStarted(String),
    /// It has failed too often.
    #[error("has failed {0} times and is not started again")]
    GivenUp(u32),
    /// It did not answer in time.
    #[error("did not answer within {0:?} and was stopped")]
    TimedOut(Duration),
    /// It ended.
    #[error("ended without an answer ({0})")]
    Ended(String),
    /// It sent a message that is too long.
    #[error("sent a line of more than {0} bytes and was stopped")]
    LongMessage(usize),
    /// It wrote too much to standard error.
    #[error("wrote more than {0} bytes to standard error and was stopped")]
    ManyErrors(usize),
    /// It sent something that is not an answer.
    #[error("sent a line that is not an answer in JSON-RPC 2.0 and was stopped: `{0}`")]
    NoAnswer(String),
    /// It answered another question.
    #[error("answered the request `{found}`, but `{expected}` was asked, and was stopped")]
    WrongId {
        /// The id of the question.
        expected: u64,
        /// The id of the answer.
        found: String,
    },
    /// It speaks another protocol.
    #[error("speaks the protocol `{found}`, but `{expected}` is needed")]
    WrongProtocol {
        /// What was asked for.
        expected: String,
        /// What it answered.
        found: String,
    },
    /// The question is too long.
    #[error("cannot be given more than {0} bytes")]
    LongRequest(usize),
    /// It answered with an error. It goes on running.
    #[error("failed: {message}")]
    Refused {
        /// The code of the error.
        code: i64,
        /// What it says.
        message: String,
    },
}

impl Failure {
    /// Whether the program can be asked again.
    pub(crate) fn leaves_it_running(&self) -> bool {
        matches!(self.problem, Problem::Refused { .. } | Problem::LongRequest(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.title, self.problem)?;
        match &self.last_line {
            // It has said what is wrong.
            Some(_) if matches!(self.problem, Problem::Refused { .. }) => Ok(()),
            Some(line) => write!(f, "; its last line on standard error: `{line}`"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

/// The most characters of foreign text in a message.
const MAX_QUOTED: usize = 300;

/// Makes foreign text fit for a message: at most one line of limited length, without characters that
/// control a terminal.
pub(crate) fn quotable(text: &str) -> String {
    let mut quoted = String::new();
    for (at, char) in text.trim().chars().enumerate() {
        if at == MAX_QUOTED {
            quoted.push('…');
            break;
        }
        let turns_text = matches!(char,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if char == '\t' {
            quoted.push(' ');
        } else if char.is_control() || turns_text {
            quoted.extend(char.escape_default());
        } else {
            quoted.push(char);
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_short_and_harmless() {
        assert_eq!(quotable(" a\tb\u{1b}[31m\u{202e}\n"), "a b\\u{1b}[31m\\u{202e}");
        assert_eq!(quotable(&"x".repeat(1000)).chars().count(), MAX_QUOTED + 1);
    }
}
