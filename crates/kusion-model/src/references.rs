//! References from the attributes of one resource to those of another.
//!
//! `$kusion_path.<id>.<path>`, or with a colon before the path. Ids may hold dots and colons, so
//! a reference is read against the ids that the Spec knows, the longest first. The path takes
//! `.key`, `[0]`, `.0` and `["any key"]`. `$$kusion_path` stands for the plain text.

use crate::markers::REFERENCE;
use crate::{FieldPath, PathStep, ResourceId};
use base_text::distance;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum nesting depth of values with references.
const MAX_DEPTH: usize = 128;

/// Index of the ids of a Spec, to find references in strings.
#[derive(Clone, Debug, Default)]
pub struct IdIndex {
    /// Ids and other spellings of them, the kind in lower case.
    ids: HashMap<String, ResourceId>,
    /// The length of the longest.
    longest: usize,
}

impl IdIndex {
    /// Creates the index of ids.
    pub fn new<'a>(ids: impl IntoIterator<Item = &'a ResourceId>) -> Self {
        let mut index = Self::default();
        for id in ids {
            index.insert(id.as_str(), id);
        }
        index
    }

    /// Adds an alternative spelling of an id. Existing spellings take precedence.
    pub fn insert(&mut self, spelling: &str, id: &ResourceId) {
        self.longest = self.longest.max(spelling.len());
        self.ids.entry(folded(spelling)).or_insert_with(|| id.clone());
    }

    /// Returns the id with this spelling; the kind may be in lower case.
    pub fn find(&self, spelling: &str) -> Option<&ResourceId> {
        self.ids.get(&folded(spelling))
    }

    /// Returns the known spelling that is most similar to a text, if one is similar enough.
    pub fn nearest(&self, text: &str) -> Option<&ResourceId> {
        let limit = (text.len() / 4).clamp(1, 12);
        let wanted = folded(text);
        let mut best: Option<(usize, &ResourceId)> = None;
        let mut ids: Vec<(&String, &ResourceId)> = self.ids.iter().collect();
        ids.sort_unstable();
        for (spelling, id) in ids {
            if spelling.len().abs_diff(wanted.len()) > limit {
                continue;
            }
            let distance = distance(spelling, &wanted);
            if distance <= limit && best.is_none_or(|(known, _)| distance < known) {
                best = Some((distance, id));
            }
        }
        best.map(|(_, id)| id)
    }

    /// Finds the longest id at the start of a text that is followed by a path; returns its
    /// length, too.
    fn at_start(&self, text: &str) -> Option<(&ResourceId, usize)> {
        let text = folded(cut(text, self.longest + 1));
        let ends = text.char_indices().filter(|(_, c)| matches!(c, '.' | ':' | '['));
        let ends: Vec<usize> = ends.map(|(at, _)| at).collect();
        let known = |end: &usize| Some((self.ids.get(&text[..*end])?, *end));
        ends.iter().rev().filter(|&&end| end > 0 && starts_path(&text[end..])).find_map(known)
    }
}

/// Writes the second part of an id, the kind, in lower case.
fn folded(id: &str) -> String {
    let mut parts = id.splitn(3, ':');
    match (parts.next(), parts.next()) {
        (Some(first), Some(kind)) => {
            let rest = &id[first.len() + 1 + kind.len()..];
            format!("{first}:{}{rest}", kind.to_ascii_lowercase())
        }
        _ => id.to_owned(),
    }
}

/// Cuts a text to at most some bytes.
fn cut(text: &str, length: usize) -> &str {
    let mut end = length.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether a text that follows an id may be a path. The text may have been cut.
fn starts_path(text: &str) -> bool {
    let mut bytes = text.bytes();
    match bytes.next() {
        Some(b'[') => true,
        Some(_) => bytes.next().is_none_or(|byte| is_key_byte(byte) || byte == b'['),
        None => false,
    }
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// A reference to a value of another resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The resource.
    pub id: ResourceId,
    /// The path in its attributes. A number in a dotted path is a key here; [`Reference::find`]
    /// takes it as an index where there is a list.
    pub path: FieldPath,
}

impl Reference {
    /// Finds the value in the attributes of the resource.
    pub fn find<'a>(&self, attributes: &'a Value) -> Option<&'a Value> {
        self.path.0.iter().try_fold(attributes, |value, step| step_into(value, step))
    }
}

