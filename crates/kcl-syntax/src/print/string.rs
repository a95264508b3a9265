//! Printing of strings and numbers.

use super::Printer;
use crate::ast::{ExprId, JoinedString, Number, StringLit, StringPart};
use crate::lexer::string::{StringParts, dedent};
use crate::lexer::{int_value, unit};

impl Printer<'_> {
    /// The literal as it stands in the source, if `fits` says that it means the same.
    fn as_written(&self, id: ExprId, fits: impl FnOnce(&str) -> bool) -> Option<String> {
        let written = self.module[id].span.slice(self.text);
        (!written.is_empty() && fits(written)).then(|| written.into())
    }

    pub(super) fn number(&mut self, id: ExprId, number: Number) {
        match self.as_written(id, |text| read_number(text) == Some(number)) {
            Some(text) => self.push(&text),
            None => self.plain_number(number),
        }
    }

    pub(super) fn plain_number(&mut self, number: Number) {
        match number {
            Number::Int(value) => self.write(format_args!("{value}")),
            Number::Unit { value, unit } => self.write(format_args!("{value}{}", unit.as_str())),
            Number::Float(value) if value.is_infinite() => self.push("1e999"),
            Number::Float(value) => self.write(format_args!("{value:?}")),
        }
    }

    pub(super) fn string(&mut self, id: ExprId, string: &StringLit) {
        let fits = |text: &str| {
            let parts = StringParts::new(text, is_long(text), true);
            let is_string = text.ends_with(['"', '\'']) && (parts.is_raw() || !text.contains("${"));
            let value = parts.value().map(|v| if is_long(text) { dedent(v) } else { v });
            is_string
                && is_long(text) == string.is_long
                && value.is_some_and(|v| v == *string.value)
        };
        if self.inner_quote.is_none()
            && let Some(text) = self.as_written(id, fits)
        {
            self.push(&text);
        } else if string.value.contains("${") {
            self.raw_string(&string.value, string.is_long);
        } else if string.is_long {
            let value = escape(&string.value, '"', true);
            self.long_string("", '"', &value);
        } else {
            self.short_string(&string.value);
        }
    }

    pub(super) fn short_string(&mut self, value: &str) {
        let quote = self.inner_quote.unwrap_or('"');
        self.out.push(quote);
        let mut value = escape(value, quote, false);
        if self.inner_quote.is_some() {
            // These would end the string or the interpolation around.
            value = value.replace('"', "\\x22").replace('\'', "\\x27").replace('}', "\\x7d");
        }
        self.push(&value);
        self.out.push(quote);
    }

    /// A string with `${` that is no interpolation; in three quotes also if one can't hold it.
    pub(super) fn raw_string(&mut self, value: &str, is_long: bool) {
        let first = self.inner_quote.unwrap_or('"');
        let quote = if has_bare(value, first) { other(first) } else { first };
        if is_long || value.contains(['\n', '\r', '\0']) || has_bare(value, quote) {
            self.long_string("r", long_quote(value), value);
            return;
        }
        self.push("r");
        self.out.push(quote);
        self.push(value);
        self.out.push(quote);
    }

    /// Prints the lines of `value` so that nothing but what is added here is taken away as
    /// indentation: each line gets one blank, and an empty line stands before.
    fn long_string(&mut self, prefix: &str, quote: char, value: &str) {
        self.push(prefix);
        self.out.extend([quote; 3]);
        for line in value.split('\n') {
            self.push("\n ");
            self.push(line);
        }
        self.out.extend([quote; 3]);
    }

    pub(super) fn joined(&mut self, joined: &JoinedString) {
        let has_quote = joined.parts.iter().any(|part| {
            matches!(part, StringPart::Formatted { spec: Some(spec), .. } if has_bare(spec, '"'))
        });
        let quote = if has_quote { '\'' } else { '"' };
        let mut content = String::new();
        for (at, part) in joined.parts.iter().enumerate() {
            match part {
                StringPart::Text(text) => {
                    let is_last = at + 1 == joined.parts.len();
                    content.push_str(&escape_interpolation(text, quote, joined.is_long, is_last));
                }
                StringPart::Formatted { value, spec } => {
                    let mut inner = Printer::new(self.module, self.text);
                    inner.inner_quote = Some(other(quote));
                    inner.expr(*value);
                    content.push_str("${");
                    content.push_str(&inner.out);
                    if let Some(spec) = spec {
                        content.push_str(": ");
                        content.push_str(spec);
                    }
                    content.push('}');
                }
            }
        }
        if joined.is_long {
            self.long_string("", quote, &content);
        } else {
            self.out.push(quote);
            self.push(&content);
            self.out.push(quote);
        }
    }

    pub(super) fn doc(&mut self, doc: &str) {
        if doc.contains('\\') || doc.contains("${") {
            self.push("r");
        }
        let quote = long_quote(doc);
        self.out.extend([quote; 3]);
        self.push(doc);
        self.out.extend([quote; 3]);
    }
}

