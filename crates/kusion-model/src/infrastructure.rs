//! Which infrastructure a stack is on.

use crate::ResourceType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What tells one infrastructure from another of the same kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InfrastructureId {
    /// What stays the same as long as it is the same infrastructure: the uid of a cluster, an
    /// account, a host.
    pub id: String,
    /// Its name for people, which may change: an address, the name of an account.
    pub name: String,
}

impl fmt::Display for InfrastructureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.id)
    }
}

/// The infrastructures that a stack is on, by the type of their resources.
pub type Infrastructure = BTreeMap<ResourceType, InfrastructureId>;
