//! References to secret stores.
//!
//! Secret stores are not supported. A reference to one must not reach a cluster as if it were the
//! secret itself.

use crate::link::at_field;
use crate::shapes::Draft;
use kusion_model::{FieldPath, PathStep, Resource};
use serde_json::Value;

/// Rejects a resource with a reference to a secret store.
pub(crate) fn refuse_references(resource: &Resource, draft: &Draft) -> Result<(), String> {
    let mut path = FieldPath::default();
    let Some(text) = find(&resource.attributes, &mut path) else { return Ok(()) };
    let message = format!(
        "`{text}` refers to a secret store, and secret stores are not supported: the text \
         itself would be used as the secret"
    );
    Err(at_field(resource, draft, &path, &message))
}

/// Finds the first such text; the path leads to it.
fn find<'v>(value: &'v Value, path: &mut FieldPath) -> Option<&'v str> {
    match value {
        Value::String(text) => is_reference(text).then_some(text.as_str()),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(at, item)| find_in(item, PathStep::Index(at), path))
        }
        Value::Object(fields) => {
            fields.iter().find_map(|(key, field)| find_in(field, PathStep::Key(key.clone()), path))
        }
        _ => None,
    }
}

fn find_in<'v>(value: &'v Value, step: PathStep, path: &mut FieldPath) -> Option<&'v str> {
    match value {
        Value::String(text) if !is_reference(text) => return None,
        Value::String(_) | Value::Array(_) | Value::Object(_) => {}
        _ => return None,
    }
    path.0.push(step);
    let found = find(value, path);
    if found.is_none() {
        path.0.pop();
    }
    found
}

/// Whether a text is `ref://name/property` or `ref+vault://path#/key`.
fn is_reference(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("ref") else { return false };
    let rest = match rest.strip_prefix('+') {
        Some(kind) => kind.trim_start_matches(|c: char| c.is_ascii_alphanumeric()),
        None => rest,
    };
    rest.strip_prefix("://").is_some_and(|name| !name.is_empty())
}
