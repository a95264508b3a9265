//! Patterns of paths.

use crate::{FieldPath, PathStep};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// A pattern of paths: a path in which `[*]` matches every item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPattern(Vec<Option<PathStep>>);

/// A pattern that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; expected `spec.a[*].b`")]
pub struct PatternError(pub(crate) &'static str);

impl FieldPattern {
    /// Returns the paths in a value that the pattern matches.
    pub fn find(&self, value: &Value) -> Vec<FieldPath> {
        let mut found = Vec::new();
        expand(&self.0, value, &FieldPath::default(), &mut found);
        found
    }

    /// Returns whether the pattern matches a path, a path above it or a path below it.
    pub fn overlaps(&self, path: &FieldPath) -> bool {
        self.0.iter().zip(&path.0).all(|(pattern, step)| match (pattern, step) {
            (None, PathStep::Index(_)) => true,
            // Paths of references write an index like a key.
            (None, PathStep::Key(key)) => key.parse::<usize>().is_ok(),
            (Some(PathStep::Index(index)), PathStep::Key(key)) => *key == index.to_string(),
            (Some(pattern), step) => pattern == step,
        })
    }
}

impl From<&FieldPath> for FieldPattern {
    fn from(path: &FieldPath) -> Self {
        Self(path.0.iter().cloned().map(Some).collect())
    }
}

/// Finds the paths in a value that a pattern matches.
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

impl FromStr for FieldPattern {
    type Err = PatternError;

    /// Parses a pattern: fields are separated by dots, list items are `[0]` or `[*]`, and other
    /// keys are `["a/b"]`.
    fn from_str(text: &str) -> Result<Self, PatternError> {
        let mut path = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix("[\"") {
                let (key, after) = inner.split_once("\"]").ok_or(PatternError("missing `\"]`"))?;
                path.push(Some(PathStep::Key(key.to_owned())));
                rest = after;
            } else if let Some(inner) = rest.strip_prefix('[') {
                let (index, after) = inner.split_once(']').ok_or(PatternError("missing `]`"))?;
                let fault = |_| PatternError("an index must be a number or `*`");
                path.push(match index {
                    "*" => None,
                    _ => Some(PathStep::Index(index.parse().map_err(fault)?)),
                });
                rest = after;
            } else {
                let word = rest.strip_prefix('.').unwrap_or(rest);
                let end = word.find(['.', '[']).unwrap_or(word.len());
                if end == 0 {
                    return Err(PatternError("a field has no name"));
                }
                path.push(Some(PathStep::Key(word[..end].to_owned())));
                rest = &word[end..];
            }
        }
        if path.is_empty() {
            return Err(PatternError("the path is empty"));
        }
        Ok(Self(path))
    }
}

impl fmt::Display for FieldPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                None => f.write_str("[*]")?,
                Some(PathStep::Index(index)) => write!(f, "[{index}]")?,
                Some(PathStep::Key(key)) if key.contains(['.', '[', ':']) || key.is_empty() => {
                    write!(f, "[\"{key}\"]")?;
                }
                Some(PathStep::Key(key)) if place == 0 => f.write_str(key)?,
                Some(PathStep::Key(key)) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}

impl Serialize for FieldPattern {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FieldPattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pattern_finds_every_item() {
        let pattern: FieldPattern = "users[*].password".parse().expect("a pattern");
        let value = json!({"users": [{"password": "a"}, {"name": "b"}, {"password": "c"}]});
        let found: Vec<String> = pattern.find(&value).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["users[0].password", "users[2].password"]);
    }

    #[test]
    fn a_pattern_overlaps_what_is_above_and_below() {
        let pattern: FieldPattern = "users[*].password".parse().expect("a pattern");
        let users = FieldPath::default().key("users");
        assert!(pattern.overlaps(&FieldPath::default()) && pattern.overlaps(&users));
        assert!(pattern.overlaps(&users.index(3).key("password").key("x")));
        assert!(pattern.overlaps(&users.key("3")), "as in a reference");
        assert!(!pattern.overlaps(&users.index(3).key("name")));
    }
}
