//! Data as KCL source.

use crate::{Data, Entry, Node};
use base_text::Span;
use kcl_syntax::is_keyword;
use std::fmt::Write as _;

/// How source is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// For people: `key = value`, an entry on each line, short lists of plain values on one line.
    Pretty,
    /// For the compiler: `"key": value`, which merges with defaults. Each key and each item starts
    /// a line, without indentation, because some messages know only lines.
    Lines,
}

/// Lists of plain values that are longer than this, in characters, get a line for each item.
const MAX_LIST_LINE: usize = 80;

/// Source text that is being written, with the data that its parts come from.
#[derive(Clone, Debug)]
pub struct Source {
    layout: Layout,
    text: String,
    anchors: Anchors,
}

/// Which part of the data each part of a source came from.
#[derive(Clone, Debug, Default)]
pub struct Anchors(Vec<(u32, Span)>);

impl Anchors {
    /// The part of the data that stands behind a byte of the source.
    pub fn find(&self, offset: u32) -> Option<Span> {
        let after = self.0.partition_point(|(start, _)| *start <= offset);
        self.0.get(after.checked_sub(1)?).map(|(_, span)| *span)
    }
}

impl Source {
    /// Starts an empty source.
    pub fn new(layout: Layout) -> Self {
        Self { layout, text: String::new(), anchors: Anchors::default() }
    }

    /// Returns the text, and where its parts come from.
    pub fn finish(self) -> (String, Anchors) {
        (self.text, self.anchors)
    }

    /// Adds text that comes from no data.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds text that stands for a part of the data.
    pub fn push_at(&mut self, text: &str, span: Span) {
        self.anchor(span);
        self.push(text);
    }

    fn anchor(&mut self, span: Span) {
        self.anchors.0.push((self.text.len() as u32, span));
    }

    /// Adds a value as it would stand at a level of indentation. With a schema, a dict becomes an
    /// instance of it, and a list a list of instances.
    ///
    /// # Errors
    ///
    /// If a number can't be written: the place in the data, and why.
    pub fn value(
        &mut self,
        node: &Node,
        schema: Option<&str>,
        level: usize,
    ) -> Result<(), (Span, String)> {
        self.anchor(node.span);
        match &node.data {
            Data::Null => self.push("None"),
            Data::Bool(true) => self.push("True"),
            Data::Bool(false) => self.push("False"),
            // The lexer reads digits without their sign.
            Data::Int(i64::MIN) => self.push("(-9223372036854775807 - 1)"),
            Data::Int(number) => {
                let _ = write!(self.text, "{number}");
            }
            Data::Large(text) if self.layout == Layout::Lines => {
                let number: f64 = text.parse().unwrap_or(f64::INFINITY);
                self.float(number, node.span)?;
            }
            Data::Large(text) => {
                let message = format!("the integer {text} does not fit 64 bits: quote it");
                return Err((node.span, message));
            }
            Data::Float(number) => self.float(*number, node.span)?,
            Data::Str(text) => push_string(&mut self.text, text),
            Data::List(items) => self.list(items, schema, level)?,
            Data::Dict(entries) => {
                if let Some(schema) = schema {
                    self.push(schema);
                    self.push(" ");
                }
                self.dict(entries, level)?;
            }
        }
        Ok(())
    }

    fn float(&mut self, number: f64, span: Span) -> Result<(), (Span, String)> {
        if !number.is_finite() {
            return Err((span, format!("the number {number} has no literal in KCL")));
        }
        let start = self.text.len();
        let _ = write!(self.text, "{number}");
        if !self.text[start..].contains('.') {
            self.text.push_str(".0");
        }
        Ok(())
    }

