//! Bodies in protobuf, as `kubectl create` sends them: read into JSON, never written.
//!
//! Field numbers come from a compressed table in `data/`, made by `cargo xtask k8s-proto` from
//! the published definitions. A message that does not appear in JSON is embedded: its fields belong
//! to the message around it.

mod wire;

use crate::builtin::{builtin, decompress};
use crate::decode::{Decoded, Expected, normalize};
use crate::discovery::group_version;
use crate::model::{Type, TypeId};
use crate::time::{Instant, format_micro_time, format_time};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::sync::LazyLock;
use wire::{Reader, Wire};

/// The field numbers, compressed.
const FILE: &[u8] = include_bytes!("../data/k8s-v1.36.proto.zst");
/// What a body starts with.
const MAGIC: &[u8] = b"k8s\0";
/// How deep messages may be nested.
const MAX_DEPTH: usize = 64;

/// The media type of such bodies.
pub const PROTOBUF_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Bytes,
    Flag,
    Number,
    Double,
    Message(u32),
}

#[derive(Debug, Clone)]
struct Field {
    name: Box<str>,
    kind: Kind,
    repeated: bool,
    map: bool,
}

#[derive(Debug, Default)]
struct Message {
    name: Box<str>,
    fields: FxHashMap<u32, Field>,
}

#[derive(Debug, Default)]
struct Messages {
    list: Vec<Message>,
    by_name: FxHashMap<Box<str>, u32>,
}

static MESSAGES: LazyLock<Messages> = LazyLock::new(|| {
    let bytes = decompress(FILE).expect("the committed table is whole: a test reads it");
    Messages::read(&String::from_utf8_lossy(&bytes))
});

impl Messages {
    /// Reads the table: a line with a name opens a message, the lines after it are its fields.
    fn read(text: &str) -> Self {
        let mut messages = Self::default();
        for line in text.lines().filter(|line| !line.starts_with(' ')) {
            let at = messages.list.len() as u32;
            messages.by_name.insert(line.into(), at);
            messages.list.push(Message { name: line.into(), ..Message::default() });
        }
        let mut current = 0;
        for line in text.lines() {
            let Some(field) = line.strip_prefix(' ') else {
                current = messages.by_name[line] as usize;
                continue;
            };
            let words: Vec<&str> = field.split(' ').collect();
            let [number, name, label, kind] = words[..] else { continue };
            let kind = match kind {
                "string" => Kind::Text,
                "bytes" => Kind::Bytes,
                "bool" => Kind::Flag,
                "double" => Kind::Double,
                "int32" | "int64" | "uint32" | "uint64" => Kind::Number,
                message => match messages.by_name.get(message) {
                    Some(at) => Kind::Message(*at),
                    None => continue,
                },
            };
            let field =
                Field { name: name.into(), kind, repeated: label == "*", map: label == "m" };
            if let Ok(number) = number.parse() {
                messages.list[current].fields.insert(number, field);
            }
        }
        messages
    }
}

/// Reads a body; the error is the whole message of a `BadRequest`.
pub fn decode_protobuf(expected: &Expected, bytes: &[u8]) -> Result<Decoded, String> {
    let bad = |why: &str| {
        format!("the object provided is unrecognized (must be of type {}): {why}", expected.kind)
    };
    let body = bytes.strip_prefix(MAGIC).ok_or_else(|| bad("it is not Kubernetes protobuf"))?;
    let (api_version, kind, raw) = envelope(body).ok_or_else(|| bad("the envelope is broken"))?;
    let (group, version) = match api_version.rsplit_once('/') {
        _ if api_version.is_empty() => (expected.group, expected.version),
        Some(names) => names,
        None => ("", api_version),
    };
    let kind = if kind.is_empty() { expected.kind } else { kind };
    let api = builtin();
    let ty = api.type_of(group, version, kind).ok_or_else(|| {
        bad(&format!("no kind \"{kind}\" is registered for version \"{api_version}\""))
    })?;
    let message = message_of(ty).ok_or_else(|| bad("the kind has no protobuf form"))?;
    let value = read(message, ty, raw, 0).ok_or_else(|| bad("the message is broken"))?;
    let mut decoded = normalize(&api.types, ty, value).map_err(|why| bad(&why))?;
    decoded.findings.clear();
    if let Value::Object(object) = &mut decoded.value {
        object.insert("kind".to_owned(), kind.into());
        object.insert("apiVersion".to_owned(), group_version(group, version).into());
    }
    Ok(decoded)
}

