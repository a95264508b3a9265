//! Leaving out what a schema does not know.

use super::{Additional, Schema};
use crate::builtin::builtin;
use crate::decode::Finding;
use crate::decode::{MAX_FINDING_PATH, normalize, push_index, push_key};
use serde_json::{Map, Value};

/// Removes unknown fields of an object; returns their paths, sorted.
pub(super) fn prune(schema: &Schema, object: &mut Value) -> Vec<String> {
    let mut pruner = Pruner { path: String::new(), gone: Vec::new() };
    if let Value::Object(object) = object {
        pruner.object(schema, object, true);
    }
    pruner.gone.sort();
    pruner.gone
}

struct Pruner {
    path: String,
    gone: Vec<String>,
}

impl Pruner {
    fn value(&mut self, schema: &Schema, value: &mut Value) {
        match value {
            Value::Object(object) => {
                if schema.embedded_resource {
                    self.metadata(object);
                }
                self.object(schema, object, schema.embedded_resource);
            }
            Value::Array(items) => {
                let Some(item_schema) = &schema.items else { return };
                let length = self.path.len();
                for (at, item) in items.iter_mut().enumerate() {
                    push_index(&mut self.path, at);
                    self.value(item_schema, item);
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// Prunes an object; a whole resource has three fields that every schema contains.
    fn object(&mut self, schema: &Schema, object: &mut Map<String, Value>, resource: bool) {
        let length = self.path.len();
        let (path, gone) = (&mut self.path, &mut self.gone);
        let open = schema.preserve_unknown || matches!(schema.additional, Additional::Allowed);
        if !open && !matches!(schema.additional, Additional::Schema(_)) {
            object.retain(|key, _| {
                let known = schema.properties.contains_key(&**key)
                    || resource && matches!(&**key, "apiVersion" | "kind" | "metadata");
                if !known {
                    push_key(path, key);
                    if path.len() <= MAX_FINDING_PATH {
                        gone.push(path.clone());
                    }
                    path.truncate(length);
                }
                known
            });
        }
        for (key, item) in object.iter_mut() {
            if resource && key == "metadata" {
                continue;
            }
            let inner = match (schema.properties.get(&**key), &schema.additional) {
                (Some(property), _) => property,
                (None, Additional::Schema(inner)) => inner,
                _ => continue,
            };
            push_key(&mut self.path, key);
            self.value(inner, item);
            self.path.truncate(length);
        }
    }

    /// Normalizes the metadata of an embedded resource.
    fn metadata(&mut self, object: &mut Map<String, Value>) {
        let Some(metadata) = object.get_mut("metadata").filter(|it| it.is_object()) else { return };
        let api = builtin();
        let Ok(clean) = normalize(&api.types, api.object_meta(), metadata.clone()) else { return };
        *metadata = clean.value;
        for finding in clean.findings {
            if let Finding::Unknown(path) = finding {
                self.gone.push(format!("{}.metadata.{path}", self.path));
            }
        }
    }
}
