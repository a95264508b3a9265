//! Taking strings apart and putting them together.

use crate::args::{flag, get, given, integer, not_iterable, strings, text as text_of};
use crate::host::too_much_memory;
use crate::shared_faults::missing_value;
use kcl_value::{CallArgs, Fault, Result, Str, Value, fits, show};

pub(super) fn chars(text: &Str, _: &CallArgs, _: usize) -> Result<Value> {
    Ok(strings(text.chars().map(String::from)))
}

pub(super) fn join(text: &Str, args: &CallArgs, room: usize) -> Result<Value> {
    let mut out = String::new();
    let mut add = |part: &str, first: bool| {
        if out.len().saturating_add(text.len() + part.len()) > room {
            return Err(too_much_memory());
        }
        if !first {
            out.push_str(text);
        }
        out.push_str(part);
        Ok(())
    };
    match get(args, 0, "iter") {
        Some(Value::List(list)) => {
            for (at, item) in list.items.iter().enumerate() {
                match item {
                    Value::Str(item) => add(item, at == 0)?,
                    item if fits(item, room) => add(&show(item), at == 0)?,
                    _ => return Err(too_much_memory()),
                }
            }
        }
        Some(Value::Str(item)) => {
            for (at, c) in item.chars().enumerate() {
                add(c.encode_utf8(&mut [0; 4]), at == 0)?;
            }
        }
        Some(value) => {
            let config = value.as_config().ok_or_else(|| not_iterable(value))?;
            for (at, key) in config.keys().enumerate() {
                add(key, at == 0)?;
            }
        }
        None => return Err(missing_value()),
    }
    Ok(Value::str(out))
}

pub(super) fn strip(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    Ok(kept(
        text,
        match given(args, 0, "chars").map(text_of) {
            Some(chars) => text.trim_matches(|c| chars.contains(c)),
            None => text.trim(),
        },
    ))
}

pub(super) fn lstrip(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    Ok(kept(
        text,
        match given(args, 0, "chars").map(text_of) {
            Some(chars) => text.trim_start_matches(|c| chars.contains(c)),
            None => text.trim_start(),
        },
    ))
}

pub(super) fn rstrip(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    Ok(kept(
        text,
        match given(args, 0, "chars").map(text_of) {
            Some(chars) => text.trim_end_matches(|c| chars.contains(c)),
            None => text.trim_end(),
        },
    ))
}

pub(super) fn removeprefix(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let prefix = get(args, 0, "prefix").ok_or_else(|| Fault::new("expect 1 argument, found 0"))?;
    Ok(kept(text, text.strip_prefix(text_of(prefix)).unwrap_or(text)))
}

pub(super) fn removesuffix(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let suffix = get(args, 0, "suffix").ok_or_else(|| Fault::new("expect 1 argument, found 0"))?;
    Ok(kept(text, text.strip_suffix(text_of(suffix)).unwrap_or(text)))
}

/// A part of a string, shared if it is the whole.
fn kept(text: &Str, part: &str) -> Value {
    if part.len() == text.len() { Value::Str(text.clone()) } else { Value::str(part) }
}

pub(super) fn split(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let limit = limit(args);
    Ok(match given(args, 0, "sep").map(text_of) {
        Some(sep) => match limit {
            Some(limit) => strings(text.splitn(limit.saturating_add(1), sep)),
            None => strings(text.split(sep)),
        },
        None => strings(split_words(text, limit)),
    })
}

pub(super) fn rsplit(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let limit = limit(args);
    let mut parts: Vec<&str> = match given(args, 0, "sep").map(text_of) {
        Some(sep) => match limit {
            Some(limit) => text.rsplitn(limit.saturating_add(1), sep).collect(),
            None => text.rsplit(sep).collect(),
        },
        None => rsplit_words(text, limit),
    };
    parts.reverse();
    Ok(strings(parts))
}

/// The most splits to make, if that is limited.
fn limit(args: &CallArgs) -> Option<usize> {
    usize::try_from(given(args, 1, "maxsplit").map_or(-1, integer)).ok()
}

fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

fn split_words(text: &str, limit: Option<usize>) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while let Some(end) = rest.find(is_space).filter(|_| limit != Some(words.len())) {
        words.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(is_space);
    }
    if !rest.is_empty() {
        words.push(rest);
    }
    words
}

/// The words from the last to the first.
fn rsplit_words(text: &str, limit: Option<usize>) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_end_matches(is_space);
    while let Some(start) = rest.rfind(is_space).filter(|_| limit != Some(words.len())) {
        words.push(&rest[start + 1..]);
        rest = rest[..start].trim_end_matches(is_space);
    }
    if !rest.is_empty() {
        words.push(rest);
    }
    words
}

pub(super) fn splitlines(text: &Str, args: &CallArgs, _: usize) -> Result<Value> {
    let keep = flag(args, 0, "keepends", false);
    let mut lines = Vec::new();
    let mut rest = text.as_str();
    while let Some(end) = rest.find(['\n', '\r']) {
        let after = if rest[end..].starts_with("\r\n") { end + 2 } else { end + 1 };
        lines.push(&rest[..if keep { after } else { end }]);
        rest = &rest[after..];
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    Ok(strings(lines))
}
