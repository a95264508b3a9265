//! Migration from client-side apply to server-side apply, for the manager `kubectl`.

use serde_json::Value;

use super::{Versions, Writer};
use crate::set::Set;

/// The annotation in which client-side apply keeps its last configuration.
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The manager that is upgraded.
pub(super) const KUBECTL: &str = "kubectl";

/// The limit on the size of all annotations together.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Returns the fields that client-side apply set and that have not changed since, as text paths.
///
/// Conflicts on those are ignored.
pub(super) fn own_fields<R>(
    writer: &Writer<'_>,
    live: &Value,
    then: impl FnOnce(&Set<'_>) -> R,
) -> Option<R> {
    let text = annotation(live)?;
    let last: Value = serde_json::from_str(text).ok()?;
    if last.get("apiVersion").and_then(Value::as_str) != Some(writer.api_version) {
        return None;
    }
    let typed = Versions::typed(writer.versions, writer.api_version)?;
    if !typed.check(&last).is_empty() {
        return None;
    }
    let mut fields = typed.field_set(&last);
    let compared = typed.compare(&last, live).ok()?;
    fields.subtract(&compared.modified);
    fields.subtract(&compared.added);
    fields.subtract(&compared.removed);
    Some(then(&fields))
}

/// Writes the applied configuration into the annotation, where there is one already.
pub(super) fn sync(object: &mut Value, config: &Value) {
    if annotation(object).is_none() {
        return;
    }
    let mut config = config.clone();
    if let Some(Value::Object(annotations)) = config.pointer_mut("/metadata/annotations") {
        annotations.remove(ANNOTATION);
        if annotations.is_empty()
            && let Some(Value::Object(metadata)) = config.get_mut("metadata")
        {
            metadata.remove("annotations");
        }
    }
    let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") else {
        return;
    };
    annotations.insert(ANNOTATION.to_owned(), Value::String(format!("{config}\n")));
    let size: usize =
        annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > MAX_ANNOTATIONS {
        annotations.remove(ANNOTATION);
    }
}

fn annotation(object: &Value) -> Option<&str> {
    let annotations = object.get("metadata")?.get("annotations")?;
    annotations.get(ANNOTATION)?.as_str().filter(|text| !text.is_empty())
}
