//! Paths into values, and sets of them.

use crate::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// One segment of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// An attribute of an object.
    Attribute(Arc<str>),
    /// An element of a map.
    Key(Arc<str>),
    /// An element of a list or tuple, or of a set in its canonical order.
    Index(usize),
}

/// A path from a value to one of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// Returns the path extended by a step.
    #[must_use]
    pub fn with(&self, step: Step) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Self(steps)
    }

    /// Returns the path extended by an attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Self {
        self.with(Step::Attribute(name.into()))
    }

    /// Returns whether this path is a prefix of `other` or equal to it.
    pub fn is_prefix_of(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Returns the part of a value at this path.
    pub fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(value, |value, step| {
            let value = match value {
                Value::Typed(typed) => &typed.value,
                value => value,
            };
            match (step, value) {
                (Step::Attribute(key) | Step::Key(key), Value::Map(fields)) => fields.get(key),
                (Step::Index(index), Value::List(items)) => items.get(*index),
                _ => None,
            }
        })
    }
}

impl fmt::Display for Path {
    /// Writes `disk[0].size`; keys of maps are in quotes, `tags["a"]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Attribute(name) if position == 0 => f.write_str(name)?,
                Step::Attribute(name) => write!(f, ".{name}")?,
                Step::Key(key) => write!(f, "[{}]", serde_json::Value::from(&**key))?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// The parts of a value that carry a mark, such as being secret. Marks are never encoded: they are
/// kept beside a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks(BTreeSet<Path>);

impl Marks {
    /// Marks a part, with everything inside it.
    pub fn insert(&mut self, path: Path) {
        self.0.insert(path);
    }

    /// Returns the marked parts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter()
    }

    /// Returns whether nothing is marked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a part is marked, by itself or inside a marked one.
    pub fn covers(&self, path: &Path) -> bool {
        (0..=path.0.len()).any(|end| self.0.contains(&Path(path.0[..end].to_vec())))
    }
}

impl FromIterator<Path> for Marks {
    fn from_iter<I: IntoIterator<Item = Path>>(paths: I) -> Self {
        Self(paths.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_covers_what_is_inside() {
        let root = Path::default();
        let disks = root.attribute("disk");
        let marks: Marks = [disks.clone()].into_iter().collect();
        assert!(
            marks.covers(&disks) && marks.covers(&disks.with(Step::Index(0)).attribute("size"))
        );
        assert!(!marks.covers(&root) && !marks.covers(&root.attribute("name")));
    }

    #[test]
    fn paths_show_attributes_keys_and_indexes() {
        let path = Path::default().attribute("a").with(Step::Index(2)).attribute("b");
        assert_eq!(path.with(Step::Key("x\"y".into())).to_string(), r#"a[2].b["x\"y"]"#);
    }
}
