//! Items, slices and attributes.

use crate::{Fault, List, Result, Value};
use std::rc::Rc;

/// `a[i]`: an item of a list, a character of a string, an entry of a dict or schema.
///
/// A key that is not there gives `Undefined`.
pub fn index(value: &Value, key: &Value) -> Result<Value> {
    match (value, key) {
        (Value::List(list), Value::Int(at)) => {
            let position = position(*at, list.items.len())?;
            match position.and_then(|position| list.items.get(position)) {
                Some(item) => Ok(item.clone()),
                None => Err(Fault::new(format!("list index out of range: {at}"))),
            }
        }
        (Value::Str(text), Value::Int(at)) => match character(text, *at)? {
            Some(part) => Ok(Value::str(part)),
            None => Err(Fault::new(format!("string index out of range: {at}"))),
        },
        (Value::Dict(dict), Value::Str(key)) => {
            Ok(dict.get(key).cloned().unwrap_or(Value::Undefined))
        }
        (Value::Schema(schema), Value::Str(key)) => {
            Ok(schema.attrs.get(key).cloned().unwrap_or(Value::Undefined))
        }
        (Value::Dict(_), _) => Ok(Value::Undefined),
        _ => Err(Fault::new(format!(
            "'{}' object is not subscriptable with '{}'",
            value.type_text(),
            key.type_text()
        ))),
    }
}

/// `a?[i]`: `None` if `a` is empty, zero or not there.
pub fn index_optional(value: &Value, key: &Value) -> Result<Value> {
    if value.is_truthy() { index(value, key) } else { Ok(Value::None) }
}

/// `a.b` for dicts and schema instances.
///
/// Methods of strings and schemas are the evaluator's; here they are not found.
pub fn attribute(value: &Value, name: &str) -> Result<Value> {
    match value {
        Value::Dict(dict) => Ok(dict.get(name).cloned().unwrap_or(Value::Undefined)),
        Value::Schema(schema) => schema.attrs.get(name).cloned().ok_or_else(|| {
            Fault::new(format!("schema '{}' attribute '{name}' not found", schema.info.name))
        }),
        Value::Str(_) => Err(Fault::new(format!("str object attr '{name}' not found"))),
        Value::Func(_) => Err(Fault::new(format!("schema object attr '{name}' not found"))),
        _ => Err(Fault::new(format!(
            "invalid value '{}' to load attribute '{name}'",
            value.type_text()
        ))),
    }
}

/// `a?.b`: `None` if `a` is empty, zero or not there.
pub fn attribute_optional(value: &Value, name: &str) -> Result<Value> {
    if value.is_truthy() { attribute(value, name) } else { Ok(Value::None) }
}

/// `a[lower:upper:step]` of a list or string; bounds that are no integers count as not
/// given.
pub fn slice(
    value: &Value,
    lower: Option<&Value>,
    upper: Option<&Value>,
    step: Option<&Value>,
) -> Result<Value> {
    match value {
        Value::List(list) => {
            let range = Range::new(lower, upper, step, list.items.len())?;
            let items = range.positions().map(|at| list.items[at].clone()).collect();
            let origins = if list.origins.is_empty() {
                Vec::new()
            } else {
                range.positions().filter_map(|at| list.origins.get(at).copied()).collect()
            };
            Ok(Value::List(Rc::new(List { items, origins })))
        }
        Value::Str(text) if text.is_ascii() => {
            let range = Range::new(lower, upper, step, text.len())?;
            let bytes = text.as_bytes();
            let part: String = range.positions().map(|at| bytes[at] as char).collect();
            Ok(Value::str(part))
        }
        Value::Str(text) => {
            let chars: Vec<char> = text.chars().collect();
            let range = Range::new(lower, upper, step, chars.len())?;
            let part: String = range.positions().map(|at| chars[at]).collect();
            Ok(Value::str(part))
        }
        _ => Err(Fault::new(format!("invalid slice object {}", value.type_text()))),
    }
}

/// The positions of a slice, all inside the sequence.
struct Range {
    start: usize,
    step: i64,
    n: usize,
}

impl Range {
    fn new(
        lower: Option<&Value>,
        upper: Option<&Value>,
        step: Option<&Value>,
        len: usize,
    ) -> Result<Self> {
        let step = integer(step).unwrap_or(1);
        if step == 0 {
            return Err(Fault::new("slice step cannot be zero"));
        }
        let len = len as i64;
        let (first, last) = if step < 0 { (-1, len - 1) } else { (0, len) };
        let bound = |given: Option<i64>, default: i64| match given {
            None => default,
            Some(at) if at < 0 => at.saturating_add(len).max(first),
            Some(at) => at.min(last),
        };
        let (start, stop) = if step < 0 { (last, first) } else { (first, last) };
        let start = bound(integer(lower), start);
        let stop = bound(integer(upper), stop);
        let distance = if step < 0 { start - stop } else { stop - start };
        let n = if distance > 0 { (distance - 1) as u64 / step.unsigned_abs() + 1 } else { 0 };
        Ok(Self { start: start.max(0) as usize, step, n: n as usize })
    }

    fn positions(&self) -> impl Iterator<Item = usize> {
        let (start, step) = (self.start as i64, self.step);
        (0..self.n as i64).map(move |turn| (start + turn * step) as usize)
    }
}

fn integer(value: Option<&Value>) -> Option<i64> {
    match value {
        Some(Value::Int(number)) => Some(*number),
        _ => None,
    }
}

/// Where an index points, counted from the end if negative; `None` if past the end.
fn position(at: i64, len: usize) -> Result<Option<usize>> {
    if at >= 0 {
        return Ok(usize::try_from(at).ok());
    }
    match usize::try_from(at.saturating_add(len as i64)) {
        Ok(position) => Ok(Some(position)),
        Err(_) => {
            Err(Fault::new(format!("index out of bounds: the len is {len} but the index is {at}")))
        }
    }
}

fn character(text: &str, at: i64) -> Result<Option<&str>> {
    if text.is_ascii() {
        let position = position(at, text.len())?;
        return Ok(position.and_then(|at| text.get(at..at + 1)));
    }
    let position =
        if at < 0 { position(at, text.chars().count())? } else { usize::try_from(at).ok() };
    let Some((start, char)) = position.and_then(|at| text.char_indices().nth(at)) else {
        return Ok(None);
    };
    Ok(text.get(start..start + char.len_utf8()))
}
