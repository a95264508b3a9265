//! The metadata that all objects have.

use super::{
    dns1035_label, dns1123_label, dns1123_subdomain, label_value, path_segment, qualified_name,
};
use crate::cause::Cause;
use serde_json::{Map, Value};

/// Maximum total size of the annotations of an object, in bytes.
const ANNOTATION_LIMIT: usize = 256 * 1024;

/// What the names of a kind may look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// A DNS name.
    Subdomain,
    /// A DNS label.
    Label,
    /// A DNS label that starts with a letter.
    LetterLabel,
    /// Any text that is valid in a path.
    PathSegment,
}

impl NameRule {
    /// Checks a name; `prefix` says that more characters will follow.
    pub fn check(self, name: &str, prefix: bool) -> Vec<String> {
        // What follows a prefix is a letter or digit, so a dash at its end is fine.
        let name =
            if prefix && name.len() > 1 { name.strip_suffix('-').unwrap_or(name) } else { name };
        match self {
            Self::Subdomain => dns1123_subdomain(name),
            Self::Label => dns1123_label(name),
            Self::LetterLabel => dns1035_label(name),
            Self::PathSegment => path_segment(name),
        }
    }
}

/// Returns what the names of a kind may look like.
pub fn name_rule(group: &str, kind: &str) -> NameRule {
    match (group, kind) {
        ("", "Namespace" | "Service") => NameRule::Label,
        ("rbac.authorization.k8s.io" | "flowcontrol.apiserver.k8s.io", _) => NameRule::PathSegment,
        _ => NameRule::Subdomain,
    }
}

/// Returns the problems of the metadata of a new object; names were generated before.
pub fn object_meta(metadata: &Value, namespaced: bool, rule: NameRule) -> Vec<Cause> {
    let mut causes = Vec::new();
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default();
    let prefix = text("generateName");
    if !prefix.is_empty() {
        add(&mut causes, "metadata.generateName", prefix, rule.check(prefix, true));
    }
    let name = text("name");
    if name.is_empty() {
        let detail = "name or generateName is required";
        causes.push(Cause::required("metadata.name", detail));
    } else {
        add(&mut causes, "metadata.name", name, rule.check(name, false));
    }
    let namespace = text("namespace");
    match (namespaced, namespace.is_empty()) {
        (true, true) => causes.push(Cause::required("metadata.namespace", "")),
        (true, false) => {
            add(&mut causes, "metadata.namespace", namespace, dns1123_label(namespace));
        }
        (false, false) => {
            causes.push(Cause::forbidden("metadata.namespace", "not allowed on this type"));
        }
        (false, true) => {}
    }
    if let Some(generation) = metadata.get("generation").filter(|it| it.as_i64() < Some(0)) {
        let detail = "must be greater than or equal to 0";
        causes.push(Cause::invalid("metadata.generation", generation, detail));
    }
    causes.extend(labels(metadata.get("labels"), "metadata.labels"));
    causes.extend(annotations(metadata.get("annotations"), "metadata.annotations"));
    owners(metadata.get("ownerReferences"), &mut causes);
    finalizers(metadata.get("finalizers"), &mut causes);
    causes
}

/// Returns what is wrong with labels.
pub fn labels(labels: Option<&Value>, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (key, value) in entries(labels) {
        add(&mut causes, path, key, qualified_name(key));
        let value = value.as_str().unwrap_or_default();
        add(&mut causes, path, value, label_value(value));
    }
    causes
}

/// Returns what is wrong with annotations.
pub fn annotations(annotations: Option<&Value>, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut size = 0;
    for (key, value) in entries(annotations) {
        add(&mut causes, path, key, qualified_name(&key.to_lowercase()));
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > ANNOTATION_LIMIT {
        causes.push(Cause::too_long(path, ANNOTATION_LIMIT as u64));
    }
    causes
}

fn entries(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn add(causes: &mut Vec<Cause>, path: &str, value: &str, messages: Vec<String>) {
    for message in messages {
        causes.push(Cause::invalid(path, &value.into(), message));
    }
}

fn owners(references: Option<&Value>, causes: &mut Vec<Cause>) {
    const PATH: &str = "metadata.ownerReferences";
    let Some(list @ Value::Array(references)) = references else { return };
    let mut controller: Option<String> = None;
    for reference in references {
        let text = |key: &str| reference.get(key).and_then(Value::as_str).unwrap_or_default();
        for (key, detail) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if text(key).is_empty() {
                causes.push(Cause::invalid(format!("{PATH}.{key}"), &"".into(), detail));
            }
        }
        if (text("apiVersion"), text("kind")) == ("v1", "Event") {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            causes.push(Cause::invalid(PATH, reference, detail));
        }
        if reference.get("controller") == Some(&Value::Bool(true)) {
            let own = format!("{}/{}", text("kind"), text("name"));
            if let Some(first) = &controller {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in \
                     references for {first} and {own}"
                );
                causes.push(Cause::invalid(PATH, list, detail));
            } else {
                controller = Some(own);
            }
        }
    }
}

fn finalizers(finalizers: Option<&Value>, causes: &mut Vec<Cause>) {
    const PATH: &str = "metadata.finalizers";
    let Some(list @ Value::Array(finalizers)) = finalizers else { return };
    for finalizer in finalizers.iter().filter_map(Value::as_str) {
        add(causes, PATH, finalizer, qualified_name(finalizer));
    }
    let has = |name: &str| finalizers.iter().any(|own| own == name);
    if has("orphan") && has("foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        causes.push(Cause::invalid(PATH, list, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::join_causes;
    use serde_json::json;

    #[test]
    fn metadata_is_refused_in_the_words_of_the_server() {
        for (metadata, message) in [
            (
                json!({"name": "", "namespace": "n"}),
                "metadata.name: Required value: name or generateName is required",
            ),
            (
                json!({"name": "a", "namespace": "n", "generation": -1}),
                "metadata.generation: Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                json!({"name": "a", "namespace": "n", "ownerReferences": [{"name": "x"}]}),
                "[metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty, metadata.ownerReferences.kind: Invalid value: \"\": must not be empty, metadata.ownerReferences.uid: Invalid value: \"\": must not be empty]",
            ),
            (
                json!({"name": "a", "namespace": "n", "finalizers": ["orphan", "foregroundDeletion"]}),
                "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and foregroundDeletion cannot be both set",
            ),
        ] {
            assert_eq!(join_causes(&object_meta(&metadata, true, NameRule::Subdomain)), message);
        }
        let fine = json!({"name": "a-1.b", "namespace": "n", "generateName": "a-",
            "labels": {"example.com/a": "B_c"}, "annotations": {"A/b": "x y"}});
        assert_eq!(object_meta(&fine, true, NameRule::Subdomain), []);
        assert_eq!(name_rule("", "Service").check("a.b", false), ["must not contain dots"]);
    }
}
