//! A Spec as text.
//!
//! The order of keys is part of the text: fixed for resources, and for maps sorted, with what
//! names a Kubernetes object first. Nothing depends on the order in which maps are kept.

mod yaml;

use kusion_model::{Resource, Spec};
use serde_json::{Map, Value, json};

/// The keys that come first.
const FIRST: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Writes a Spec as YAML. Equal Specs give equal text, and every reader, also of YAML 1.1, reads
/// texts for texts.
pub fn spec_yaml(spec: &Spec) -> String {
    let mut out = String::new();
    yaml::write_fields(&mut out, &spec_fields(spec), 0);
    out
}

/// Writes a Spec as JSON, without a line end. Equal Specs give equal text.
pub fn spec_json(spec: &Spec) -> String {
    let mut out = String::new();
    write_json(&mut out, &Ordered::Fields(spec_fields(spec)), 0);
    out
}

/// A value whose keys have an order.
enum Ordered<'a> {
    Fields(Vec<(&'a str, Ordered<'a>)>),
    Items(Vec<Ordered<'a>>),
    Text(&'a str),
    Other(&'a Value),
}

fn spec_fields(spec: &Spec) -> Vec<(&str, Ordered<'_>)> {
    let Spec { resources, secret_store, context } = spec;
    let items = resources.iter().map(|it| Ordered::Fields(resource_fields(it))).collect();
    let mut fields = vec![("resources", Ordered::Items(items))];
    for (key, value) in [("secretStore", secret_store), ("context", context)] {
        fields.extend(value.as_ref().map(|value| (key, ordered(value))));
    }
    fields
}

fn resource_fields(resource: &Resource) -> Vec<(&str, Ordered<'_>)> {
    let Resource { id, resource_type, attributes, depends_on, extensions } = resource;
    let mut fields = vec![
        ("id", Ordered::Text(id.as_str())),
        ("type", Ordered::Text(resource_type.as_str())),
        ("attributes", ordered(attributes)),
    ];
    if !depends_on.is_empty() {
        let items = depends_on.iter().map(|id| Ordered::Text(id.as_str())).collect();
        fields.push(("dependsOn", Ordered::Items(items)));
    }
    if !extensions.is_empty() {
        fields.push(("extensions", map(extensions)));
    }
    fields
}

fn ordered(value: &Value) -> Ordered<'_> {
    match value {
        Value::Object(fields) => map(fields),
        Value::Array(items) => Ordered::Items(items.iter().map(ordered).collect()),
        Value::String(text) => Ordered::Text(text),
        other => Ordered::Other(other),
    }
}

fn map(fields: &Map<String, Value>) -> Ordered<'_> {
    let place = |key: &str| FIRST.iter().position(|it| *it == key).unwrap_or(FIRST.len());
    let mut fields: Vec<(&str, &Value)> =
        fields.iter().map(|(key, value)| (key.as_str(), value)).collect();
    fields.sort_unstable_by_key(|(key, _)| (place(key), *key));
    Ordered::Fields(fields.into_iter().map(|(key, value)| (key, ordered(value))).collect())
}

fn write_json(out: &mut String, value: &Ordered<'_>, depth: usize) {
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    match value {
        Ordered::Text(text) => out.push_str(&json!(text).to_string()),
        Ordered::Other(value) => out.push_str(&value.to_string()),
        Ordered::Fields(fields) if fields.is_empty() => out.push_str("{}"),
        Ordered::Items(items) if items.is_empty() => out.push_str("[]"),
        Ordered::Fields(fields) => {
            out.push('{');
            for (position, (key, value)) in fields.iter().enumerate() {
                out.push_str(if position > 0 { "," } else { "" });
                line(out, depth + 1);
                out.push_str(&json!(key).to_string());
                out.push_str(": ");
                write_json(out, value, depth + 1);
            }
            line(out, depth);
            out.push('}');
        }
        Ordered::Items(items) => {
            out.push('[');
            for (position, value) in items.iter().enumerate() {
                out.push_str(if position > 0 { "," } else { "" });
                line(out, depth + 1);
                write_json(out, value, depth + 1);
            }
            line(out, depth);
            out.push(']');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec() -> Spec {
        let odd =
            ["yes", "no", "on", "~", "null", "1", "1e3", "0x1f", "1_000", "08", "", " a", "a\nb\n"];
        let odd: Vec<&str> = odd
            .into_iter()
            .chain([
                "a\nb",
                "a\n\n",
                " x\ny",
                "\ta",
                "it's",
                "a: b",
                "a #b",
                "#a",
                "a:",
                "- a",
                "\u{1}",
                "ü",
                "a\n  b\n\nc\n",
                "True",
                "y",
                "1.2.3.4",
                ".5",
                "=",
                "<<",
                "a\r\nb",
                "x\u{85}y",
                "a\n ",
                "\n",
                "{a",
                "[a",
                "*a",
                "&a",
                "!a",
                "%a",
                "@a",
                "`a",
                "null ",
                "?",
                "2020-01-01",
                "a\u{feff}",
            ])
            .collect();
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
