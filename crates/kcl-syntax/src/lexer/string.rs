//! Strings: where they end, and what they stand for.

use super::Lexer;
use crate::token::{STRING_HAS_DOLLAR, STRING_IS_ODD, STRING_IS_OPEN, TokenKind};
use memchr::{memchr, memchr3};
use std::borrow::Cow;
use std::ops::Range;

impl Lexer<'_, '_> {
    /// Takes a string whose quote stands `prefix` bytes ahead (1 for `r"…"`).
    pub(super) fn string(&mut self, prefix: usize) {
        let start = self.pos;
        if prefix == 0 && self.plain_string() {
            return;
        }
        self.pos += prefix;
        let quote_at = self.pos;
        let quoted = self.quoted();
        if !quoted.is_closed {
            self.error(quote_at, self.pos, "unterminated string");
        }
        let Quoted { is_long, is_closed, extra } = quoted;
        if extra & STRING_IS_ODD != 0 {
            let parts = StringParts::new(&self.text[start..self.pos], is_long, is_closed);
            if parts.value().is_none() {
                self.error(start + parts.open, self.pos, "invalid string syntax");
            }
        }
        let kind = if is_long { TokenKind::LongStr } else { TokenKind::Str };
        let unclosed = if is_closed { 0 } else { STRING_IS_OPEN };
        self.push_extra(kind, start, extra | unclosed);
    }

    /// Takes a string in one pair of quotes that stands for what is written: most strings.
    fn plain_string(&mut self) -> bool {
        let start = self.pos;
        let (quote, rest) = (self.bytes[start], &self.bytes[start + 1..]);
        let len = rest.iter().position(|byte| !IS_PLAIN[*byte as usize]).unwrap_or(0);
        // No text between two quotes may be the start of three quotes.
        if len == 0 || rest[len] != quote {
            return false;
        }
        self.pos += len + 2;
        self.push(TokenKind::Str, start);
        true
    }

    /// Passes a quoted text.
    fn quoted(&mut self) -> Quoted {
        let quote = self.peek(0);
        self.pos += 1;
        let is_long = self.peek(0) == quote && self.peek(1) == quote;
        let closed = if is_long { self.long_quoted(quote) } else { self.short_quoted(quote) };
        if let Some(extra) = closed {
            return Quoted { is_long, is_closed: true, extra };
        }
        while !self.text.is_char_boundary(self.pos) {
            self.pos += 1;
        }
        Quoted { is_long: false, is_closed: false, extra: STRING_IS_ODD }
    }

    /// Passes the rest of a string in one pair of quotes, and gives facts for the token;
    /// `None` if it is not closed.
    fn short_quoted(&mut self, quote: u8) -> Option<u16> {
        let mut extra = 0;
        // A line end is a part of the string at its start and behind an escape.
        let mut ends_with_line = false;
        loop {
            let byte = self.bytes.get(self.pos).copied()?;
            if IS_PLAIN[byte as usize] {
                self.pos += 1;
                ends_with_line = true;
                continue;
            }
            if ends_with_line && matches!(byte, b'\r' | b'\n' | 0) {
                return None;
            }
            self.pos += 1;
            ends_with_line = true;
            match byte {
                b'\\' => {
                    extra |= STRING_IS_ODD;
                    if self.peek(0) == b'\\' || self.peek(0) == quote {
                        self.pos += 1;
                        ends_with_line = false;
                    }
                }
                b'$' => extra |= STRING_HAS_DOLLAR,
                b'\r' | b'\n' => extra |= STRING_IS_ODD,
                _ if byte == quote => return Some(extra),
                _ => {}
            }
        }
    }

    /// The same for three pairs of quotes.
    fn long_quoted(&mut self, quote: u8) -> Option<u16> {
        self.pos += 2;
        let start = self.pos;
        let mut extra = 0;
        loop {
            let Some(len) = memchr3(quote, b'\\', b'$', &self.bytes[self.pos..]) else {
                self.pos = self.bytes.len();
                return None;
            };
            self.pos += len + 1;
            match self.bytes[self.pos - 1] {
                b'\\' => {
                    extra |= STRING_IS_ODD;
                    if self.peek(0) == b'\\' || self.peek(0) == quote {
                        self.pos += 1;
                    }
                }
                b'$' => extra |= STRING_HAS_DOLLAR,
                _ if self.peek(0) == quote && self.peek(1) == quote => {
                    if memchr(b'\r', &self.bytes[start..self.pos]).is_some() {
                        extra |= STRING_IS_ODD;
                    }
                    self.pos += 2;
                    return Some(extra);
                }
                _ => {}
            }
        }
    }
}

