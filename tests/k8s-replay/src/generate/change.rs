//! Random changes to objects that exist.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::bodies;
use crate::kinds::Kind;

/// Returns the live object with some fields changed, added and dropped.
pub(super) fn updated(rng: &mut Rng, kind: Kind, live: &Value, status: bool) -> Value {
    let mut object = live.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        for key in ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"] {
            metadata.remove(key);
        }
        if rng.u32(0..25) == 0 {
            metadata.insert("managedFields".to_owned(), json!([{}]));
        }
    }
    let other = if status { bodies::status(rng, kind) } else { bodies::whole(rng, kind, true) };
    mix(rng, &mut object, &other, 0);
    object
}

/// Takes some values of another object, and drops some.
fn mix(rng: &mut Rng, object: &mut Value, other: &Value, depth: usize) {
    let (Value::Object(mine), Value::Object(other)) = (object, other) else { return };
    for (key, value) in other {
        match mine.get_mut(key) {
            Some(slot @ Value::Object(_)) if depth < 3 && value.is_object() => {
                mix(rng, slot, value, depth + 1);
            }
            Some(_) if rng.u32(0..100) < 60 => {}
            _ => {
                mine.insert(key.clone(), value.clone());
            }
        }
    }
    if depth > 0 {
        let keys: Vec<String> = mine.keys().cloned().collect();
        for key in keys {
            let needed = [
                "name",
                "selector",
                "template",
                "containers",
                "paused",
                "clusterIP",
                "ports",
                "annotations",
                "labels",
            ];
            if !other.contains_key(&key) && !needed.contains(&key.as_str()) && rng.u32(0..10) == 0 {
                mine.remove(&key);
            }
        }
    }
}

/// Returns a merge patch, some of it `null`.
pub(super) fn merge_patch(rng: &mut Rng, kind: Kind, status: bool) -> Value {
    let mut patch =
        if status { bodies::status(rng, kind) } else { bodies::whole(rng, kind, false) };
    if let Value::Object(patch) = &mut patch {
        patch.remove("apiVersion");
        patch.remove("kind");
    }
    let field = match kind {
        Kind::ConfigMap => "data",
        _ if status => "status",
        _ => "spec",
    };
    let names: Vec<&str> = match kind {
        Kind::ConfigMap => vec!["a", "b", "c", "d"],
        _ if status => vec!["phase"],
        Kind::Thing => bodies::THING.iter().map(|(name, _)| *name).collect(),
        Kind::Deployment => bodies::DEPLOYMENT.iter().map(|(name, _)| *name).collect(),
        Kind::Service => vec!["selector", "sessionAffinity", "externalIPs"],
    };
    let mut nulls = Map::new();
    for _ in 0..rng.usize(0..3) {
        nulls.insert(names[rng.usize(..names.len())].to_owned(), Value::Null);
    }
    if let Some(Value::Object(below)) = patch.get_mut(field) {
        below.append(&mut nulls);
    }
    patch
}

/// Returns a JSON patch on what is there.
pub(super) fn json_patch(rng: &mut Rng, live: &Value, status: bool) -> Value {
    let root = match live {
        _ if status => "status",
        live if live.get("spec").is_some() => "spec",
        _ => "data",
    };
    let mut places = Vec::new();
    collect(&live[root], &format!("/{root}"), 0, &mut places);
    collect(&live["metadata"]["labels"], "/metadata/labels", 0, &mut places);
    let mut operations = Vec::new();
    for _ in 0..rng.usize(1..3) {
        if places.is_empty() {
            break;
        }
        let (path, value) = places.swap_remove(rng.usize(..places.len()));
        operations.push(match rng.u32(0..6) {
            0 => json!({"op": "remove", "path": path}),
            1 => json!({"op": "test", "path": path, "value": bodies::pick(rng, &["x", "y"])}),
            2 => json!({"op": "copy", "from": path, "path": path}),
            _ if value.is_string() => {
                json!({"op": "replace", "path": path, "value": bodies::pick(rng, &["x", "y"])})
            }
            _ if value.is_number() => {
                json!({"op": "replace", "path": path, "value": rng.u32(0..3)})
            }
            _ => json!({"op": "add", "path": path, "value": value}),
        });
    }
    if rng.u32(0..8) == 0 {
        operations.push(json!({"op": "remove", "path": "/metadata/labels/none"}));
    }
    Value::Array(operations)
}

fn collect(value: &Value, path: &str, depth: usize, out: &mut Vec<(String, Value)>) {
    if depth > 4 {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, below) in map {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                out.push((path.clone(), below.clone()));
                collect(below, &path, depth + 1, out);
            }
        }
        Value::Array(items) => {
            for (idx, below) in items.iter().enumerate() {
                let path = format!("{path}/{idx}");
                out.push((path.clone(), below.clone()));
                collect(below, &path, depth + 1, out);
            }
        }
        _ => {}
    }
}
