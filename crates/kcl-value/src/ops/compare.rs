//! Equality, order and membership.

use crate::{Dict, Fault, Result, Value};
use std::cmp::Ordering;
use std::rc::Rc;

/// `a == b`: deep; integers and floats may be equal, unit numbers never are.
pub fn equals(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Undefined, Value::Undefined) | (Value::None, Value::None) => true,
        (Value::Bool(x), Value::Bool(y)) => x == y,
        (Value::Int(x), Value::Int(y)) => x == y,
        (Value::Float(x), Value::Float(y)) => same(*x, *y),
        (Value::Int(x), Value::Float(y)) | (Value::Float(y), Value::Int(x)) => same(*x as f64, *y),
        (Value::Str(x), Value::Str(y)) => x == y,
        (Value::List(x), Value::List(y)) => {
            x.items.len() == y.items.len()
                && x.items.iter().zip(&y.items).all(|(x, y)| equals(x, y))
        }
        (Value::Dict(x), Value::Dict(y)) => equal_dicts(x, y),
        (Value::Schema(x), Value::Schema(y)) => equal_dicts(&x.attrs, &y.attrs),
        (Value::Func(x), Value::Func(y)) => Rc::ptr_eq(x, y) || x.name == y.name,
        _ => false,
    }
}

#[expect(clippy::float_cmp, reason = "the language compares floats exactly")]
fn same(x: f64, y: f64) -> bool {
    x == y
}

fn equal_dicts(a: &Dict, b: &Dict) -> bool {
    a.len() == b.len()
        && a.iter().all(|entry| {
            b.position_of(&entry.key)
                .and_then(|at| b.at(at))
                .is_some_and(|other| equals(&entry.value, &other.value))
        })
}

/// `a is b`: the same as equality, as in the reference.
pub fn is_same(a: &Value, b: &Value) -> bool {
    equals(a, b)
}

/// `a < b`
pub fn less(a: &Value, b: &Value) -> Result<bool> {
    Ok(order("<", a, b)?.is_some_and(Ordering::is_lt))
}

/// `a <= b`
pub fn less_equal(a: &Value, b: &Value) -> Result<bool> {
    Ok(order("<=", a, b)?.is_some_and(Ordering::is_le))
}

/// `a > b`
pub fn greater(a: &Value, b: &Value) -> Result<bool> {
    Ok(order(">", a, b)?.is_some_and(Ordering::is_gt))
}

/// `a >= b`
pub fn greater_equal(a: &Value, b: &Value) -> Result<bool> {
    Ok(order(">=", a, b)?.is_some_and(Ordering::is_ge))
}

/// The order of two values: bools count as 0 and 1, lists go item by item. `None` if one
/// is not a number.
fn order(name: &str, a: &Value, b: &Value) -> Result<Option<Ordering>> {
    let order = match (a, b) {
        (Value::Int(x), Value::Int(y)) => Some(x.cmp(y)),
        (Value::Str(x), Value::Str(y)) => Some(x.cmp(y)),
        (Value::List(x), Value::List(y)) => {
            for (x, y) in x.items.iter().zip(&y.items) {
                if !equals(x, y) {
                    return self::order(name, x, y);
                }
            }
            Some(x.items.len().cmp(&y.items.len()))
        }
        (
            Value::Int(_) | Value::Float(_) | Value::Bool(_),
            Value::Int(_) | Value::Float(_) | Value::Bool(_),
        ) => number(a).partial_cmp(&number(b)),
        _ => {
            return Err(Fault::new(format!(
                "'{name}' not supported between instances of '{}' and '{}'",
                a.type_text(),
                b.type_text()
            )));
        }
    };
    Ok(order)
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Bool(true) => 1.0,
        _ => 0.0,
    }
}

/// `item in container`
pub fn contains(container: &Value, item: &Value) -> Result<bool> {
    match container {
        Value::Str(text) => Ok(item.as_str().is_some_and(|part| crate::find(text, part).is_some())),
        Value::List(list) => Ok(list.items.iter().any(|other| equals(item, other))),
        Value::Dict(_) | Value::Schema(_) => {
            // What is not a string counts as the empty one.
            let key = item.as_str().unwrap_or("");
            Ok(container.as_config().is_some_and(|dict| dict.contains_key(key)))
        }
        _ => Err(Fault::new(format!(
            "TypeError: argument of type '{}' is not iterable",
            container.type_text()
        ))),
    }
}