fn envelope(bytes: &[u8]) -> Option<(&str, &str, &[u8])> {
    let (mut api_version, mut kind, mut raw) = ("", "", &[][..]);
    let mut reader = Reader::new(bytes);
    while !reader.is_done() {
        let (number, wire) = reader.next()?;
        match (number, wire) {
            (1, Wire::Bytes(meta)) => {
                let mut meta = Reader::new(meta);
                while !meta.is_done() {
                    let (number, wire) = meta.next()?;
                    match (number, wire) {
                        (1, Wire::Bytes(text)) => api_version = std::str::from_utf8(text).ok()?,
                        (2, Wire::Bytes(text)) => kind = std::str::from_utf8(text).ok()?,
                        _ => {}
                    }
                }
            }
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    Some((api_version, kind, raw))
}

/// Returns the message of a definition: `io.k8s.api…` in JSON is `k8s.io.api…` in protobuf.
fn message_of(ty: TypeId) -> Option<&'static Message> {
    let Type::Struct(shape) = builtin().types.get(ty) else { return None };
    let name = format!("k8s.io.{}", shape.name.strip_prefix("io.k8s.")?.replace('-', "_"));
    let at = MESSAGES.by_name.get(name.as_str())?;
    MESSAGES.list.get(*at as usize)
}

/// Reads a message of a type; none when the bytes are broken.
fn read(message: &Message, ty: TypeId, bytes: &[u8], depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    if is_special(&message.name) {
        return special(&message.name, bytes);
    }
    // The types do not describe the content of a schema: nothing is embedded there.
    let ty = if message.name.contains(".JSONSchemaProps") { TypeId::default() } else { ty };
    let mut object = Map::new();
    let mut reader = Reader::new(bytes);
    while !reader.is_done() {
        let (number, wire) = reader.next()?;
        let Some(field) = message.fields.get(&number) else { continue };
        if field.map {
            let (key, value) = entry(field, element_of(ty, &field.name), wire, depth)?;
            let slot = object.entry(&*field.name).or_insert_with(|| Value::Object(Map::new()));
            slot.as_object_mut()?.insert(key, value);
            continue;
        }
        if let (Kind::Message(at), false, false) =
            (field.kind, field.repeated, has(ty, &field.name))
        {
            let Wire::Bytes(bytes) = wire else { return None };
            let inner = read(MESSAGES.list.get(at as usize)?, ty, bytes, depth + 1)?;
            if let Value::Object(inner) = inner {
                object.extend(inner);
            }
            continue;
        }
        let own = field_type(ty, &field.name);
        if field.repeated {
            let value = single(field.kind, element(own), wire, depth)?;
            let slot = object.entry(&*field.name).or_insert_with(|| Value::Array(Vec::new()));
            slot.as_array_mut()?.push(value);
        } else {
            object.insert(field.name.to_string(), single(field.kind, own, wire, depth)?);
        }
    }
    // A list in a separate message, because a map cannot contain lists.
    if let [field] = message.fields.values().collect::<Vec<_>>()[..]
        && field.repeated
        && &*field.name == "items"
        && field.kind == Kind::Text
    {
        return Some(object.remove("items").unwrap_or_else(|| Value::Array(Vec::new())));
    }
    Some(finished(&message.name, object))
}

/// Converts messages of JSON schemas to their form in JSON.
fn finished(name: &str, mut object: Map<String, Value>) -> Value {
    let either = |mut object: Map<String, Value>, other: &str| {
        object.remove("schema").or_else(|| object.remove(other)).unwrap_or(Value::Null)
    };
    match name.rsplit('.').next().unwrap_or_default() {
        "JSONSchemaPropsOrBool" => either(object, "allows"),
        "JSONSchemaPropsOrArray" => either(object, "jSONSchemas"),
        "JSONSchemaPropsOrStringArray" => either(object, "property"),
        "JSONSchemaProps" => {
            object.retain(|_, value| {
                !matches!(value, Value::Null | Value::Bool(false))
                    && value.as_str() != Some("")
                    && value.as_array().is_none_or(|list| !list.is_empty())
            });
            Value::Object(
                object.into_iter().map(|(key, value)| (schema_key(&key), value)).collect(),
            )
        }
        _ => Value::Object(object),
    }
}

/// Returns `x-kubernetes-list-type` for `xKubernetesListType`, and `$ref` for `ref`.
fn schema_key(key: &str) -> String {
    match key {
        "ref" | "schema" => format!("${key}"),
        _ if key.starts_with("xKubernetes") => {
            let mut name = String::new();
            for c in key.chars() {
                if c.is_ascii_uppercase() {
                    name.push('-');
                }
                name.push(c.to_ascii_lowercase());
            }
            name
        }
        _ => key.to_owned(),
    }
}

fn single(kind: Kind, ty: TypeId, wire: Wire<'_>, depth: usize) -> Option<Value> {
    Some(match (kind, wire) {
        (Kind::Text, Wire::Bytes(bytes)) => std::str::from_utf8(bytes).ok()?.into(),
        (Kind::Bytes, Wire::Bytes(bytes)) => data_encoding::BASE64.encode(bytes).into(),
        (Kind::Flag, Wire::Varint(number)) => (number != 0).into(),
        (Kind::Number, Wire::Varint(number)) => (number as i64).into(),
        (Kind::Double, Wire::Fixed(bits)) => f64::from_bits(bits).into(),
        (Kind::Message(at), Wire::Bytes(bytes)) => {
            read(MESSAGES.list.get(at as usize)?, ty, bytes, depth + 1)?
        }
        _ => return None,
    })
}

fn entry(field: &Field, ty: TypeId, wire: Wire<'_>, depth: usize) -> Option<(String, Value)> {
    let Wire::Bytes(bytes) = wire else { return None };
    let (mut key, mut value) = (String::new(), None);
    let mut reader = Reader::new(bytes);
    while !reader.is_done() {
        let (number, wire) = reader.next()?;
        match number {
            1 => {
                let Wire::Bytes(text) = wire else { return None };
                std::str::from_utf8(text).ok()?.clone_into(&mut key);
            }
            2 => value = Some(single(field.kind, ty, wire, depth)?),
            _ => {}
        }
    }
    Some((key, value.unwrap_or_else(|| "".into())))
}

/// Returns whether a message has a special form in JSON.
fn is_special(name: &str) -> bool {
    let short = name.rsplit('.').next().unwrap_or_default();
    matches!(
        short,
        "Quantity" | "IntOrString" | "Time" | "MicroTime" | "RawExtension" | "FieldsV1" | "JSON"
    )
}

/// Reads messages that JSON writes in a form of their own.
fn special(name: &str, bytes: &[u8]) -> Option<Value> {
    match name.rsplit('.').next().unwrap_or_default() {
        "Quantity" => numbers(bytes).map(|it| it.text.into()),
        "IntOrString" => numbers(bytes).map(|it| match it.first {
            1 => it.text.into(),
            _ => (it.second as i32).into(),
        }),
        "Time" | "MicroTime" if bytes.is_empty() => Some(Value::Null),
        "Time" => numbers(bytes).map(|it| format_time(it.first).into()),
        "MicroTime" => numbers(bytes).map(|it| {
            format_micro_time(Instant { seconds: it.first, nanos: it.second as u32 }).into()
        }),
        "RawExtension" | "FieldsV1" | "JSON" => {
            numbers(bytes).map(|it| serde_json::from_str(&it.text).unwrap_or(Value::Null))
        }
        _ => None,
    }
}

/// The fields of a message that holds two numbers and a text at most.
#[derive(Default)]
struct Parts {
    first: i64,
    second: i64,
    text: String,
}

fn numbers(bytes: &[u8]) -> Option<Parts> {
    let mut parts = Parts::default();
    let mut reader = Reader::new(bytes);
    while !reader.is_done() {
        let (number, wire) = reader.next()?;
        match (number, wire) {
            (1, Wire::Varint(value)) => parts.first = value as i64,
            (2, Wire::Varint(value)) => parts.second = value as i64,
            (_, Wire::Bytes(text)) => parts.text = String::from_utf8_lossy(text).into_owned(),
            _ => {}
        }
    }
    Some(parts)
}

fn has(ty: TypeId, name: &str) -> bool {
    match builtin().types.get(ty) {
        Type::Struct(shape) => shape.field(name).is_some(),
        _ => true,
    }
}

fn field_type(ty: TypeId, name: &str) -> TypeId {
    match builtin().types.get(ty) {
        Type::Struct(shape) => shape.field(name).map_or_else(TypeId::default, |it| it.ty),
        _ => TypeId::default(),
    }
}

fn element(ty: TypeId) -> TypeId {
    match builtin().types.get(ty) {
        Type::List(list) => list.element,
        Type::Map(map) => map.element,
        _ => TypeId::default(),
    }
}

fn element_of(ty: TypeId, name: &str) -> TypeId {
    element(field_type(ty, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2, bytes.len() as u8];
        out.extend_from_slice(bytes);
        out
    }

    fn body(kind: &str, raw: &[u8]) -> Vec<u8> {
        let meta = [text(1, b"v1"), text(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), text(1, &meta), text(2, raw)].concat()
    }

    #[test]
    fn maps_and_metadata_are_read() {
        let entry = [text(1, b"x"), text(2, b"1")].concat();
        let raw = [text(1, &text(1, b"a")), text(2, &entry)].concat();
        let expected = Expected { group: "", version: "v1", kind: "ConfigMap" };
        let decoded = decode_protobuf(&expected, &body("ConfigMap", &raw)).expect("decoded");
        assert_eq!(decoded.value["metadata"]["name"], "a");
        assert_eq!(decoded.value["data"], json!({"x": "1"}));
        assert_eq!(decoded.value["kind"], "ConfigMap");
    }

    #[test]
    fn broken_bodies_are_refused() {
        let expected = Expected { group: "", version: "v1", kind: "ConfigMap" };
        for length in 0..40 {
            let whole = body("ConfigMap", &text(1, &text(1, b"a")));
            let cut = &whole[..length.min(whole.len())];
            // Some cuts are whole messages; none may panic.
            let _ = decode_protobuf(&expected, cut);
        }
        assert!(decode_protobuf(&expected, b"{}").is_err());
    }

    #[test]
    fn the_table_knows_the_kinds_of_the_api() {
        for resource in &builtin().resources {
            assert!(message_of(resource.ty).is_some(), "{}", resource.kind);
        }
    }
}
