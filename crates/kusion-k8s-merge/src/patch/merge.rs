//! JSON merge patch (RFC 7396).

use serde_json::{Map, Value};

use super::PatchError;

/// Merges a patch into an object: `null` removes, objects merge, all else replaces.
pub fn merge_patch(current: &Value, patch: &Value) -> Result<Value, PatchError> {
    match patch {
        Value::Object(patch) => {
            let mut result = match current {
                Value::Object(map) => map.clone(),
                _ => Map::new(),
            };
            merge_map(&mut result, patch);
            Ok(Value::Object(result))
        }
        Value::Array(_) => Ok(without_nulls(patch)),
        _ => Err(PatchError::BadRequest("Invalid JSON Patch".to_owned())),
    }
}

fn merge_map(current: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, change) in patch {
        match (current.get_mut(key), change) {
            (_, Value::Null) => {
                current.remove(key);
            }
            (Some(Value::Object(below)), Value::Object(change)) => merge_map(below, change),
            (Some(Value::Object(_)), _) => {
                current.insert(key.clone(), change.clone());
            }
            _ => {
                current.insert(key.clone(), without_nulls(change));
            }
        }
    }
}

/// Copies a value without the fields that are `null`.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), without_nulls(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
