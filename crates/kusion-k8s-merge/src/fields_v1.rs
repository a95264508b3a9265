//! The written form of field sets in `managedFields` (`FieldsV1`).

use std::borrow::Cow;

use base_text::push_html_safe_json_string;
use serde_json::{Map, Value};

use crate::path::{KeyPart, PathElement, Single};
use crate::set::{Part, Set};

/// Reads a set from its written form; the error says which step cannot be read.
pub fn parse(fields: &Value) -> Result<Set<'_>, String> {
    match fields {
        Value::Null => Ok(Set::new()),
        Value::Object(map) => Ok(parse_map(map)?.children),
        _ => Err("expected an object of fields".to_owned()),
    }
}

fn parse_map(map: &Map<String, Value>) -> Result<Part<'_>, String> {
    let mut part = Part::default();
    for (key, below) in map {
        if key == "." {
            part.member = true;
            continue;
        }
        let Some(element) = parse_element(key)? else { continue };
        let child = match below {
            Value::Object(below) => parse_map(below)?,
            Value::Null => Part { member: true, children: Set::new() },
            _ => {
                return Err(format!("expected an object below {}", kusion_k8s_schema::quoted(key)));
            }
        };
        part.children.push(element, child);
    }
    part.member |= part.children.is_empty();
    Ok(part)
}

/// Reads one step; none when it is of a kind that we do not know.
fn parse_element(text: &str) -> Result<Option<PathElement<'_>>, String> {
    let bytes = text.as_bytes();
    if bytes.len() < 2 {
        return Err("key must be 2 characters long:".to_owned());
    }
    if bytes[1] != b':' {
        return Err(format!("missing colon: {text}"));
    }
    // The first two bytes are one-byte characters: the second is a colon.
    let Some(rest) = text.get(2..) else { return Err(format!("missing colon: {text}")) };
    let element = match bytes[0] {
        b'f' => PathElement::Field(rest),
        b'v' => PathElement::Item(parse_single(rest)?),
        b'k' => PathElement::Key(parse_key(rest)?.into()),
        b'i' => PathElement::Index(rest.parse().map_err(|_| format!("bad index: {rest}"))?),
        _ => return Ok(None),
    };
    Ok(Some(element))
}

fn parse_single(text: &str) -> Result<Single<'_>, String> {
    match plain_string(text) {
        Some(("", content)) => Ok(Single::String(Cow::Borrowed(content))),
        _ => serde_json::from_str(text).map(Single::from_owned).map_err(|e| e.to_string()),
    }
}

fn parse_key(text: &str) -> Result<Vec<KeyPart<'_>>, String> {
    if let Some(parts) = plain_key(text) {
        return Ok(parts);
    }
    let map: Map<String, Value> = serde_json::from_str(text).map_err(|e| e.to_string())?;
    Ok(map.into_iter().map(|(name, value)| (Cow::Owned(name), Single::from_owned(value))).collect())
}

/// Reads the usual form of a key without a JSON reader: `{"port":80,"protocol":"TCP"}`.
fn plain_key(text: &str) -> Option<Vec<KeyPart<'_>>> {
    let mut parts: Vec<KeyPart<'_>> = Vec::with_capacity(1);
    let mut rest = text.strip_prefix('{')?;
    loop {
        let (after, name) = plain_string(rest)?;
        let after = after.strip_prefix(':')?;
        let (after, value) = match plain_string(after) {
            Some((after, content)) => (after, Single::String(Cow::Borrowed(content))),
            None => {
                let end = after
                    .find(|c: char| !c.is_ascii_digit())
                    .filter(|end| (1..18).contains(end))?;
                (&after[end..], Single::Int(after[..end].parse().ok()?))
            }
        };
        if parts.last().is_some_and(|(last, _)| **last >= *name) {
            return None;
        }
        parts.push((Cow::Borrowed(name), value));
        match after.as_bytes().first() {
            Some(b',') => rest = &after[1..],
            Some(b'}') if after.len() == 1 => return Some(parts),
            _ => return None,
        }
    }
}

/// Reads a JSON string without escapes; returns the rest and the content.
fn plain_string(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('"')?;
    let end = rest.find(['"', '\\'])?;
    if rest.as_bytes().get(end) != Some(&b'"') {
        return None;
    }
    Some((&rest[end + 1..], &rest[..end]))
}

/// Returns the written form of a set as JSON.
pub fn to_value(set: &Set<'_>) -> Value {
    Value::Object(to_map(set, false))
}

fn to_map(set: &Set<'_>, with_self: bool) -> Map<String, Value> {
    let mut map = Map::new();
    if with_self && !set.is_empty() {
        map.insert(".".to_owned(), Value::Object(Map::new()));
    }
    for entry in &set.entries {
        let below = to_map(&entry.part.children, entry.part.member);
        map.insert(element_text(&entry.element), Value::Object(below));
    }
    map
}

/// Returns the written form of a set as text, in the server's order of keys.
pub fn to_text(set: &Set<'_>) -> String {
    let mut out = String::new();
    push_text(&mut out, set, false);
    out
}

fn push_text(out: &mut String, set: &Set<'_>, with_self: bool) {
    out.push('{');
    let mut first = true;
    if with_self && !set.is_empty() {
        out.push_str("\".\":{}");
        first = false;
    }
    for entry in &set.entries {
        if !first {
            out.push(',');
        }
        first = false;
        push_html_safe_json_string(out, &element_text(&entry.element));
        out.push(':');
        push_text(out, &entry.part.children, entry.part.member);
    }
    out.push('}');
}

fn element_text(element: &PathElement<'_>) -> String {
    match element {
        PathElement::Field(name) => {
            let mut out = String::with_capacity(name.len() + 2);
            out.push_str("f:");
            out.push_str(name);
            out
        }
        PathElement::Key(parts) => {
            let mut out = String::with_capacity(32);
            out.push_str("k:{");
            for (idx, (name, value)) in parts.iter().enumerate() {
                if idx > 0 {
                    out.push(',');
                }
                push_html_safe_json_string(&mut out, name);
                out.push(':');
                value.push_json(&mut out);
            }
            out.push('}');
            out
        }
        PathElement::Item(value) => {
            let mut out = "v:".to_owned();
            value.push_json(&mut out);
            out
        }
        PathElement::Index(place) => format!("i:{place}"),
    }
}
