//! Finding and replacing parts of strings.

use crate::args::{get, given, integer, text as text_of};
use crate::host::too_much_memory;
use crate::shared_faults::missing_value;
use kcl_value::{CallArgs, Fault, Result, Str, Value, find as find_in};

pub(super) fn count(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let sub = needle(args, "count", "sub")?;
    let count = part(text, args)?.map_or(0, |(_, part)| part.matches(sub).count());
    Ok(Value::Int(count as i64))
}

pub(super) fn startswith(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let prefix = needle(args, "startswith", "val")?;
    Ok(Value::Bool(part(text, args)?.is_some_and(|(_, part)| part.starts_with(prefix))))
}

pub(super) fn endswith(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let suffix = needle(args, "endswith", "val")?;
    Ok(Value::Bool(part(text, args)?.is_some_and(|(_, part)| part.ends_with(suffix))))
}

pub(super) fn find(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let found = position(text, args, "find", find_in)?;
    Ok(Value::Int(found.unwrap_or(-1)))
}

pub(super) fn rfind(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let found = position(text, args, "rfind", |part, sub| part.rfind(sub))?;
    Ok(Value::Int(found.unwrap_or(-1)))
}

pub(super) fn index(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let found = position(text, args, "index", find_in)?;
    found.map(Value::Int).ok_or_else(|| Fault::new("substring not found"))
}

pub(super) fn rindex(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let found = position(text, args, "rindex", |part, sub| part.rfind(sub))?;
    found.map(Value::Int).ok_or_else(|| Fault::new("substring not found"))
}

fn position(
    text: &str,
    args: &CallArgs,
    method: &str,
    find: fn(&str, &str) -> Option<usize>,
) -> Result<Option<i64>> {
    let sub = needle(args, method, "sub")?;
    let found = part(text, args)?.and_then(|(start, part)| Some(start + find(part, sub)?));
    Ok(found.map(|at| at as i64))
}

/// The string to look for.
fn needle<'a>(args: &'a CallArgs, method: &str, name: &str) -> Result<&'a str> {
    match get(args, 0, name) {
        Some(Value::Str(needle)) => Ok(needle),
        Some(_) => Err(Fault::new(format!("Invalid str object in str_{method}"))),
        None => Err(Fault::new(format!("{method}() takes at least 1 argument (0 given)"))),
    }
}

/// The part of a string that `start` and `end` leave, with its position.
///
/// There is none if they cross, or if the first lies behind the end.
fn part<'t>(text: &'t str, args: &CallArgs) -> Result<Option<(usize, &'t str)>> {
    let len = text.len() as i64;
    let bound = |index, name, default| {
        let bound = given(args, index, name).map_or(default, integer);
        if bound < 0 { bound.saturating_add(len).max(0) } else { bound }
    };
    let start = bound(1, "start", 0);
    let end = bound(2, "end", len).min(len);
    if start > end {
        return Ok(None);
    }
    let (start, end) = (start as usize, end as usize);
    match text.get(start..end) {
        Some(part) => Ok(Some((start, part))),
        // A bound inside a character: the reference counts bytes here.
        None => Err(missing_value()),
    }
}

pub(super) fn replace(text: &Str, args: &CallArgs, room: usize) -> Result<Value> {
    let Some(old) = get(args, 0, "old") else {
        return Err(Fault::new("expect 1 argument, found 0"));
    };
    let Some(new) = get(args, 1, "new") else {
        return Err(Fault::new("expect 2 arguments, found 1"));
    };
    let (old, new) = (text_of(old), text_of(new));
    let count = given(args, 2, "count").map_or(-1, integer);
    // The text may grow with each place; only then they are counted first.
    let most = if old.is_empty() { text.len() + 1 } else { text.len() / old.len() };
    if text.len().saturating_add(most.saturating_mul(new.len())) > room {
        let found = text.matches(old).count();
        let found = usize::try_from(count).map_or(found, |count| found.min(count));
        let grown = text.len().saturating_add(found.saturating_mul(new.len()));
        if grown.saturating_sub(found.saturating_mul(old.len())) > room {
            return Err(too_much_memory());
        }
    }
    Ok(Value::str(match usize::try_from(count) {
        Ok(count) => text.replacen(old, new, count),
        Err(_) if old.is_empty() => text.replace(old, new),
        Err(_) => {
            let mut out = String::with_capacity(text.len() + new.len());
            let mut rest = text.as_str();
            while let Some(at) = find_in(rest, old) {
                out.push_str(&rest[..at]);
                out.push_str(new);
                rest = &rest[at + old.len()..];
            }
            out.push_str(rest);
            out
        }
    }))
}
