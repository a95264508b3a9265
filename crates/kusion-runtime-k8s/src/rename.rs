//! Other ids of the same object.

use crate::key::ObjectKey;
use kusion_model::{ResourceId, ResourceState};
use serde_json::Value;

/// The group whose kinds moved to other groups.
const SPLIT_GROUP: &str = "extensions";

/// Returns the recorded state of an object under another id: only its API version can differ. The
/// server has one object for all versions of a kind.
pub(crate) fn renamed(prior: &ResourceState, to: &ResourceId) -> Result<ResourceState, String> {
    let old = &prior.resource;
    let key = ObjectKey::parse(&prior.identity.key)
        .or_else(|| ObjectKey::of_object(&old.attributes))
        .ok_or_else(|| format!("`{}` has no key", old.id))?;
    let name = match key.namespace.as_str() {
        "" => format!(":{}:{}", key.kind, key.name),
        namespace => format!(":{}:{namespace}:{}", key.kind, key.name),
    };
    let version = to.as_str().strip_suffix(&name);
    let version = version.filter(|it| !it.is_empty() && !it.contains(':'));
    let is_same_group = |version: &&str| {
        let (group, _) = key.group_version();
        group == SPLIT_GROUP || version.split_once('/').map_or("", |it| it.0) == group
    };
    let Some(version) = version.filter(is_same_group) else {
        return Err(format!(
            "cannot become `{to}`, which is another object: only the API version in an id can \
             change. To rename an object, let the plan create the new one and delete the old one"
        ));
    };
    let mut state = prior.clone();
    state.resource.id = to.clone();
    state.resource.attributes["apiVersion"] = Value::from(version);
    let key = ObjectKey { api_version: version.to_owned(), ..key };
    state.identity = key.identity(prior.identity.uid.clone());
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{Identity, Resource, ResourceType};
    use serde_json::json;

    fn state(version: &str) -> ResourceState {
        let resource = Resource {
            id: ResourceId::new(format!("{version}:Ingress:shop:web")),
            resource_type: ResourceType::new(kusion_k8s_schema::RESOURCE_TYPE),
            attributes: json!({
                "apiVersion": version, "kind": "Ingress",
                "metadata": {"name": "web", "namespace": "shop"},
            })
            .into(),
            depends_on: Vec::new(),
            extensions: serde_json::Map::new(),
        };
        let identity = Identity::new(format!("{version}/Ingress/shop/web"), Some("u".into()));
        ResourceState::new(resource, identity, 1)
    }

    #[test]
    fn only_the_version_can_change() {
        let to = |id: &str| renamed(&state("networking.k8s.io/v1beta1"), &ResourceId::new(id));
        let moved = to("networking.k8s.io/v1:Ingress:shop:web").expect("the same object");
        assert_eq!(moved.identity.key, "networking.k8s.io/v1/Ingress/shop/web");
        assert_eq!(moved.identity.uid.as_deref(), Some("u"));
        assert_eq!(moved.resource.attributes["apiVersion"], "networking.k8s.io/v1");
        assert_eq!(moved.resource.id.as_str(), "networking.k8s.io/v1:Ingress:shop:web");
        for other in [
            "networking.k8s.io/v1:Ingress:shop:api",
            "networking.k8s.io/v1:Ingress:other:web",
            "networking.k8s.io/v1:Ingress:web",
            "networking.k8s.io/v1:Gateway:shop:web",
            "example.com/v1:Ingress:shop:web",
            ":Ingress:shop:web",
        ] {
            assert!(to(other).is_err(), "{other}");
        }
        let id = ResourceId::new("networking.k8s.io/v1:Ingress:shop:web");
        assert!(renamed(&state("extensions/v1beta1"), &id).is_ok());
    }
}
