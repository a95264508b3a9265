//! Identity of the infrastructure that a stack is deployed to.

use crate::ResourceType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Identifies one infrastructure among those of the same kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InfrastructureId {
    /// Stable identifier: the uid of a cluster, an account number, a host id.
    pub id: String,
    /// Display name, which may change: an address, the name of an account.
    pub name: String,
}

impl fmt::Display for InfrastructureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.id)
    }
}

/// The infrastructures that a stack is deployed to, by resource type.
pub type Infrastructure = BTreeMap<ResourceType, InfrastructureId>;
