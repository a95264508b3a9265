//! What is started.

use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// A program, and what it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// How messages name it, with an article: "the plugin `cmdb`".
    pub title: String,
    /// The program, as an absolute path or a name that is looked up in `PATH`, and its arguments.
    pub words: Vec<String>,
    /// The working folder.
    pub folder: PathBuf,
    /// The whole environment.
    pub environment: Vec<(String, String)>,
    /// The protocol that both sides must speak, such as `kcl-plugin/1`.
    pub protocol: String,
    /// Limits.
    pub limits: Limits,
    /// What starts it and ends it.
    pub guard: Guard,
}

/// What a program may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The time until an answer.
    pub answer: Duration,
    /// Bytes of memory that each process may allocate.
    pub memory: u64,
    /// The length of a message in bytes, in both directions.
    pub message: usize,
    /// Bytes on standard error until an answer.
    pub errors: usize,
    /// The time between the end of its input and its death.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(30),
            memory: 1 << 30,
            message: 16 << 20,
            errors: 1 << 20,
            farewell: Duration::from_millis(300),
        }
    }
}

/// The command that runs [`guard`](crate::guard): a program, to whose arguments
/// [`GUARD_WORD`](crate::GUARD_WORD) is added as the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The program.
    pub program: PathBuf,
}

impl Guard {
    /// The program that runs now, if it can be found. Its `main` must call
    /// [`guard`](crate::guard) when its first argument is [`GUARD_WORD`](crate::GUARD_WORD).
    pub fn this_program() -> Option<Self> {
        if cfg!(target_os = "linux") {
            // Also right if the file was replaced in the meantime.
            return Some(Self { program: "/proc/self/exe".into() });
        }
        std::env::current_exe().ok().map(|program| Self { program })
    }
}

/// Why a command is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WordsError {
    /// There is no word.
    #[error("the command is empty")]
    Empty,
    /// A quote has no end.
    #[error("a quote is not closed")]
    Quote,
}

/// Splits a command into words, at spaces that are not in quotes. No shell is involved: there are no
/// variables, patterns or escapes.
///
/// # Errors
///
/// If there is no word, or a quote has no end.
pub fn split_words(text: &str) -> Result<Vec<String>, WordsError> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for char in text.chars() {
        match quote {
            Some(end) if char == end => quote = None,
            None if char == '\'' || char == '"' => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            None if char.is_whitespace() => words.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    match (quote, words.first().is_none_or(String::is_empty)) {
        (Some(_), _) => Err(WordsError::Quote),
        (None, true) => Err(WordsError::Empty),
        (None, false) => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_spaces_outside_of_quotes() {
        let words = |text| split_words(text).map(|words| words.join("|"));
        assert_eq!(words("python3  a.py"), Ok("python3|a.py".into()));
        assert_eq!(words("sh -c 'echo \"a\"  b' \"x y\"z ''"), {
            Ok("sh|-c|echo \"a\"  b|x yz|".into())
        });
        assert_eq!(words(" "), Err(WordsError::Empty));
        assert_eq!(words("'' a"), Err(WordsError::Empty));
        assert_eq!(words("a 'b"), Err(WordsError::Quote));
    }
}
