//! Whether a schema is structural: every field is described once, outside of alternatives.

use super::{Additional, Schema, validate};
use crate::cause::Cause;
use serde_json::{Map, Value, json};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const LIST_TYPES: [&str; 3] = ["atomic", "set", "map"];

/// The position of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Returns what keeps a schema from being structural, sorted.
pub(super) fn check(schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let Value::Object(schema) = schema else {
        return vec![Cause::required(path, "schemas are required")];
    };
    invariants(schema, Level::Root, path, &mut causes);
    causes.sort_by_key(ToString::to_string);
    causes
}

/// Returns defaults that do not fit their own schema.
pub(super) fn check_defaults(schema: &Schema, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    defaults(schema, path, &mut causes);
    causes
}

fn defaults(schema: &Schema, path: &str, causes: &mut Vec<Cause>) {
    if let Some(default) = &schema.default {
        for mut cause in validate::validate(schema, default) {
            let dot = if cause.field.is_empty() { "" } else { "." };
            cause.field = format!("{path}.default{dot}{}", cause.field);
            causes.push(cause);
        }
    }
    for (name, property) in &schema.properties {
        defaults(property, &format!("{path}.properties[{name}]"), causes);
    }
    if let Some(items) = &schema.items {
        defaults(items, &format!("{path}.items"), causes);
    }
    if let Additional::Schema(inner) = &schema.additional {
        defaults(inner, &format!("{path}.additionalProperties"), causes);
    }
}

fn is_true(schema: &Map<String, Value>, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}

fn text<'a>(schema: &'a Map<String, Value>, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn invariants(schema: &Map<String, Value>, level: Level, path: &str, causes: &mut Vec<Cause>) {
    let ty = text(schema, "type");
    if ty == "array" && !schema.contains_key("items") {
        causes.push(Cause::required(format!("{path}.items"), "must be specified"));
    }
    if let Some(Value::Object(items)) = schema.get("items") {
        invariants(items, Level::Item, &format!("{path}.items"), causes);
    }
    if let Some(Value::Object(properties)) = schema.get("properties") {
        for (name, property) in properties {
            if let Value::Object(property) = property {
                let path = format!("{path}.properties[{name}]");
                invariants(property, Level::Field, &path, causes);
            }
        }
    }
    if let Some(additional) = schema.get("additionalProperties") {
        let path = format!("{path}.additionalProperties");
        if level == Level::Root {
            causes.push(Cause::forbidden(&*path, "must not be used at the root"));
        }
        if let Value::Object(inner) = additional {
            invariants(inner, Level::Field, &path, causes);
        }
        if *additional != Value::Bool(false)
            && schema.get("properties").and_then(Value::as_object).is_some_and(|it| !it.is_empty())
        {
            let detail = "additionalProperties and properties are mutual exclusive";
            causes.push(Cause::forbidden(path, detail));
        }
    }
    values(schema, path, causes);
    alternatives(schema, schema, path, path, causes);
    types(schema, level, ty, path, causes);
    metadata(schema, level, path, causes);
}

/// Checks keywords whose values are restricted.
fn values(schema: &Map<String, Value>, path: &str, causes: &mut Vec<Cause>) {
    let ty = text(schema, "type");
    if !ty.is_empty() && !TYPES.contains(&ty) {
        causes.push(Cause::not_supported(format!("{path}.type"), &ty.into(), &TYPES));
    }
    if is_true(schema, "uniqueItems") {
        let detail =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        causes.push(Cause::forbidden(format!("{path}.uniqueItems"), detail));
    }
    if is_true(schema, "x-kubernetes-int-or-string") {
        for key in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
            if is_true(schema, key) {
                let detail = "must be false if x-kubernetes-int-or-string is true";
                causes.push(Cause::invalid(format!("{path}.{key}"), &json!(true), detail));
            }
        }
    }
    let list_type = text(schema, "x-kubernetes-list-type");
    if !list_type.is_empty() {
        let at = format!("{path}.x-kubernetes-list-type");
        if !LIST_TYPES.contains(&list_type) {
            causes.push(Cause::not_supported(at, &list_type.into(), &LIST_TYPES));
        } else if ty != "array" {
            let detail = "must be array if x-kubernetes-list-type is specified";
            let at = format!("{path}.type");
            causes.push(if ty.is_empty() {
                Cause::required(at, detail)
            } else {
                Cause::invalid(at, &ty.into(), detail)
            });
        }
    }
    let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    let at = format!("{path}.x-kubernetes-list-map-keys");
    match (list_type, keys) {
        ("map", None) => {
            let detail = "must not be empty if x-kubernetes-list-type is map";
            causes.push(Cause::required(at, detail));
        }
        ("map", Some(_)) | (_, None) => {}
        (_, Some(_)) => {
            let at = format!("{path}.x-kubernetes-list-type");
            let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
            causes.push(if list_type.is_empty() {
                Cause::required(at, detail)
            } else {
                Cause::invalid(at, &list_type.into(), detail)
            });
        }
    }
    let map_type = text(schema, "x-kubernetes-map-type");
    if !map_type.is_empty() && !["granular", "atomic"].contains(&map_type) {
        let at = format!("{path}.x-kubernetes-map-type");
        causes.push(Cause::not_supported(at, &map_type.into(), &["granular", "atomic"]));
    }
    pattern(schema, path, causes);
}

fn pattern(schema: &Map<String, Value>, path: &str, causes: &mut Vec<Cause>) {
    let pattern = text(schema, "pattern");
    if !pattern.is_empty()
        && let Err(error) = fancy_regex::Regex::new(pattern)
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        causes.push(Cause::invalid(format!("{path}.pattern"), &pattern.into(), detail));
    }
}

