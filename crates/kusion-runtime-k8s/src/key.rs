//! The identity of objects, as text of the state.

use kusion_model::Identity;
use serde_json::Value;
use std::fmt;

/// The key by which an object is found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Group and version, `apps/v1`.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty for cluster-wide kinds.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectKey {
    /// Reads the key of an object; the namespace is empty when none is written.
    pub fn of_object(object: &Value) -> Option<Self> {
        let metadata = object.get("metadata")?;
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let key = Self {
            api_version: text(object.get("apiVersion"))?,
            kind: text(object.get("kind"))?,
            namespace: text(metadata.get("namespace")).unwrap_or_default(),
            name: text(metadata.get("name"))?,
        };
        (!key.name.is_empty() && !key.kind.is_empty()).then_some(key)
    }

    /// Reads a key from its text: `apps/v1/Deployment/shop/web`. Neither kinds, namespaces nor
    /// names hold slashes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.rsplitn(4, '/');
        let name = parts.next()?.to_owned();
        let namespace = parts.next()?.to_owned();
        let kind = parts.next()?.to_owned();
        let api_version = parts.next()?.to_owned();
        (!name.is_empty() && !kind.is_empty() && !api_version.is_empty()).then_some(Self {
            api_version,
            kind,
            namespace,
            name,
        })
    }

    /// Returns group and version.
    pub fn group_version(&self) -> (&str, &str) {
        self.api_version.split_once('/').unwrap_or(("", &self.api_version))
    }

    /// Returns the identity of the object with this key.
    pub fn identity(&self, uid: Option<String>) -> Identity {
        Identity::new(self.to_string(), uid)
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.api_version, self.kind, self.namespace, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_text() {
        for text in [
            "apps/v1/Deployment/shop/web",
            "v1/Namespace//shop",
            "rbac.authorization.k8s.io/v1/ClusterRole//system:node",
        ] {
            let key = ObjectKey::parse(text).expect("a key");
            assert_eq!(key.to_string(), text);
        }
        assert_eq!(ObjectKey::parse("shop/web"), None);
        assert_eq!(ObjectKey::parse("v1/Pod/shop/"), None);
    }
}