/// What was found between quotes.
struct Quoted {
    /// Whether there are three quotes on each side.
    is_long: bool,
    is_closed: bool,
    /// Facts for the token.
    extra: u16,
}

/// Bytes that just stand for themselves in strings in one pair of quotes.
const IS_PLAIN: [bool; 256] = {
    let mut table = [true; 256];
    let mut rest: &[u8] = b"\"'\\$\r\n\0";
    while let [byte, tail @ ..] = rest {
        table[*byte as usize] = false;
        rest = tail;
    }
    table
};

/// A string literal taken apart.
pub(crate) struct StringParts<'t> {
    /// The text as written, between the quotes.
    pub(crate) content: &'t str,
    /// The number of bytes before the content.
    pub(crate) open: usize,
    quote: char,
    is_long: bool,
    is_raw: bool,
}

impl<'t> StringParts<'t> {
    /// Takes the literal `text` apart.
    pub(crate) fn new(text: &'t str, is_long: bool, is_closed: bool) -> Self {
        let is_raw = text.starts_with(['r', 'R']);
        let quotes = if is_long { 3 } else { 1 };
        let open = quotes + usize::from(is_raw);
        let close = if is_closed { text.len().saturating_sub(quotes) } else { text.len() };
        let quote = text[usize::from(is_raw)..].chars().next().unwrap_or('"');
        let content = text.get(open..close).unwrap_or("");
        Self { content, open, quote, is_long, is_raw }
    }

    /// Whether escapes and interpolation mean nothing in it.
    pub(crate) fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// What the string stands for, indentation included; `None` if an escape or a line end is
    /// wrong.
    pub(crate) fn value(&self) -> Option<Cow<'t, str>> {
        self.resolve(self.content)
    }

    /// Takes the indentation from the value of a long string.
    pub(crate) fn dedent<'v>(&self, value: Cow<'v, str>) -> Cow<'v, str> {
        if self.is_long { dedent(value) } else { value }
    }

    /// The indentation that all lines share; `None` if it belongs to the value.
    pub(crate) fn margin(&self) -> Option<usize> {
        self.is_long.then(|| margin(&self.value().unwrap_or_default()))
    }

    /// What the `range` of the content stands for, which begins or ends at a `${…}` or at an
    /// end of the content.
    pub(crate) fn text(&self, range: Range<usize>, margin: Option<usize>) -> Cow<'t, str> {
        let is_first = range.start == 0;
        let value = self.resolve(&self.content[range]).unwrap_or_default();
        match margin {
            Some(margin) => without_margin(value, margin, is_first),
            None => value,
        }
    }

    fn resolve(&self, content: &'t str) -> Option<Cow<'t, str>> {
        let content = normalize(content);
        let special = content.bytes().any(|b| b == b'\\' || b == b'\n' && !self.is_long);
        if !special {
            return Some(content);
        }
        self.unescape(&content).map(Cow::Owned)
    }

    fn unescape(&self, content: &str) -> Option<String> {
        let mut out = String::with_capacity(content.len());
        let mut chars = content.chars();
        while let Some(c) = chars.next() {
            if c == '\n' && !self.is_long {
                return None;
            }
            if c != '\\' {
                out.push(c);
                continue;
            }
            let next = chars.next()?;
            if self.is_raw {
                out.push('\\');
                out.push(next);
                continue;
            }
            match next {
                c if c == self.quote => out.push(c),
                '\\' | '\'' | '"' => out.push(next),
                '\n' => {}
                'a' => out.push('\x07'),
                'b' => out.push('\x08'),
                'f' => out.push('\x0c'),
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'v' => out.push('\x0b'),
                '0'..='7' => out.push(octal(next, &mut chars)?),
                'x' => out.push(hex(2, &mut chars)?),
                'u' => out.push(hex(4, &mut chars)?),
                'U' => out.push(hex(8, &mut chars)?),
                'N' => out.push(named(&mut chars)?),
                c => {
                    out.push('\\');
                    out.push(c);
                }
            }
        }
        Some(out)
    }
}