fn types(schema: &Map<String, Value>, level: Level, ty: &str, path: &str, causes: &mut Vec<Cause>) {
    let at = format!("{path}.type");
    let preserve = is_true(schema, "x-kubernetes-preserve-unknown-fields");
    if is_true(schema, "x-kubernetes-embedded-resource") {
        if ty != "object" {
            let detail = "must be object if x-kubernetes-embedded-resource is true";
            causes.push(if ty.is_empty() {
                Cause::required(at, detail)
            } else {
                Cause::invalid(at, &ty.into(), detail)
            });
        }
        if schema.contains_key("additionalProperties") {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            causes.push(Cause::forbidden(format!("{path}.additionalProperties"), detail));
        }
        if !preserve && !schema.contains_key("properties") {
            let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                          x-kubernetes-preserve-unknown-fields";
            causes.push(Cause::required(format!("{path}.properties"), detail));
        }
    } else if ty.is_empty() && !preserve && !is_true(schema, "x-kubernetes-int-or-string") {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        causes.push(Cause::required(at, detail));
    } else if level == Level::Root && !ty.is_empty() && ty != "object" {
        causes.push(Cause::invalid(at, &ty.into(), "must be object at the root"));
    }
}

/// Metadata is described by the server itself; schemas may only limit the names.
fn metadata(schema: &Map<String, Value>, level: Level, path: &str, causes: &mut Vec<Cause>) {
    let resource = level == Level::Root || is_true(schema, "x-kubernetes-embedded-resource");
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    if !resource {
        return;
    }
    for name in ["kind", "apiVersion"] {
        if let Some(Value::Object(property)) = properties.get(name)
            && text(property, "type") != "string"
        {
            let at = format!("{path}.properties[{name}].type");
            causes.push(Cause::invalid(at, &text(property, "type").into(), "must be string"));
        }
    }
    let Some(Value::Object(metadata)) = properties.get("metadata") else { return };
    let at = format!("{path}.properties[metadata]");
    if text(metadata, "type") != "object" {
        let ty = text(metadata, "type").into();
        causes.push(Cause::invalid(format!("{at}.type"), &ty, "must be object"));
    }
    let only_names = metadata.iter().all(|(key, value)| match &**key {
        "type" | "description" | "default" => true,
        "properties" => value.as_object().is_some_and(|inner| {
            inner.keys().all(|name| matches!(&**name, "name" | "generateName"))
        }),
        _ => false,
    });
    if level == Level::Root && !only_names {
        let detail = "must not specify anything other than name and generateName, but metadata \
                      is implicitly specified";
        causes.push(Cause::forbidden(at, detail));
    }
}

/// Checks the schemas under `anyOf`, `allOf`, `oneOf` and `not`.
///
/// `own` is the part of the structural schema that the alternatives describe, at `own_path`.
fn alternatives(
    schema: &Map<String, Value>,
    own: &Map<String, Value>,
    path: &str,
    own_path: &str,
    causes: &mut Vec<Cause>,
) {
    let int_or_string = json!([{"type": "integer"}, {"type": "string"}]);
    let is_pattern =
        |list: &Value| is_true(own, "x-kubernetes-int-or-string") && *list == int_or_string;
    for key in ["anyOf", "allOf", "oneOf"] {
        let Some(list) = schema.get(key) else { continue };
        if key == "anyOf" && is_pattern(list) {
            continue;
        }
        for (at, inner) in list.as_array().into_iter().flatten().enumerate() {
            if key == "allOf" && at == 0 && inner.get("anyOf").is_some_and(is_pattern) {
                continue;
            }
            nested(inner, own, &format!("{path}.{key}[{at}]"), own_path, causes);
        }
    }
    if let Some(inner) = schema.get("not") {
        nested(inner, own, &format!("{path}.not"), own_path, causes);
    }
}

fn nested(
    schema: &Value,
    own: &Map<String, Value>,
    path: &str,
    own_path: &str,
    causes: &mut Vec<Cause>,
) {
    let Value::Object(schema) = schema else { return };
    for (key, detail) in [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("x-kubernetes-list-map-keys", "must be empty to be structural"),
        ("x-kubernetes-list-type", "must be undefined to be structural"),
        ("x-kubernetes-map-type", "must be undefined to be structural"),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ] {
        if schema.contains_key(key) {
            causes.push(Cause::forbidden(format!("{path}.{key}"), detail));
        }
    }
    for key in [
        "nullable",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
    ] {
        if is_true(schema, key) {
            let detail = "must be false to be structural";
            causes.push(Cause::forbidden(format!("{path}.{key}"), detail));
        }
    }
    pattern(schema, path, causes);
    alternatives(schema, own, path, own_path, causes);
    if let Some(items) = schema.get("items") {
        let (path, own_path) = (format!("{path}.items"), format!("{own_path}.items"));
        step(items, own.get("items"), &path, &own_path, causes);
    }
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    for (name, property) in properties {
        let path = format!("{path}.properties[{name}]");
        if name == "metadata" {
            causes.push(Cause::forbidden(&*path, "must not be specified in a nested context"));
        }
        let own_property = own.get("properties").and_then(|all| all.get(name));
        let own_path = format!("{own_path}.properties[{name}]");
        step(property, own_property, &path, &own_path, causes);
    }
}

/// Continues with the part of the structural schema that an inner schema describes.
fn step(schema: &Value, own: Option<&Value>, path: &str, own_path: &str, causes: &mut Vec<Cause>) {
    match own {
        Some(Value::Object(own)) => nested(schema, own, path, own_path, causes),
        _ => causes.push(Cause::required(own_path, &format!("because it is defined in {path}"))),
    }
}
