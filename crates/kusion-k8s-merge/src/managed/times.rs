//! Writes that change nothing but the times of records.

use serde_json::{Map, Value};

/// Keeps the old times if nothing else differs; returns whether the objects are the same
/// then, so that nothing needs to be written.
pub fn keep_times(old: &Value, new: &mut Value) -> bool {
    let same = match (records(old), records(new)) {
        (None, None) => true,
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_entry(a, b)),
        _ => false,
    };
    if !same || !same_object(old, new) {
        return false;
    }
    let kept = old.get("metadata").and_then(|meta| meta.get("managedFields")).cloned();
    if let (Some(kept), Some(slot)) = (kept, new.pointer_mut("/metadata/managedFields")) {
        *slot = kept;
    }
    true
}

fn records(object: &Value) -> Option<&Vec<Value>> {
    object.get("metadata")?.get("managedFields")?.as_array()
}

fn same_entry(a: &Value, b: &Value) -> bool {
    same_but(a.as_object(), b.as_object(), "time", |a, b| a == b)
}

fn same_object(a: &Value, b: &Value) -> bool {
    same_but(a.as_object(), b.as_object(), "metadata", |a, b| a == b)
        && same_but(meta(a), meta(b), "managedFields", |a, b| a == b)
}

fn meta(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata").and_then(Value::as_object)
}

fn same_but(
    a: Option<&Map<String, Value>>,
    b: Option<&Map<String, Value>>,
    left_out: &str,
    same: impl Fn(&Value, &Value) -> bool,
) -> bool {
    let rest = |map: Option<&'_ Map<String, Value>>| {
        map.map_or(0, |map| map.len() - usize::from(map.contains_key(left_out)))
    };
    rest(a) == rest(b)
        && a.into_iter()
            .flatten()
            .filter(|(key, _)| *key != left_out)
            .all(|(key, value)| b.and_then(|b| b.get(key)).is_some_and(|other| same(value, other)))
}