/// Takes the common indentation from the lines of a long string, and an empty first line.
fn dedent(text: Cow<'_, str>) -> Cow<'_, str> {
    let margin = margin(&text);
    without_margin(text, margin, true)
}

/// The common indentation of lines.
///
/// Blank lines do not count, except the last: the closing quotes stand on it.
pub(crate) fn margin(text: &str) -> usize {
    let is_blank = |line: &str| line.trim().is_empty();
    let mut margin = text.split('\n').filter(|line| !is_blank(line)).map(indentation).min();
    let last = text.rsplit('\n').next().unwrap_or("");
    if !last.is_empty() && is_blank(last) {
        margin = Some(margin.unwrap_or(usize::MAX).min(indentation(last)));
    }
    margin.unwrap_or(0)
}

/// Takes `margin` from the lines of `text`, and an empty first line, if `text` is where the
/// string begins. Elsewhere it begins inside of a line.
fn without_margin(text: Cow<'_, str>, margin: usize, is_first: bool) -> Cow<'_, str> {
    let rest = if is_first { text.strip_prefix('\n').unwrap_or(&text) } else { &text };
    if margin == 0 {
        if rest.len() == text.len() {
            return text;
        }
        return Cow::Owned(rest.into());
    }
    let mut out = String::with_capacity(rest.len());
    for (at, line) in rest.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let is_whole = at > 0 || is_first;
        let skipped = if is_whole { indentation(line).min(margin) } else { 0 };
        out.push_str(&line[skipped..]);
    }
    Cow::Owned(out)
}

/// The number of blanks at the start of a line.
fn indentation(line: &str) -> usize {
    line.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Turns line ends into `\n`.
pub(crate) fn normalize(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

fn octal(first: char, chars: &mut std::str::Chars<'_>) -> Option<char> {
    let mut value = first.to_digit(8)?;
    for _ in 0..2 {
        let Some(digit) = chars.clone().next().and_then(|c| c.to_digit(8)) else { break };
        chars.next();
        value = value * 8 + digit;
    }
    char::from_u32(value)
}

fn hex(n_digits: usize, chars: &mut std::str::Chars<'_>) -> Option<char> {
    let mut value = 0u32;
    for _ in 0..n_digits {
        value = value << 4 | chars.next()?.to_digit(16)?;
    }
    match value {
        0xd800..=0xdfff => Some(char::REPLACEMENT_CHARACTER),
        _ => char::from_u32(value),
    }
}

/// `\N{…}`: the names of a few common characters.
fn named(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let rest = chars.as_str().strip_prefix('{')?;
    let (name, rest) = rest.split_once('}')?;
    let found = NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?.1;
    *chars = rest.chars();
    Some(found)
}

const NAMED: &[(&str, char)] = &[
    ("SPACE", ' '),
    ("NO-BREAK SPACE", '\u{a0}'),
    ("DOLLAR SIGN", '$'),
    ("COPYRIGHT SIGN", '©'),
    ("REGISTERED SIGN", '®'),
    ("DEGREE SIGN", '°'),
    ("MICRO SIGN", 'µ'),
    ("MIDDLE DOT", '·'),
    ("BULLET", '•'),
    ("HORIZONTAL ELLIPSIS", '…'),
    ("EN DASH", '–'),
    ("EM DASH", '—'),
    ("EURO SIGN", '€'),
    ("TRADE MARK SIGN", '™'),
    ("LEFTWARDS ARROW", '←'),
    ("UPWARDS ARROW", '↑'),
    ("RIGHTWARDS ARROW", '→'),
    ("DOWNWARDS ARROW", '↓'),
    ("CHECK MARK", '✓'),
    ("BLACK HEART SUIT", '♥'),
    ("SNOWMAN", '☃'),
    ("GREEK SMALL LETTER ALPHA", 'α'),
    ("GREEK SMALL LETTER BETA", 'β'),
    ("GREEK SMALL LETTER PI", 'π'),
];