/// Takes a step of a reference into a value.
pub fn step_into<'a>(value: &'a Value, step: &PathStep) -> Option<&'a Value> {
    match (value, step) {
        (Value::Array(items), PathStep::Key(key)) => items.get(key.parse::<usize>().ok()?),
        (_, PathStep::Key(key)) => value.get(key),
        (_, PathStep::Index(index)) => value.get(index),
    }
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment<'t> {
    /// Plain text, escapes resolved.
    Text(Cow<'t, str>),
    /// A reference.
    Reference(Reference),
}

/// The error of an unresolved reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// No id of the Spec is a prefix of the text.
    #[error("unresolved reference `{text}`: no such resource{}", near(.nearest.as_ref()))]
    UnknownId {
        /// The reference, as written.
        text: String,
        /// The most similar id.
        nearest: Option<ResourceId>,
    },
    /// The path cannot be parsed.
    #[error("`{text}`: {message}")]
    BadPath {
        /// The reference, as written.
        text: String,
        /// The problem.
        message: &'static str,
    },
    /// The resource has no such value.
    #[error("`{id}` has no `{path}`")]
    NoValue {
        /// The resource.
        id: ResourceId,
        /// The path.
        path: FieldPath,
    },
    /// The value of a reference inside a longer text is a list or a map.
    #[error("`{path}` of `{id}` is {found}, which cannot be part of a string")]
    NotScalar {
        /// The resource.
        id: ResourceId,
        /// The path.
        path: FieldPath,
        /// The type of the value.
        found: &'static str,
    },
    /// The value is nested too deeply.
    #[error("the attributes are nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
}

fn near(nearest: Option<&ResourceId>) -> String {
    nearest.map_or_else(String::new, |id| format!("; did you mean `{id}`?"))
}

/// Cuts a text into plain parts and references; a text without references is one part.
pub fn find<'t>(text: &'t str, ids: &IdIndex) -> Result<Vec<Segment<'t>>, ReferenceError> {
    let mut segments = Vec::new();
    let mut plain = Cow::Borrowed("");
    let mut rest = text;
    while let Some(at) = rest.find(REFERENCE) {
        let after = &rest[at + REFERENCE.len()..];
        if rest[..at].ends_with('$') {
            push(&mut plain, &rest[..at - 1]);
            push(&mut plain, REFERENCE);
            rest = after;
            continue;
        }
        let Some(body) = after.strip_prefix('.') else {
            push(&mut plain, &rest[..at + REFERENCE.len()]);
            rest = after;
            continue;
        };
        push(&mut plain, &rest[..at]);
        let written = &rest[at..];
        let Some((id, length)) = ids.at_start(body) else {
            return Err(unknown(written, body, ids));
        };
        let (path, used) = read_path(&body[length..]).map_err(|message| {
            ReferenceError::BadPath { text: word(written).to_owned(), message }
        })?;
        if !plain.is_empty() {
            segments.push(Segment::Text(std::mem::take(&mut plain)));
        }
        segments.push(Segment::Reference(Reference { id: id.clone(), path }));
        rest = &body[length + used..];
    }
    push(&mut plain, rest);
    if !plain.is_empty() || segments.is_empty() {
        segments.push(Segment::Text(plain));
    }
    Ok(segments)
}

/// Writes all references of a value with the ids that they mean; other spellings are known only
/// where a Spec is made. Texts that refer to nothing stay as they are.
pub fn spell_out(value: &mut Value, ids: &IdIndex) {
    match value {
        Value::String(text) => {
            if let Some(spelled) = spelled(text, ids) {
                *text = spelled;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| spell_out(item, ids)),
        Value::Object(fields) => fields.values_mut().for_each(|field| spell_out(field, ids)),
        _ => {}
    }
}

/// Returns a text with its references written out; `None` if they are.
fn spelled(text: &str, ids: &IdIndex) -> Option<String> {
    let mut out = String::new();
    let mut done = 0;
    for (at, _) in text.match_indices(REFERENCE) {
        let start = at + REFERENCE.len() + 1;
        let has_dot = text.as_bytes().get(start - 1) == Some(&b'.');
        if !has_dot || text[..at].ends_with('$') || start < done {
            continue;
        }
        let Some((id, length)) = ids.at_start(&text[start..]) else { continue };
        if text[start..start + length] != *id.as_str() {
            out.push_str(&text[done..start]);
            out.push_str(id.as_str());
            done = start + length;
        }
    }
    (done > 0).then(|| out + &text[done..])
}

fn push<'t>(plain: &mut Cow<'t, str>, text: &'t str) {
    if plain.is_empty() {
        *plain = Cow::Borrowed(text);
    } else if !text.is_empty() {
        plain.to_mut().push_str(text);
    }
}

