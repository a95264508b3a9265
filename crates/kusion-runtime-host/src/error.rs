//! Errors of hosts.

use kusion_runtime::RuntimeError;

/// Why a script has no answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostError {
    /// The script did not start: nothing was changed.
    Unreachable(String),
    /// The connection ended, or the time: the script may have run.
    Cut(String),
    /// The host does not behave.
    Invalid(String),
}

impl HostError {
    /// Returns the error for the engine.
    pub(crate) fn fault(self) -> RuntimeError {
        match self {
            Self::Unreachable(message) => RuntimeError::Unreachable(message),
            Self::Cut(message) | Self::Invalid(message) => {
                RuntimeError::Transient { message, retry_after_ms: None }
            }
        }
    }
}

/// The most characters of foreign text in a message.
const MAX_TEXT: usize = 300;

/// Returns a foreign text that is safe to show: one line of limited length, without characters that
/// control a terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::new();
    for (at, c) in text.trim().chars().enumerate() {
        if at == MAX_TEXT {
            out.push('…');
            break;
        }
        let turns_text = matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}');
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() || turns_text => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_short_and_harmless() {
        assert_eq!(printable(" a\nb\u{1b}[31m\u{202e} "), "a b\\u{1b}[31m\\u{202e}");
        assert_eq!(printable(&"x".repeat(1000)).chars().count(), MAX_TEXT + 1);
    }
}
