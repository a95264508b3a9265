//! Functions behind a name (`format.dns1123Label()`, `sets.contains(a, b)`), and `format` of texts.

use super::eval::{Cel, Failure, compare, equal};
use super::functions::text_of;
use super::special::Special;
use crate::names;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Names that have functions.
pub(crate) const SPACES: [&str; 7] =
    ["format", "sets", "ip", "lists", "strings", "optional", "jsonpatch"];

/// The named formats.
pub(super) const FORMATS: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

/// Calls a function behind a name.
pub(super) fn call<'a>(space: &str, name: &str, arguments: &[Cel<'a>]) -> Result<Cel<'a>, Failure> {
    match (space, name, arguments) {
        ("format", "named", [Cel::String(name)]) => {
            let known = FORMATS.into_iter().find(|own| *own == &**name);
            Ok(Cel::Optional(known.map(|it| Box::new(Cel::Special(Special::Format(it))))))
        }
        ("format", name, []) => {
            let known = FORMATS.into_iter().find(|own| *own == name).ok_or(Failure::Unknown)?;
            Ok(Cel::Special(Special::Format(known)))
        }
        ("sets", _, [left, right]) => sets(name, left, right),
        ("ip", "isCanonical", [Cel::String(text)]) => match Special::parse("ip", text) {
            Some(address) => Ok(Cel::Bool(address.text() == **text)),
            None => Err(Failure::Error(format!("IP Address {text:?} parse error"))),
        },
        ("lists", "range", [Cel::Int(count)]) => {
            if *count > 1_000_000 {
                return Err(Failure::Cost);
            }
            Ok(Cel::List((0..*count).map(Cel::Int).collect()))
        }
        ("optional", "none", []) => Ok(Cel::Optional(None)),
        ("optional", "of", [value]) => Ok(Cel::Optional(Some(Box::new(value.clone())))),
        ("optional", "ofNonZeroValue", [value]) => {
            Ok(Cel::Optional((!is_zero(value)).then(|| Box::new(value.clone()))))
        }
        ("jsonpatch", "escapeKey", [Cel::String(key)]) => {
            Ok(Cel::String(Cow::Owned(key.replace('~', "~0").replace('/', "~1"))))
        }
        ("strings", "quote", [Cel::String(text)]) => {
            Ok(Cel::String(Cow::Owned(crate::quoted(text))))
        }
        _ => Err(Failure::Unknown),
    }
}

/// Returns whether a value is the zero value of its type.
fn is_zero(value: &Cel<'_>) -> bool {
    match value {
        Cel::Null | Cel::Bool(false) | Cel::Int(0) | Cel::Uint(0) | Cel::Optional(None) => true,
        Cel::Double(number) => *number == 0.0,
        Cel::String(text) => text.is_empty(),
        Cel::Bytes(bytes) => bytes.is_empty(),
        other => {
            other.items().is_some_and(|it| it.is_empty())
                || other.entries().is_some_and(|it| it.is_empty())
        }
    }
}

fn sets<'a>(name: &str, left: &Cel<'a>, right: &Cel<'a>) -> Result<Cel<'a>, Failure> {
    let (Some(left), Some(right)) = (left.items(), right.items()) else {
        return Err(Failure::overload());
    };
    let within = |some: &[Cel<'a>], all: &[Cel<'a>]| {
        some.iter().all(|item| all.iter().any(|other| equal(item, other)))
    };
    Ok(Cel::Bool(match name {
        "contains" => within(&right, &left),
        "equivalent" => within(&right, &left) && within(&left, &right),
        "intersects" => left.iter().any(|item| right.iter().any(|other| equal(item, other))),
        _ => return Err(Failure::Unknown),
    }))
}

/// Returns what is wrong with a text of a named format.
pub(super) fn violations(format: &str, text: &str) -> Vec<String> {
    let prefix = |check: fn(&str) -> Vec<String>| {
        // A prefix may end with a dash: something follows it.
        check(text.strip_suffix('-').map_or(text, |rest| if rest.is_empty() { text } else { rest }))
    };
    let checked = |maker: &str, message: &str| {
        let is_good = crate::structural::is_format(maker, text);
        if is_good { Vec::new() } else { vec![message.to_owned()] }
    };
    match format {
        "dns1123Label" => names::dns1123_label(text),
        "dns1123Subdomain" => names::dns1123_subdomain(text),
        "dns1035Label" => names::dns1035_label(text),
        "qualifiedName" => names::qualified_name(text),
        "dns1123LabelPrefix" => prefix(names::dns1123_label),
        "dns1123SubdomainPrefix" => prefix(names::dns1123_subdomain),
        "dns1035LabelPrefix" => prefix(names::dns1035_label),
        "labelValue" => names::label_value(text),
        "uri" => match Special::parse("url", text) {
            Some(_) => Vec::new(),
            None => vec![format!("parse {text:?}: invalid URI for request")],
        },
        "uuid" => checked("uuid", "does not match the UUID format"),
        "byte" => checked("byte", "invalid base64"),
        "date" => checked("date", "invalid date"),
        _ => checked("date-time", "invalid datetime"),
    }
}