fn unknown(written: &str, body: &str, ids: &IdIndex) -> ReferenceError {
    let body = word(body);
    // The intended id ends at one of the dots or colons.
    let ends = body.char_indices().filter(|(_, c)| matches!(c, '.' | ':' | '['));
    let mut ends: Vec<usize> = ends.map(|(at, _)| at).collect();
    ends.push(body.len());
    let nearest = ends.iter().rev().take(8).find_map(|&end| ids.nearest(&body[..end]));
    ReferenceError::UnknownId { text: word(written).to_owned(), nearest: nearest.cloned() }
}

/// Returns the text up to the first blank or quote.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`'));
    &text[..end.unwrap_or(text.len())]
}

/// Reads the path behind an id; returns how many bytes it takes.
fn read_path(text: &str) -> Result<(FieldPath, usize), &'static str> {
    let bytes = text.as_bytes();
    let mut steps = Vec::new();
    let mut at = 0;
    loop {
        let first = steps.is_empty();
        match bytes.get(at) {
            Some(b'.' | b':') if first || bytes[at] == b'.' => {
                let start = at + 1;
                if first && bytes.get(start) == Some(&b'[') {
                    at = start;
                    continue;
                }
                let length = bytes[start..].iter().take_while(|byte| is_key_byte(**byte)).count();
                // A dot that nothing follows ends a sentence.
                if length == 0 {
                    break;
                }
                steps.push(PathStep::Key(text[start..start + length].to_owned()));
                at = start + length;
            }
            Some(b'[') => {
                let (step, used) = read_bracket(&text[at..])?;
                steps.push(step);
                at += used;
            }
            _ => break,
        }
    }
    if steps.is_empty() { Err("a path must follow the id") } else { Ok((FieldPath(steps), at)) }
}

/// Reads `[0]` or `["key"]`.
fn read_bracket(text: &str) -> Result<(PathStep, usize), &'static str> {
    let inner = &text[1..];
    if let Some(quote @ ('"' | '\'')) = inner.chars().next() {
        let mut key = String::new();
        let mut chars = inner[1..].char_indices();
        while let Some((at, c)) = chars.next() {
            if c == quote {
                let end = 1 + 1 + at + 1;
                let closes = text[end..].starts_with(']');
                return if closes {
                    Ok((PathStep::Key(key), end + 1))
                } else {
                    Err("missing `]` after a quoted key")
                };
            }
            key.push(if c == '\\' { chars.next().map_or(c, |(_, next)| next) } else { c });
        }
        return Err("missing closing quote");
    }
    let end = inner.find(']').ok_or("missing `]`")?;
    let index =
        inner[..end].parse().map_err(|_| "expected a number or a quoted key in brackets")?;
    Ok((PathStep::Index(index), end + 2))
}

/// The value of a reference, if it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Lookup {
    /// Known value.
    Known(Value),
    /// Known only after the resource exists.
    Later,
}

/// Attributes with references resolved as far as they can be.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The attributes; texts whose references are not all known are as written.
    pub value: Value,
    /// Paths of those strings.
    pub unknown: Vec<FieldPath>,
}

/// Replaces references by their values. A string that is one reference is replaced by the value
/// itself; inside a longer string the value must be a scalar.
pub fn resolve(
    value: &Value,
    ids: &IdIndex,
    mut lookup: impl FnMut(&Reference) -> Result<Lookup, ReferenceError>,
) -> Result<Resolved, ReferenceError> {
    let mut unknown = Vec::new();
    let mut path = FieldPath::default();
    let value = resolve_at(value, ids, &mut lookup, &mut path, &mut unknown)?;
    Ok(Resolved { value, unknown })
}

