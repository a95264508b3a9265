//! How the real server prints values: strings, numbers, and values inside its messages.

use std::fmt::Write as _;

use serde_json::Value;

/// Appends a floating-point number: plain digits, or an exponent outside of 1e-6 to 1e21.
pub(crate) fn push_float(out: &mut String, number: f64) {
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        match text.split_once('e') {
            Some((digits, exponent)) => {
                let (sign, exponent) = match exponent.strip_prefix('-') {
                    Some(rest) => ('-', rest),
                    None => ('+', exponent),
                };
                let _ = write!(out, "{digits}e{sign}{exponent:0>2}");
            }
            None => out.push_str(&text),
        }
    } else {
        let _ = write!(out, "{number}");
    }
}

/// Returns a value as the server prints it inside messages (`map[a:1 b:[x y]]`).
pub(crate) fn plain(value: &Value) -> String {
    let mut out = String::new();
    push_plain(&mut out, value);
    out
}

fn push_plain(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => {
                let _ = write!(out, "{whole}");
            }
            None => push_float(out, number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (idx, item) in items.iter().enumerate() {
                if idx > 0 {
                    out.push(' ');
                }
                push_plain(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push_str("map[");
            for (idx, (key, item)) in map.iter().enumerate() {
                if idx > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                push_plain(out, item);
            }
            out.push(']');
        }
    }
}

/// Returns the name of a value's type as the server writes it in messages.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
