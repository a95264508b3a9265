//! Lists and dicts: making, sorting, combining.

use crate::Host;
use crate::args::{get, items, not_iterable, only, type_text};
use crate::host::too_much_memory;
use kcl_value::{CallArgs, Dict, Fault, Result, Str, Value, fits, show};
use std::cmp::Ordering;

/// More items than this are refused instead of exhausting memory.
const MAX_ITEMS: u64 = 1 << 25;

pub(super) fn range(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let Some(first) = get(args, 0, "start") else { return Ok(Value::Undefined) };
    let (start, stop) = match get(args, 1, "stop") {
        Some(stop) => (first, stop),
        None => (&Value::Int(0), first),
    };
    let step = get(args, 2, "step").unwrap_or(&Value::Int(1));
    let (Value::Int(start), Value::Int(stop), Value::Int(step)) = (start, stop, step) else {
        return Ok(Value::Undefined);
    };
    if *step == 0 {
        return Err(Fault::new("range() step argument must not be zero"));
    }
    let distance = if *step > 0 {
        stop.checked_sub(*start).map_or(u64::MAX, |distance| distance.max(0) as u64)
    } else {
        start.checked_sub(*stop).map_or(u64::MAX, |distance| distance.max(0) as u64)
    };
    let count = if (*step > 0) == (stop > start) && stop != start {
        distance.div_ceil(step.unsigned_abs())
    } else {
        0
    };
    if count > MAX_ITEMS {
        return Err(Fault::new(format!("range() result has too many items: {count}")));
    }
    if (count as usize).saturating_mul(size_of::<Value>()) > host.room() {
        return Err(too_much_memory());
    }
    let number = |i: u64| Value::Int(start.wrapping_add(step.wrapping_mul(i as i64)));
    Ok(Value::list((0..count).map(number).collect()))
}

pub(super) fn sorted(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let value = only(args, "inval", "sorted")?;
    if !matches!(value, Value::Str(_) | Value::List(_) | Value::Dict(_)) {
        return Err(Fault::new("sorted only for str|list|dict type"));
    }
    let reverse = get(args, 1, "reverse").is_some_and(Value::is_truthy);
    let mut values = items(value)?;
    let mut fault = None;
    values.sort_by(|a, b| {
        let (a, b) = if reverse { (b, a) } else { (a, b) };
        order(a, b).unwrap_or_else(|found| {
            fault.get_or_insert(found);
            Ordering::Equal
        })
    });
    fault.map_or_else(|| Ok(Value::list(values)), Err)
}

fn order(a: &Value, b: &Value) -> Result<Ordering> {
    let by_number = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => Ok(by_number(*a, *b)),
        (Value::Int(a), Value::Float(b)) => Ok(by_number(*a as f64, *b)),
        (Value::Float(a), Value::Int(b)) => Ok(by_number(*a, *b as f64)),
        (Value::Str(a), Value::Str(b)) => Ok(a.cmp(b)),
        _ => Err(Fault::new(format!("cannot compare {} and {}", type_text(a), type_text(b)))),
    }
}

pub(super) fn zip(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let columns = args.positional.iter().map(items).collect::<Result<Vec<_>>>()?;
    let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
    let row = |at: usize| Value::list(columns.iter().map(|column| column[at].clone()).collect());
    Ok(Value::list((0..rows).map(row).collect()))
}

pub(super) fn list(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    match args.positional.first() {
        Some(_) => Ok(Value::list(items(get(args, 0, "x").unwrap_or(&Value::Undefined))?)),
        None => Ok(Value::list(Vec::new())),
    }
}

pub(super) fn dict(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let first = match get(args, 0, "x") {
        Some(value) => dict_of(value, host.room())?,
        None => Value::dict(Dict::new()),
    };
    if args.named.is_empty() {
        return Ok(first);
    }
    let named: Dict = args.named.iter().cloned().collect();
    host.union(&first, &Value::dict(named))
}

/// A dict of the entries of a config, or of a list of pairs.
fn dict_of(value: &Value, room: usize) -> Result<Value> {
    if let Some(config) = value.as_config() {
        let pairs = config.iter().map(|entry| (entry.key.clone(), entry.value.clone()));
        return Ok(Value::dict(pairs.collect()));
    }
    let pairs = match value {
        Value::Str(_) | Value::List(_) => items(value)?,
        _ => return Err(not_iterable(value)),
    };
    let mut dict = Dict::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let pair = items(pair)?;
        let [key, value] = pair.as_slice() else {
            return Err(Fault::new(format!(
                "dictionary update sequence element #{at} has length {}; 2 is required",
                pair.len()
            )));
        };
        if !fits(key, room) {
            return Err(too_much_memory());
        }
        dict.insert(Str::from(show(key)), value.clone());
    }
    Ok(Value::dict(dict))
}

pub(super) fn reduce(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let Some(reducer @ Value::Func(_)) = get(args, 0, "reducer") else {
        return Err(Fault::new("reduce() argument 'reducer' must be a function"));
    };
    let Some(Value::List(list)) = get(args, 1, "list") else {
        return Err(Fault::new("invalid list value"));
    };
    let mut items = list.items.iter();
    let mut result = match get(args, 2, "initial").or_else(|| items.next()) {
        Some(start) => start.clone(),
        None => {
            return match host.param_type(reducer, 0).filter(|ty| ty != "any") {
                None => Ok(Value::None),
                Some(ty) => Err(Fault::new(format!(
                    "reduce() empty list with no initial value and non-nullable accumulator \
                     type '{ty}'"
                ))),
            };
        }
    };
    for item in items {
        let call = CallArgs { positional: vec![result, item.clone()], named: Vec::new() };
        result = host.call(reducer, call)?;
    }
    Ok(result)
}
