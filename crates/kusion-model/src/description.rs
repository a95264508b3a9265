//! Static properties of a resource, as its runtime describes them without a network call.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// An object that must exist before a resource can be created, by kind and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Requirement {
    /// The kind, as shown to users.
    pub kind: String,
    /// The name.
    pub name: String,
}

impl Requirement {
    /// Creates a requirement.
    pub fn new(kind: impl Into<String>, name: impl Into<String>) -> Self {
        Self { kind: kind.into(), name: name.into() }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)
    }
}

/// Protection of a resource against deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protection {
    /// May be deleted.
    #[default]
    None,
    /// Its kind is protected because such resources hold data or are used by others: deleted only
    /// if explicitly allowed.
    Kind,
    /// Marked by its author: never deleted.
    Marked,
}

/// Order of deletion and creation when a resource is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplaceOrder {
    /// Delete the old object, then create the new one: both have the same name.
    #[default]
    DeleteFirst,
    /// Create the new object, then delete the old one.
    CreateFirst,
}

/// When a hook runs: once for each Spec that is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookTime {
    /// Before everything that it does not depend on.
    Before,
    /// After everything is ready.
    After,
}

/// Static properties of a resource, as its runtime describes them without a network call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The kind, as shown to users.
    pub kind: String,
    /// Requirements of other resources that this resource fulfils.
    pub provides: Vec<Requirement>,
    /// Objects that must exist before the resource can be created.
    pub requires: Vec<Requirement>,
    /// Protection against deletion.
    pub protection: Protection,
    /// Whether it is shared with other stacks: created if it is missing, and otherwise left alone.
    pub is_shared: bool,
    /// Whether deleting an adopted object restores what was there before, instead of deleting it.
    pub is_restored: bool,
    /// Whether deleting it also deletes the objects inside it, as for a namespace.
    pub is_container: bool,
    /// Whether steps of its dependents start only after it is ready.
    pub dependents_wait: bool,
    /// How long it must stay ready before it is considered stable, in seconds.
    pub settle_seconds: u32,
    /// Order of deletion and creation when it is replaced.
    pub replace_order: ReplaceOrder,
    /// Its wave: its step starts when everything of lower waves is ready.
    pub wave: i32,
    /// When it runs, if it is a hook.
    pub hook: Option<HookTime>,
    /// Timeout of its step, and of waiting until it is ready; `None` for that of the operation.
    pub timeout: Option<Duration>,
    /// Maximum number of attempts of its calls; `None` for that of the operation.
    pub attempts: Option<u32>,
}
