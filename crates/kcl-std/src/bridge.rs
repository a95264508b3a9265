//! What other crates will offer: comparing, adding and showing values.

use kcl_value::{Fault, Result, Value};

pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Undefined => "Undefined".into(),
        Value::None => "None".into(),
        Value::Bool(flag) => if *flag { "True" } else { "False" }.into(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => {
            let mut text = number.to_string();
            if !text.contains('.') {
                text.push_str(".0");
            }
            text
        }
        Value::Unit(number) => format!("{}{}", number.raw, number.unit),
        Value::Str(text) => text.to_string(),
        Value::List(list) => {
            format!("[{}]", list.items.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        Value::Func(_) => "function".into(),
        Value::Dict(_) | Value::Schema(_) => "{}".into(),
    }
}

pub(crate) mod ops {
    use super::{Fault, Result, Value};

    fn number(value: &Value) -> Option<f64> {
        match value {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn add(a: &Value, b: &Value, _strict: bool) -> Result<Value> {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => Ok(Value::Int(a.wrapping_add(*b))),
            _ => match (number(a), number(b)) {
                (Some(a), Some(b)) => Ok(Value::Float(a + b)),
                _ => Err(Fault::new("unsupported")),
            },
        }
    }

    pub(crate) fn less(a: &Value, b: &Value) -> Result<bool> {
        match (a, b) {
            (Value::Str(a), Value::Str(b)) => Ok(a < b),
            _ => match (number(a), number(b)) {
                (Some(a), Some(b)) => Ok(a < b),
                _ => Err(Fault::new("unsupported")),
            },
        }
    }

    pub(crate) fn greater(a: &Value, b: &Value) -> Result<bool> {
        less(b, a)
    }

    pub(crate) fn equals(a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::None, Value::None) | (Value::Undefined, Value::Undefined) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::List(a), Value::List(b)) => {
                a.items.len() == b.items.len()
                    && a.items.iter().zip(&b.items).all(|(a, b)| equals(a, b))
            }
            _ => matches!((number(a), number(b)), (Some(a), Some(b)) if a == b),
        }
    }
}
