//! A small set of types, and helpers to apply and update with little text.

use std::sync::LazyLock;

use kusion_k8s_merge::{
    Applied, ApplyError, OneVersion, Typed, Writer, apply, custom_reset_fields, update,
};
use kusion_k8s_schema::{
    Field, ListKind, Listing, Mapping, Scalar, Struct, Type, TypeId, TypeTable,
};
use serde_json::{Map, Value, json};

/// The types of the tests and the number of the object's type.
pub(crate) static TYPES: LazyLock<(TypeTable, TypeId)> = LazyLock::new(types);

/// The time of all requests, unless a test says otherwise.
pub(crate) const NOW: &str = "2026-01-02T03:04:05Z";

/// Names a type of the test table.
pub(crate) fn typed() -> Typed<'static> {
    Typed::new(&TYPES.0, TYPES.1)
}

/// Applies as a manager.
pub(crate) fn applied(
    live: Option<&Value>,
    manager: &str,
    config: &Value,
    force: bool,
) -> Result<Applied, ApplyError> {
    let versions =
        OneVersion { api_version: "v1", typed: typed(), reset: custom_reset_fields(true, "") };
    let writer =
        Writer { versions: &versions, api_version: "v1", subresource: "", manager, now: NOW };
    apply(&writer, live, &object(config), force)
}

/// Updates as a manager and returns the object with its records.
pub(crate) fn updated(old: &Value, manager: &str, new: &Value) -> Value {
    let versions =
        OneVersion { api_version: "v1", typed: typed(), reset: custom_reset_fields(true, "") };
    let writer =
        Writer { versions: &versions, api_version: "v1", subresource: "", manager, now: NOW };
    let mut new = new.clone();
    update(&writer, old, &mut new);
    new
}

/// Makes a whole object of its spec.
pub(crate) fn object(spec: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec})
}

/// Returns the fields of each manager as text, `manager: fields`, one per line.
pub(crate) fn owners(object: &Value) -> String {
    let list = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    let lines = list.into_iter().flatten().map(|entry| {
        let fields = entry["fieldsV1"].pointer("/f:spec").unwrap_or(&Value::Null);
        format!(
            "{} {}: {}",
            entry["manager"].as_str().unwrap_or("?"),
            entry["operation"].as_str().unwrap_or("?"),
            fields
        )
    });
    lines.collect::<Vec<_>>().join("\n").replace('"', "'")
}

fn field(name: &str, ty: TypeId) -> Field {
    Field { name: name.into(), ty, ..Field::default() }
}

fn record(table: &mut TypeTable, name: &str, mut fields: Vec<Field>) -> TypeId {
    fields.sort_by(|a, b| a.name.cmp(&b.name));
    table.push(Type::Struct(Struct { name: name.into(), fields, ..Struct::default() }))
}

fn list(table: &mut TypeTable, element: TypeId, kind: ListKind) -> TypeId {
    table.push(Type::List(Listing { element, kind }))
}

fn types() -> (TypeTable, TypeId) {
    let mut table = TypeTable::default();
    let t = &mut table;
    let string = t.push(Type::Scalar(Scalar::String));
    let number = t.push(Type::Scalar(Scalar::Integer));
    let any = t.push(Type::Any);
    let map = t.push(Type::Map(Mapping { element: string, atomic: false }));
    let frozen = t.push(Type::Map(Mapping { element: string, atomic: true }));
    let set = list(t, string, ListKind::Set);
    let atomic = list(t, string, ListKind::Atomic);
    let protocol = Field { default: Some(json!("TCP")), ..field("protocol", string) };
    let port = record(t, "Port", vec![field("port", number), protocol, field("name", string)]);
    let ports = list(t, port, ListKind::Map(vec!["port".into(), "protocol".into()]));
    let ports_field = Field {
        patch_strategy: "merge".into(),
        patch_merge_key: "port".into(),
        ..field("ports", ports)
    };
    let item = record(
        t,
        "Item",
        vec![field("name", string), field("image", string), field("args", atomic), ports_field],
    );
    let items = list(t, item, ListKind::Map(vec!["name".into()]));
    let items_field = Field {
        patch_strategy: "merge".into(),
        patch_merge_key: "name".into(),
        ..field("items", items)
    };
    let set_field = Field { patch_strategy: "merge".into(), ..field("set", set) };
    let inner = record(t, "Inner", vec![field("a", number), field("b", number)]);
    let retained = Field { patch_strategy: "retainKeys".into(), ..field("inner", inner) };
    let spec = record(
        t,
        "Spec",
        vec![
            items_field,
            set_field,
            retained,
            field("replicas", number),
            field("map", map),
            field("frozen", frozen),
            field("atomic", atomic),
            field("any", any),
        ],
    );
    let metadata = record(
        t,
        "Metadata",
        vec![
            field("name", string),
            field("uid", string),
            field("labels", map),
            field("annotations", map),
            field("managedFields", any),
        ],
    );
    let root = record(
        t,
        "Thing",
        vec![
            field("apiVersion", string),
            field("kind", string),
            field("metadata", metadata),
            field("spec", spec),
            field("status", any),
        ],
    );
    (table, root)
}

/// Returns an empty object.
pub(crate) fn nothing() -> Value {
    Value::Object(Map::new())
}