    fn list(
        &mut self,
        items: &[Node],
        schema: Option<&str>,
        level: usize,
    ) -> Result<(), (Span, String)> {
        let start = self.text.len();
        let n_anchors = self.anchors.0.len();
        let is_plain = !items.iter().any(|it| matches!(it.data, Data::List(_) | Data::Dict(_)));
        if items.is_empty() || (is_plain && self.layout == Layout::Pretty) {
            self.push("[");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    self.push(", ");
                }
                self.value(item, schema, level)?;
            }
            self.push("]");
            if self.text[start..].chars().count() <= MAX_LIST_LINE {
                return Ok(());
            }
            self.text.truncate(start);
            self.anchors.0.truncate(n_anchors);
        }
        self.push("[");
        for item in items {
            self.line(level + 1);
            self.value(item, schema, level + 1)?;
            self.push(",");
        }
        self.line(level);
        self.push("]");
        Ok(())
    }

    /// Adds the entries of a dict in braces.
    fn dict(&mut self, entries: &[Entry], level: usize) -> Result<(), (Span, String)> {
        if entries.is_empty() {
            self.push("{}");
            return Ok(());
        }
        self.push("{");
        for Entry { key, key_span, value, .. } in entries {
            self.line(level + 1);
            self.anchor(*key_span);
            match self.layout {
                Layout::Pretty => {
                    self.text.push_str(&key_text(key));
                    self.push(" = ");
                }
                Layout::Lines => {
                    push_string(&mut self.text, key);
                    self.push(": ");
                }
            }
            self.value(value, None, level + 1)?;
        }
        self.line(level);
        self.push("}");
        Ok(())
    }

    fn line(&mut self, level: usize) {
        self.text.push('\n');
        if self.layout == Layout::Pretty {
            self.text.extend(std::iter::repeat_n("    ", level));
        }
    }
}

/// A key of a config: a plain name, or a string where that would mean something else.
pub fn key_text(key: &str) -> String {
    if is_name(key) && !is_keyword(key) { key.to_owned() } else { string_text(key) }
}

/// A name as it is written where names are defined, with `$` before a keyword; `None` if it is no
/// name.
pub fn name_text(name: &str) -> Option<String> {
    match name {
        _ if !is_name(name) => None,
        _ if is_keyword(name) => Some(format!("${name}")),
        _ => Some(name.to_owned()),
    }
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|it| it.is_ascii_alphanumeric() || it == '_')
}

/// A string literal on one line.
pub fn string_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut chars = text.chars().peekable();
    while let Some(it) = chars.next() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            // With a brace behind it, the sign starts an expression, escaped or not.
            '$' if chars.peek() == Some(&'{') => out.push_str("\\x24"),
            '\u{7f}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(it));
            }
            _ => out.push(it),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, read};

    fn source(json: &str, layout: Layout) -> (String, Anchors) {
        let nodes = read(json, Format::Json).expect("the text is valid");
        let mut source = Source::new(layout);
        source.value(&nodes[0], Some("S"), 0).expect("all can be written");
        source.finish()
    }

    #[test]
    fn pretty_layout() {
        let json = r#"{"a": [1, [2.0, true]], "if": {"b": null}, "c-d": "x${y}\u0001", "e": []}"#;
        let wanted = "S {\n    a = [\n        1,\n        [2.0, True],\n    ]\n    \"if\" = {\n        \
                      b = None\n    }\n    \"c-d\" = \"x\\x24{y}\\u0001\"\n    e = []\n}";
        assert_eq!(source(json, Layout::Pretty).0, wanted);
    }

    #[test]
    fn long_lists_have_a_line_for_each_item() {
        let json = format!("[\"{}\", 1]", "x".repeat(73));
        assert_eq!(source(&json, Layout::Pretty).0.lines().count(), 1);
        let json = format!("[\"{}\", 1]", "x".repeat(74));
        assert_eq!(source(&json, Layout::Pretty).0.lines().count(), 4);
    }

    #[test]
    fn anchors_lead_back_to_the_data() {
        let json = r#"[{"a": 1}, {"b": [2]}]"#;
        let (text, anchors) = source(json, Layout::Lines);
        assert_eq!(text, "[\nS {\n\"a\": 1\n},\nS {\n\"b\": [\n2,\n]\n},\n]");
        let back = |part: &str| {
            let offset = text.find(part).expect("the part is there");
            anchors.find(offset as u32).map(|span| span.slice(json))
        };
        assert_eq!(back("\"b\""), Some("\"b\""));
        assert_eq!(back("2,"), Some("2"));
        assert_eq!(back("S {\n\"b\""), Some("{\"b\": [2]}"));
    }
}
