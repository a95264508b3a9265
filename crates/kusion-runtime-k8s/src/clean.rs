//! Reduction of live objects to comparable attributes.

use kusion_k8s_schema::{OWNER, is_secret};
use kusion_model::{FieldPath, FieldPattern, PathStep, SECRET_FIELDS, parse_secret_fields};
use serde_json::{Map, Value};

/// Metadata that the server manages.
const COUNTED: &[&str] = &[
    "managedFields",
    "resourceVersion",
    "uid",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
];

/// Annotations that controllers or kusion itself manage.
const ANNOTATIONS: &[&str] = &[
    "deployment.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
    LAST_APPLIED,
    OWNER,
];

/// The annotation in which client-side apply keeps a copy of the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Reduces an object to comparable attributes.
pub(crate) fn comparable(live: &Value) -> Value {
    let Value::Object(object) = live else { return live.clone() };
    let kept = object.iter().filter(|(key, _)| *key != "status").map(|(key, value)| {
        let value = match value {
            Value::Object(metadata) if key == "metadata" => Value::Object(clean(metadata)),
            _ => value.clone(),
        };
        (key.clone(), value)
    });
    Value::Object(kept.collect())
}

fn clean(metadata: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for (key, value) in metadata {
        if COUNTED.contains(&key.as_str()) {
            continue;
        }
        match value {
            Value::Object(annotations) if key == "annotations" => {
                let kept: Map<String, Value> = annotations
                    .iter()
                    .filter(|(name, _)| !ANNOTATIONS.contains(&name.as_str()))
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                if !kept.is_empty() {
                    out.insert(key.clone(), Value::Object(kept));
                }
            }
            _ => {
                out.insert(key.clone(), value.clone());
            }
        }
    }
    out
}

/// Returns the patterns of the fields that an annotation marks as secret. Invalid patterns are
/// rejected when a Spec is made.
fn marked(attributes: &Value) -> Vec<FieldPattern> {
    let annotations = attributes.get("metadata").and_then(|it| it.get("annotations"));
    let mark = annotations.and_then(|it| it.get(SECRET_FIELDS));
    mark.and_then(|it| parse_secret_fields(it).ok()).unwrap_or_default()
}

/// Returns whether the value at a path of an object is secret or contains a secret, even if the
/// object has no such value yet.
pub(crate) fn is_secret_path(attributes: &Value, path: &FieldPath) -> bool {
    let in_secret = || match path.0.first() {
        None => true,
        Some(PathStep::Key(key)) => matches!(key.as_str(), "data" | "stringData"),
        Some(PathStep::Index(_)) => false,
    };
    is_secret(attributes) && in_secret()
        || marked(attributes).iter().any(|pattern| pattern.overlaps(path))
}

/// Returns the paths of secret values.
pub(crate) fn secret_paths(attributes: &Value) -> Vec<FieldPath> {
    let mut paths: Vec<FieldPath> =
        marked(attributes).iter().flat_map(|pattern| pattern.find(attributes)).collect();
    if !is_secret(attributes) {
        return paths;
    }
    for field in ["data", "stringData"] {
        let base = FieldPath::default().key(field);
        match attributes.get(field) {
            Some(Value::Object(values)) => paths.extend(values.keys().map(|key| base.key(key))),
            Some(Value::Null) | None => {}
            // A reference or nonsense: all of it may be secret.
            Some(_) => paths.push(base),
        }
    }
    let annotations = FieldPath::default().key("metadata").key("annotations");
    let copy = annotations.key(LAST_APPLIED);
    if copy.find(attributes).is_some() {
        paths.push(copy);
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_the_server_counts_is_left_out() {
        let live = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "a", "uid": "u", "generation": 3, "resourceVersion": "9",
                "creationTimestamp": "t", "managedFields": [],
                "annotations": {"deployment.kubernetes.io/revision": "2"}},
            "spec": {"replicas": 1}, "status": {"replicas": 1},
        });
        assert_eq!(
            comparable(&live),
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
                "spec": {"replicas": 1}})
        );
    }

    #[test]
    fn secrets_are_found_wherever_they_stand() {
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "a", "annotations": {LAST_APPLIED: "{}"}},
            "data": {"x": "eA=="}, "stringData": {"y": "z"},
        });
        let paths: Vec<String> = secret_paths(&secret).iter().map(ToString::to_string).collect();
        let copy = format!("metadata.annotations[\"{LAST_APPLIED}\"]");
        assert_eq!(paths, ["data.x", "stringData.y", copy.as_str()]);
        assert_eq!(secret_paths(&json!({"kind": "ConfigMap", "data": {"x": "y"}})), []);
    }
}
