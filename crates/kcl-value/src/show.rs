//! What `str(x)` and `"${x}"` give.

use crate::number::{push_int, push_plain_float};
use crate::{Dict, Value};

/// Returns the text of a value.
///
/// Strings in lists stand bare, strings in dicts are quoted, as the language has always
/// printed them; the text cannot in general be read back.
pub fn show(value: &Value) -> String {
    let mut out = String::new();
    show_into(&mut out, value);
    out
}

/// Appends the text of a value.
pub fn show_into(out: &mut String, value: &Value) {
    match value {
        Value::Undefined => out.push_str("Undefined"),
        Value::None => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Int(number) => push_int(out, *number),
        Value::Float(number) => push_plain_float(out, *number),
        Value::Unit(number) => {
            push_int(out, number.raw);
            out.push_str(number.unit);
        }
        Value::Str(text) => out.push_str(text),
        Value::List(list) => {
            out.push('[');
            for (at, item) in list.items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                show_into(out, item);
            }
            out.push(']');
        }
        Value::Dict(dict) => show_dict(out, dict),
        Value::Schema(schema) => show_dict(out, &schema.attrs),
        Value::Func(_) => out.push_str("function"),
    }
}

fn show_dict(out: &mut String, dict: &Dict) {
    out.push('{');
    for (at, entry) in dict.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        quote(out, &entry.key);
        out.push_str(": ");
        match &entry.value {
            Value::Str(text) => quote(out, text),
            value => show_into(out, value),
        }
    }
    out.push('}');
}

/// Puts quotes around a string: double ones if it has double ones itself, which are
/// escaped only if it has single ones, too.
fn quote(out: &mut String, text: &str) {
    if !text.contains('"') {
        out.push('\'');
        out.push_str(text);
        out.push('\'');
        return;
    }
    out.push('"');
    if text.contains('\'') {
        out.push_str(&text.replace('"', "\\\""));
    } else {
        out.push_str(text);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Str, UnitNumber};
    use std::rc::Rc;

    fn dict(pairs: &[(&str, Value)]) -> Value {
        Value::dict(pairs.iter().map(|(key, value)| (Str::from(*key), value.clone())).collect())
    }

    #[test]
    fn scalars() {
        let ki = Value::Unit(Rc::new(UnitNumber { value: 1024.0, raw: 1, unit: "Ki" }));
        for (value, text) in [
            (Value::Undefined, "Undefined"),
            (Value::None, "None"),
            (Value::Bool(true), "True"),
            (Value::Int(-3), "-3"),
            (Value::Float(1e16), "10000000000000000.0"),
            (ki, "1Ki"),
            (Value::str("a'b"), "a'b"),
        ] {
            assert_eq!(show(&value), text);
        }
    }

    #[test]
    fn strings_are_bare_in_lists_and_quoted_in_dicts() {
        let list = Value::list(vec![Value::str("a"), Value::Float(1.0), Value::None]);
        assert_eq!(show(&list), "[a, 1.0, None]");
        let value = dict(&[
            ("a", Value::str("x'y")),
            ("b", Value::str("x\"y")),
            ("c", Value::str("x\"y'z")),
            ("k\"q", list),
            ("e", Value::Undefined),
        ]);
        assert_eq!(
            show(&value),
            r#"{'a': 'x'y', 'b': "x"y", 'c': "x\"y'z", "k"q": [a, 1.0, None], 'e': Undefined}"#
        );
        assert_eq!(show(&dict(&[])), "{}");
        assert_eq!(show(&Value::list(vec![])), "[]");
    }
}
