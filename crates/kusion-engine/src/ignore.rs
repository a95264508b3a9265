//! Fields that are left to others.

use kusion_model::{FieldPath, PathStep, Resource};
use serde_json::Value;
use std::str::FromStr;

/// Fields of some resources that keep their live value, whatever is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreRule {
    /// The kind; none means every kind.
    pub kind: Option<String>,
    /// The field; `None` stands for every item of a list.
    pub path: Vec<Option<PathStep>>,
    /// Why.
    pub reason: String,
}

/// A rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no rule for ignored fields: {what}; write `[Kind:]spec.a[*].b`")]
pub struct IgnoreError {
    text: String,
    what: &'static str,
}

impl FromStr for IgnoreRule {
    type Err = IgnoreError;

    /// Reads `[Kind:]path`, with fields behind dots, items as `[0]` or `[*]` and odd keys as
    /// `["a/b"]`.
    fn from_str(text: &str) -> Result<Self, IgnoreError> {
        let fault = |what| IgnoreError { text: text.to_owned(), what };
        let (kind, mut rest) = match text.split_once(':') {
            Some((kind, rest)) if kind.bytes().all(|b| b.is_ascii_alphanumeric()) => {
                (Some(kind.to_owned()).filter(|it| !it.is_empty()), rest)
            }
            _ => (None, text),
        };
        let mut path = Vec::new();
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix("[\"") {
                let (key, after) = inner.split_once("\"]").ok_or(fault("`\"]` is missing"))?;
                path.push(Some(PathStep::Key(key.to_owned())));
                rest = after;
            } else if let Some(inner) = rest.strip_prefix('[') {
                let (index, after) = inner.split_once(']').ok_or(fault("`]` is missing"))?;
                path.push(match index {
                    "*" => None,
                    _ => Some(PathStep::Index(
                        index.parse().map_err(|_| fault("an index is a number or `*`"))?,
                    )),
                });
                rest = after;
            } else {
                let word = rest.strip_prefix('.').unwrap_or(rest);
                let end = word.find(['.', '[']).unwrap_or(word.len());
                if end == 0 {
                    return Err(fault("a field has no name"));
                }
                path.push(Some(PathStep::Key(word[..end].to_owned())));
                rest = &word[end..];
            }
        }
        if path.is_empty() {
            return Err(fault("the path is empty"));
        }
        Ok(Self { kind, path, reason: String::new() })
    }
}

/// Gives ignored fields of a wanted resource their live values; returns what to tell about it.
pub(crate) fn take_live_values(
    rules: &[IgnoreRule],
    desired: &mut Resource,
    live: &Value,
) -> Vec<String> {
    let mut notes = Vec::new();
    let kind = desired.attributes.get("kind").and_then(Value::as_str).map(str::to_owned);
    for rule in rules {
        if rule.kind.is_some() && rule.kind != kind {
            continue;
        }
        let mut paths = Vec::new();
        expand(&rule.path, &desired.attributes, &FieldPath::default(), &mut paths);
        for path in paths {
            let Some(wanted) = path.find_mut(&mut desired.attributes) else { continue };
            let Some(live) = path.find(live) else { continue };
            if wanted != live {
                *wanted = live.clone();
                let reason = if rule.reason.is_empty() { "by a rule" } else { &rule.reason };
                notes.push(format!("{path} keeps its live value: {reason}"));
            }
        }
    }
    notes
}

/// Finds the fields of a value that a pattern means.
fn expand(pattern: &[Option<PathStep>], value: &Value, at: &FieldPath, found: &mut Vec<FieldPath>) {
    match pattern.split_first() {
        None => found.push(at.clone()),
        Some((None, rest)) => {
            for (place, item) in value.as_array().into_iter().flatten().enumerate() {
                expand(rest, item, &at.index(place), found);
            }
        }
        Some((Some(PathStep::Index(index)), rest)) => {
            if let Some(item) = value.get(index) {
                expand(rest, item, &at.index(*index), found);
            }
        }
        Some((Some(PathStep::Key(key)), rest)) => {
            if let Some(field) = value.get(key) {
                expand(rest, field, &at.key(key), found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{ResourceId, ResourceType};
    use serde_json::json;

    #[test]
    fn a_rule_is_read() {
        let rule: IgnoreRule =
            r#"Deployment:spec.containers[*].env[0]["a/b"]"#.parse().expect("the rule is right");
        assert_eq!(rule.kind.as_deref(), Some("Deployment"));
        assert_eq!(rule.path.len(), 6);
        for wrong in ["", "Kind:", "a..b", "a[", "a[x]"] {
            assert!(wrong.parse::<IgnoreRule>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_ignored_field_keeps_its_live_value() {
        let mut desired = Resource {
            id: ResourceId::new("a"),
            resource_type: ResourceType::kubernetes(),
            attributes: json!({"kind": "Deployment", "spec": {"replicas": 1, "paused": true}})
                .into(),
            depends_on: Vec::new(),
            extensions: serde_json::Map::new(),
        };
        let live = json!({"kind": "Deployment", "spec": {"replicas": 5, "paused": false}});
        let rule = "Deployment:spec.replicas".parse().expect("the rule is right");
        let notes = take_live_values(&[rule], &mut desired, &live);
        assert_eq!(notes, ["spec.replicas keeps its live value: by a rule"]);
        assert_eq!(desired.attributes["spec"], json!({"replicas": 5, "paused": true}));
    }
}
