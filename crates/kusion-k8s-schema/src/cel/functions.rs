//! The functions that rules can call.

use super::eval::{Cel, Failure, compare, equal};
use super::library;
use super::semver::Semver;
use super::signatures;
use super::special::Special;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Returns whether a function exists.
pub(crate) fn is_known(name: &str) -> bool {
    signatures::has(name) || library::FORMATS.contains(&name)
}

/// Calls a function.
pub(super) fn call<'a>(
    target: Option<Cel<'a>>,
    name: &str,
    arguments: &[Cel<'a>],
) -> Result<Cel<'a>, Failure> {
    match (target, arguments) {
        (None, [only]) => global(name, only),
        (None, [Cel::String(text), Cel::Bool(loose)]) => {
            let version = Semver::parse(text, *loose);
            match name {
                "isSemver" => Ok(Cel::Bool(version.is_some())),
                "semver" => version.map(|it| Cel::Special(Special::Semver(it))).ok_or_else(|| {
                    Failure::Error("No Major.Minor.Patch elements found".to_owned())
                }),
                _ => Err(Failure::Unknown),
            }
        }
        (Some(Cel::String(text)), _) => on_text(&text, name, arguments),
        (Some(Cel::Special(target)), _) => target.call(name, arguments),
        (Some(Cel::Optional(value)), _) => on_optional(value.as_deref(), name, arguments),
        (Some(Cel::Bytes(bytes)), []) if name == "size" => Ok(Cel::Int(bytes.len() as i64)),
        (Some(target), _) => on_list(&target, name, arguments),
        _ => Err(Failure::Unknown),
    }
}

fn on_optional<'a>(
    value: Option<&Cel<'a>>,
    name: &str,
    arguments: &[Cel<'a>],
) -> Result<Cel<'a>, Failure> {
    match (name, arguments) {
        ("hasValue", []) => Ok(Cel::Bool(value.is_some())),
        ("value", []) => {
            value.cloned().ok_or_else(|| Failure::Error("optional.none() dereference".to_owned()))
        }
        ("orValue", [other]) => Ok(value.unwrap_or(other).clone()),
        ("or", [other @ Cel::Optional(_)]) => {
            Ok(value.map_or_else(|| other.clone(), |it| Cel::Optional(Some(Box::new(it.clone())))))
        }
        _ => Err(Failure::Unknown),
    }
}

pub(super) fn text_of(value: &Cel) -> Option<String> {
    Some(match value {
        Cel::String(text) => text.to_string(),
        Cel::Int(number) => number.to_string(),
        Cel::Uint(number) => number.to_string(),
        Cel::Double(number) => number.to_string(),
        Cel::Bool(flag) => flag.to_string(),
        Cel::Special(value) => value.text(),
        _ => return None,
    })
}

fn size<'a>(value: &Cel) -> Result<Cel<'a>, Failure> {
    let count = match value {
        Cel::String(text) => text.chars().count(),
        Cel::Bytes(bytes) => bytes.len(),
        Cel::Map(entries) => entries.len(),
        Cel::Object(entries) => entries.len(),
        other => other.items().ok_or_else(Failure::overload)?.len(),
    };
    Ok(Cel::Int(count as i64))
}

fn global<'a>(name: &str, value: &Cel<'a>) -> Result<Cel<'a>, Failure> {
    let error = |what: &str| {
        let from = type_name(value);
        Failure::Error(format!("type conversion error from '{from}' to '{what}'"))
    };
    match name {
        "size" => size(value),
        "dyn" => Ok(value.clone()),
        "bytes" => match value {
            Cel::String(text) => Ok(Cel::Bytes(text.as_bytes().to_vec())),
            Cel::Bytes(_) => Ok(value.clone()),
            _ => Err(Failure::overload()),
        },
        "string" => {
            if let Cel::Bytes(bytes) = value {
                let text = String::from_utf8(bytes.clone());
                return text.map(|text| Cel::String(Cow::Owned(text))).map_err(|_| error("string"));
            }
            text_of(value).map(|text| Cel::String(Cow::Owned(text))).ok_or(Failure::Unknown)
        }
        "int" => match value {
            Cel::Double(number) => Ok(Cel::Int(*number as i64)),
            Cel::Special(Special::Time(time)) => Ok(Cel::Int(time.seconds)),
            _ => text_of(value)
                .and_then(|text| text.parse().ok())
                .map(Cel::Int)
                .ok_or_else(|| error("int")),
        },
        "uint" => text_of(value)
            .and_then(|text| text.parse().ok())
            .map(Cel::Uint)
            .ok_or_else(|| error("uint")),
        "double" => text_of(value)
            .and_then(|text| text.parse().ok())
            .map(Cel::Double)
            .ok_or_else(|| error("double")),
        "bool" => match text_of(value).as_deref() {
            Some("true") => Ok(Cel::Bool(true)),
            Some("false") => Ok(Cel::Bool(false)),
            _ => Err(error("bool")),
        },
        "isQuantity" => is_of("quantity", value),
        "isIP" => is_of("ip", value),
        "isCIDR" => is_of("cidr", value),
        "isURL" => is_of("url", value),
        "isSemver" => is_of("semver", value),
        "type" => Ok(Cel::Special(Special::Type(type_name(value).to_owned()))),
        "duration" | "timestamp" | "quantity" | "ip" | "cidr" | "url" | "semver" => match value {
            Cel::Special(_) => Ok(value.clone()),
            Cel::String(text) => {
                Special::parse(name, text).map(Cel::Special).ok_or_else(|| match name {
                    "quantity" => Failure::Error(crate::QUANTITY_MESSAGE.to_owned()),
                    _ => error(name),
                })
            }
            _ => Err(Failure::overload()),
        },
        _ => Err(Failure::Unknown),
    }
}

