//! From a pod template to a pod, and the short hashes that name templates.

use super::kind::Kind;
use super::meta;
use super::record::{Source, Tone, record};
use super::world::World;
use crate::Status;
use kusion_k8s_schema::go_text_of_template;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The letters of generated names: no vowels, so that no words appear.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Makes the pod that a controller wants, from its template.
pub(crate) fn pod(template: &Value, owner_kind: Kind, owner: &Value) -> Value {
    let mut metadata = Map::new();
    for key in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template["metadata"].get(key).filter(|it| !it.is_null()) {
            metadata.insert(key.to_owned(), value.clone());
        }
    }
    metadata.insert("namespace".to_owned(), meta::namespace(owner).into());
    metadata.insert("generateName".to_owned(), format!("{}-", meta::name(owner)).into());
    let reference = meta::controller_reference(owner_kind, owner);
    metadata.insert("ownerReferences".to_owned(), Value::Array(vec![reference]));
    let mut pod = Map::new();
    pod.insert("metadata".to_owned(), Value::Object(metadata));
    pod.insert("spec".to_owned(), template["spec"].clone());
    Value::Object(pod)
}

/// Creates a pod and tells about it.
pub(crate) fn create_pod(
    world: &mut World,
    component: &str,
    owner_kind: Kind,
    owner: &Value,
    pod: Value,
) -> Result<Arc<Value>, Status> {
    let source = Source::component(component);
    match world.create(Kind::Pod, meta::namespace(owner), pod) {
        Ok(pod) => {
            let message = format!("Created pod: {}", meta::name(&pod));
            record(world, source, owner_kind, owner, Tone::Normal, "SuccessfulCreate", &message);
            Ok(pod)
        }
        Err(status) => {
            if !is_namespace_ending(&status) {
                let message = format!("Error creating: {status}");
                record(world, source, owner_kind, owner, Tone::Warning, "FailedCreate", &message);
            }
            Err(status)
        }
    }
}

/// Deletes a pod and tells about it.
pub(crate) fn delete_pod(
    world: &mut World,
    component: &str,
    owner_kind: Kind,
    owner: &Value,
    pod: &Value,
) -> Result<(), Status> {
    world.delete(Kind::Pod, pod)?;
    let message = format!("Deleted pod: {}", meta::name(pod));
    let source = Source::component(component);
    record(world, source, owner_kind, owner, Tone::Normal, "SuccessfulDelete", &message);
    Ok(())
}

/// Whether a write failed because its namespace ends.
pub(crate) fn is_namespace_ending(status: &Status) -> bool {
    status.details["causes"][0]["reason"] == "NamespaceTerminating"
}

/// The hash of a pod template, as the real controllers compute it: of its Go value as text.
pub(crate) fn hash(template: &Value, collisions: i64) -> String {
    let mut state: u32 = 0x811c_9dc5;
    let mut feed = |bytes: &[u8]| {
        for byte in bytes {
            state = (state ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    };
    feed(go_text_of_template(template).as_bytes());
    if collisions != 0 {
        feed(&collisions.to_le_bytes());
    }
    encode(&state.to_string())
}

/// The hash of a revision of a `StatefulSet`, as the real controller computes it: of its data as
/// JSON, with sorted keys and the escapes of Go.
pub(crate) fn revision_hash(data: &Value, collisions: i64) -> String {
    let mut text = data.to_string();
    for (plain, escaped) in [
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u{2028}", "\\u2028"),
        ("\u{2029}", "\\u2029"),
    ] {
        if text.contains(plain) {
            text = text.replace(plain, escaped);
        }
    }
    text.push_str(&collisions.to_string());
    let state = text
        .bytes()
        .fold(0x811c_9dc5_u32, |state, byte| state.wrapping_mul(0x0100_0193) ^ u32::from(byte));
    encode(&state.to_string())
}

/// Writes a text with the letters of generated names.
pub(crate) fn encode(text: &str) -> String {
    text.bytes().map(|it| char::from(ALPHABET[it as usize % ALPHABET.len()])).collect()
}

/// A template without the label that names its hash.
pub(crate) fn without_hash(template: &Value, label: &str) -> Value {
    let mut template = template.clone();
    let labels = template.get_mut("metadata").and_then(|it| it.get_mut("labels"));
    if let Some(labels) = labels.and_then(Value::as_object_mut) {
        labels.remove(label);
        if labels.is_empty() {
            meta::remove(&mut template["metadata"], "labels");
        }
    }
    template
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Templates with the hashes that the code of the real controllers computes.
    const HASHES: &str = include_str!("template/hashes.jsonl");

    #[test]
    fn hashes_are_those_of_the_real_controllers() {
        for line in HASHES.lines() {
            let known: Value = serde_json::from_str(line).unwrap();
            let template = &known["template"];
            assert_eq!(hash(template, 0), known["hash"], "{template}");
            assert_eq!(hash(template, 1), known["afterCollision"], "{template}");
        }
    }

    #[test]
    fn a_pod_takes_labels_and_owner() {
        let owner = json!({"metadata": {"name": "web", "namespace": "n", "uid": "u"}});
        let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"x": 1}});
        let pod = pod(&template, Kind::ReplicaSet, &owner);
        assert_eq!(pod["metadata"]["generateName"], "web-");
        assert_eq!(pod["metadata"]["labels"]["a"], "b");
        assert_eq!(pod["metadata"]["ownerReferences"][0]["apiVersion"], "apps/v1");
        assert_eq!(pod["spec"]["x"], 1);
    }
}
