//! A Spec as text.
//!
//! The order of keys is part of the text: fixed for resources, and for maps sorted, with what
//! names a Kubernetes object first. Nothing depends on the order in which maps are kept.

use kusion_model::{Resource, Spec};
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::Value;

/// The keys that stand before others.
const FIRST: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Writes a Spec as YAML. Equal Specs give equal text.
pub fn spec_yaml(spec: &Spec) -> String {
    yaml_serde::to_string(&Ordered(spec)).unwrap_or_default()
}

/// Writes a Spec as JSON, without a line end. Equal Specs give equal text.
pub fn spec_json(spec: &Spec) -> String {
    serde_json::to_string_pretty(&Ordered(spec)).unwrap_or_default()
}

/// Something to be written with its keys in order.
struct Ordered<'a, T: ?Sized>(&'a T);

impl Serialize for Ordered<'_, Spec> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Spec { resources, secret_store, context } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("resources", &Ordered(resources.as_slice()))?;
        if let Some(value) = secret_store {
            map.serialize_entry("secretStore", &Ordered(value))?;
        }
        if let Some(value) = context {
            map.serialize_entry("context", &Ordered(value))?;
        }
        map.end()
    }
}

impl<'a, T> Serialize for Ordered<'a, [T]>
where
    Ordered<'a, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for item in self.0 {
            list.serialize_element(&Ordered(item))?;
        }
        list.end()
    }
}

impl Serialize for Ordered<'_, Resource> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Resource { id, resource_type, attributes, depends_on, extensions } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", id)?;
        map.serialize_entry("type", resource_type)?;
        map.serialize_entry("attributes", &Ordered(attributes))?;
        if !depends_on.is_empty() {
            map.serialize_entry("dependsOn", depends_on)?;
        }
        if !extensions.is_empty() {
            map.serialize_entry("extensions", &Ordered(extensions))?;
        }
        map.end()
    }
}

impl Serialize for Ordered<'_, Value> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => Ordered(fields).serialize(serializer),
            Value::Array(items) => Ordered(items.as_slice()).serialize(serializer),
            scalar => scalar.serialize(serializer),
        }
    }
}

impl Serialize for Ordered<'_, serde_json::Map<String, Value>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let place = |key: &str| FIRST.iter().position(|it| *it == key).unwrap_or(FIRST.len());
        let mut entries: Vec<(&String, &Value)> = self.0.iter().collect();
        entries.sort_unstable_by(|(a, _), (b, _)| (place(a), a).cmp(&(place(b), b)));
        let mut map = serializer.serialize_map(Some(entries.len()))?;
        for (key, value) in entries {
            map.serialize_entry(key, &Ordered(value))?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec() -> Spec {
        let odd =
            ["yes", "no", "on", "~", "null", "1", "1e3", "0x1f", "1_000", "08", "", " a", "a\nb\n"];
        serde_json::from_value(json!({"resources": [{
            "id": "v1:ConfigMap:demo:a", "type": "Kubernetes", "dependsOn": ["v1:Namespace:demo"],
            "attributes": {
                "data": {"b": odd, "a": 1.5}, "kind": "ConfigMap", "apiVersion": "v1",
                "metadata": {"name": "a", "labels": {}},
            },
        }]}))
        .expect("it is a Spec")
    }

    #[test]
    fn keys_have_an_order() {
        let text = spec_yaml(&spec());
        assert!(
            text.starts_with(
                "resources:\n- id: v1:ConfigMap:demo:a\n  type: Kubernetes\n  attributes:\n    \
                 apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      labels: {}\n      \
                 name: a\n    data:\n      a: 1.5\n      b:\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn what_is_written_can_be_read() {
        let read: Spec = yaml_serde::from_str(&spec_yaml(&spec())).expect("it is YAML");
        assert_eq!(read, spec());
        let read: Spec = serde_json::from_str(&spec_json(&spec())).expect("it is JSON");
        assert_eq!(read, spec());
    }

    #[test]
    fn texts_that_other_readers_take_for_something_else_are_quoted() {
        let text = spec_yaml(&spec());
        for word in ["yes", "no", "on", "~", "null", "1", "1e3", "0x1f", "08"] {
            assert!(text.contains(&format!("- '{word}'\n")), "{word}: {text}");
        }
    }
}