fn type_name(value: &Cel) -> &'static str {
    match value {
        Cel::Null => "null_type",
        Cel::Bool(_) => "bool",
        Cel::Int(_) => "int",
        Cel::Uint(_) => "uint",
        Cel::Double(_) => "double",
        Cel::String(_) => "string",
        Cel::List(_) | Cel::Array(_) => "list",
        Cel::Map(_) | Cel::Object(_) => "map",
        Cel::Bytes(_) => "bytes",
        Cel::Optional(_) => "optional_type",
        Cel::Special(_) => "",
    }
}

fn is_of<'a>(maker: &str, value: &Cel) -> Result<Cel<'a>, Failure> {
    match value {
        Cel::String(text) => Ok(Cel::Bool(Special::parse(maker, text).is_some())),
        _ => Err(Failure::overload()),
    }
}

/// Functions of times and spans on the text of a field with such a format.
fn on_time_text<'a>(text: &str, name: &str, arguments: &[Cel<'a>]) -> Result<Cel<'a>, Failure> {
    let time = ["timestamp", "duration"].iter().find_map(|maker| Special::parse(maker, text));
    time.ok_or(Failure::Unknown)?.call(name, arguments)
}

fn on_text<'a>(text: &str, name: &str, arguments: &[Cel<'a>]) -> Result<Cel<'a>, Failure> {
    let owned = |text: String| Ok(Cel::String(Cow::Owned(text)));
    let part = |text: &str| Cel::String(Cow::Owned(text.to_owned()));
    let at = |number: i64| usize::try_from(number).unwrap_or(0);
    match (name, arguments) {
        ("size", []) => Ok(Cel::Int(text.chars().count() as i64)),
        ("contains", [Cel::String(part)]) => Ok(Cel::Bool(text.contains(&**part))),
        ("startsWith", [Cel::String(part)]) => Ok(Cel::Bool(text.starts_with(&**part))),
        ("endsWith", [Cel::String(part)]) => Ok(Cel::Bool(text.ends_with(&**part))),
        ("matches", [Cel::String(pattern)]) => {
            regex(pattern)?.is_match(text).map(Cel::Bool).map_err(|_| Failure::Cost)
        }
        ("find", [Cel::String(pattern)]) => {
            let found = regex(pattern)?.find(text).map_err(|_| Failure::Cost)?;
            owned(found.map(|it| it.as_str().to_owned()).unwrap_or_default())
        }
        ("findAll", [Cel::String(pattern)]) => find_all(text, pattern, usize::MAX),
        ("findAll", [Cel::String(pattern), Cel::Int(limit)]) => {
            find_all(text, pattern, usize::try_from(*limit).unwrap_or(usize::MAX))
        }
        ("format", [list]) => library::format(text, &list.items().ok_or_else(Failure::overload)?),
        ("replace", [Cel::String(from), Cel::String(to), Cel::Int(limit)]) => {
            owned(match usize::try_from(*limit) {
                Ok(limit) => text.replacen(&**from, to, limit),
                Err(_) => text.replace(&**from, to),
            })
        }
        ("split", [Cel::String(mark), Cel::Int(limit)]) => Ok(Cel::List(match *limit {
            0 => Vec::new(),
            limit if limit < 0 => text.split(&**mark).map(part).collect(),
            limit => text.splitn(limit as usize, &**mark).map(part).collect(),
        })),
        ("indexOf", [Cel::String(wanted), Cel::Int(from)]) => {
            let skipped: usize = text.chars().take(at(*from)).map(char::len_utf8).sum();
            let found = text[skipped..].find(&**wanted).map(|it| skipped + it);
            Ok(Cel::Int(found.map_or(-1, |at| text[..at].chars().count() as i64)))
        }
        ("lastIndexOf", [Cel::String(wanted), Cel::Int(to)]) => {
            let length: usize = text.chars().take(at(*to)).map(char::len_utf8).sum();
            let end = (length + wanted.len()).min(text.len());
            let found = text.get(..end).and_then(|it| it.rfind(&**wanted));
            Ok(Cel::Int(found.map_or(-1, |at| text[..at].chars().count() as i64)))
        }
        ("lowerAscii", []) => owned(text.to_ascii_lowercase()),
        ("upperAscii", []) => owned(text.to_ascii_uppercase()),
        ("trim", []) => owned(text.trim().to_owned()),
        ("reverse", []) => owned(text.chars().rev().collect()),
        ("replace", [Cel::String(from), Cel::String(to)]) => owned(text.replace(&**from, to)),
        ("charAt", [Cel::Int(at)]) => {
            let found = usize::try_from(*at).ok().and_then(|at| text.chars().nth(at));
            owned(found.map(String::from).unwrap_or_default())
        }
        ("indexOf", [Cel::String(part)]) => {
            let found = text.find(&**part).map(|at| text[..at].chars().count() as i64);
            Ok(Cel::Int(found.unwrap_or(-1)))
        }
        ("lastIndexOf", [Cel::String(part)]) => {
            let found = text.rfind(&**part).map(|at| text[..at].chars().count() as i64);
            Ok(Cel::Int(found.unwrap_or(-1)))
        }
        ("substring", [Cel::Int(from)]) => {
            owned(text.chars().skip(usize::try_from(*from).unwrap_or(0)).collect())
        }
        ("substring", [Cel::Int(from), Cel::Int(to)]) => {
            let (from, to) =
                (usize::try_from(*from).unwrap_or(0), usize::try_from(*to).unwrap_or(0));
            owned(text.chars().take(to).skip(from).collect())
        }
        ("split", [Cel::String(mark)]) => Ok(Cel::List(text.split(&**mark).map(part).collect())),
        _ if name.starts_with("get") => on_time_text(text, name, arguments),
        _ => Err(Failure::Unknown),
    }
}

