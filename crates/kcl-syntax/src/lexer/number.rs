//! Numbers: their shape in the text, and their value.

use super::{IS_WORD, Lexer, starts_word, word_len};
use crate::ast::Unit;
use crate::token::{NUMBER_IS_BAD, TokenKind};

impl Lexer<'_, '_> {
    pub(super) fn number(&mut self) {
        let start = self.pos;
        if self.plain_number() {
            return;
        }
        self.pos += 1;
        let mut radix = 10;
        if self.bytes[start] == b'0' {
            radix = match self.peek(0) {
                b'b' => 2,
                b'o' | b'0'..=b'9' => 8,
                b'x' => 16,
                _ => 10,
            };
        }
        let has_digits = if radix == 10 {
            self.digits(false);
            true
        } else {
            self.pos += 1;
            self.digits(radix == 16)
        };
        if !has_digits {
            self.end_number(TokenKind::Int, start, Some("no valid digits found for number".into()));
            return;
        }
        match self.peek(0) {
            b'.' if self.peek(1) != b'.' && !starts_word(&self.rest()[1..]) => {
                self.pos += 1;
                let mut has_exponent = true;
                if self.peek(0).is_ascii_digit() {
                    self.digits(false);
                    if matches!(self.peek(0), b'e' | b'E') {
                        has_exponent = self.exponent();
                    }
                }
                self.float(start, radix, has_exponent);
            }
            b'e' | b'E' => {
                let has_exponent = self.exponent();
                self.float(start, radix, has_exponent);
            }
            _ => self.int(start, radix),
        }
    }

    /// Takes digits, perhaps with a point and more digits, and nothing else: most numbers.
    fn plain_number(&mut self) -> bool {
        let start = self.pos;
        let rest = &self.bytes[start..];
        let n_digits =
            |from: &[u8]| from.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(from.len());
        let mut len = n_digits(rest);
        let mut kind = TokenKind::Int;
        if rest.get(len) == Some(&b'.') {
            let n_decimals = n_digits(&rest[len + 1..]);
            if n_decimals == 0 {
                return false;
            }
            len += 1 + n_decimals;
            kind = TokenKind::Float;
        }
        let goes_on = |byte: &u8| IS_WORD[*byte as usize] || !byte.is_ascii();
        let is_octal = rest[0] == b'0' && rest.get(1).is_some_and(u8::is_ascii_digit);
        if is_octal || rest.get(len).is_some_and(goes_on) {
            return false;
        }
        self.pos += len;
        self.push(kind, start);
        true
    }

    fn digits(&mut self, hex: bool) -> bool {
        let mut found = false;
        loop {
            match self.peek(0) {
                b'_' => {}
                b if b.is_ascii_digit() || hex && b.is_ascii_hexdigit() => found = true,
                _ => return found,
            }
            self.pos += 1;
        }
    }

    fn exponent(&mut self) -> bool {
        self.pos += 1;
        if matches!(self.peek(0), b'+' | b'-') {
            self.pos += 1;
        }
        self.digits(false)
    }

    fn float(&mut self, start: usize, radix: u32, has_exponent: bool) {
        let error = match radix {
            _ if !has_exponent => Some("expected at least one digit in exponent".into()),
            2 => Some("binary float literal is not supported".into()),
            8 => Some("octal float literal is not supported".into()),
            16 => Some("hexadecimal float literal is not supported".into()),
            _ => None,
        };
        self.end_number(TokenKind::Float, start, error);
    }

    fn int(&mut self, start: usize, radix: u32) {
        if radix != 10 {
            let digits = &self.bytes[start + 2..self.pos];
            let bad = digits.iter().position(|b| *b != b'_' && !(*b as char).is_digit(radix));
            if let Some(bad) = bad {
                let at = start + 2 + bad;
                let message = format!(
                    "invalid digit for a base {radix} literal, start: {at}, stop: {}",
                    at + 1
                );
                let end = self.pos + self.suffix_len();
                self.error(at, end, message);
                self.end_number(TokenKind::Int, start, None);
                if let Some(token) = self.tokens.last_mut() {
                    token.extra |= NUMBER_IS_BAD;
                }
                return;
            }
        }
        self.end_number(TokenKind::Int, start, None);
    }

    /// The length of the unit that follows.
    fn suffix_len(&self) -> usize {
        if starts_word(self.rest()) { word_len(self.rest()) } else { 0 }
    }

    /// Takes the unit and ends the token, which spans all of it.
    fn end_number(&mut self, kind: TokenKind, start: usize, error: Option<String>) {
        let suffix_len = self.suffix_len();
        let suffix = &self.rest()[..suffix_len];
        self.pos += suffix_len;
        let mut extra = u16::try_from(suffix_len).unwrap_or(u16::MAX).min(!NUMBER_IS_BAD);
        match error {
            Some(message) => {
                extra |= NUMBER_IS_BAD;
                self.error(start, self.pos, message);
            }
            None if kind == TokenKind::Int && suffix_len > 0 && !is_suffix(suffix) => {
                self.error(start, self.pos, "invalid int binary suffix");
            }
            None => {}
        }
        self.push_extra(kind, start, extra);
    }
}

/// Whether `suffix` may stand behind an integer; `i` may, without a meaning.
pub(crate) fn is_suffix(suffix: &str) -> bool {
    suffix == "i" || unit(suffix).is_some()
}

/// The unit with that name.
pub(crate) fn unit(suffix: &str) -> Option<Unit> {
    Some(match suffix {
        "n" => Unit::N,
        "u" => Unit::U,
        "m" => Unit::M,
        "k" => Unit::K,
        "K" => Unit::KUpper,
        "M" => Unit::MUpper,
        "G" => Unit::G,
        "T" => Unit::T,
        "P" => Unit::P,
        "Ki" => Unit::Ki,
        "Mi" => Unit::Mi,
        "Gi" => Unit::Gi,
        "Ti" => Unit::Ti,
        "Pi" => Unit::Pi,
        _ => return None,
    })
}

/// The value of an integer as written: `12`, `0x1F`, `0b1`, `0o17`, `017`, `1_000`.
pub(crate) fn int_value(text: &str) -> Option<u64> {
    let (radix, digits) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &text[2..]),
        [b'0', b'b' | b'B', ..] => (2, &text[2..]),
        [b'0', b'o' | b'O', ..] => (8, &text[2..]),
        [b'0', _, ..] => (8, &text[1..]),
        _ => (10, text),
    };
    // One underscore may follow the prefix.
    let digits = if radix == 10 { digits } else { digits.strip_prefix('_').unwrap_or(digits) };
    let mut value: u64 = 0;
    let mut after_underscore = true;
    for byte in digits.bytes() {
        if byte == b'_' {
            if after_underscore {
                return None;
            }
            after_underscore = true;
            continue;
        }
        after_underscore = false;
        let digit = (byte as char).to_digit(radix)?;
        value = value.checked_mul(u64::from(radix))?.checked_add(u64::from(digit))?;
    }
    if after_underscore { None } else { Some(value) }
}

#[cfg(test)]
mod tests {
    use super::int_value;

    #[test]
    fn integers_in_every_base() {
        for (text, value) in [
            ("0", Some(0)),
            ("42", Some(42)),
            ("0x1F", Some(31)),
            ("0b101", Some(5)),
            ("0o17", Some(15)),
            ("017", Some(15)),
            ("1_000", Some(1000)),
            ("0_1", Some(1)),
            ("0x_f", Some(15)),
            ("1__0", None),
            ("1_", None),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
        ] {
            assert_eq!(int_value(text), value, "{text}");
        }
    }
}
