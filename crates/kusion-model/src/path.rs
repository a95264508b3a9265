//! Paths into a value.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// One segment of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PathStep {
    /// An item of a list.
    Index(usize),
    /// A field of a map.
    Key(String),
}

/// A path from the attributes of a resource to one of their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldPath(pub Vec<PathStep>);

impl FieldPath {
    /// Returns the path extended by a field.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.with(PathStep::Key(key.to_owned()))
    }

    /// Returns the path extended by a list index.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(PathStep::Index(index))
    }

    fn with(&self, step: PathStep) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Self(steps)
    }

    /// Returns the value at this path.
    pub fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(value, |value, step| match step {
            PathStep::Index(index) => value.get(index),
            PathStep::Key(key) => value.get(key),
        })
    }

    /// Returns the value at this path, mutably.
    pub fn find_mut<'a>(&self, value: &'a mut Value) -> Option<&'a mut Value> {
        self.0.iter().try_fold(value, |value, step| match step {
            PathStep::Index(index) => value.get_mut(index),
            PathStep::Key(key) => value.get_mut(key),
        })
    }

    /// Returns the paths of the strings in a value for which `is_match` is true.
    pub fn of_strings(value: &Value, is_match: &dyn Fn(&str) -> bool) -> Vec<Self> {
        let (mut path, mut found) = (Self::default(), Vec::new());
        add_strings(value, is_match, &mut path, &mut found);
        found
    }

    /// Returns whether this path is a prefix of `other` or equal to it.
    pub fn is_prefix_of(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

fn add_strings(
    value: &Value,
    is_match: &dyn Fn(&str) -> bool,
    path: &mut FieldPath,
    found: &mut Vec<FieldPath>,
) {
    match value {
        Value::String(text) if is_match(text) => found.push(path.clone()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.0.push(PathStep::Index(index));
                add_strings(item, is_match, path, found);
                path.0.pop();
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                path.0.push(PathStep::Key(key.clone()));
                add_strings(field, is_match, path, found);
                path.0.pop();
            }
        }
        _ => {}
    }
}

impl fmt::Display for FieldPath {
    /// Writes `spec.ports[0].name`; keys that are not identifiers are in brackets,
    /// `metadata.labels["app.kubernetes.io/name"]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Index(index) => write!(f, "[{index}]")?,
                PathStep::Key(key) if is_plain(key) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(key)?;
                }
                PathStep::Key(key) => write!(f, "[{}]", Value::from(key.as_str()))?,
            }
        }
        Ok(())
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_finds_and_shows_what_it_leads_to() {
        let value = json!({"metadata": {"labels": {"a/b": "x"}}, "ports": [{"port": 80}]});
        let label = FieldPath::default().key("metadata").key("labels").key("a/b");
        assert_eq!(label.find(&value), Some(&json!("x")));
        assert_eq!(label.to_string(), r#"metadata.labels["a/b"]"#);
        let port = FieldPath::default().key("ports").index(0).key("port");
        assert_eq!(port.find(&value), Some(&json!(80)));
        assert_eq!(port.to_string(), "ports[0].port");
        assert_eq!(port.index(1).find(&value), None);
    }
}
