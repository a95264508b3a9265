//! Writing YAML.

use super::scalar::{Style, analyze, is_break, is_printable};
use crate::filter::Filter;
use crate::number::{push_int, push_yaml_float};
use crate::{Dict, Value};
use std::fmt::Write;

/// How YAML is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Keys in alphabetical order.
    pub sort_keys: bool,
    /// Leave out keys that start with `_`.
    pub ignore_private: bool,
    /// Leave out `None`.
    pub ignore_none: bool,
}

impl WriteOptions {
    /// What these options keep.
    pub(crate) fn filter(self) -> Filter {
        Filter {
            sort_keys: self.sort_keys,
            hide_private: self.ignore_private,
            hide_none: self.ignore_none,
            type_path: false,
        }
    }
}

/// Writes a value as `yaml.encode(x)` does, with a line break at the end.
pub fn write(value: &Value) -> String {
    write_with(value, &WriteOptions::default())
}

/// Writes a value with a line break at the end.
///
/// `Undefined` and functions are left out, or `null` and `0` at the root; floats that JSON cannot
/// hold are `null`.
pub fn write_with(value: &Value, options: &WriteOptions) -> String {
    let mut out = String::new();
    write_filtered(&mut out, value, options.filter(), usize::MAX);
    out
}

/// Writes several documents with an empty line and `---` between them, as
/// `yaml.encode_all(x)` does.
pub fn write_stream(values: &[Value], options: &WriteOptions) -> String {
    let mut out = String::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push_str("\n---\n");
        }
        write_filtered(&mut out, value, options.filter(), usize::MAX);
    }
    out
}

/// Writes several documents with a separator line between them and no line break at the
/// end, as `manifests.yaml_stream(x)` does.
///
/// Ends soon after it has written `limit` bytes.
pub fn write_manifests(
    values: &[Value],
    options: &WriteOptions,
    separator: &str,
    limit: usize,
) -> String {
    let mut out = String::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push('\n');
            out.push_str(separator);
            out.push('\n');
        }
        write_filtered(&mut out, value, options.filter(), limit);
        out.pop();
    }
    out
}

