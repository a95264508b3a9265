//! `"{} {name.part[0]:.2f}".format(…)`: the replacement fields.

use super::format_spec::FormatSpec;
use crate::host::too_much_memory;
use crate::shared_faults::{failed_conversion, missing_value};
use kcl_value::{CallArgs, Fault, Result, Str, Value, fits, show, show_into};

pub(super) fn format(text: &Str, args: &CallArgs, room: usize) -> Result<Value> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut numbering = Numbering { next: 0 };
    if !has_matching_braces(text) {
        return Err(Fault::new("format error"));
    }
    let mut rest = text.as_str();
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'{' | b'}')) {
        out.push_str(&rest[..at]);
        let (brace, inner) = (&rest[at..=at], &rest[at + 1..]);
        if let Some(after) = inner.strip_prefix(brace) {
            out.push_str(brace);
            rest = after;
            continue;
        }
        let Some(end) = field_end(inner) else { break };
        write_field(&mut out, &inner[..end], args, &mut numbering, room)?;
        rest = &inner[end + 1..];
    }
    out.push_str(rest);
    Ok(Value::str(out.as_str()))
}

/// Writes what stands for a field: a name and, behind a colon, how to write its value.
fn write_field(
    out: &mut String,
    text: &str,
    args: &CallArgs,
    numbering: &mut Numbering,
    room: usize,
) -> Result<()> {
    let (name, spec) = text.split_once(':').unwrap_or((text, ""));
    let name = name.split_once('!').map_or(name, |(name, _)| name);
    let value = field(name, args, numbering)?;
    let left = room.saturating_sub(out.len());
    if !fits(&value, left) {
        return Err(too_much_memory());
    }
    match value {
        value @ (Value::Int(_) | Value::Str(_)) if spec.is_empty() => show_into(out, &value),
        value => out.push_str(&with_spec(&value, spec, left)?),
    }
    Ok(())
}

/// Whether every brace of a format string is doubled or part of a field.
fn has_matching_braces(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'{' | b'}')) {
        let (brace, inner) = (&rest[at..=at], &rest[at + 1..]);
        rest = match inner.strip_prefix(brace) {
            Some(after) => after,
            None if brace == "}" => return false,
            None => match field_end(inner) {
                Some(end) => &inner[end + 1..],
                None => return false,
            },
        };
    }
    true
}

/// The position of the brace that ends a field; one pair of braces may stand inside.
fn field_end(text: &str) -> Option<usize> {
    let mut nested = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' if nested => return None,
            b'{' => nested = true,
            b'}' if nested => nested = false,
            b'}' => return Some(at),
            _ => {}
        }
    }
    None
}

/// How many arguments were taken by fields without a name.
struct Numbering {
    next: usize,
}

/// The value that a field's name, `0.key[1]`, stands for.
fn field(name: &str, args: &CallArgs, numbering: &mut Numbering) -> Result<Value> {
    let end = name.find(['.', '[']).unwrap_or(name.len());
    let (first, mut path) = name.split_at(end);
    let positional = |index: usize| {
        args.positional
            .get(index)
            .cloned()
            .ok_or_else(|| Fault::new("argument tuple index out of range"))
    };
    if name.is_empty() {
        numbering.next += 1;
        return positional(numbering.next - 1);
    }
    let mut value = if first.is_empty() {
        numbering.next += 1;
        positional(numbering.next - 1)?
    } else if let Ok(index) = first.parse::<usize>() {
        if numbering.next > 0 {
            return Err(Fault::new(
                "cannot switch from automatic field numbering to manual field specification",
            ));
        }
        positional(index)?
    } else {
        match args.named.iter().rfind(|(given, _)| given.as_str() == first) {
            Some((_, value)) => value.clone(),
            None => return Err(Fault::new(format!("keyword argument '{first}' not found"))),
        }
    };
    while !path.is_empty() {
        let (step, rest) = next_step(path)?;
        value = step.follow(&value)?;
        path = rest;
    }
    Ok(value)
}

enum Step<'t> {
    Key(&'t str),
    Index(usize),
}

fn next_step(path: &str) -> Result<(Step<'_>, &str)> {
    let fault = |what: &str| Err(failed_conversion(what));
    if let Some(path) = path.strip_prefix('.') {
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (key, rest) = path.split_at(end);
        return if key.is_empty() { fault("EmptyAttribute") } else { Ok((Step::Key(key), rest)) };
    }
    let Some(path) = path.strip_prefix('[') else {
        return fault("InvalidCharacterAfterRightBracket");
    };
    let Some((key, rest)) = path.split_once(']') else { return fault("MissingRightBracket") };
    match key.parse() {
        Ok(index) => Ok((Step::Index(index), rest)),
        Err(_) if key.is_empty() => fault("EmptyAttribute"),
        Err(_) => Ok((Step::Key(key), rest)),
    }
}

impl Step<'_> {
    fn follow(&self, value: &Value) -> Result<Value> {
        match self {
            Step::Key(key) => value
                .as_config()
                .and_then(|config| config.get(key))
                .cloned()
                .ok_or_else(missing_value),
            Step::Index(index) => {
                let Some(items) = value.as_list() else {
                    return Err(Fault::new("Invalid list object in list_get"));
                };
                items.get(*index).cloned().ok_or_else(|| {
                    Fault::new(format!(
                        "index out of bounds: the len is {} but the index is {index}",
                        items.len()
                    ))
                })
            }
        }
    }
}

/// A value as text, written as a format specification says.
fn with_spec(value: &Value, spec: &str, room: usize) -> Result<String> {
    let parse = || match FormatSpec::parse(spec)? {
        spec if spec.width() > room => Err(too_much_memory()),
        spec => Ok(spec),
    };
    match value {
        Value::Int(number) => parse()?.int(*number),
        Value::Float(number) => parse()?.float(*number),
        Value::Str(text) => parse()?.string(text),
        _ => Ok(show(value)),
    }
}
