//! Checks that lists that are sets or maps contain no duplicates.

use super::{Additional, Schema};
use crate::cause::Cause;
use crate::decode::{push_index, push_key};
use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

/// Returns duplicate items, and embedded resources without names.
pub(super) fn validate(schema: &Schema, object: &Value) -> Vec<Cause> {
    let mut walker = Walker { path: String::new(), causes: Vec::new() };
    walker.value(schema, object, true);
    walker.causes
}

struct Walker {
    path: String,
    causes: Vec<Cause>,
}

impl Walker {
    fn value(&mut self, schema: &Schema, value: &Value, root: bool) {
        let length = self.path.len();
        match value {
            Value::Object(object) => {
                if schema.embedded_resource && !root {
                    for name in ["apiVersion", "kind"] {
                        if object.get(name).is_none_or(|value| value == "") {
                            self.causes.push(Cause::required(format!("{}.{name}", self.path), ""));
                        }
                    }
                }
                for (key, item) in object {
                    let inner = match (schema.properties.get(&**key), &schema.additional) {
                        (Some(property), _) => property,
                        (None, Additional::Schema(inner)) => inner,
                        _ => continue,
                    };
                    push_key(&mut self.path, key);
                    self.value(inner, item, false);
                    self.path.truncate(length);
                }
            }
            Value::Array(items) => {
                match &*schema.list_type {
                    "set" => self.set(items),
                    "map" => self.map(schema, items),
                    _ => {}
                }
                let Some(inner) = &schema.items else { return };
                for (at, item) in items.iter().enumerate() {
                    push_index(&mut self.path, at);
                    self.value(inner, item, false);
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn set(&mut self, items: &[Value]) {
        let mut seen = FxHashSet::default();
        for (at, item) in items.iter().enumerate() {
            if !seen.insert(item.to_string()) {
                self.causes.push(Cause::duplicate(format!("{}[{at}]", self.path), item));
            }
        }
    }

    fn map(&mut self, schema: &Schema, items: &[Value]) {
        let mut seen = FxHashSet::default();
        for (at, item) in items.iter().enumerate() {
            let path = format!("{}[{at}]", self.path);
            let Value::Object(object) = item else {
                let detail = "must be an object for an array of list-type map";
                self.causes.push(Cause::invalid(path, item, detail));
                continue;
            };
            let keys: Map<String, Value> = schema
                .list_keys
                .iter()
                .filter_map(|key| Some((key.to_string(), object.get(&**key)?.clone())))
                .collect();
            let keys = Value::Object(keys);
            if !seen.insert(keys.to_string()) {
                self.causes.push(Cause::duplicate(path, &keys));
            }
        }
    }
}
