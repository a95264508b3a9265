//! One value from many: length, sum, extremes, uniqueness.

use crate::Host;
use crate::args::{get, only, too_few, type_text};
use kcl_value::ops;
use kcl_value::{CallArgs, Fault, Result, Value};
use rustc_hash::{FxHashMap, FxHasher};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

pub(super) fn len(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = only(args, "inval", "len")?;
    let len = match value {
        Value::Str(text) => text.len(),
        Value::List(list) => list.items.len(),
        Value::Dict(dict) => dict.len(),
        Value::Schema(schema) => schema.attrs.len(),
        _ => {
            return Err(Fault::new(format!("object of type '{}' has no len()", type_text(value))));
        }
    };
    Ok(Value::Int(len as i64))
}

pub(super) fn isnullish(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    Ok(Value::Bool(only(args, "inval", "is_nullable")?.is_none_or_undefined()))
}

pub(super) fn all_true(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    Ok(Value::Bool(match get(args, 0, "inval") {
        Some(Value::List(list)) => list.items.iter().all(Value::is_truthy),
        Some(value) => {
            value.as_config().is_some_and(|dict| dict.iter().all(|entry| entry.value.is_truthy()))
        }
        None => false,
    }))
}

pub(super) fn any_true(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    Ok(Value::Bool(match get(args, 0, "inval") {
        Some(Value::List(list)) => list.items.iter().any(Value::is_truthy),
        Some(value) => {
            value.as_config().is_some_and(|dict| dict.iter().any(|entry| entry.value.is_truthy()))
        }
        None => false,
    }))
}

pub(super) fn isunique(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let Some(Value::List(list)) = get(args, 0, "inval") else { return Ok(Value::Bool(false)) };
    let mut seen: FxHashMap<u64, Vec<&Value>> = FxHashMap::default();
    for item in &list.items {
        let mut hasher = FxHasher::default();
        hash(item, HASH_DEPTH, &mut hasher);
        let alike = seen.entry(hasher.finish()).or_default();
        if alike.iter().any(|other| ops::equals(other, item)) {
            return Ok(Value::Bool(false));
        }
        alike.push(item);
    }
    Ok(Value::Bool(true))
}

/// How deep hashing looks; what differs only below that is told apart by comparing.
const HASH_DEPTH: u32 = 4;

/// Hashes a value so that equal ones, `1` and `1.0` among them, hash the same.
fn hash(value: &Value, depth: u32, state: &mut FxHasher) {
    match value {
        Value::Undefined | Value::None | Value::Func(_) | Value::Unit(_) => {}
        Value::Bool(flag) => flag.hash(state),
        Value::Int(number) => hash_float(*number as f64, state),
        Value::Float(number) => hash_float(*number, state),
        Value::Str(text) => text.hash(state),
        Value::List(list) => {
            list.items.len().hash(state);
            if depth > 0 {
                list.items.iter().for_each(|item| hash(item, depth - 1, state));
            }
        }
        // Entries may come in any order, so only their number counts.
        Value::Dict(dict) => dict.len().hash(state),
        Value::Schema(schema) => schema.attrs.len().hash(state),
    }
}

fn hash_float(number: f64, state: &mut FxHasher) {
    // Adding zero makes the two zeros one.
    (number + 0.0).to_bits().hash(state);
}

pub(super) fn max(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    extreme(args, "max", Better(Ordering::Greater))
}

pub(super) fn min(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    extreme(args, "min", Better(Ordering::Less))
}

/// Which of two values is wanted, by how it compares with the other.
#[derive(Clone, Copy)]
struct Better(Ordering);

impl Better {
    fn is(self, value: &Value, best: &Value) -> Result<bool> {
        match (value, best, self.0) {
            (Value::Int(value), Value::Int(best), wanted) => Ok(value.cmp(best) == wanted),
            (_, _, Ordering::Greater) => ops::greater(value, best),
            _ => ops::less(value, best),
        }
    }
}

fn extreme(args: &CallArgs, name: &str, better: Better) -> Result<Value> {
    match args.positional.as_slice() {
        [] => Err(too_few(name)),
        [only] => extreme_item(only, better),
        values => best(values, better),
    }
}

fn extreme_item(value: &Value, better: Better) -> Result<Value> {
    match value {
        Value::Str(text) if text.is_empty() => Err(Fault::new("arg is an empty str")),
        Value::List(list) if list.items.is_empty() => Err(Fault::new("arg is an empty list")),
        Value::List(list) => best(&list.items, better),
        Value::Str(_) => best(&crate::args::items(value)?, better),
        Value::Dict(_) | Value::Schema(_) => {
            let keys = crate::args::items(value)?;
            if keys.is_empty() {
                return Err(Fault::new("arg is an empty dict"));
            }
            best(&keys, better)
        }
        _ => Err(Fault::new(format!("{} object is not iterable", type_text(value)))),
    }
}

fn best(values: &[Value], better: Better) -> Result<Value> {
    let mut best = &values[0];
    for value in values {
        if better.is(value, best)? {
            best = value;
        }
    }
    Ok(best.clone())
}

pub(super) fn sum(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let Some(Value::List(list)) = get(args, 0, "iterable") else { return Ok(Value::Undefined) };
    let mut sum = get(args, 1, "start").cloned().unwrap_or(Value::Int(0));
    if matches!(sum, Value::Str(_)) {
        return Err(Fault::new("sum() can't sum strings"));
    }
    let strict = host.strict_range();
    for item in &list.items {
        sum = ops::add(&sum, item, strict)?;
    }
    Ok(sum)
}
