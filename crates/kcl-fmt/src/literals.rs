//! Numbers and strings that are not taken over as written.

use crate::printer::Printer;
use base_text::Span;

impl Printer<'_> {
    /// Prints an integer: hexadecimal and binary ones in decimal, as the reference does; others as
    /// written, since octal ones are modes of files.
    pub(crate) fn int(&mut self, value: i64, span: Span) {
        let written = span.slice(self.text);
        if written.starts_with("0x") || written.starts_with("0b") {
            self.push(&value.to_string());
        } else {
            self.verbatim(span);
        }
    }

    /// Prints the quoted name of an attribute, which stands for `name` and is written as `written`.
    pub(crate) fn attr_name(&mut self, name: &str, written: &str) {
        if written.starts_with('"') || name.contains("${") {
            self.push(written);
        } else {
            let literal = quoted(name);
            self.push(&literal);
        }
    }
}

/// Writes a text as a string literal in double quotes. A `${` in it would be an interpolation.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let code = c as u32;
                out.push_str("\\x");
                out.extend([code >> 4, code & 15].map(|d| char::from_digit(d, 16).unwrap_or('0')));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
