//! Writing TOML.

use crate::filter::Filter;
use crate::number::{push_int, push_plain_float};
use crate::{Dict, Fault, Result, Value};
use std::fmt::Write;

/// Writes a dict or schema instance as TOML.
///
/// In each table scalars and lists come first, then lists of tables, then tables. Keys with
/// `None` are left out; a `None` in a list is an error, because TOML has no null.
pub fn write(value: &Value) -> Result<String> {
    write_filtered(value, Filter::default())
}

/// Writes what the filter keeps; `_type` is not added to the root itself.
pub(crate) fn write_filtered(value: &Value, filter: Filter) -> Result<String> {
    let Some(root) = value.as_config() else {
        return Err(Fault::new(format!(
            "only a dict or schema can be written as TOML, got {}",
            value.type_text()
        )));
    };
    let mut writer = Writer { out: String::new(), filter, path: String::new() };
    writer.table(root, None, Header { in_list: false, blank: false })?;
    Ok(writer.out)
}

struct Writer {
    out: String,
    filter: Filter,
    /// The key of the table being written, with those of its parents.
    path: String,
}

#[derive(Clone, Copy)]
struct Header {
    /// Whether it is `[[path]]`.
    in_list: bool,
    /// Whether an empty line comes before it.
    blank: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Inline,
    Tables,
    Table,
}

impl Writer {
    fn table(&mut self, dict: &Dict, type_name: Option<&Value>, header: Header) -> Result<()> {
        let mut pairs: Vec<(Kind, &str, &Value)> = Vec::with_capacity(dict.len());
        let filter = self.filter;
        filter.pairs(dict, type_name, |key, value, _| match value {
            Value::None => {}
            Value::Float(number) if !number.is_finite() => {}
            _ => pairs.push((kind(value, filter), key, value)),
        });
        pairs.sort_by_key(|(kind, ..)| *kind);
        let needs_header = pairs.first().is_none_or(|(kind, ..)| *kind == Kind::Inline);
        if !self.path.is_empty() && (needs_header || header.in_list) {
            self.header(header);
        }
        for (at, (kind, key, value)) in pairs.into_iter().enumerate() {
            let is_first = at == 0;
            if kind == Kind::Inline {
                push_key(&mut self.out, key);
                self.out.push_str(" = ");
                self.inline(value)?;
                self.out.push('\n');
                continue;
            }
            let len = self.path.len();
            if len > 0 {
                self.path.push('.');
            }
            push_key(&mut self.path, key);
            match value {
                Value::List(list) => {
                    let kept = list.items.iter().filter(|item| filter.keeps_value(item));
                    for (nth, item) in kept.enumerate() {
                        let blank = nth > 0 || !is_first;
                        self.config(item, Header { in_list: true, blank })?;
                    }
                }
                _ => self.config(value, Header { in_list: false, blank: !is_first })?,
            }
            self.path.truncate(len);
        }
        Ok(())
    }

    fn config(&mut self, value: &Value, header: Header) -> Result<()> {
        match value {
            Value::Dict(dict) => self.table(dict, None, header),
            Value::Schema(schema) => {
                let type_name = self.filter.type_name(schema);
                self.table(&schema.attrs, type_name.as_ref(), header)
            }
            _ => Ok(()),
        }
    }

    fn header(&mut self, header: Header) {
        if header.blank {
            self.out.push('\n');
        }
        self.out.push_str(if header.in_list { "[[" } else { "[" });
        self.out.push_str(&self.path);
        self.out.push_str(if header.in_list { "]]\n" } else { "]\n" });
    }

    fn inline(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Int(number) => push_int(&mut self.out, *number),
            Value::Float(number) => push_plain_float(&mut self.out, *number),
            Value::Unit(number) => push_plain_float(&mut self.out, number.value),
            Value::Str(text) => quote(&mut self.out, text),
            Value::List(list) => {
                self.out.push('[');
                let mut first = true;
                let filter = self.filter;
                for item in list.items.iter().filter(|item| filter.keeps_value(item)) {
                    if !first {
                        self.out.push_str(", ");
                    }
                    first = false;
                    self.inline(item)?;
                }
                self.out.push(']');
            }
            Value::Dict(dict) => self.inline_table(dict, None)?,
            Value::Schema(schema) => {
                let type_name = self.filter.type_name(schema);
                self.inline_table(&schema.attrs, type_name.as_ref())?;
            }
            Value::Undefined | Value::None | Value::Func(_) => {
                return Err(Fault::new(
                    "null array element cannot be represented in TOML (TOML has no null)",
                ));
            }
        }
        Ok(())
    }

    fn inline_table(&mut self, dict: &Dict, type_name: Option<&Value>) -> Result<()> {
        let mut pairs = Vec::with_capacity(dict.len());
        self.filter.pairs(dict, type_name, |key, value, _| pairs.push((key, value)));
        pairs.retain(|(_, value)| !matches!(value, Value::None));
        self.out.push('{');
        for (at, (key, value)) in pairs.into_iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { " " });
            push_key(&mut self.out, key);
            self.out.push_str(" = ");
            self.inline(value)?;
        }
        self.out.push_str(" }");
        Ok(())
    }
}

