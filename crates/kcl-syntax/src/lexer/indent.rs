//! Line starts: where blocks begin and end.

use super::Lexer;
use crate::token::TokenKind;
use std::cmp::Ordering;

const MIXED: &str = "inconsistent use of tabs and spaces in indentation";

/// The indentation of a line.
#[derive(Clone, Copy, Default)]
pub(super) struct Level {
    tabs: usize,
    spaces: usize,
}

impl Level {
    /// How the level stands to `other`; `None` where tabs and spaces disagree.
    fn compare(self, other: Level) -> Option<Ordering> {
        let spaces = self.spaces.cmp(&other.spaces);
        match self.tabs.cmp(&other.tabs) {
            Ordering::Equal => Some(spaces),
            tabs if spaces == tabs || spaces == Ordering::Equal => Some(tabs),
            _ => None,
        }
    }
}

impl Lexer<'_, '_> {
    /// Takes the blanks at the start of a line and, unless the line is empty or a comment,
    /// its first token with the change of indentation before it.
    pub(super) fn line_start(&mut self) {
        // Most lines are indented by spaces, and by many of them.
        let spaces = self.leading_spaces();
        self.pos += spaces;
        let mut level = Level { tabs: 0, spaces };
        loop {
            match self.peek(0) {
                b' ' => level.spaces += 1,
                b'\t' => level.tabs += 1,
                _ => break,
            }
            self.pos += 1;
        }
        match (self.peek(0), self.peek(1)) {
            (b'\n', _) => self.newline(1),
            (b'\r', b'\n') => self.newline(2),
            (b'#', _) => self.comment(),
            _ if self.pos < self.bytes.len() => {
                self.at_line_start = false;
                let before = self.tokens.len();
                self.indent(level);
                self.token(self.tokens.len() - before);
            }
            _ => {}
        }
    }

    /// How many spaces follow.
    fn leading_spaces(&self) -> usize {
        const EIGHT: u64 = u64::from_le_bytes([b' '; 8]);
        let rest = &self.bytes[self.pos..];
        let mut n_spaces = 0;
        let mut chunks = rest.chunks_exact(8);
        for chunk in &mut chunks {
            let mut eight = [0; 8];
            eight.copy_from_slice(chunk);
            let others = u64::from_le_bytes(eight) ^ EIGHT;
            if others != 0 {
                return n_spaces + others.trailing_zeros() as usize / 8;
            }
            n_spaces += 8;
        }
        n_spaces + chunks.remainder().iter().take_while(|byte| **byte == b' ').count()
    }

    fn indent(&mut self, level: Level) {
        let here = self.pos;
        match level.compare(self.last_level()) {
            None => self.error(here, here, MIXED),
            Some(Ordering::Equal) => {}
            Some(Ordering::Greater) => {
                self.levels.push(level);
                self.push(TokenKind::Indent, here);
            }
            Some(Ordering::Less) => self.dedent(level),
        }
    }

    fn dedent(&mut self, level: Level) {
        let here = self.pos;
        let mut closed = None;
        loop {
            match level.compare(self.last_level()) {
                Some(Ordering::Less) => {
                    closed = self.levels.pop();
                    self.push(TokenKind::Dedent, here);
                }
                Some(Ordering::Equal) => break,
                Some(Ordering::Greater) => {
                    // The line stands between two levels: it stays in the inner one.
                    let excess = level.spaces.saturating_sub(self.last_level().spaces);
                    self.levels.extend(closed);
                    self.tokens.pop();
                    self.push_extra(
                        TokenKind::BadDedent,
                        here,
                        u16::try_from(excess).unwrap_or(u16::MAX),
                    );
                    break;
                }
                None => {
                    self.error(here, here, MIXED);
                    break;
                }
            }
        }
    }

    fn last_level(&self) -> Level {
        self.levels.last().copied().unwrap_or_default()
    }
}
