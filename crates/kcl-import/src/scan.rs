//! Words, signs and comments of languages with braces: Go and Protocol Buffers.

use crate::ImportError;
use base_text::Span;

/// What a piece of source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a number.
    Word,
    /// A string in quotes.
    Text,
    /// A single sign.
    Sign,
    /// The end of a line, which ends statements of Go.
    Line,
}

/// One piece of source.
#[derive(Clone, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    /// The text; of a string, without its quotes.
    pub(crate) text: &'t str,
    pub(crate) span: Span,
    /// The comments right before it, without their marks.
    pub(crate) doc: String,
}

/// Splits source into pieces.
///
/// # Errors
///
/// If a string or comment has no end.
pub(crate) fn scan(text: &str) -> Result<Vec<Token<'_>>, ImportError> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut doc = String::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let len = if let Some(comment) = rest.strip_prefix("//") {
            let comment = comment.lines().next().unwrap_or_default();
            // A comment behind something on its line describes nothing that follows.
            if tokens.last().is_none_or(|last| last.kind == Kind::Line) {
                add_line(&mut doc, comment);
            }
            2 + comment.len()
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment.find("*/").ok_or_else(|| unclosed(text, at, "comment"))?;
            for line in comment[..end].lines() {
                add_line(&mut doc, line.trim().trim_start_matches('*'));
            }
            end + 4
        } else if first == '\n' {
            let is_empty_line = tokens.last().is_none_or(|last| last.kind == Kind::Line);
            if is_empty_line && !rest[1..].trim_start_matches([' ', '\t']).starts_with("//") {
                // A comment with an empty line behind it belongs to nothing.
                let next = rest[1..].lines().next().unwrap_or_default();
                if next.trim().is_empty() {
                    doc.clear();
                }
            }
            push(&mut tokens, Kind::Line, text, at..at + 1, String::new());
            1
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if matches!(first, '"' | '\'' | '`') {
            let end = string_end(rest, first).ok_or_else(|| unclosed(text, at, "string"))?;
            let doc = std::mem::take(&mut doc);
            push(&mut tokens, Kind::Text, text, at..at + end, doc);
            if let Some(token) = tokens.last_mut() {
                token.text = &text[at + 1..at + end - 1];
            }
            end
        } else if is_word(first) {
            let end = rest.find(|it: char| !is_word(it)).unwrap_or(rest.len());
            let doc = std::mem::take(&mut doc);
            push(&mut tokens, Kind::Word, text, at..at + end, doc);
            end
        } else {
            let end = first.len_utf8();
            push(&mut tokens, Kind::Sign, text, at..at + end, String::new());
            end
        };
        at += len;
    }
    Ok(tokens)
}

fn push<'t>(
    tokens: &mut Vec<Token<'t>>,
    kind: Kind,
    text: &'t str,
    range: std::ops::Range<usize>,
    doc: String,
) {
    let span = Span::new(range.start as u32, range.end as u32);
    tokens.push(Token { kind, text: &text[range], span, doc });
}

fn add_line(doc: &mut String, line: &str) {
    if !doc.is_empty() {
        doc.push('\n');
    }
    doc.push_str(line.trim());
}

fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

fn string_end(rest: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, it) in rest.char_indices().skip(1) {
        match it {
            _ if is_escaped => is_escaped = false,
            '\\' if quote != '`' => is_escaped = true,
            _ if it == quote => return Some(at + it.len_utf8()),
            '\n' if quote != '`' => return None,
            _ => {}
        }
    }
    None
}

fn unclosed(text: &str, at: usize, what: &str) -> ImportError {
    ImportError::at(text, Span::empty(at as u32), format!("a {what} without an end"))
}

/// Reads pieces one after the other.
pub(crate) struct Tokens<'t> {
    text: &'t str,
    all: Vec<Token<'t>>,
    at: usize,
}

impl<'t> Tokens<'t> {
    /// Scans a source; line ends are kept only if they matter.
    pub(crate) fn new(text: &'t str, keep_lines: bool) -> Result<Self, ImportError> {
        let mut all = scan(text)?;
        if !keep_lines {
            all.retain(|token| token.kind != Kind::Line);
        }
        Ok(Self { text, all, at: 0 })
    }

    pub(crate) fn peek(&self) -> Option<&Token<'t>> {
        self.all.get(self.at)
    }

    pub(crate) fn next(&mut self) -> Option<Token<'t>> {
        let token = self.all.get(self.at).cloned();
        self.at += 1;
        token
    }

    /// Whether the next piece is this word or sign.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.kind != Kind::Text && token.text == text)
    }

    /// Takes the next piece if it is this word or sign.
    pub(crate) fn take(&mut self, text: &str) -> bool {
        let is = self.is(text);
        self.at += usize::from(is);
        is
    }

    /// Takes a word.
    pub(crate) fn word(&mut self, what: &str) -> Result<Token<'t>, ImportError> {
        match self.peek() {
            Some(token) if token.kind == Kind::Word => self.next().ok_or_else(|| self.fail(what)),
            _ => Err(self.fail(what)),
        }
    }

    /// Takes this word or sign.
    pub(crate) fn expect(&mut self, text: &str) -> Result<(), ImportError> {
        if self.take(text) { Ok(()) } else { Err(self.fail(&format!("`{text}`"))) }
    }

    /// The error of something else than what was expected.
    pub(crate) fn fail(&self, expected: &str) -> ImportError {
        let (span, found) = match self.peek() {
            Some(token) => (token.span, format!("`{}`", token.text.trim())),
            None => (Span::empty(self.text.len() as u32), "the end of the file".to_owned()),
        };
        ImportError::at(self.text, span, format!("expected {expected}, found {found}"))
    }

    /// Passes what stands between an opening sign, which was taken, and its closing one.
    pub(crate) fn skip_to(&mut self, open: &str, close: &str) {
        let mut depth = 1;
        while let Some(token) = self.next() {
            if token.kind == Kind::Sign && token.text == open {
                depth += 1;
            } else if token.kind == Kind::Sign && token.text == close {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            }
        }
    }

    /// Passes all up to a sign, and that sign.
    pub(crate) fn skip_past(&mut self, sign: &str) {
        while let Some(token) = self.next() {
            if token.kind == Kind::Sign && token.text == sign {
                return;
            }
            if token.kind == Kind::Sign && token.text == "{" {
                self.skip_to("{", "}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings() {
        let tokens =
            scan("/*/ a */ x // b\n// c\n\n// d\ny `q\\` \"r\\\"\" /**/").expect("all have ends");
        let shown: Vec<(&str, &str)> = tokens
            .iter()
            .filter(|token| token.kind != Kind::Line)
            .map(|token| (token.text, token.doc.as_str()))
            .collect();
        assert_eq!(shown, [("x", "/ a"), ("y", "d"), ("q\\", ""), ("r\\\"", "")]);
        assert!(scan("/*/").is_err());
        assert!(scan("\"a\n\"").is_err());
    }
}
