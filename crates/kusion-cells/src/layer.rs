//! Layers: partial configurations with a selector.

use crate::path::{LeafPath, PathPattern};
use crate::selector::Selector;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The place of something in a file. Lines and columns start at 1; 0 if they are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The file, as messages show it.
    pub file: Arc<str>,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// A part of a layer: what it says about a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Sets a value: a scalar, a list or an empty map.
    Leaf(Value, Origin),
    /// Removes the value and everything below it.
    Unset(Origin),
    /// Appends to a list.
    Append(Vec<Value>, Origin),
    /// Merges a map; if `replaces` is set, removes everything that the map does not have.
    Map {
        /// The entries.
        entries: BTreeMap<String, Node>,
        /// Whether entries of other layers are removed.
        replaces: bool,
        /// Where the map is.
        origin: Origin,
    },
}

impl Node {
    /// Returns where it is written.
    pub fn origin(&self) -> &Origin {
        match self {
            Self::Leaf(_, origin)
            | Self::Unset(origin)
            | Self::Append(_, origin)
            | Self::Map { origin, .. } => origin,
        }
    }

    /// Returns a node in its one form: a map that replaces everything by nothing is a leaf, and a
    /// leaf with entries is a map that replaces.
    fn normal(self) -> Self {
        match self {
            Self::Map { entries, replaces: true, origin } if entries.is_empty() => {
                Self::Leaf(Value::Object(serde_json::Map::new()), origin)
            }
            Self::Map { entries, replaces, origin } => {
                let entries = entries.into_iter().map(|(key, node)| (key, node.normal()));
                Self::Map { entries: entries.collect(), replaces, origin }
            }
            Self::Leaf(Value::Object(map), origin) if !map.is_empty() => {
                let entry = |(key, value)| (key, Self::Leaf(value, origin.clone()).normal());
                let entries = map.into_iter().map(entry).collect();
                Self::Map { entries, replaces: true, origin }
            }
            other => other,
        }
    }
}

/// A partial configuration for the cells of a selector.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The cells.
    pub when: Selector,
    /// How narrow the scope is that the layer is declared for: 0 for the whole repository, more for
    /// a folder in it. Decides between layers with the same cells.
    pub scope: u32,
    /// What it says, by the first key of the path.
    pub entries: BTreeMap<String, Node>,
    /// Paths that more specific layers must not set.
    pub lock: Vec<PathPattern>,
    /// Who owns it.
    pub owner: Option<String>,
    /// Why it exists.
    pub why: Option<String>,
    /// The date after which it should be removed: `2026-12-01`.
    pub expires: Option<String>,
    /// Where it is.
    pub origin: Origin,
}

impl Layer {
    /// Creates a layer without owner, reason, expiry and locks.
    pub fn new(when: Selector, entries: BTreeMap<String, Node>, origin: Origin) -> Self {
        let entries = entries.into_iter().map(|(key, node)| (key, node.normal())).collect();
        Self {
            when,
            scope: 0,
            entries,
            lock: Vec::new(),
            owner: None,
            why: None,
            expires: None,
            origin,
        }
    }

    /// Whether the date of expiry is at or before `today`, a date such as `2026-12-01`.
    pub fn is_expired(&self, today: &str) -> bool {
        self.expires.as_deref().is_some_and(|date| date <= today)
    }

    /// Returns the paths of its leaves, unsets and appends, in their order.
    pub fn paths(&self) -> Vec<LeafPath> {
        fn add(node: &Node, path: &LeafPath, found: &mut Vec<LeafPath>) {
            match node {
                Node::Map { entries, .. } if !entries.is_empty() => {
                    for (key, inner) in entries {
                        add(inner, &path.key(key), found);
                    }
                }
                _ => found.push(path.clone()),
            }
        }
        let mut found = Vec::new();
        for (key, node) in &self.entries {
            add(node, &LeafPath(vec![key.clone()]), &mut found);
        }
        found
    }
}