fn regex(pattern: &str) -> Result<fancy_regex::Regex, Failure> {
    fancy_regex::Regex::new(pattern)
        .map_err(|error| Failure::Error(format!("error parsing regexp: {error}")))
}

fn find_all<'a>(text: &str, pattern: &str, limit: usize) -> Result<Cel<'a>, Failure> {
    let regex = regex(pattern)?;
    let found: Result<Vec<Cel<'a>>, Failure> = regex
        .find_iter(text)
        .take(limit)
        .map(|it| match it {
            Ok(found) => Ok(Cel::String(Cow::Owned(found.as_str().to_owned()))),
            Err(_) => Err(Failure::Cost),
        })
        .collect();
    found.map(Cel::List)
}

fn on_list<'a>(target: &Cel<'a>, name: &str, arguments: &[Cel<'a>]) -> Result<Cel<'a>, Failure> {
    if (name, arguments.len()) == ("size", 0) {
        return size(target);
    }
    let Some(items) = target.items() else { return Err(Failure::Unknown) };
    match (name, arguments) {
        ("isSorted", []) => Ok(Cel::Bool(
            items.windows(2).all(|pair| compare(&pair[0], &pair[1]).is_none_or(Ordering::is_le)),
        )),
        ("sum", []) => sum(&items),
        ("min" | "max", []) => {
            let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
            let best = items.into_iter().reduce(|best, item| {
                if compare(&item, &best) == Some(wanted) { item } else { best }
            });
            best.ok_or_else(|| Failure::Error(format!("{name} called on empty list")))
        }
        ("indexOf", [wanted]) => {
            let found = items.iter().position(|item| equal(item, wanted));
            Ok(Cel::Int(found.map_or(-1, |at| at as i64)))
        }
        ("lastIndexOf", [wanted]) => {
            let found = items.iter().rposition(|item| equal(item, wanted));
            Ok(Cel::Int(found.map_or(-1, |at| at as i64)))
        }
        ("join", _) => {
            let mark = match arguments {
                [Cel::String(mark)] => mark.to_string(),
                _ => String::new(),
            };
            let texts: Option<Vec<String>> = items.iter().map(text_of).collect();
            let texts = texts.ok_or_else(Failure::overload)?;
            Ok(Cel::String(Cow::Owned(texts.join(&mark))))
        }
        _ => library::of_list(&items, name, arguments),
    }
}

fn sum<'a>(items: &[Cel<'a>]) -> Result<Cel<'a>, Failure> {
    let mut whole = 0_i64;
    let mut float = None;
    for item in items {
        match item {
            Cel::Int(number) => {
                whole = whole
                    .checked_add(*number)
                    .ok_or_else(|| Failure::Error("integer overflow".to_owned()))?;
            }
            Cel::Double(number) => float = Some(float.unwrap_or(0.0) + number),
            _ => return Err(Failure::Unknown),
        }
    }
    Ok(float.map_or(Cel::Int(whole), Cel::Double))
}
