//! Writing JSON.

use crate::filter::Filter;
use crate::number::{push_int, push_json_float};
use crate::{Dict, Value};
use base_text::push_json_string;

/// How JSON is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Keys in alphabetical order.
    pub sort_keys: bool,
    /// Spaces per level; 0 puts everything on one line.
    pub indent: usize,
    /// Leave out keys that start with `_`.
    pub ignore_private: bool,
    /// Leave out `None`.
    pub ignore_none: bool,
}

/// Writes a value on one line, as `json.encode(x)` does.
pub fn write(value: &Value) -> String {
    write_with(value, &WriteOptions::default())
}

/// Writes a value.
///
/// `Undefined` and functions are left out, or `null` and `0` at the root; floats that JSON cannot
/// hold are `null`.
pub fn write_with(value: &Value, options: &WriteOptions) -> String {
    let filter = Filter {
        sort_keys: options.sort_keys,
        hide_private: options.ignore_private,
        hide_none: options.ignore_none,
        type_path: false,
    };
    let mut out = String::new();
    write_filtered(&mut out, value, filter, options.indent, usize::MAX);
    out
}

/// Appends a value; `_type` is not added to the root itself. Ends soon after the text has `limit`
/// bytes.
pub(crate) fn write_filtered(
    out: &mut String,
    value: &Value,
    filter: Filter,
    indent: usize,
    limit: usize,
) {
    let mut writer = Writer { out, filter, indent, level: 0, limit };
    match value {
        Value::Schema(schema) => writer.dict(&schema.attrs, None),
        _ => writer.value(value),
    }
}

struct Writer<'o> {
    out: &'o mut String,
    filter: Filter,
    indent: usize,
    level: usize,
    limit: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value) {
        if self.out.len() > self.limit {
            return;
        }
        match value {
            Value::Undefined | Value::None => self.out.push_str("null"),
            Value::Func(_) => self.out.push('0'),
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Int(number) => push_int(self.out, *number),
            Value::Float(number) => self.float(*number),
            Value::Unit(number) => self.float(number.value),
            Value::Str(text) => push_json_string(self.out, text),
            Value::List(list) => self.list(&list.items),
            Value::Dict(dict) => self.dict(dict, None),
            Value::Schema(schema) => {
                let type_name = self.filter.type_name(schema);
                self.dict(&schema.attrs, type_name.as_ref());
            }
        }
    }

    fn float(&mut self, number: f64) {
        if number.is_finite() {
            push_json_float(self.out, number);
        } else {
            self.out.push_str("null");
        }
    }

    fn list(&mut self, items: &[Value]) {
        self.out.push('[');
        self.level += 1;
        let filter = self.filter;
        let mut first = true;
        for item in items.iter().filter(|item| filter.keeps_value(item)) {
            self.separate(first);
            first = false;
            self.value(item);
        }
        self.level -= 1;
        if !first {
            self.line();
        }
        self.out.push(']');
    }

    fn dict(&mut self, dict: &Dict, type_name: Option<&Value>) {
        self.out.push('{');
        self.level += 1;
        let filter = self.filter;
        let mut first = true;
        filter.pairs(dict, type_name, |key, value, _| {
            self.separate(first);
            first = false;
            push_json_string(self.out, key);
            self.out.push_str(": ");
            self.value(value);
        });
        self.level -= 1;
        if !first {
            self.line();
        }
        self.out.push('}');
    }

    fn separate(&mut self, first: bool) {
        if !first {
            self.out.push(',');
            if self.indent == 0 {
                self.out.push(' ');
            }
        }
        self.line();
    }

    fn line(&mut self) {
        if self.indent > 0 {
            self.out.push('\n');
            for _ in 0..self.indent * self.level {
                self.out.push(' ');
            }
        }
    }
}
