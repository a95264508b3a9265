//! Printing of strings and numbers.

use super::Printer;
use crate::ast::{ExprId, JoinedString, Number, StringLit, StringPart};
use crate::lexer::string::{StringParts, margin};
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
            let value = parts.value().map(|value| parts.dedent(value));
            is_string
                && is_long(text) == string.is_long
                && value.is_some_and(|v| v == *string.value)
        };
        if let Some(quote) = self.inner_quote {
            self.inner_string(&string.value, string.is_long, quote);
        } else if let Some(text) = self.as_written(id, fits) {
            self.push(&text);
        } else if string.value.contains("${") {
            self.raw_string(&string.value, string.is_long);
        } else if string.is_long {
            let value = escape(&string.value, Some('"'), true);
            self.long_string("", '"', &value);
        } else {
            self.short_string(&string.value);
        }
    }

    /// Prints a string inside of an interpolation.
    fn inner_string(&mut self, value: &str, is_long: bool, quote: char) {
        if value.contains("${") {
            self.raw_string(value, is_long);
        } else if is_long {
            self.inner_long_string(value, quote);
        } else {
            self.short_string(value);
        }
    }

    /// Prints a string in three quotes inside of an interpolation, on one line.
    fn inner_long_string(&mut self, value: &str, quote: char) {
        self.out.extend([quote; 3]);
        let indentation = if margin(value) > 0 { " " } else { "" };
        for line in value.split('\n') {
            self.push("\\n");
            self.push(indentation);
            self.push(&escape_inner(line));
        }
        self.out.extend([quote; 3]);
    }

    pub(super) fn short_string(&mut self, value: &str) {
        let quote = self.inner_quote.unwrap_or('"');
        self.out.push(quote);
        if self.inner_quote.is_some() {
            self.push(&escape_inner(value));
        } else {
            self.push(&escape(value, Some(quote), false));
        }
        self.out.push(quote);
    }

    /// A string with `${` that is no interpolation; in three quotes also if one can't hold it.
    pub(super) fn raw_string(&mut self, value: &str, is_long: bool) {
        let first = self.inner_quote.unwrap_or('"');
        // Inside of an interpolation, the other quote is that of the string around.
        let may_swap = self.inner_quote.is_none() && has_bare(value, first);
        let quote = if may_swap { other(first) } else { first };
        if is_long || value.contains(['\n', '\r', '\0']) || has_bare(value, quote) {
            self.long_string("r", long_quote(value, first), value);
            return;
        }
        self.push("r");
        self.out.push(quote);
        self.push(value);
        self.out.push(quote);
    }

    /// Prints lines of which none is to lose indentation, behind the empty line that vanishes.
    fn long_string(&mut self, prefix: &str, quote: char, value: &str) {
        let start = self.out.len();
        self.long_lines(prefix, quote, value, "");
        if self.margin_from(start) > Some(0) {
            // All lines lose what an empty last line has.
            self.out.truncate(start);
            self.long_lines(prefix, quote, value, " ");
        }
    }

    fn long_lines(&mut self, prefix: &str, quote: char, value: &str, indentation: &str) {
        self.push(prefix);
        self.out.extend([quote; 3]);
        for line in value.split('\n') {
            self.push("\n");
            self.push(indentation);
            self.push(line);
        }
        self.out.extend([quote; 3]);
    }

    /// What the lines of the long string at `start` will lose.
    fn margin_from(&self, start: usize) -> Option<usize> {
        StringParts::new(&self.out[start..], true, true).margin()
    }

    pub(super) fn joined(&mut self, joined: &JoinedString) {
        if let (Some(quote), [StringPart::Text(text)]) = (self.inner_quote, &joined.parts[..]) {
            let start = self.out.len();
            if joined.is_long {
                self.inner_long_string(text, quote);
            } else {
                self.short_string(text);
            }
            let literal = self.out.split_off(start);
            self.push(&literal.replace("${", "\\x24{"));
            return;
        }
        let mut quote = '"';
        let mut content = self.joined_content(joined, quote, false);
        if content.needs_other_quote {
            quote = '\'';
            content = self.joined_content(joined, quote, false);
        }
        if !joined.is_long {
            self.out.push(quote);
            self.push(&content.text);
            self.out.push(quote);
            return;
        }
        let start = self.out.len();
        self.long_string("", quote, &content.text);
        if self.margin_from(start) > Some(1) {
            content = self.joined_content(joined, quote, true);
            self.out.truncate(start);
            self.long_string("", quote, &content.text);
        }
    }

    /// What stands between the quotes of an interpolated string.
    ///
    /// If it `is_spread`, each expression ends with a line that has no indentation, so that
    /// other lines keep theirs.
    fn joined_content(&self, joined: &JoinedString, quote: char, is_spread: bool) -> Content {
        let mut content = Content { text: String::new(), needs_other_quote: false };
        for (at, part) in joined.parts.iter().enumerate() {
            match part {
                StringPart::Text(text) => {
                    let is_marked = matches!(joined.parts.get(at + 1), Some(StringPart::Text(_)));
                    let write = if is_marked { escape_marked_part } else { escape_part };
                    content.text.push_str(&write(text, quote, joined.is_long));
                }
                StringPart::Formatted { value, spec } => {
                    let mut inner = Printer::new(self.module, self.text);
                    inner.inner_quote = Some(other(quote));
                    inner.expr(*value);
                    if let Some(spec) = spec {
                        inner.push(": ");
                        inner.push(spec);
                    }
                    content.needs_other_quote |= if joined.is_long {
                        long_quote(&inner.out, quote) != quote
                    } else {
                        has_bare(&inner.out, quote)
                    };
                    content.text.push_str("${");
                    content.text.push_str(&inner.out);
                    content.text.push_str(if is_spread { "\n}" } else { "}" });
                }
            }
        }
        content
    }

    pub(super) fn doc(&mut self, doc: &str) {
        if doc.contains('\\') || doc.contains("${") {
            self.push("r");
        }
        let quote = long_quote(doc, '"');
        self.out.extend([quote; 3]);
        self.push(doc);
        self.out.extend([quote; 3]);
    }
}

