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

/// Prefix of the id of an infrastructure that is known by its address only.
const BY_ADDRESS: &str = "address:";

impl InfrastructureId {
    /// Creates the identity of an infrastructure that does not tell its own id to this user.
    pub fn by_address(address: String) -> Self {
        Self { id: format!("{BY_ADDRESS}{address}"), name: address }
    }

    /// Returns whether the infrastructure is known by its address only.
    pub fn is_by_address(&self) -> bool {
        self.id.starts_with(BY_ADDRESS)
    }

    /// Returns whether two identities are of the same infrastructure. If one of them is known by
    /// its address only, the addresses decide.
    pub fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
            || (self.is_by_address() || other.is_by_address()) && self.name == other.name
    }
}

impl fmt::Display for InfrastructureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.id)
    }
}

/// The infrastructures that a stack is deployed to, by resource type.
pub type Infrastructure = BTreeMap<ResourceType, InfrastructureId>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_decide_where_ids_are_hidden() {
        let full = |id: &str, name: &str| InfrastructureId { id: id.into(), name: name.into() };
        let hidden = |name: &str| InfrastructureId::by_address(name.into());
        assert!(full("u", "a").is_same(&full("u", "b")));
        assert!(!full("u", "a").is_same(&full("v", "a")));
        assert!(full("u", "a").is_same(&hidden("a")) && hidden("a").is_same(&full("u", "a")));
        assert!(!full("u", "a").is_same(&hidden("b")) && !hidden("a").is_same(&hidden("b")));
    }
}