/// Calls a function of a list beyond those that compare its items.
pub(super) fn of_list<'a>(
    items: &[Cel<'a>],
    name: &str,
    arguments: &[Cel<'a>],
) -> Result<Cel<'a>, Failure> {
    let outside = |at: i64| Failure::Error(format!("index out of bounds: {at}"));
    match (name, arguments) {
        ("distinct", []) => {
            let mut kept: Vec<Cel<'a>> = Vec::new();
            for item in items {
                if !kept.iter().any(|own| equal(own, item)) {
                    kept.push(item.clone());
                }
            }
            Ok(Cel::List(kept))
        }
        ("flatten", []) => Ok(Cel::List(
            items
                .iter()
                .flat_map(|item| item.items().unwrap_or_else(|| vec![item.clone()]))
                .collect(),
        )),
        ("reverse", []) => Ok(Cel::List(items.iter().rev().cloned().collect())),
        ("sort", []) => {
            let mut sorted = items.to_vec();
            sorted.sort_by(|left, right| compare(left, right).unwrap_or(Ordering::Equal));
            Ok(Cel::List(sorted))
        }
        ("slice", [Cel::Int(from), Cel::Int(to)]) => {
            let start = usize::try_from(*from).map_err(|_| outside(*from))?;
            let end = usize::try_from(*to).map_err(|_| outside(*to))?;
            items.get(start..end).map(|part| Cel::List(part.to_vec())).ok_or_else(|| outside(*to))
        }
        _ => Err(Failure::Unknown),
    }
}

/// `'%s is %d'.format([a, b])`.
pub(super) fn format<'a>(text: &str, arguments: &[Cel<'a>]) -> Result<Cel<'a>, Failure> {
    let mut made = String::new();
    let mut values = arguments.iter();
    let mut rest = text;
    let error = Failure::Error;
    while let Some(at) = rest.find('%') {
        made.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            made.push('%');
            rest = after;
            continue;
        }
        let digits = rest
            .strip_prefix('.')
            .map_or("", |after| &after[..after.bytes().take_while(u8::is_ascii_digit).count()]);
        rest = if rest.starts_with('.') { &rest[1 + digits.len()..] } else { rest };
        let precision = digits.parse::<usize>().unwrap_or(6).min(1000);
        let mark =
            rest.chars().next().ok_or_else(|| error("unexpected end of string".to_owned()))?;
        rest = &rest[mark.len_utf8()..];
        let value = values.next();
        let value = value
            .ok_or_else(|| error("index is out of range of the formatting arguments".to_owned()))?;
        made.push_str(&clause(mark, precision, value)?);
    }
    made.push_str(rest);
    Ok(Cel::String(Cow::Owned(made)))
}

fn clause(mark: char, precision: usize, value: &Cel<'_>) -> Result<String, Failure> {
    let wrong =
        || Failure::Error(format!("error during formatting: unsupported value for %{mark}"));
    let hex = |upper: bool, text: String| if upper { text.to_uppercase() } else { text };
    Ok(match (mark, value) {
        ('s', value) => shown(value).ok_or_else(wrong)?,
        ('d', Cel::Int(_) | Cel::Uint(_)) => text_of(value).unwrap_or_default(),
        ('f', Cel::Double(number)) => format!("{number:.precision$}"),
        ('f', Cel::Int(number)) => format!("{:.precision$}", *number as f64),
        ('e', Cel::Double(number)) => {
            let text = format!("{number:.precision$e}");
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            let power: i32 = power.parse().unwrap_or(0);
            let sign = if power < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", power.abs())
        }
        ('b', Cel::Int(number)) if *number < 0 => format!("-{:b}", number.unsigned_abs()),
        ('b', Cel::Int(number)) => format!("{number:b}"),
        ('b', Cel::Uint(number)) => format!("{number:b}"),
        ('b', Cel::Bool(flag)) => u8::from(*flag).to_string(),
        ('o', Cel::Int(number)) if *number < 0 => format!("-{:o}", number.unsigned_abs()),
        ('o', Cel::Int(number)) => format!("{number:o}"),
        ('o', Cel::Uint(number)) => format!("{number:o}"),
        ('x' | 'X', Cel::Int(number)) => {
            let sign = if *number < 0 { "-" } else { "" };
            hex(mark == 'X', format!("{sign}{:x}", number.unsigned_abs()))
        }
        ('x' | 'X', Cel::Uint(number)) => hex(mark == 'X', format!("{number:x}")),
        ('x' | 'X', Cel::String(text)) => {
            hex(mark == 'X', data_encoding::HEXLOWER.encode(text.as_bytes()))
        }
        _ => return Err(wrong()),
    })
}

/// Returns a value as `%s` shows it.
fn shown(value: &Cel<'_>) -> Option<String> {
    if matches!(value, Cel::Null) {
        return Some("null".to_owned());
    }
    if let Some(text) = text_of(value) {
        return Some(text);
    }
    if let Some(items) = value.items() {
        let parts: Option<Vec<String>> = items.iter().map(shown).collect();
        return Some(format!("[{}]", parts?.join(", ")));
    }
    let entries = value.entries()?;
    let mut parts = Vec::new();
    for (key, value) in &entries {
        parts.push(format!("{}: {}", shown(key)?, shown(value)?));
    }
    parts.sort();
    Some(format!("{{{}}}", parts.join(", ")))
}
