//! `duration`: lengths of time as text, `1d2h3m4.5s`.

use crate::args::{get, missing, need, text};
use crate::builtins::float;
use crate::function::{Function, Module};
use crate::host::Host;
use chrono::{DateTime, TimeDelta};
use kcl_value::{CallArgs, Fault, Result, Value};
use std::fmt::Write as _;

const MINUTE: f64 = 60.0;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

pub(super) const MODULE: Module = Module {
    name: "duration",
    functions: &[
        Function::new("second", |host, args| made(host, args, "second", 1.0)),
        Function::new("minute", |host, args| made(host, args, "minute", MINUTE)),
        Function::new("hour", |host, args| made(host, args, "hour", HOUR)),
        Function::new("day", |host, args| made(host, args, "day", DAY)),
        Function::new("to_seconds", |_, args| read(args, "to_seconds").map(Value::Float)),
        Function::new("from_seconds", |host, args| made(host, args, "from_seconds", 1.0)),
        Function::new("parse", |_, args| Ok(Value::str(write_seconds(read(args, "parse")?)))),
        Function::new("is_valid", |_, args| {
            let duration = text(need(args, 0, "d", "is_valid")?);
            Ok(Value::Bool(read_seconds(duration).is_some()))
        }),
        Function::new("add", |_, args| {
            let (a, b) = both(args, "add")?;
            Ok(Value::str(write_seconds(a + b)))
        }),
        Function::new("sub", sub),
        Function::new("add_to_datetime", |_, args| shifted(args, "add_to_datetime", 1)),
        Function::new("sub_from_datetime", |_, args| shifted(args, "sub_from_datetime", -1)),
    ],
    constants: &[],
};

/// Reads a duration: numbers with units, the longest unit first.
fn read_seconds(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut total = 0.0;
    let mut last = '\0';
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        let unit = rest[end..].chars().next()?;
        // The units' letters are in the order of the alphabet.
        if unit < last {
            return None;
        }
        total += number
            * match unit {
                'd' => DAY,
                'h' => HOUR,
                'm' => MINUTE,
                's' => 1.0,
                _ => return None,
            };
        last = unit;
        rest = &rest[end + 1..];
    }
    Some(total)
}

fn write_seconds(total: f64) -> String {
    let mut rest = total;
    let mut out = String::new();
    for (size, unit) in [(DAY, 'd'), (HOUR, 'h'), (MINUTE, 'm')] {
        let count = (rest / size) as u64;
        if count > 0 {
            // Writing to a string cannot fail.
            let _ = write!(out, "{count}{unit}");
            rest -= count as f64 * size;
        }
    }
    if rest > 0.0 || out.is_empty() {
        let _ = if rest.fract().abs() < f64::EPSILON {
            write!(out, "{}s", rest as u64)
        } else {
            write!(out, "{rest}s")
        };
    }
    out
}

fn made(host: &mut dyn Host, args: &CallArgs, function: &str, unit: f64) -> Result<Value> {
    let number = float(host, need(args, 0, "n", function)?)?;
    if !number.is_finite() || number < 0.0 {
        return Err(Fault::new(format!(
            "{function}() requires a non-negative finite number, got {number}"
        )));
    }
    Ok(Value::str(write_seconds(number * unit)))
}

fn read(args: &CallArgs, function: &str) -> Result<f64> {
    let duration = text(need(args, 0, "d", function)?);
    read_seconds(duration)
        .ok_or_else(|| Fault::new(format!("{function}() invalid duration: {duration:?}")))
}

fn both(args: &CallArgs, function: &str) -> Result<(f64, f64)> {
    let a = text(need(args, 0, "a", function)?);
    let b = text(need(args, 1, "b", function)?);
    match (read_seconds(a), read_seconds(b)) {
        (Some(a), Some(b)) => Ok((a, b)),
        _ => Err(Fault::new(format!("{function}() invalid duration(s): a={a:?}, b={b:?}"))),
    }
}

fn sub(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (a, b) = both(args, "sub")?;
    if b > a {
        let shown = |index, name| get(args, index, name).map_or("", text);
        return Err(Fault::new(format!(
            "duration.sub() result would be negative: {} - {}",
            shown(0, "a"),
            shown(1, "b")
        )));
    }
    Ok(Value::str(write_seconds(a - b)))
}

/// The time that is a duration away from a time.
///
/// Both functions name `add_to_datetime` in their complaints.
fn shifted(args: &CallArgs, function: &str, sign: i64) -> Result<Value> {
    let Some(time) = get(args, 0, "dt").map(text) else { return Err(missing(function, "dt")) };
    let Some(duration) = get(args, 1, "d").map(text) else { return Err(missing(function, "d")) };
    let moment = DateTime::parse_from_rfc3339(time).map_err(|error| {
        Fault::new(format!("add_to_datetime() expected RFC 3339 input, got {time:?}: {error}"))
    })?;
    let seconds = read_seconds(duration)
        .ok_or_else(|| Fault::new(format!("add_to_datetime() invalid duration: {duration:?}")))?;
    let millis = (seconds.fract() * 1000.0).round() as i64;
    let delta = TimeDelta::try_seconds(sign.saturating_mul(seconds.trunc() as i64))
        .and_then(|delta| delta.checked_add(&TimeDelta::milliseconds(sign * millis)))
        .ok_or_else(|| Fault::new("TimeDelta::seconds out of bounds"))?;
    match moment.checked_add_signed(delta) {
        Some(moment) => Ok(Value::str(moment.to_rfc3339())),
        None => Err(Fault::new("`DateTime + TimeDelta` overflowed")),
    }
}
