//! The version 2 document in its binary form, which older clients ask for.
//!
//! The numbers are those of the published message `openapi.v2.Document`.

use serde_json::{Map, Value};

/// Writes a document; supports only the parts that [`super::v2`] creates.
pub(super) fn write(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    text(&mut out, 1, document["swagger"].as_str().unwrap_or_default());
    let mut info = Vec::new();
    text(&mut info, 1, document["info"]["title"].as_str().unwrap_or_default());
    text(&mut info, 2, document["info"]["version"].as_str().unwrap_or_default());
    bytes(&mut out, 2, &info);
    bytes(&mut out, 8, &[]);
    bytes(&mut out, 9, &named(&document["definitions"]));
    out
}

/// Writes schemas with their names.
fn named(schemas: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, inner) in schemas.as_object().into_iter().flatten() {
        let mut entry = Vec::new();
        text(&mut entry, 1, name);
        bytes(&mut entry, 2, &schema(inner));
        bytes(&mut out, 1, &entry);
    }
    out
}

fn schema(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let Value::Object(entries) = value else { return out };
    words(entries, &mut out);
    for (key, number) in [
        ("maxLength", 11),
        ("minLength", 12),
        ("maxItems", 14),
        ("minItems", 15),
        ("maxProperties", 17),
        ("minProperties", 18),
    ] {
        if let Some(count) = entries.get(key).and_then(Value::as_u64) {
            tag(&mut out, number, 0);
            varint(&mut out, count);
        }
    }
    for (key, number) in [("multipleOf", 6), ("maximum", 7), ("minimum", 9)] {
        if let Some(limit) = entries.get(key).and_then(Value::as_f64) {
            tag(&mut out, number, 1);
            out.extend(limit.to_le_bytes());
        }
    }
    for (key, number) in [("exclusiveMaximum", 8), ("exclusiveMinimum", 10), ("uniqueItems", 16)] {
        if entries.get(key) == Some(&Value::Bool(true)) {
            tag(&mut out, number, 0);
            varint(&mut out, 1);
        }
    }
    match entries.get("additionalProperties") {
        Some(Value::Bool(flag)) => bytes(&mut out, 21, &[2 << 3, u8::from(*flag)]),
        Some(inner) => bytes(&mut out, 21, &wrapped(1, &schema(inner))),
        None => {}
    }
    if let Some(ty) = entries.get("type").and_then(Value::as_str) {
        bytes(&mut out, 22, &wrapped(1, ty.as_bytes()));
    }
    if let Some(items) = entries.get("items") {
        bytes(&mut out, 23, &wrapped(1, &schema(items)));
    }
    if let Some(properties) = entries.get("properties") {
        bytes(&mut out, 25, &named(properties));
    }
    for (key, value) in entries.iter().filter(|(key, _)| key.starts_with("x-")) {
        let mut entry = Vec::new();
        text(&mut entry, 1, key);
        bytes(&mut entry, 2, &any(value));
        bytes(&mut out, 31, &entry);
    }
    out
}

fn words(entries: &Map<String, Value>, out: &mut Vec<u8>) {
    for (key, number) in
        [("$ref", 1), ("format", 2), ("title", 3), ("description", 4), ("pattern", 13)]
    {
        if let Some(word) = entries.get(key).and_then(Value::as_str) {
            text(out, number, word);
        }
    }
    for name in entries.get("required").and_then(Value::as_array).into_iter().flatten() {
        text(out, 19, name.as_str().unwrap_or_default());
    }
    for choice in entries.get("enum").and_then(Value::as_array).into_iter().flatten() {
        bytes(out, 20, &any(choice));
    }
}

/// A value of any shape, as YAML (which JSON is).
fn any(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    text(&mut out, 2, &value.to_string());
    out
}

fn wrapped(number: u64, inner: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(&mut out, number, inner);
    out
}

fn text(out: &mut Vec<u8>, number: u64, text: &str) {
    bytes(out, number, text.as_bytes());
}

fn bytes(out: &mut Vec<u8>, number: u64, content: &[u8]) {
    tag(out, number, 2);
    varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

fn tag(out: &mut Vec<u8>, number: u64, kind: u64) {
    varint(out, number << 3 | kind);
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas_are_written_by_number() {
        assert_eq!(
            schema(&json!({"type": "string"})),
            [0xb2, 1, 8, 10, 6, b's', b't', b'r', b'i', b'n', b'g']
        );
        assert_eq!(schema(&json!({"$ref": "a", "maxLength": 300})), [10, 1, b'a', 0x58, 0xac, 2]);
        assert_eq!(
            schema(&json!({"x-a": 1})),
            [0xfa, 1, 10, 10, 3, b'x', b'-', b'a', 18, 3, 18, 1, b'1']
        );
        assert_eq!(schema(&json!({})), [0; 0]);
    }
}
