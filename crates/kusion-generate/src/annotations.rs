//! Annotations of `kusion.io` that have no effect.

use crate::link::at_field;
use crate::shapes::Draft;
use kusion_k8s_schema::{RESOURCE_TYPE, annotation_problem, annotation_problems};
use kusion_model::markers::REFERENCE;
use kusion_model::{FieldPath, Resource};
use serde_json::Value;

/// Returns notes on unknown and invalid annotations and extensions of resources, with file and
/// line.
pub(crate) fn notes(resources: &[Resource], drafts: &[Draft]) -> Vec<String> {
    let mut notes = Vec::new();
    let objects = resources.iter().zip(drafts);
    for (resource, draft) in objects.filter(|(it, _)| it.resource_type.as_str() == RESOURCE_TYPE) {
        for found in annotation_problems(&resource.attributes) {
            let path = found.place.iter().fold(FieldPath::default(), |path, key| path.key(key));
            let path = path.key(found.key);
            if !has_reference(&resource.attributes, found.place, found.key) {
                notes.push(at_field(resource, draft, &path, &found.problem));
            }
        }
        for (key, value) in &resource.extensions {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            if let Some(problem) = annotation_problem(key, &text) {
                notes.push(format!("resource `{}`, extension `{key}`: {problem}", resource.id));
            }
        }
    }
    notes
}

/// Whether the value of an annotation is known only after apply.
fn has_reference(attributes: &Value, place: &[&str], key: &str) -> bool {
    let annotations = place.iter().try_fold(attributes, |value, key| value.get(key));
    let value = annotations.and_then(|it| it.get(key)).and_then(Value::as_str);
    value.is_some_and(|text| text.contains(REFERENCE))
}