fn resolve_at(
    value: &Value,
    ids: &IdIndex,
    lookup: &mut dyn FnMut(&Reference) -> Result<Lookup, ReferenceError>,
    path: &mut FieldPath,
    unknown: &mut Vec<FieldPath>,
) -> Result<Value, ReferenceError> {
    if path.0.len() > MAX_DEPTH {
        return Err(ReferenceError::TooDeep);
    }
    Ok(match value {
        Value::String(text) if text.contains(REFERENCE) => match resolve_text(text, ids, lookup)? {
            Some(value) => value,
            None => {
                unknown.push(path.clone());
                value.clone()
            }
        },
        Value::Array(items) => {
            let mut resolved = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                path.0.push(PathStep::Index(index));
                resolved.push(resolve_at(item, ids, lookup, path, unknown)?);
                path.0.pop();
            }
            Value::Array(resolved)
        }
        Value::Object(fields) => {
            let mut resolved = serde_json::Map::new();
            for (key, item) in fields {
                path.0.push(PathStep::Key(key.clone()));
                resolved.insert(key.clone(), resolve_at(item, ids, lookup, path, unknown)?);
                path.0.pop();
            }
            Value::Object(resolved)
        }
        _ => value.clone(),
    })
}

/// Resolves a text; `None` if a value is not known yet.
fn resolve_text(
    text: &str,
    ids: &IdIndex,
    lookup: &mut dyn FnMut(&Reference) -> Result<Lookup, ReferenceError>,
) -> Result<Option<Value>, ReferenceError> {
    let segments = find(text, ids)?;
    if let [Segment::Reference(reference)] = segments.as_slice() {
        return Ok(match lookup(reference)? {
            Lookup::Known(value) => Some(value),
            Lookup::Later => None,
        });
    }
    let mut whole = String::with_capacity(text.len());
    let mut is_known = true;
    for segment in &segments {
        match segment {
            Segment::Text(text) => whole.push_str(text),
            Segment::Reference(reference) => match lookup(reference)? {
                Lookup::Known(value) => whole.push_str(&scalar_text(reference, &value)?),
                Lookup::Later => is_known = false,
            },
        }
    }
    Ok(is_known.then_some(Value::String(whole)))
}

fn scalar_text(reference: &Reference, value: &Value) -> Result<String, ReferenceError> {
    let found = match value {
        Value::String(text) => return Ok(text.clone()),
        Value::Bool(_) | Value::Number(_) => return Ok(value.to_string()),
        Value::Null => "null",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    };
    let Reference { id, path } = reference.clone();
    Err(ReferenceError::NotScalar { id, path, found })
}

/// Calls `visit` with every reference in a value and the place of the text that holds it, and
/// whether the text is longer than the reference.
pub fn visit(
    value: &Value,
    ids: &IdIndex,
    visit: &mut dyn FnMut(&FieldPath, Reference, bool),
) -> Result<(), (FieldPath, ReferenceError)> {
    let mut path = FieldPath::default();
    visit_at(value, ids, &mut path, visit).map_err(|error| (path, error))
}

fn visit_at(
    value: &Value,
    ids: &IdIndex,
    path: &mut FieldPath,
    visit: &mut dyn FnMut(&FieldPath, Reference, bool),
) -> Result<(), ReferenceError> {
    if path.0.len() > MAX_DEPTH {
        return Err(ReferenceError::TooDeep);
    }
    match value {
        Value::String(text) if text.contains(REFERENCE) => {
            let segments = find(text, ids)?;
            let is_part = segments.len() > 1;
            for segment in segments {
                if let Segment::Reference(reference) = segment {
                    visit(path, reference, is_part);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.0.push(PathStep::Index(index));
                visit_at(item, ids, path, visit)?;
                path.0.pop();
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                if matches!(item, Value::Null | Value::Bool(_) | Value::Number(_)) {
                    continue;
                }
                path.0.push(PathStep::Key(key.clone()));
                visit_at(item, ids, path, visit)?;
                path.0.pop();
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests;
