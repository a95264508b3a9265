//! What a runtime knows of a resource without asking anyone.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that must exist before a resource can: by its kind and name, in the words of its
/// runtime.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Requirement {
    /// The kind, as people say it.
    pub kind: String,
    /// The name.
    pub name: String,
}

impl Requirement {
    /// Makes a requirement.
    pub fn new(kind: impl Into<String>, name: impl Into<String>) -> Self {
        Self { kind: kind.into(), name: name.into() }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)
    }
}

/// Whether a resource may be deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protection {
    /// It may.
    #[default]
    None,
    /// Resources of its kind hold data, or others rest on them: only if it is named.
    Kind,
    /// Its author marked it: never.
    Marked,
}

/// In which order an object that cannot change in place is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplaceOrder {
    /// The old object is deleted, then the new one is made: both have one name.
    #[default]
    DeleteFirst,
    /// The new object is made, then the old one is deleted.
    CreateFirst,
}

/// What a runtime knows of a resource without asking anyone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The kind, as people say it.
    pub kind: String,
    /// What exists once the resource does.
    pub provides: Vec<Requirement>,
    /// What must exist before the resource can.
    pub requires: Vec<Requirement>,
    /// Whether it may be deleted.
    pub protection: Protection,
    /// Whether deleting it also deletes objects inside it.
    pub is_container: bool,
    /// Whether its dependents begin only when it is ready.
    pub dependents_wait: bool,
    /// How long it must stay ready, in seconds, before it counts as stable.
    pub settle_seconds: u32,
    /// In which order it is replaced.
    pub replace_order: ReplaceOrder,
}
