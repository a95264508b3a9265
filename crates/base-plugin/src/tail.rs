//! The end of standard error.

use crate::failure::quotable;

/// How many bytes of a line are kept.
const MAX_LINE: usize = 4096;

/// Keeps the last line of a stream that is not empty.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    last: Vec<u8>,
    current: Vec<u8>,
    /// Bytes since the last question.
    pub(crate) n_bytes: usize,
}

impl Tail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len();
        for (at, part) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if at > 0 && !self.current.trim_ascii().is_empty() {
                std::mem::swap(&mut self.last, &mut self.current);
            }
            if at > 0 {
                self.current.clear();
            }
            let room = MAX_LINE.saturating_sub(self.current.len());
            self.current.extend_from_slice(&part[..part.len().min(room)]);
        }
    }

    /// Forgets the begin of a line whose end nobody waits for, if there was a line before.
    pub(crate) fn cut(&mut self) {
        if !self.last.is_empty() {
            self.current.clear();
        }
    }

    /// The last line, fit for a message.
    pub(crate) fn line(&self) -> Option<String> {
        let lines = [&self.current, &self.last];
        let last = lines.into_iter().find(|line| !line.trim_ascii().is_empty())?;
        Some(quotable(&String::from_utf8_lossy(last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_is_not_empty_is_kept() {
        let mut tail = Tail::default();
        assert_eq!(tail.line(), None);
        tail.push(b"a\nb");
        assert_eq!(tail.line().as_deref(), Some("b"));
        tail.push(b"c\n\n  \n");
        assert_eq!(tail.line().as_deref(), Some("bc"));
        tail.push(b"unfinished");
        tail.cut();
        assert_eq!(tail.line().as_deref(), Some("bc"));
        tail.push(&[b'x'; 10_000]);
        assert_eq!(tail.line().map(|line| line.chars().count()), Some(301));
        assert_eq!(tail.n_bytes, 10_019);
    }
}
