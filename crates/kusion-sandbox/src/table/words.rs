//! Small texts that cells are made of.

use crate::write::selector_text;
use serde_json::Value;

/// Stands where nothing is.
pub(crate) const NONE: &str = "<none>";
/// Stands where a field is not set.
pub(crate) const UNSET: &str = "<unset>";

/// Returns a number; 0 when it is missing.
pub(crate) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

/// Returns a string; empty when it is missing.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a string, or another text when it is missing or empty.
pub(crate) fn text_or(value: &Value, other: &str) -> String {
    match value {
        Value::String(text) if !text.is_empty() => text.clone(),
        Value::Null | Value::String(_) => other.to_owned(),
        value => value.to_string(),
    }
}

/// Returns the items of a list.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns texts with commas between them, or `<none>`.
pub(crate) fn joined<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let joined = texts.into_iter().collect::<Vec<_>>().join(",");
    if joined.is_empty() { NONE.to_owned() } else { joined }
}

/// Returns the names and images of the containers of a pod template.
pub(crate) fn containers(spec: &Value) -> [Value; 2] {
    let list = items(&spec["containers"]);
    let column = |key: &str| -> Value {
        list.iter().map(|it| text(&it[key])).collect::<Vec<_>>().join(",").into()
    };
    [column("name"), column("image")]
}

/// Returns a selector, or `<none>`.
pub(crate) fn selector(value: &Value) -> Value {
    let text = selector_text(value);
    if text.is_empty() { NONE.into() } else { text.into() }
}

/// Returns whether a condition of an object is `True`.
pub(crate) fn has_condition(object: &Value, kind: &str) -> bool {
    items(&object["status"]["conditions"])
        .iter()
        .any(|it| it["type"] == kind && it["status"] == "True")
}
