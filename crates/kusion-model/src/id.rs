//! Ids of resources.

use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The id of a resource in a Spec, in the format of its runtime: `apiVersion:Kind[:namespace]:name`
/// for Kubernetes, `providerNamespace:provider:type:name` for Terraform.
///
/// An id is opaque: names may contain colons (`ClusterRole:system:node`), so it cannot be split
/// into parts. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResourceId(Arc<str>);

impl ResourceId {
    /// Creates an id from its text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

impl Borrow<str> for ResourceId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ResourceId {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}
