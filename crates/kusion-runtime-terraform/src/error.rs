//! Errors of calls to providers.

use crate::Diagnostic;
use crate::wire::Call;
use std::fmt;
use std::time::Duration;

/// Why a provider cannot be used, or why a call failed. Texts of providers contain no control
/// characters and are limited in length.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProviderError {
    /// The program does not start, or does not behave as a provider.
    #[error("cannot start the provider `{provider}`: {message}")]
    Start {
        /// The provider.
        provider: String,
        /// Why.
        message: String,
    },
    /// The program ended while it was in use. A change may or may not have been made.
    #[error("the provider `{provider}` ended ({status}), cannot {}{}", .call.verb(), printed(.output))]
    Exited {
        /// The provider.
        provider: String,
        /// The call that was under way.
        call: Call,
        /// How the program ended.
        status: String,
        /// The last lines that it printed.
        output: String,
    },
    /// No answer came in time. A change may or may not have been made.
    #[error("the provider `{provider}` did not answer, cannot {}: timed out after {} s", .call.verb(), .after.as_secs())]
    TimedOut {
        /// The provider.
        provider: String,
        /// The call.
        call: Call,
        /// The limit.
        after: Duration,
    },
    /// The call failed without findings. A change may or may not have been made.
    #[error("the provider `{provider}` failed, cannot {}: {message}", .call.verb())]
    Failed {
        /// The provider.
        provider: String,
        /// The call.
        call: Call,
        /// What the provider said.
        message: String,
    },
    /// The answer is not valid.
    #[error("the provider `{provider}` gave an invalid answer, cannot {}: {message}", .call.verb())]
    Invalid {
        /// The provider.
        provider: String,
        /// The call.
        call: Call,
        /// What is wrong with it.
        message: String,
    },
    /// The provider refused, and says why.
    #[error("{}", Listed(.0))]
    Refused(Vec<Diagnostic>),
}

impl ProviderError {
    /// Returns whether the call may have had an effect nevertheless.
    pub fn is_ambiguous(&self) -> bool {
        match self {
            Self::Start { .. } | Self::Refused(_) => false,
            Self::Exited { .. }
            | Self::TimedOut { .. }
            | Self::Failed { .. }
            | Self::Invalid { .. } => true,
        }
    }
}

fn printed(output: &str) -> String {
    if output.is_empty() { String::new() } else { format!("; it printed: {output}") }
}

struct Listed<'a>(&'a [Diagnostic]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, it) in self.0.iter().filter(|it| it.is_error).enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{it}")?;
        }
        Ok(())
    }
}

/// The greatest length of a foreign text in a message.
const MAX_TEXT: usize = 4_000;

/// Returns a foreign text that is safe to show: limited, and without control characters.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim().chars() {
        if out.len() > MAX_TEXT {
            out.push('…');
            break;
        }
        match c {
            '\n' | '\t' | '\r' => out.push(' '),
            c if c.is_control() || is_invisible(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Whether a character changes how others are shown.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_texts_cannot_change_the_terminal() {
        assert_eq!(printable(" a\nb\u{1b}[31m\u{202e} "), "a b\\u{1b}[31m\\u{202e}");
        assert!(printable(&"x".repeat(1 << 20)).len() < MAX_TEXT + 10);
    }
}
