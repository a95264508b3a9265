//! The types of fields of built-in kinds, by path.

use crate::key::ObjectKey;
use kusion_k8s_schema::{Field, ListKind, Quantity, Scalar, Type, builtin};
use kusion_model::{FieldPath, ListItems, PathStep};
use serde_json::Value;

/// A place in an object: its type, and the field that has it.
struct Place {
    ty: &'static Type,
    field: Option<&'static Field>,
}

/// Returns the type of the field at a path of an object; `None` for custom kinds and unknown fields.
fn place(object: &Value, path: &[PathStep]) -> Option<Place> {
    let key = ObjectKey::of_object(object)?;
    let (group, version) = key.group_version();
    let types = &builtin().types;
    let root = builtin().type_of(group, version, &key.kind)?;
    let mut place = Place { ty: types.get(root), field: None };
    for step in path {
        place = match (place.ty, step) {
            (Type::Struct(fields), PathStep::Key(key)) => {
                let field = fields.field(key)?;
                Place { ty: types.get(field.ty), field: Some(field) }
            }
            (Type::Map(map), PathStep::Key(_)) => Place { ty: types.get(map.element), field: None },
            (Type::List(list), _) => Place { ty: types.get(list.element), field: None },
            _ => return None,
        };
    }
    Some(place)
}

/// Returns how the items of the list at a path of an object are identified.
pub(crate) fn list_items(object: &Value, path: &FieldPath) -> ListItems {
    let Some(Place { ty: Type::List(list), field }) = place(object, &path.0) else {
        return ListItems::Unknown;
    };
    let merge_key = field.map(|it| &*it.patch_merge_key).filter(|it| !it.is_empty());
    match (&list.kind, merge_key) {
        (ListKind::Map(keys), _) => ListItems::Keys(keys.iter().map(ToString::to_string).collect()),
        (ListKind::Set, _) => ListItems::Values,
        (ListKind::Atomic, Some(key)) => ListItems::Keys(vec![key.to_owned()]),
        (ListKind::Atomic, None) => ListItems::Unknown,
    }
}

/// Returns the name of a field that is similar to the last, unknown one of a path.
pub(crate) fn similar_field(object: &Value, path: &FieldPath) -> Option<String> {
    let (PathStep::Key(unknown), above) = path.0.split_last()? else { return None };
    let Type::Struct(known) = place(object, above)?.ty else { return None };
    let names = known.fields.iter().map(|field| &*field.name);
    base_text::nearest(unknown, names).map(str::to_owned)
}

/// Returns the first quantity of an object that cannot be parsed, with its path.
pub(crate) fn invalid_quantity(object: &Value) -> Option<(FieldPath, String)> {
    let key = ObjectKey::of_object(object)?;
    let (group, version) = key.group_version();
    let root = builtin().type_of(group, version, &key.kind)?;
    find_quantity(builtin().types.get(root), object, &FieldPath::default())
}

fn find_quantity(ty: &Type, value: &Value, path: &FieldPath) -> Option<(FieldPath, String)> {
    let types = &builtin().types;
    match (ty, value) {
        (Type::Scalar(Scalar::Quantity), Value::String(text)) => {
            Quantity::parse(text).is_none().then(|| (path.clone(), text.clone()))
        }
        (Type::Struct(known), Value::Object(map)) => map.iter().find_map(|(key, value)| {
            find_quantity(types.get(known.field(key)?.ty), value, &path.key(key))
        }),
        (Type::Map(known), Value::Object(map)) => map.iter().find_map(|(key, value)| {
            find_quantity(types.get(known.element), value, &path.key(key))
        }),
        (Type::List(known), Value::Array(items)) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(at, it)| find_quantity(types.get(known.element), it, &path.index(at)))
        }
        _ => None,
    }
}

