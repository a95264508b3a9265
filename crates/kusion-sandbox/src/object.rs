//! Reading and writing the common parts of objects.

use serde_json::{Map, Value};

/// Returns the value at a path of keys; null when there is none.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> &'a Value {
    static NULL: Value = Value::Null;
    let mut here = value;
    for key in path {
        match here.get(key) {
            Some(next) => here = next,
            None => return &NULL,
        }
    }
    here
}

/// Returns the value at a path of owned keys; null when there is none.
pub(crate) fn at_path<'a>(value: &'a Value, path: &[String]) -> &'a Value {
    static NULL: Value = Value::Null;
    path.iter().try_fold(value, |here, key| here.get(key)).unwrap_or(&NULL)
}

/// Sets the value at a path of owned keys; objects on the way are made.
pub(crate) fn set_path(value: &mut Value, path: &[String], new: Value) {
    let mut here = value;
    for key in path {
        here = slot(here, key);
    }
    *here = new;
}

/// Returns the string at a path of keys; empty when there is none.
pub fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).as_str().unwrap_or_default()
}

/// Returns a string of the metadata; empty when there is none.
pub fn meta_text<'a>(object: &'a Value, key: &str) -> &'a str {
    text(object, &["metadata", key])
}

/// Returns the name.
pub fn name(object: &Value) -> &str {
    meta_text(object, "name")
}

/// Returns the namespace; empty for cluster-scoped objects.
pub fn namespace(object: &Value) -> &str {
    meta_text(object, "namespace")
}

/// Returns the uid.
pub fn uid(object: &Value) -> &str {
    meta_text(object, "uid")
}

/// Returns the object below a key of an object, made when it is missing or of another type.
pub fn child_mut<'a>(value: &'a mut Value, key: &str) -> &'a mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Value::Object(map) = value else { unreachable!("made an object just above") };
    let slot = map.entry(key).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    let Value::Object(map) = slot else { unreachable!("made an object just above") };
    map
}

/// Returns the value below a key of an object; null is put there when nothing is.
pub fn slot<'a>(value: &'a mut Value, key: &str) -> &'a mut Value {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Value::Object(map) = value else { unreachable!("made an object just above") };
    map.entry(key).or_insert(Value::Null)
}

/// Returns the metadata, made when it is missing.
pub fn meta_mut(object: &mut Value) -> &mut Map<String, Value> {
    child_mut(object, "metadata")
}

/// Returns whether a list of strings in the metadata holds a value.
pub fn has_finalizer(object: &Value, finalizer: &str) -> bool {
    finalizers(object).any(|it| it == finalizer)
}

/// Returns the finalizers.
pub fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    at(object, &["metadata", "finalizers"])
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// Returns whether the object is being deleted.
pub fn is_terminating(object: &Value) -> bool {
    !at(object, &["metadata", "deletionTimestamp"]).is_null()
}