fn kind(value: &Value, filter: Filter) -> Kind {
    match value {
        Value::Dict(_) | Value::Schema(_) => Kind::Table,
        Value::List(list) => {
            let mut kept = list.items.iter().filter(|item| filter.keeps_value(item)).peekable();
            let is_empty = kept.peek().is_none();
            if !is_empty && kept.all(Value::is_config) { Kind::Tables } else { Kind::Inline }
        }
        _ => Kind::Inline,
    }
}

fn push_key(out: &mut String, key: &str) {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !key.is_empty() && key.bytes().all(is_bare) {
        out.push_str(key);
    } else {
        quote(out, key);
    }
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x08' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\x0c' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\x1f' | '\x7f' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04X}", char as u32);
            }
            _ => out.push(char),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn check(source: &str, expected: &str) {
        let value = json::parse(source).unwrap();
        assert_eq!(write(&value).unwrap(), expected, "{source}");
    }

    #[test]
    fn scalars_come_before_tables() {
        check(
            r#"{"a": 1, "b": {"c": [1, 2], "d": "x"}, "e": true, "f": 1.5}"#,
            "a = 1\ne = true\nf = 1.5\n\n[b]\nc = [1, 2]\nd = \"x\"\n",
        );
        check(
            r#"{"a": {"x": [{"b": 1}], "y": {"z": 1}, "w": 3}}"#,
            "[a]\nw = 3\n\n[[a.x]]\nb = 1\n\n[a.y]\nz = 1\n",
        );
    }

    #[test]
    fn a_table_of_tables_has_no_header() {
        check(r#"{"a": {"b": {"c": {"d": 1}}}}"#, "[a.b.c]\nd = 1\n");
        check(r#"{"a": {"b": {"c": {"d": 1}}, "e": 2}}"#, "[a]\ne = 2\n[a.b.c]\nd = 1\n");
        check(r#"{"a": {}}"#, "[a]\n");
        check(r#"{"a": {"b": null}}"#, "[a]\n");
    }

    #[test]
    fn lists_of_tables() {
        check(r#"{"a": [{"b": 1}, {"b": 2}]}"#, "[[a]]\nb = 1\n\n[[a]]\nb = 2\n");
        check(r#"{"a": [{"b": [{"c": 1}]}]}"#, "[[a]]\n[[a.b]]\nc = 1\n");
        check(r#"{"a": [{"b": {}}]}"#, "[[a]]\n[a.b]\n");
        check(
            r#"{"a": {"b": [{"c": 1, "d": {"e": 1}}, {"c": 2}]}}"#,
            "[[a.b]]\nc = 1\n\n[a.b.d]\ne = 1\n\n[[a.b]]\nc = 2\n",
        );
        check(r#"{"a": [1, "x", {"b": 1}]}"#, "a = [1, \"x\", { b = 1 }]\n");
        check(r#"{"a": [[], [1]]}"#, "a = [[], [1]]\n");
    }

    #[test]
    fn keys_and_strings_are_quoted_where_needed() {
        check(
            r#"{"c": {"a b": "x\"y\n\u0001é", "": 1e20, "1": 1e-7, "a-b_c": "a\\b"}}"#,
            "[c]\n\"a b\" = \"x\\\"y\\n\\u0001é\"\n\"\" = 100000000000000000000.0\n1 = 0.0000001\na-b_c = \"a\\\\b\"\n",
        );
        check(
            r#"{"c": {"x.y": {"z": 1}, "q r": [{"a": 1}]}}"#,
            "[[c.\"q r\"]]\na = 1\n\n[c.\"x.y\"]\nz = 1\n",
        );
    }

    #[test]
    fn what_toml_cannot_hold() {
        let fault = write(&json::parse(r#"{"a": [null]}"#).unwrap()).unwrap_err();
        assert_eq!(
            fault.message,
            "null array element cannot be represented in TOML (TOML has no null)"
        );
        assert!(write(&Value::Int(1)).is_err());
    }
}