/// Appends a value and a line break; `_type` is not added to the root itself. Tells whether
/// a block of text is among what was written. Ends soon after the text has `limit` bytes.
pub(crate) fn write_filtered(
    out: &mut String,
    value: &Value,
    filter: Filter,
    limit: usize,
) -> bool {
    let mut writer = Writer { out, filter, has_blocks: false, limit };
    match value {
        Value::Schema(schema) => writer.dict(&schema.attrs, None, Place::root()),
        _ => writer.value(value, Place::root()),
    }
    writer.has_blocks
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct Place {
    /// The spaces before keys and dashes of the value.
    indent: usize,
    /// The spaces before keys and dashes of the value that contains it.
    parent: usize,
    /// What is before it on its line.
    before: Before,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing.
    Nothing,
    /// `- ` or `: `, so that the first key or dash goes on the same line.
    Dash,
    /// `key:` without a space.
    Key,
}

impl Place {
    fn root() -> Self {
        Self { indent: 0, parent: 0, before: Before::Nothing }
    }
}

struct Writer<'o> {
    out: &'o mut String,
    filter: Filter,
    has_blocks: bool,
    limit: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, place: Place) {
        if self.out.len() > self.limit {
            return;
        }
        match value {
            Value::List(list) => self.list(&list.items, place),
            Value::Dict(dict) => self.dict(dict, None, place),
            Value::Schema(schema) => {
                let type_name = self.filter.type_name(schema);
                self.dict(&schema.attrs, type_name.as_ref(), place);
            }
            _ => {
                self.space(place);
                self.scalar(value, place);
            }
        }
    }

    /// A list; in a dict its dashes stand below the key.
    fn list(&mut self, items: &[Value], place: Place) {
        let indent = if place.before == Before::Key { place.parent } else { place.indent };
        let filter = self.filter;
        let mut first = true;
        for item in items.iter().filter(|item| filter.keeps_value(item)) {
            self.start_line(first, indent, place.before);
            first = false;
            self.out.push_str("- ");
            let item_place = Place { indent: indent + 2, parent: indent, before: Before::Dash };
            self.value(item, item_place);
        }
        if first {
            self.space(place);
            self.out.push_str("[]\n");
        }
    }

    fn dict(&mut self, dict: &Dict, type_name: Option<&Value>, place: Place) {
        let indent = place.indent;
        let filter = self.filter;
        let mut first = true;
        filter.pairs(dict, type_name, |key, value, _| {
            self.start_line(first, indent, place.before);
            first = false;
            let before = self.key(key, indent);
            self.value(value, Place { indent: indent + 2, parent: indent, before });
        });
        if first {
            self.space(place);
            self.out.push_str("{}\n");
        }
    }

    /// Writes a key and what parts it from its value.
    fn key(&mut self, key: &str, indent: usize) -> Before {
        let scalar = analyze(key);
        if scalar.is_simple_key {
            self.text(key, scalar.style, indent);
            self.out.push(':');
            return Before::Key;
        }
        self.out.push_str("? ");
        self.text(key, scalar.style, indent);
        self.end_line();
        self.spaces(indent);
        self.out.push_str(": ");
        Before::Dash
    }

    fn scalar(&mut self, value: &Value, place: Place) {
        match value {
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Int(number) => push_int(self.out, *number),
            Value::Float(number) => self.float(*number),
            Value::Unit(number) => self.float(number.value),
            Value::Str(text) => self.text(text, analyze(text).style, place.parent),
            Value::Func(_) => self.out.push('0'),
            _ => self.out.push_str("null"),
        }
        self.end_line();
    }

    fn float(&mut self, number: f64) {
        if number.is_finite() {
            push_yaml_float(self.out, number);
        } else {
            self.out.push_str("null");
        }
    }

    /// Writes a string; `indent` is that of the key or dash before it.
    fn text(&mut self, text: &str, style: Style, indent: usize) {
        match style {
            Style::Plain => self.out.push_str(text),
            Style::Single => self.single(text, indent + 2),
            Style::Double => self.double(text),
            Style::Literal => self.literal(text, indent + 2),
        }
    }

    fn single(&mut self, text: &str, indent: usize) {
        self.out.push('\'');
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'\'') {
            self.out.push_str(text);
            self.out.push('\'');
            return;
        }
        let mut after_break = false;
        for char in text.chars() {
            if is_break(char) {
                self.out.push(char);
                after_break = true;
                continue;
            }
            if after_break {
                self.spaces(indent);
                after_break = false;
            }
            if char == '\'' {
                self.out.push('\'');
            }
            self.out.push(char);
        }
        if after_break {
            self.spaces(indent);
        }
        self.out.push('\'');
    }

    fn double(&mut self, text: &str) {
        self.out.push('"');
        for char in text.chars() {
            if is_printable(char) && !is_break(char) && char != '"' && char != '\\' {
                self.out.push(char);
                continue;
            }
            let short = match char {
                '\0' => "\\0",
                '\x07' => "\\a",
                '\x08' => "\\b",
                '\t' => "\\t",
                '\n' => "\\n",
                '\x0b' => "\\v",
                '\x0c' => "\\f",
                '\r' => "\\r",
                '\x1b' => "\\e",
                '"' => "\\\"",
                '\\' => "\\\\",
                '\u{85}' => "\\N",
                '\u{2028}' => "\\L",
                '\u{2029}' => "\\P",
                _ => "",
            };
            self.out.push_str(short);
            let code = char as u32;
            // Writing to a string cannot fail.
            let _ = match (short, code) {
                ("", 0..=0xff) => write!(self.out, "\\x{code:02X}"),
                ("", 0..=0xffff) => write!(self.out, "\\u{code:04X}"),
                ("", _) => write!(self.out, "\\U{code:08X}"),
                _ => Ok(()),
            };
        }
        self.out.push('"');
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.has_blocks = true;
        self.out.push('|');
        if text.starts_with([' ', '\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
            self.out.push('2');
        }
        let mut from_end = text.chars().rev();
        if !from_end.next().is_some_and(is_break) {
            self.out.push('-');
        } else if from_end.next().is_none_or(is_break) {
            self.out.push('+');
        }
        self.out.push('\n');
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(is_break).unwrap_or(rest.len());
            let (line, tail) = rest.split_at(end);
            if !line.is_empty() {
                self.spaces(indent);
                self.out.push_str(line);
            }
            let mut chars = tail.chars();
            if let Some(char) = chars.next() {
                self.out.push(char);
            }
            rest = chars.as_str();
        }
    }

    /// The first key or dash of a value goes on the line of a dash before it.
    fn start_line(&mut self, first: bool, indent: usize, before: Before) {
        match (first, before) {
            (true, Before::Dash) => return,
            (true, Before::Key) => self.out.push('\n'),
            _ => {}
        }
        self.spaces(indent);
    }

    fn space(&mut self, place: Place) {
        if place.before == Before::Key {
            self.out.push(' ');
        }
    }

    /// Ends the line unless a block of text has done so.
    fn end_line(&mut self) {
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn spaces(&mut self, n: usize) {
        const SPACES: &str = "                                                                ";
        let mut n = n;
        while n > SPACES.len() {
            self.out.push_str(SPACES);
            n -= SPACES.len();
        }
        self.out.push_str(&SPACES[..n]);
    }
}
