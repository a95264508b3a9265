//! The identity of an object in a cluster.

use serde_json::Value;

/// The type of resources that are Kubernetes objects.
pub const RESOURCE_TYPE: &str = "Kubernetes";

/// What identifies an object in its cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// Group and version, `apps/v1`.
    pub api_version: String,
    /// The kind, `Deployment`.
    pub kind: String,
    /// The namespace; none for cluster-wide kinds.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl ObjectId {
    /// Returns the id of the resource for the object in a Spec:
    /// `apiVersion:Kind[:namespace]:name`.
    pub fn resource_id(&self) -> String {
        match &self.namespace {
            Some(namespace) => {
                format!("{}:{}:{namespace}:{}", self.api_version, self.kind, self.name)
            }
            None => format!("{}:{}:{}", self.api_version, self.kind, self.name),
        }
    }

    /// Reads the id from an object's `apiVersion`, `kind` and `metadata`; none if one of them is
    /// missing.
    pub fn of_object(object: &Value) -> Option<Self> {
        let metadata = object.get("metadata")?;
        let text = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|it| !it.is_empty()).map(str::to_owned)
        };
        Some(Self {
            api_version: text(object.get("apiVersion"))?,
            kind: text(object.get("kind"))?,
            namespace: text(metadata.get("namespace")),
            name: text(metadata.get("name"))?,
        })
    }
}

/// Returns whether an object is a Secret, whose `data` and `stringData` are secret.
pub fn is_secret(object: &Value) -> bool {
    object.get("kind").and_then(Value::as_str) == Some("Secret")
        && object.get("apiVersion").and_then(Value::as_str) == Some("v1")
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
        let id = ObjectId::of_object(&object).expect("the object has an identity");
        assert_eq!(id.resource_id(), "rbac.authorization.k8s.io/v1:ClusterRole:system:node");
    }

    #[test]
    fn an_object_without_a_name_has_no_identity() {
        assert_eq!(ObjectId::of_object(&json!({"apiVersion": "v1", "kind": "Pod"})), None);
    }
}
