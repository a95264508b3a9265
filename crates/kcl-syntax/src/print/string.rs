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
        if !self.in_string
            && let Some(text) = self.as_written(id, fits)
        {
            self.push(&text);
        } else if string.value.contains("${") {
            self.raw_string(string);
        } else if string.is_long {
            let value = escape(&string.value, '"', true);
            self.long_string("", &value);
        } else {
            self.short_string(&string.value);
        }
    }

    pub(super) fn short_string(&mut self, value: &str) {
        if value.contains("${") {
            self.raw_string(&StringLit { value: value.into(), is_long: false });
            return;
        }
        let quote = if self.in_string { '\'' } else { '"' };
        self.out.push(quote);
        let mut value = escape(value, quote, false);
        if self.in_string {
            // A double quote would end the string around.
            value = value.replace('"', "\\x22");
        }
        self.push(&value);
        self.out.push(quote);
    }

    /// A string with `${` that is no interpolation.
    fn raw_string(&mut self, string: &StringLit) {
        if string.is_long {
            self.long_string("r", &string.value);
            return;
        }
        // A raw string on one line can't hold a line break.
        if string.value.contains('\n') {
            let value = escape(&string.value, '"', false).replace("${", "\\x24{");
            self.write(format_args!("\"{value}\""));
            return;
        }
        let quote = if has_bare_quote(&string.value) { '\'' } else { '"' };
        self.push("r");
        self.out.push(quote);
        self.push(&string.value);
        self.out.push(quote);
    }

    /// Prints the lines of `value` so that nothing but what is added here is taken away as
    /// indentation: each line gets one blank, and an empty line stands before.
    fn long_string(&mut self, prefix: &str, value: &str) {
        self.push(prefix);
        self.push("\"\"\"");
        for line in value.split('\n') {
            self.push("\n ");
            self.push(line);
        }
        self.push("\"\"\"");
    }

    pub(super) fn joined(&mut self, joined: &JoinedString) {
        let mut content = String::new();
        for part in &joined.parts {
            match part {
                StringPart::Text(text) => {
                    let escaped = escape(text, '"', joined.is_long);
                    content.push_str(&escape_interpolation(text, &escaped));
                }
                StringPart::Formatted { value, spec } => {
                    let mut inner = Printer::new(self.module, self.text);
                    inner.in_string = true;
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
            self.long_string("", &content);
        } else {
            self.push("\"");
            self.push(&content);
            self.push("\"");
        }
    }

    pub(super) fn doc(&mut self, doc: &str) {
        let quotes = if doc.contains("\"\"\"") || doc.ends_with('"') && !doc.ends_with("\\\"") {
            "'''"
        } else {
            "\"\"\""
        };
        if doc.contains('\\') || doc.contains("${") {
            self.push("r");
        }
        self.push(quotes);
        self.push(doc);
        self.push(quotes);
    }
}

fn is_long(text: &str) -> bool {
    let text = text.trim_start_matches(['r', 'R']);
    text.len() >= 6 && (text.starts_with("\"\"\"") || text.starts_with("'''"))
}

/// Whether a double quote stands in `text` without a backslash before.
fn has_bare_quote(text: &str) -> bool {
    let mut escaped = false;
    for c in text.chars() {
        if c == '"' && !escaped {
            return true;
        }
        escaped = c == '\\' && !escaped;
    }
    false
}

/// Writes `${` in the text of an interpolated string so that it stays text.
fn escape_interpolation(text: &str, escaped: &str) -> String {
    let Some(open) = text.find("${") else { return escaped.into() };
    // `\${` ends the part at the next `}`, as the parser does.
    if text[open..].find('}').is_some_and(|close| open + close + 1 == text.len()) {
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