fn is_long(text: &str) -> bool {
    let text = text.trim_start_matches(['r', 'R']);
    text.len() >= 6 && (text.starts_with("\"\"\"") || text.starts_with("'''"))
}

fn other(quote: char) -> char {
    if quote == '"' { '\'' } else { '"' }
}

/// Whether a `quote` stands in `text` without a backslash before.
fn has_bare(text: &str, quote: char) -> bool {
    let mut escaped = false;
    for c in text.chars() {
        if c == quote && !escaped {
            return true;
        }
        escaped = c == '\\' && !escaped;
    }
    false
}

/// The quote that can stand three times around the raw `text`.
fn long_quote(text: &str) -> char {
    let mut rest = text.chars();
    let mut n_quotes = 0;
    while let Some(c) = rest.next() {
        n_quotes = if c == '"' { n_quotes + 1 } else { 0 };
        if n_quotes == 3 {
            return '\'';
        }
        if c == '\\' && rest.as_str().starts_with(['"', '\\']) {
            rest.next();
        }
    }
    if n_quotes > 0 { '\'' } else { '"' }
}

/// Writes the text of an interpolated string so that `${` in it stays text.
fn escape_interpolation(text: &str, quote: char, keeps_lines: bool, is_last: bool) -> String {
    let escaped = escape(text, quote, keeps_lines);
    let Some(open) = text.find("${") else { return escaped };
    // `\${` ends the part at the next `}`, as the parser does.
    let ends_there = text[open..].find('}').is_some_and(|close| open + close + 1 == text.len());
    if ends_there && !(is_last && text.contains("\\$")) {
        escaped.replacen("${", "\\${", 1)
    } else {
        escaped.replace("${", "\\x24{")
    }
}

fn escape(text: &str, quote: char, keeps_lines: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' if keeps_lines => out.push('\n'),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let code = c as u32;
                out.push_str("\\x");
                out.extend([code >> 4, code & 15].map(|d| char::from_digit(d, 16).unwrap_or('0')));
            }
            c => out.push(c),
        }
    }
    out
}

/// The number that `text` stands for.
fn read_number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix('-') {
        let is_min = int_value(digits)? == i64::MIN.unsigned_abs();
        return is_min.then_some(Number::Int(i64::MIN));
    }
    let is_float = !text.starts_with("0x") && text.contains(['.', 'e', 'E']);
    if is_float {
        return text.parse().ok().map(Number::Float);
    }
    let digits_len = if text.starts_with("0x") {
        text.len()
    } else {
        text.trim_end_matches(char::is_alphabetic).len()
    };
    let (digits, suffix) = text.split_at(digits_len);
    let value = i64::try_from(int_value(digits)?).ok()?;
    match (suffix, unit(suffix)) {
        ("", _) => Some(Number::Int(value)),
        (_, Some(unit)) => Some(Number::Unit { value, unit }),
        _ => None,
    }
}
