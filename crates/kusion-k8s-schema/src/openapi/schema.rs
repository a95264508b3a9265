//! From schema records back to JSON.

use crate::table::{Definition, Node, Shape, Table};
use serde_json::{Map, Value, json};

/// The notation of a version of `OpenAPI`.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    /// What references start with.
    prefix: &'static str,
    /// Whether defaults are shown, and references wrapped when they have company.
    modern: bool,
}

/// Version 3.
pub(super) const V3: Dialect = Dialect { prefix: "#/components/schemas/", modern: true };
/// Version 2.
pub(super) const V2: Dialect = Dialect { prefix: "#/definitions/", modern: false };

/// Returns a reference to a definition.
pub(super) fn reference(name: &str, dialect: Dialect) -> Value {
    json!({"$ref": format!("{}{name}", dialect.prefix)})
}

/// Returns a reference with a description.
pub(super) fn described_reference(name: &str, description: &str, dialect: Dialect) -> Value {
    let target = reference(name, dialect);
    if dialect.modern {
        return json!({"allOf": [target], "description": description});
    }
    let mut target = target;
    target["description"] = description.into();
    target
}

/// Returns the schema of a definition; kinds that exist in every group are cut down to `group`.
pub(super) fn definition(
    table: &Table,
    definition: &Definition,
    group: Option<&str>,
    dialect: Dialect,
) -> Value {
    let mut schema = node(table, &definition.node, dialect);
    if !dialect.modern {
        match &*definition.name {
            "io.k8s.apimachinery.pkg.util.intstr.IntOrString" => {
                schema["type"] = "string".into();
                schema["format"] = "int-or-string".into();
            }
            "io.k8s.apimachinery.pkg.api.resource.Quantity" => schema["type"] = "string".into(),
            _ => {}
        }
    }
    let kinds: Vec<Value> = definition
        .kinds
        .iter()
        .filter(|[own, _, _]| {
            definition.kinds.len() < 4 || group.is_none_or(|group| own.is_empty() || own == group)
        })
        .map(|[group, version, kind]| json!({"group": group, "version": version, "kind": kind}))
        .collect();
    if !kinds.is_empty() {
        schema["x-kubernetes-group-version-kind"] = kinds.into();
    }
    schema
}

fn node(table: &Table, node: &Node, dialect: Dialect) -> Value {
    let mut schema = Map::new();
    if dialect.modern
        && let Ok(Value::Object(extra)) = serde_json::from_str(&node.extra)
    {
        schema.extend(extra);
    }
    let mut put = |key: &str, text: &str| {
        if !text.is_empty() {
            schema.insert(key.to_owned(), text.into());
        }
    };
    put("description", &node.description);
    put("format", &node.format);
    put("x-kubernetes-list-type", &node.list_type);
    put("x-kubernetes-map-type", &node.map_type);
    put("x-kubernetes-patch-strategy", &node.patch_strategy);
    put("x-kubernetes-patch-merge-key", &node.patch_merge_key);
    if dialect.modern
        && let Ok(default) = serde_json::from_str::<Value>(&node.default)
    {
        schema.insert("default".to_owned(), default);
    }
    for (key, texts) in [("enum", &node.choices), ("x-kubernetes-list-map-keys", &node.list_keys)] {
        if !texts.is_empty() {
            schema.insert(key.to_owned(), texts.as_slice().into());
        }
    }
    shape(table, &node.shape, &mut schema, dialect);
    Value::Object(schema)
}

fn shape(table: &Table, shape: &Shape, schema: &mut Map<String, Value>, dialect: Dialect) {
    let ty = match shape {
        Shape::Any => return,
        Shape::Ref(at) => {
            let name = table.definitions.get(*at as usize).map_or("", |to| &*to.name);
            let target = reference(name, dialect);
            if schema.is_empty() || !dialect.modern {
                schema.insert("$ref".to_owned(), target["$ref"].clone());
            } else {
                schema.insert("allOf".to_owned(), json!([target]));
            }
            return;
        }
        Shape::Object => "object",
        Shape::String => "string",
        Shape::Integer => "integer",
        Shape::Number => "number",
        Shape::Boolean => "boolean",
        Shape::List(item) => {
            schema.insert("items".to_owned(), node(table, item, dialect));
            "array"
        }
        Shape::Map(item) => {
            schema.insert("additionalProperties".to_owned(), node(table, item, dialect));
            "object"
        }
        Shape::Struct(fields) => {
            let properties = fields
                .iter()
                .map(|field| (field.name.clone(), node(table, &field.node, dialect)))
                .collect::<Map<_, _>>();
            schema.insert("properties".to_owned(), Value::Object(properties));
            let required: Vec<&str> =
                fields.iter().filter(|field| field.required).map(|field| &*field.name).collect();
            if !required.is_empty() {
                schema.insert("required".to_owned(), required.into());
            }
            "object"
        }
    };
    schema.insert("type".to_owned(), ty.into());
}