/// The printed parts of an interpolated string.
struct Content {
    text: String,
    /// Whether the string would end too early.
    needs_other_quote: bool,
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

/// The quote that can stand three times around the raw `text`; `first` if possible.
fn long_quote(text: &str, first: char) -> char {
    let mut rest = text.chars();
    let mut n_quotes = 0;
    while let Some(c) = rest.next() {
        n_quotes = if c == first { n_quotes + 1 } else { 0 };
        if n_quotes == 3 {
            return other(first);
        }
        if c == '\\' && rest.as_str().starts_with([first, '\\']) {
            rest.next();
        }
    }
    if n_quotes > 0 { other(first) } else { first }
}

/// Writes a text of an interpolated string so that `${` in it, and only that, stays text.
fn escape_part(text: &str, quote: char, keeps_lines: bool) -> String {
    let mut escaped = escape(text, Some(quote), keeps_lines).replace("${", "\\x24{");
    if escaped.ends_with('\\') {
        // It would belong to the `${` behind.
        escaped.truncate(escaped.len() - 2);
        escaped.push_str("\\x5c");
    }
    escaped
}

/// Writes a text that another text follows: it ends with the `}` of `\${…}`. The parser drops
/// the backslash of each `\$` in it.
fn escape_marked_part(text: &str, quote: char, keeps_lines: bool) -> String {
    let marked = text.rfind("${").zip(text.strip_suffix('}'));
    let Some((open, text)) = marked.filter(|(open, text)| open + 2 <= text.len()) else {
        return escape_part(text, quote, keeps_lines);
    };
    let part = |text: &str| escape_part(&text.replace("\\$", "\\\\$"), quote, keeps_lines);
    let (before, inside) = (part(&text[..open]), part(&text[open + 2..]));
    format!("{before}\\${{{}}}", inside.replace('}', "\\x7d"))
}

/// Writes a string inside of an interpolation, without what would end that or the string around.
fn escape_inner(text: &str) -> String {
    let escaped = escape(text, None, false);
    escaped.replace('"', "\\x22").replace('\'', "\\x27").replace('}', "\\x7d")
}

/// Escapes what is no plain text, and the quote around it.
fn escape(text: &str, quote: Option<char>, keeps_lines: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' if keeps_lines => out.push('\n'),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if Some(c) == quote => {
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
