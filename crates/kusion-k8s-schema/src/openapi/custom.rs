//! The published schemas of custom kinds.

use super::CustomKind;
use super::schema::{Dialect, V2, V3, described_reference, reference};
use serde_json::{Map, Value, json};

const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND: &str = "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const METADATA: &str = "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
const LIST_METADATA: &str = "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const EMBEDDED_API_VERSION: &str = "apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const EMBEDDED_KIND: &str = "kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// Returns the names of the definitions of a kind and of its lists.
pub(super) fn names(kind: &CustomKind) -> (String, String) {
    let resource = kind.resource;
    let group: Vec<&str> = resource.group.rsplit('.').collect();
    let package = format!("{}.{}", group.join("."), resource.version);
    (format!("{package}.{}", resource.kind), format!("{package}.{}", kind.list_kind))
}

/// Returns the schema for version 3.
pub(super) fn v3(kind: &CustomKind) -> Value {
    let mut schema = base(kind);
    walk(&mut schema, &|schema| {
        if schema.get("x-kubernetes-embedded-resource") == Some(&true.into()) {
            embed(schema);
        }
        if schema.get("x-kubernetes-int-or-string") == Some(&true.into())
            && !schema.contains_key("anyOf")
            && !schema.contains_key("allOf")
        {
            schema.insert("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
        }
    });
    finish(kind, &mut schema, V3);
    Value::Object(schema)
}

/// Returns the schema for version 2, which lacks some keywords.
pub(super) fn v2(kind: &CustomKind) -> Value {
    let mut schema = base(kind);
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&true.into()) {
        let mut bare = Map::new();
        bare.insert("type".to_owned(), "object".into());
        bare.insert(
            "x-kubernetes-group-version-kind".to_owned(),
            group_kind(kind, &kind.resource.kind),
        );
        return Value::Object(bare);
    }
    walk(&mut schema, &|schema| {
        for key in ["default", "anyOf", "allOf", "oneOf", "not"] {
            schema.remove(key);
        }
        let nullable = schema.remove("nullable") == Some(true.into());
        let open = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&true.into());
        if nullable || open {
            for key in ["type", "items", "properties", "additionalProperties", "required"] {
                schema.remove(key);
            }
        }
    });
    finish(kind, &mut schema, V2);
    Value::Object(schema)
}

/// Returns the schema of lists.
pub(super) fn list(kind: &CustomKind, dialect: Dialect) -> Value {
    let resource = kind.resource;
    let (name, _) = names(kind);
    let conventions =
        "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
    let mut schema = json!({
        "description": format!("{} is a list of {}", kind.list_kind, resource.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"description": API_VERSION, "type": "string"},
            "kind": {"description": KIND, "type": "string"},
            "metadata": described_reference(LIST_META, LIST_METADATA, dialect),
            "items": {
                "description": format!("List of {}. More info: {conventions}", resource.plural),
                "type": "array",
                "items": reference(&name, dialect),
            },
        },
    });
    schema["x-kubernetes-group-version-kind"] = group_kind(kind, kind.list_kind);
    schema
}

fn base(kind: &CustomKind) -> Map<String, Value> {
    match kind.schema {
        Value::Object(schema) => schema.clone(),
        _ => Map::from_iter([("type".to_owned(), "object".into())]),
    }
}

fn finish(kind: &CustomKind, schema: &mut Map<String, Value>, dialect: Dialect) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        properties
            .insert("apiVersion".to_owned(), json!({"description": API_VERSION, "type": "string"}));
        properties.insert("kind".to_owned(), json!({"description": KIND, "type": "string"}));
        let metadata = described_reference(OBJECT_META, METADATA, dialect);
        properties.insert("metadata".to_owned(), metadata);
    }
    let mark = group_kind(kind, &kind.resource.kind);
    schema.insert("x-kubernetes-group-version-kind".to_owned(), mark);
    if !kind.selectable_fields.is_empty() {
        let fields: Vec<Value> = kind
            .selectable_fields
            .iter()
            .map(|path| json!({"fieldPath": path.trim_start_matches('.')}))
            .collect();
        schema.insert("x-kubernetes-selectable-fields".to_owned(), fields.into());
    }
}

fn group_kind(kind: &CustomKind, name: &str) -> Value {
    let resource = kind.resource;
    json!([{"group": &*resource.group, "version": &*resource.version, "kind": name}])
}

/// Adds to an embedded object what every object has.
fn embed(schema: &mut Map<String, Value>) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        for (name, description) in [("apiVersion", EMBEDDED_API_VERSION), ("kind", EMBEDDED_KIND)] {
            properties
                .insert(name.to_owned(), json!({"description": description, "type": "string"}));
        }
        let metadata = described_reference(OBJECT_META, METADATA, V3);
        properties.insert("metadata".to_owned(), metadata);
    }
    let required = schema.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(required) = required {
        for name in ["kind", "apiVersion"] {
            if !required.iter().any(|own| own == name) {
                required.push(name.into());
            }
        }
    }
}

/// Visits a schema and all schemas for parts of its values.
fn walk(schema: &mut Map<String, Value>, see: &impl Fn(&mut Map<String, Value>)) {
    see(schema);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            if let Value::Object(property) = property {
                walk(property, see);
            }
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(Value::Object(inner)) = schema.get_mut(key) {
            walk(inner, see);
        }
    }
}
