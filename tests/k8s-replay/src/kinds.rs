//! The kinds of objects that sequences are about.

use serde_json::{Value, json};

/// A kind of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Plain maps, no defaults.
    ConfigMap,
    /// A custom kind with every sort of list and map.
    Thing,
    /// Defaults, keyed lists inside of keyed lists.
    Deployment,
    /// Lists with two keys, one of which has a default.
    Service,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::ConfigMap, Self::Thing, Self::Deployment, Self::Service];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Thing => "Thing",
            Self::Deployment => "Deployment",
            Self::Service => "Service",
        }
    }

    /// Returns the kind of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns its version.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::ConfigMap | Self::Service => "v1",
            Self::Thing => "replay.test/v1",
            Self::Deployment => "apps/v1",
        }
    }

    /// Returns the path of all its objects in a namespace.
    pub fn collection(self, namespace: &str) -> String {
        let version = self.api_version();
        let root = if version.contains('/') { "apis" } else { "api" };
        let plural = self.name().to_ascii_lowercase();
        format!("/{root}/{version}/namespaces/{namespace}/{plural}s")
    }
}

/// Returns the schema of the custom kind.
pub(super) fn custom_schema() -> Value {
    let string = json!({"type": "string"});
    let strings = json!({"type": "array", "items": {"type": "string"}});
    let mut set = strings.clone();
    set["x-kubernetes-list-type"] = json!("set");
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let mut frozen = map.clone();
    frozen["x-kubernetes-map-type"] = json!("atomic");
    let ports = json!({
        "type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        "items": {"type": "object", "required": ["port"], "properties": {
            "port": {"type": "integer"},
            "protocol": {"type": "string", "default": "TCP"},
            "name": string,
        }},
    });
    let item = json!({"type": "object", "required": ["name"], "properties": {
        "name": string, "value": {"type": "integer"}, "tags": set, "labels": map,
        "ports": ports, "args": strings,
    }});
    json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "number": {"type": "integer"},
            "text": string,
            "flag": {"type": "boolean"},
            "either": {"x-kubernetes-int-or-string": true},
            "level": {"type": "integer", "default": 7},
            "set": set,
            "numbers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
            "plain": strings,
            "map": map,
            "frozen": frozen,
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {
                "a": string, "b": string,
            }},
            "inner": {"type": "object", "properties": {
                "a": string, "b": {"type": "integer"},
                "deep": {"type": "object", "properties": {"c": string, "list": set}},
            }},
            "items": {
                "type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"], "items": item,
            },
            "ports": ports,
        }},
        "status": {"type": "object", "properties": {
            "phase": string,
            "conditions": {
                "type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
                "items": {"type": "object", "required": ["type"], "properties": {
                    "type": string, "status": string,
                }},
            },
        }},
    }})
}

/// Returns the definition of the custom kind.
pub(super) fn custom_definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.replay.test"},
        "spec": {
            "group": "replay.test", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": custom_schema()},
            }],
        },
    })
}
