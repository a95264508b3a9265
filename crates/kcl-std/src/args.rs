//! Reading arguments.
//!
//! Calls are checked against signatures before they run; what is checked here is what a
//! value of type `any` can still get wrong.

use kcl_value::{CallArgs, Fault, Result, Value};
use std::borrow::Cow;
use std::rc::Rc;

/// The argument of a parameter: the named one, else the positional one.
pub(crate) fn get<'a>(args: &'a CallArgs, index: usize, name: &str) -> Option<&'a Value> {
    args.named
        .iter()
        .find(|(given, _)| given.as_str() == name)
        .map(|(_, value)| value)
        .or_else(|| args.positional.get(index))
}

/// The argument of a parameter; `None` and `Undefined` count as not given.
pub(crate) fn given<'a>(args: &'a CallArgs, index: usize, name: &str) -> Option<&'a Value> {
    get(args, index, name).filter(|value| !value.is_none_or_undefined())
}

/// The argument of a parameter, or the complaint that `function()` misses its only one.
pub(crate) fn only<'a>(args: &'a CallArgs, name: &str, function: &str) -> Result<&'a Value> {
    get(args, 0, name).ok_or_else(|| too_few(function))
}

/// The complaint that `function()` misses its only argument.
#[cold]
pub(crate) fn too_few(function: &str) -> Box<Fault> {
    Fault::new(format!("{function}() takes exactly one argument (0 given)"))
}

/// The argument of a parameter, or the complaint that it is missing.
pub(crate) fn need<'a>(
    args: &'a CallArgs,
    index: usize,
    name: &str,
    function: &str,
) -> Result<&'a Value> {
    get(args, index, name).ok_or_else(|| missing(function, name))
}

/// The complaint that a required argument is missing.
#[cold]
pub(crate) fn missing(function: &str, name: &str) -> Box<Fault> {
    Fault::new(format!("{function}() missing 1 required positional argument: '{name}'"))
}

/// The text of a string; other values count as the empty one.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A number as an integer; other values count as 0.
pub(crate) fn integer(value: &Value) -> i64 {
    match value {
        Value::Int(number) => *number,
        Value::Float(number) => *number as i64,
        Value::Unit(number) => number.value as i64,
        _ => 0,
    }
}

/// An integer and nothing else.
pub(crate) fn strict_integer(value: &Value) -> Result<i64> {
    match value {
        Value::Int(number) => Ok(*number),
        _ => Err(Fault::new("invalid int value")),
    }
}

/// A flag: whether the argument is there and holds.
pub(crate) fn flag(args: &CallArgs, index: usize, name: &str, default: bool) -> bool {
    get(args, index, name).map_or(default, Value::is_truthy)
}

/// What iterating over a value gives: characters, items or keys.
pub(crate) fn items(value: &Value) -> Result<Vec<Value>> {
    match value {
        Value::Str(text) => Ok(text.chars().map(|c| Value::str(c.to_string())).collect()),
        Value::List(list) => Ok(list.items.clone()),
        Value::Dict(_) | Value::Schema(_) => Ok(value
            .as_config()
            .into_iter()
            .flat_map(|dict| dict.keys().map(|key| Value::Str(key.clone())))
            .collect()),
        _ => Err(not_iterable(value)),
    }
}

/// The complaint that a value cannot be iterated over.
#[cold]
pub(crate) fn not_iterable(value: &Value) -> Box<Fault> {
    Fault::new(format!("'{}' object is not iterable", type_text(value)))
}

/// A value's type as messages show it; a number with a unit shows both.
pub(crate) fn type_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Unit(number) => {
            Cow::Owned(format!("number_multiplier({}{})", number.raw, number.unit))
        }
        _ => Cow::Borrowed(value.type_name()),
    }
}

/// A list of strings.
pub(crate) fn strings<S: Into<Box<str>>>(texts: impl IntoIterator<Item = S>) -> Value {
    Value::List(Rc::new(kcl_value::List::new(texts.into_iter().map(Value::str).collect())))
}
