//! Names of resources.

use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The name of a resource in a Spec: `apiVersion:Kind[:namespace]:name` for Kubernetes,
/// `providerNamespace:provider:type:name` for Terraform.
///
/// An id is opaque: names may hold colons (`ClusterRole:system:node`), so parts are not cut out
/// of it. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResourceId(Arc<str>);

impl ResourceId {
    /// Makes an id of its text.
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

/// What identifies a Kubernetes object in its cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KubernetesId {
    /// Group and version, `apps/v1`.
    pub api_version: String,
    /// The kind, `Deployment`.
    pub kind: String,
    /// The namespace; none for cluster-wide kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl KubernetesId {
    /// Returns the id of the resource with this identity.
    pub fn resource_id(&self) -> ResourceId {
        let text = match &self.namespace {
            Some(namespace) => {
                format!("{}:{}:{namespace}:{}", self.api_version, self.kind, self.name)
            }
            None => format!("{}:{}:{}", self.api_version, self.kind, self.name),
        };
        ResourceId::new(text)
    }

    /// Reads the identity from an object's `apiVersion`, `kind` and `metadata`; none if one of
    /// them is missing.
    pub fn of_object(object: &serde_json::Value) -> Option<Self> {
        let metadata = object.get("metadata")?;
        let text = |value: Option<&serde_json::Value>| {
            value.and_then(serde_json::Value::as_str).filter(|it| !it.is_empty()).map(str::to_owned)
        };
        Some(Self {
            api_version: text(object.get("apiVersion"))?,
            kind: text(object.get("kind"))?,
            namespace: text(metadata.get("namespace")),
            name: text(metadata.get("name"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_with_colons_stays_whole() {
        let object = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "system:node"},
        });
        let id = KubernetesId::of_object(&object).expect("the object has an identity");
        assert_eq!(
            id.resource_id().as_str(),
            "rbac.authorization.k8s.io/v1:ClusterRole:system:node"
        );
    }

    #[test]
    fn an_object_without_a_name_has_no_identity() {
        assert_eq!(KubernetesId::of_object(&json!({"apiVersion": "v1", "kind": "Pod"})), None);
    }
}
