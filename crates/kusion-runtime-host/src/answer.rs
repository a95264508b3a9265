//! Answers of scripts.
//!
//! Each line is `MARK NUMBER KEY VALUE`; a value is a word, or hexadecimal digits behind `x:`. The
//! first line is `MARK begin`, the last one `MARK end`.

use crate::error::{HostError, printable};
use std::collections::BTreeMap;

/// What one call answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer(BTreeMap<String, Vec<u8>>);

impl Answer {
    /// Returns a value.
    pub(crate) fn bytes(&self, key: &str) -> Option<&[u8]> {
        self.0.get(key).map(Vec::as_slice)
    }

    /// Returns a value as a text.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        std::str::from_utf8(self.bytes(key)?).ok()
    }

    /// Returns whether a value is a word.
    pub(crate) fn is(&self, key: &str, word: &str) -> bool {
        self.text(key) == Some(word)
    }

    /// Returns why the call failed, if it did.
    pub(crate) fn error(&self) -> Option<String> {
        let text = String::from_utf8_lossy(self.bytes("error")?);
        Some(printable(&text))
    }
}

/// Reads the answers to all calls of a script.
///
/// # Errors
///
/// If an answer is missing or invalid.
pub(crate) fn read(output: &[u8], mark: &str, n_calls: usize) -> Result<Vec<Answer>, HostError> {
    let mut answers = vec![Answer::default(); n_calls];
    let (mut has_begun, mut is_whole) = (false, false);
    for line in output.split(|byte| *byte == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        let mut words = line.split(' ');
        if words.next() != Some(mark) {
            continue;
        }
        let invalid = || {
            let line = printable(line);
            HostError::Invalid(format!("sent an invalid answer: `{line}`"))
        };
        let number = words.next().unwrap_or_default();
        if number == "end" {
            is_whole = true;
            break;
        }
        if number == "begin" {
            has_begun = true;
            continue;
        }
        let number: usize = number.parse().map_err(|_| invalid())?;
        let (Some(key), Some(value), None) = (words.next(), words.next(), words.next()) else {
            return Err(invalid());
        };
        let value = match value.strip_prefix("x:") {
            Some(hex) => {
                data_encoding::HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).map_err(|_| invalid())?
            }
            None => value.as_bytes().to_owned(),
        };
        let answer = answers.get_mut(number).ok_or_else(invalid)?;
        answer.0.insert(key.to_owned(), value);
    }
    match (is_whole, has_begun) {
        (true, _) => Ok(answers),
        (false, true) => Err(HostError::Cut("the script did not run to its end".to_owned())),
        (false, false) => Err(HostError::Unreachable("the script did not start".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_between_other_lines() {
        let output =
            b"Welcome!\nk1 0 is file\n\xff\xfe\nk1 1 content x:6162\nk1 0 mode -rw\nk1 end\nk1 x";
        let answers = read(output, "k1", 2).expect("answers");
        assert!(answers[0].is("is", "file") && answers[0].is("mode", "-rw"));
        assert_eq!(answers[1].text("content"), Some("ab"));
    }

    #[test]
    fn garbage_is_an_error() {
        for wrong in
            ["k1 9 is file\nk1 end\n", "k1 0 a x:6\nk1 end\n", "k1 0 is\nk1 end\n", "k1 -1 a b\n"]
        {
            assert!(
                matches!(read(wrong.as_bytes(), "k1", 1), Err(HostError::Invalid(_))),
                "{wrong}"
            );
        }
        let cut = b"k1 begin\nk1 0 is file\n";
        assert!(matches!(read(cut, "k1", 1), Err(HostError::Cut(_))));
        for none in ["", "k2 end\n"] {
            assert!(matches!(read(none.as_bytes(), "k1", 1), Err(HostError::Unreachable(_))));
        }
    }
}
