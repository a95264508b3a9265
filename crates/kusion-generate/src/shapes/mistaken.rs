//! Values that are not valid resources but look like mistyped ones.

use super::{is_text, kind_of, shown};
use crate::origins::{Output, SourceLocation};
use base_text::nearest;
use kusion_model::FieldPath;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The keys that make a Kubernetes object of a map.
const KEYS: [&str; 2] = ["apiVersion", "kind"];

/// Whether a map that is not a resource looks like a Kubernetes object: it has `metadata` and one
/// of `apiVersion` and `kind`.
pub(super) fn is_nearly_object(fields: &Map<String, Value>) -> bool {
    let n_found = KEYS.iter().filter(|key| is_text(fields, key)).count();
    fields.get("metadata").is_some_and(Value::is_object) && n_found == 1
}

/// Returns the error of a value that must be a resource, with file and line.
pub(super) fn error(output: &Arc<Output>, at: &FieldPath, value: &Value) -> String {
    if let Value::Object(fields) = value {
        return of_map(output, at, fields);
    }
    let place = place(output, at, &Map::new(), None);
    format!("{}{place} is not a valid resource: it is {}", shown(at), kind_of(value))
}

/// Returns the error of a map that must be a resource, with file and line.
pub(super) fn of_map(output: &Arc<Output>, at: &FieldPath, fields: &Map<String, Value>) -> String {
    let missing: Vec<&str> = KEYS.into_iter().filter(|key| !is_text(fields, key)).collect();
    let mistyped = fields.keys().filter(|key| !KEYS.contains(&key.as_str())).find_map(|key| {
        let absent = missing.iter().copied().filter(|it| !fields.contains_key(*it));
        Some((key.as_str(), nearest(key, absent)?))
    });
    let reason = match missing.as_slice() {
        [key] => match fields.get(*key) {
            Some(other) => format!("`{key}` must be a string, not {}", kind_of(other)),
            None => {
                let other = if *key == KEYS[0] { KEYS[1] } else { KEYS[0] };
                format!("it has `{other}`, but no `{key}`")
            }
        },
        _ => "it has neither `apiVersion` and `kind` nor `attributes`".to_owned(),
    };
    let hint = mistyped.map_or_else(String::new, |(key, meant)| {
        format!("; did you mean `{meant}` instead of `{key}`?")
    });
    let place = place(output, at, fields, mistyped.map(|(key, _)| key));
    format!("{}{place} is not a valid resource: {reason}{hint}", shown(at))
}

/// Returns the source location of a value: that of the mistyped key, else of a key that tells what
/// the value is, else of the value.
fn place(
    output: &Arc<Output>,
    at: &FieldPath,
    fields: &Map<String, Value>,
    mistyped: Option<&str>,
) -> String {
    let written = SourceLocation::Output(Arc::clone(output), at.clone());
    let keys = mistyped.into_iter().chain(KEYS).filter(|key| fields.contains_key(*key));
    let paths = keys.map(|key| FieldPath::default().key(key));
    let origin = paths.chain([FieldPath::default()]).find_map(|path| written.find(&path));
    origin.map_or_else(String::new, |origin| format!(" at {origin}"))
}
