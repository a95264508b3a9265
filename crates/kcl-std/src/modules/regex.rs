//! `regex`

mod simple;

use self::simple::Simple;
use crate::args::{get, strict_integer, strings, text};
use crate::function::{Function, Module};
use crate::host::{Host, too_much_memory};
use crate::shared_faults::failed_conversion;
use fancy_regex::{Error, Regex};
use kcl_value::{CallArgs, Fault, Result, Value};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

pub(super) const MODULE: Module = Module {
    name: "regex",
    functions: &[
        Function::new("replace", replace),
        Function::new("match", |_, args| is_match(args, "match")),
        Function::new("compile", |_, args| match get(args, 0, "pattern") {
            Some(pattern) => Ok(Value::Bool(compiled(text(pattern)).is_ok())),
            None => Err(missing("compile", "pattern")),
        }),
        Function::new("findall", findall),
        Function::new("search", |_, args| is_match(args, "search")),
        Function::new("split", split),
    ],
    constants: &[],
};

/// How many compiled patterns are kept.
const CACHE_SIZE: usize = 256;

thread_local! {
    static CACHE: RefCell<FxHashMap<Box<str>, Rc<Regex>>> = RefCell::default();
    static SIMPLE: RefCell<FxHashMap<Box<str>, Option<Rc<Simple>>>> = RefCell::default();
}

/// The quick form of a pattern, if it has one.
fn simple(pattern: &str) -> Option<Rc<Simple>> {
    SIMPLE.with_borrow_mut(|cache| {
        if let Some(known) = cache.get(pattern) {
            return known.clone();
        }
        if cache.len() >= CACHE_SIZE {
            cache.clear();
        }
        let simple = Simple::new(pattern).map(Rc::new);
        cache.insert(pattern.into(), simple.clone());
        simple
    })
}

/// Compiles a pattern, once as long as it is in use.
fn compiled(pattern: &str) -> Result<Rc<Regex>> {
    CACHE.with_borrow_mut(|cache| {
        if let Some(regex) = cache.get(pattern) {
            return Ok(regex.clone());
        }
        let regex = Rc::new(Regex::new(pattern).map_err(|error| {
            let what = match error {
                Error::ParseError(_, error) => format!("{error:?}"),
                error => format!("{error:?}"),
            };
            failed_conversion(what)
        })?);
        if cache.len() >= CACHE_SIZE {
            cache.clear();
        }
        cache.insert(pattern.into(), regex.clone());
        Ok(regex)
    })
}

/// The search ended without an answer: at the limit of backtracking. "No match" would be a guess,
/// on which a policy may rely.
#[cold]
fn gave_up(function: &str, error: &Error) -> Box<Fault> {
    Fault::new(format!("regex.{function}() gave up: {error}"))
}

/// The complaint that one argument is missing.
#[cold]
fn missing(function: &str, name: &str) -> Box<Fault> {
    Fault::new(format!("{function}() missing the required positional argument: '{name}'"))
}

/// The complaint that the string is missing, and with it what follows.
#[cold]
fn missing_all(function: &str) -> Box<Fault> {
    // The last quote is missing in the reference.
    Fault::new(match function {
        "replace" => "replace() missing 3 required positional arguments: 'string', 'pattern', \
                      and 'replace"
            .to_owned(),
        _ => {
            format!("{function}() missing 2 required positional arguments: 'string' and 'pattern'")
        }
    })
}

/// The string and the pattern.
fn subject<'a>(args: &'a CallArgs, function: &str) -> Result<(&'a str, Rc<Regex>)> {
    match (get(args, 0, "string"), get(args, 1, "pattern")) {
        (Some(string), Some(pattern)) => Ok((text(string), compiled(text(pattern))?)),
        (Some(_), None) if function != "match" => Err(missing(function, "pattern")),
        _ => Err(missing_all(function)),
    }
}

fn is_match(args: &CallArgs, function: &str) -> Result<Value> {
    if let (Some(string), Some(pattern)) = (get(args, 0, "string"), get(args, 1, "pattern"))
        && let Some(simple) = simple(text(pattern))
    {
        return Ok(Value::Bool(simple.is_match(text(string))));
    }
    let (string, regex) = subject(args, function)?;
    regex.is_match(string).map(Value::Bool).map_err(|error| gave_up(function, &error))
}

fn replace(host: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (string, regex) = subject(args, "replace")?;
    let Some(replacement) = get(args, 2, "replace").map(text) else {
        return Err(missing("replace", "replace"));
    };
    let count = match get(args, 3, "count") {
        Some(count) => usize::try_from(strict_integer(count)?).unwrap_or(0),
        None => 0,
    };
    let n_groups = replacement.bytes().filter(|byte| *byte == b'$').count();
    let limit = if count == 0 { usize::MAX } else { count };
    let (mut out, mut last) = (String::new(), 0);
    for groups in regex.captures_iter(string).take(limit) {
        let groups = groups.map_err(|error| gave_up("replace", &error))?;
        let Some(found) = groups.get(0) else { continue };
        let longest = groups.iter().flatten().map(|group| group.as_str().len()).max();
        let added = n_groups.saturating_mul(longest.unwrap_or(0)).saturating_add(replacement.len());
        if added.saturating_add(out.len()).saturating_add(string.len() - last) > host.room() {
            return Err(too_much_memory());
        }
        out.push_str(&string[last..found.start()]);
        // Looking for groups takes long in a long text.
        match n_groups {
            0 => out.push_str(replacement),
            _ => groups.expand(replacement, &mut out),
        }
        last = found.end();
    }
    out.push_str(&string[last..]);
    Ok(Value::str(out))
}

fn findall(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (string, regex) = subject(args, "findall")?;
    let mut found = Vec::new();
    for groups in regex.captures_iter(string) {
        let groups = groups.map_err(|error| gave_up("findall", &error))?;
        let group = |at: usize| groups.get(at).map_or("", |group| group.as_str());
        found.push(match groups.len() {
            0..3 => Value::str(group(0)),
            len => strings((1..len).map(group)),
        });
    }
    Ok(Value::list(found))
}

fn split(_: &mut dyn Host, args: &CallArgs) -> Result<Value> {
    let (string, regex) = subject(args, "split")?;
    let limit = match get(args, 2, "maxsplit") {
        Some(limit) => strict_integer(limit)?,
        None => 0,
    };
    let mut parts = Vec::new();
    let mut last = 0;
    let mut from = 0;
    let next = |from| regex.find_from_pos(string, from).map_err(|error| gave_up("split", &error));
    while let Some(found) = next(from)? {
        parts.push(&string[last..found.start()]);
        if limit > 0 && parts.len() as i64 >= limit {
            return Ok(strings(parts));
        }
        last = found.end();
        from = last;
        if found.start() == found.end() {
            // An empty match would be found again.
            match string[last..].chars().next() {
                Some(c) => from += c.len_utf8(),
                None => break,
            }
        }
    }
    parts.push(&string[last..]);
    Ok(strings(parts))
}