/// Resolves a path as the server writes it: list items by their keys (`ports[port=80]`) get their
/// index, and keys with dots become one step. What does not exist in the object stays as written.
pub(crate) fn located(object: &Value, path: &FieldPath) -> FieldPath {
    let mut found = FieldPath::default();
    let mut value = Some(object);
    let mut rest = path.0.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let step = match (first, value) {
            (PathStep::Key(key), Some(Value::Array(items))) => {
                let index = items.iter().position(|item| is_item(item, key));
                index.map_or_else(|| first.clone(), PathStep::Index)
            }
            (PathStep::Key(key), Some(Value::Object(map))) if !map.contains_key(key) => {
                let (key, n_more) = joined(map, key, rest);
                rest = &rest[n_more..];
                PathStep::Key(key)
            }
            _ => first.clone(),
        };
        value = value.and_then(|it| match &step {
            PathStep::Index(index) => it.get(index),
            PathStep::Key(key) => it.get(key),
        });
        found.0.push(step);
    }
    found
}

/// Returns the key of a map that starts a path of keys that were divided at their dots, and how
/// many more steps it includes.
fn joined(map: &serde_json::Map<String, Value>, first: &str, rest: &[PathStep]) -> (String, usize) {
    let mut key = first.to_owned();
    for (place, step) in rest.iter().enumerate() {
        let PathStep::Key(part) = step else { break };
        key.push('.');
        key.push_str(part);
        if map.contains_key(&key) {
            return (key, place + 1);
        }
    }
    (first.to_owned(), 0)
}

/// Returns whether an item of a list has the keys `name="web"`, `port=80,protocol="TCP"`, or the
/// value `="a"`.
fn is_item(item: &Value, keys: &str) -> bool {
    keys.split(',').all(|key| {
        let Some((name, value)) = key.split_once('=') else { return false };
        let Ok(value) = serde_json::from_str::<Value>(value) else { return false };
        if name.is_empty() { *item == value } else { item.get(name) == Some(&value) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::field_path;
    use serde_json::json;

    fn pod() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "labels": {"app.example.com/name": "x"}},
            "spec": {"containers": [
                {"name": "b", "ports": [{"containerPort": 80, "protocol": "TCP"}]},
                {"name": "web", "args": ["x"]},
            ]},
        })
    }

    #[test]
    fn lists_have_the_keys_of_their_types() {
        let keys = |path: &str| list_items(&pod(), &field_path(path));
        assert_eq!(keys("spec.containers"), ListItems::Keys(vec!["name".into()]));
        let port = ListItems::Keys(vec!["containerPort".into(), "protocol".into()]);
        assert_eq!(keys("spec.containers[0].ports"), port);
        assert_eq!(keys("metadata.finalizers"), ListItems::Values);
        assert_eq!(keys("spec.containers[0].args"), ListItems::Unknown);
        assert_eq!(keys("spec.none"), ListItems::Unknown);
        let custom = json!({"apiVersion": "a.b/v1", "kind": "C", "metadata": {"name": "c"}});
        assert_eq!(list_items(&custom, &field_path("spec.containers")), ListItems::Unknown);
    }

    #[test]
    fn unknown_fields_have_similar_ones() {
        let similar = |path: &str| similar_field(&pod(), &field_path(path));
        assert_eq!(similar("spec.containers[0].imag").as_deref(), Some("image"));
        assert_eq!(similar("spec.restartpolicy").as_deref(), Some("restartPolicy"));
        assert_eq!(similar("spec.containers[0].quite_other"), None);
    }

    #[test]
    fn an_invalid_quantity_is_found() {
        let mut pod = pod();
        assert_eq!(invalid_quantity(&pod), None);
        pod["spec"]["containers"][1]["resources"] = json!({"limits": {"cpu": "1", "memory": "1x"}});
        let (path, text) = invalid_quantity(&pod).expect("it is found");
        assert_eq!(path.to_string(), "spec.containers[1].resources.limits.memory");
        assert_eq!(text, "1x");
    }

    #[test]
    fn paths_of_the_server_lead_to_places() {
        let located = |path: &str| located(&pod(), &field_path(path)).to_string();
        assert_eq!(located(r#"spec.containers[name="web"].args"#), "spec.containers[1].args");
        let port = r#"spec.containers[name="b"].ports[containerPort=80,protocol="TCP"].name"#;
        assert_eq!(located(port), "spec.containers[0].ports[0].name");
        assert_eq!(
            located("metadata.labels.app.example.com/name"),
            r#"metadata.labels["app.example.com/name"]"#
        );
        assert_eq!(located("spec.containers[5].x"), "spec.containers[5].x");
    }
}
