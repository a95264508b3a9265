//! Filling in defaults.

use super::{Additional, Schema};
use serde_json::Value;

/// Fills in defaults; the metadata of whole resources is not changed.
///
/// What is `null`, cannot be and has no default is removed, unless it is to be kept.
pub(super) fn apply(schema: &Schema, value: &mut Value, resource: bool, keep_nulls: bool) {
    match value {
        Value::Object(object) => {
            for (name, property) in &schema.properties {
                if resource && &**name == "metadata" {
                    continue;
                }
                let missing = match object.get(&**name) {
                    None => true,
                    Some(Value::Null) => !property.nullable,
                    Some(_) => false,
                };
                match (&property.default, missing) {
                    (Some(default), true) => {
                        object.insert(name.to_string(), default.clone());
                    }
                    (None, true) if !keep_nulls => {
                        object.remove(&**name);
                    }
                    _ => {}
                }
                if let Some(item) = object.get_mut(&**name) {
                    apply(property, item, property.embedded_resource, keep_nulls);
                }
            }
            if let Additional::Schema(inner) = &schema.additional {
                for (key, item) in object.iter_mut() {
                    if schema.properties.contains_key(&**key) {
                        continue;
                    }
                    if item.is_null()
                        && !inner.nullable
                        && let Some(default) = &inner.default
                    {
                        *item = default.clone();
                    }
                    apply(inner, item, inner.embedded_resource, keep_nulls);
                }
            }
        }
        Value::Array(items) => {
            let Some(inner) = &schema.items else { return };
            for item in items {
                if item.is_null()
                    && !inner.nullable
                    && let Some(default) = &inner.default
                {
                    *item = default.clone();
                }
                apply(inner, item, inner.embedded_resource, keep_nulls);
            }
        }
        _ => {}
    }
}
