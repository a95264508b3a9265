//! Random types, objects of them, and JSON without any type.

use fastrand::Rng;
use kusion_k8s_schema::{
    Field, ListKind, Listing, Mapping, Scalar, Struct, Type, TypeId, TypeTable,
};
use serde_json::{Map, Value, json};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Makes the type of a whole object, with a random spec.
pub(crate) fn types(rng: &mut Rng) -> (TypeTable, TypeId) {
    let mut table = TypeTable::default();
    let string = table.push(Type::Scalar(Scalar::String));
    let any = table.push(Type::Any);
    let labels = table.push(Type::Map(Mapping { element: string, atomic: false }));
    let field = |name: &str, ty| Field { name: name.into(), ty, ..Field::default() };
    let metadata = table.push(Type::Struct(Struct {
        fields: vec![
            field("labels", labels),
            field("managedFields", any),
            field("name", string),
            field("uid", string),
        ],
        ..Struct::default()
    }));
    let spec = record(rng, &mut table, 0);
    let root = table.push(Type::Struct(Struct {
        fields: vec![
            field("apiVersion", string),
            field("kind", string),
            field("metadata", metadata),
            field("spec", spec),
        ],
        ..Struct::default()
    }));
    (table, root)
}

fn record(rng: &mut Rng, table: &mut TypeTable, depth: usize) -> TypeId {
    let fields = NAMES[..rng.usize(1..=NAMES.len())]
        .iter()
        .map(|name| Field {
            name: (*name).into(),
            ty: ty(rng, table, depth + 1),
            ..Field::default()
        })
        .collect();
    let atomic = depth > 0 && rng.u32(0..8) == 0;
    let preserve_unknown = rng.u32(0..8) == 0;
    table.push(Type::Struct(Struct { fields, atomic, preserve_unknown, ..Struct::default() }))
}

fn ty(rng: &mut Rng, table: &mut TypeTable, depth: usize) -> TypeId {
    let scalar = match rng.u32(0..4) {
        0 => Scalar::Integer,
        1 => Scalar::Boolean,
        2 => Scalar::IntOrString,
        _ => Scalar::String,
    };
    let pick = if depth > 3 { rng.u32(0..4) } else { rng.u32(0..12) };
    let ty = match pick {
        0..3 => Type::Scalar(scalar),
        3 => Type::Any,
        4..6 => return record(rng, table, depth),
        6..8 => {
            let element = ty_of_element(rng, table, depth);
            Type::Map(Mapping { element, atomic: rng.u32(0..5) == 0 })
        }
        8 => Type::List(Listing {
            element: ty_of_element(rng, table, depth),
            kind: ListKind::Atomic,
        }),
        9 => {
            let element = table.push(Type::Scalar(Scalar::String));
            Type::List(Listing { element, kind: ListKind::Set })
        }
        _ => {
            let key = table.push(Type::Scalar(Scalar::String));
            let default = rng.bool().then(|| json!("k"));
            let below = ty(rng, table, depth + 1);
            let fields = vec![
                Field { name: "key".into(), ty: key, ..Field::default() },
                Field { name: "more".into(), ty: key, default, ..Field::default() },
                Field { name: "value".into(), ty: below, ..Field::default() },
            ];
            let element = table.push(Type::Struct(Struct { fields, ..Struct::default() }));
            let keys =
                if rng.bool() { vec!["key".into()] } else { vec!["key".into(), "more".into()] };
            Type::List(Listing { element, kind: ListKind::Map(keys) })
        }
    };
    table.push(ty)
}

fn ty_of_element(rng: &mut Rng, table: &mut TypeTable, depth: usize) -> TypeId {
    ty(rng, table, depth + 1)
}

/// Makes a whole object of a type.
pub(crate) fn object(rng: &mut Rng, table: &TypeTable, root: TypeId) -> Value {
    let mut object = json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}});
    if let Type::Struct(named) = table.get(root)
        && let Some(spec) = named.field("spec")
    {
        object["spec"] = value(rng, table, spec.ty);
    }
    if rng.bool() {
        object["metadata"]["labels"] =
            json!({NAMES[rng.usize(..5)]: "x", NAMES[rng.usize(..5)]: "y"});
    }
    object
}

fn value(rng: &mut Rng, table: &TypeTable, ty: TypeId) -> Value {
    match table.get(ty) {
        Type::Any => json_value(rng, 2),
        Type::Scalar(Scalar::Integer) => json!(rng.u32(0..3)),
        Type::Scalar(Scalar::Boolean) => json!(rng.bool()),
        Type::Scalar(_) => json!(NAMES[rng.usize(..3)]),
        Type::Struct(named) => {
            let mut map = Map::new();
            for field in &named.fields {
                if rng.bool() {
                    map.insert(field.name.to_string(), value(rng, table, field.ty));
                }
            }
            Value::Object(map)
        }
        Type::Map(map) => {
            let keys = NAMES.iter().filter(|_| rng.bool()).copied().collect::<Vec<_>>();
            keys.into_iter().map(|key| (key.to_owned(), value(rng, table, map.element))).collect()
        }
        Type::List(list) => list_of(rng, table, list),
    }
}

fn list_of(rng: &mut Rng, table: &TypeTable, list: &Listing) -> Value {
    let mut names: Vec<&str> = NAMES.iter().filter(|_| rng.bool()).copied().collect();
    rng.shuffle(&mut names);
    let items = names.into_iter().map(|name| match list.kind {
        ListKind::Set => json!(name),
        ListKind::Atomic => value(rng, table, list.element),
        ListKind::Map(_) => {
            let mut item = value(rng, table, list.element);
            item["key"] = json!(name);
            item
        }
    });
    Value::Array(items.collect())
}

/// Makes JSON of any shape, with keys that mean something to somebody.
pub(crate) fn json_value(rng: &mut Rng, depth: usize) -> Value {
    const KEYS: [&str; 22] = [
        "a",
        "b",
        "key",
        "spec",
        "metadata",
        "managedFields",
        "fieldsV1",
        "operation",
        "apiVersion",
        "fieldsType",
        "manager",
        "f:spec",
        "f:a",
        "k:{\"key\":\"a\"}",
        "v:1",
        "i:0",
        ".",
        "$patch",
        "$setElementOrder/a",
        "$deleteFromPrimitiveList/a",
        "$retainKeys",
        "k:",
    ];
    let pick = if depth == 0 { rng.u32(0..6) } else { rng.u32(0..11) };
    match pick {
        0 => Value::Null,
        1 => json!(rng.bool()),
        2 => json!(rng.i64(-2..3)),
        3 => json!(1.5),
        4 => json!(u64::MAX),
        5 => {
            const TEXTS: [&str; 9] =
                ["", "a", "Apply", "Update", "v1", "FieldsV1", "delete", "replace", "é\"\\<"];
            json!(TEXTS[rng.usize(..9)])
        }
        6 | 7 => (0..rng.usize(0..4)).map(|_| json_value(rng, depth - 1)).collect(),
        _ => (0..rng.usize(0..5))
            .map(|_| (KEYS[rng.usize(..KEYS.len())].to_owned(), json_value(rng, depth - 1)))
            .collect(),
    }
}
