//! Dependencies that must be ready, not only there.

use crate::shapes::Draft;
use kusion_model::{Resource, ResourceId, WAIT_FOR};
use serde_json::Value;

/// Returns the ids that a resource waits for, as they are written: in `dependsOn`, in its
/// extension, or in the annotation of its object, where commas separate them.
pub(crate) fn spellings(resource: &Resource, draft: &Draft) -> Vec<String> {
    let mut found = draft.wait_for.clone();
    let annotations = resource.attributes.pointer("/metadata/annotations");
    let marks = [resource.extensions.get(WAIT_FOR), annotations.and_then(|it| it.get(WAIT_FOR))];
    for mark in marks.into_iter().flatten() {
        match mark {
            Value::String(text) => {
                let ids = text.split(',').map(str::trim).filter(|it| !it.is_empty());
                found.extend(ids.map(str::to_owned));
            }
            Value::Array(ids) => {
                found.extend(ids.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => {}
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Records that a resource waits until another one is ready.
pub(crate) fn add(resource: &mut Resource, id: &ResourceId) {
    let id = Value::from(id.as_str());
    match resource.extensions.get_mut(WAIT_FOR) {
        Some(Value::Array(ids)) if ids.contains(&id) => {}
        Some(Value::Array(ids)) => ids.push(id),
        _ => {
            resource.extensions.insert(WAIT_FOR.to_owned(), Value::Array(vec![id]));
        }
    }
}
