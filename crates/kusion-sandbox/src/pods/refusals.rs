//! Containers that cannot be created although their pod is on a node.

use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, items, text};
use crate::controllers::world::World;
use serde_json::Value;

/// Returns the names of the containers of a pod that cannot be created now, and why.
pub(super) fn of(world: &World, pod: &Value) -> Vec<(String, String)> {
    ["initContainers", "containers"]
        .iter()
        .flat_map(|key| items(&pod["spec"][key]))
        .filter_map(|container| {
            let why =
                missing_value(world, pod, container).or_else(|| breaks_non_root(pod, container))?;
            Some((text(&container["name"]).to_owned(), why))
        })
        .collect()
}

/// Returns the message about pull secrets that do not exist, if there are any.
pub(super) fn missing_pull_secrets(world: &World, pod: &Value) -> Option<String> {
    let missing: Vec<&str> = items(&pod["spec"]["imagePullSecrets"])
        .iter()
        .map(|it| text(&it["name"]))
        .filter(|name| {
            !name.is_empty() && !world.cache.has(Kind::Secret, meta::namespace(pod), name)
        })
        .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "Unable to retrieve some image pull secrets ({}); attempting to pull the image may not \
             succeed.",
            missing.join(", ")
        )
    })
}

/// A variable whose `ConfigMap`, Secret or key does not exist and is not optional.
fn missing_value(world: &World, pod: &Value, container: &Value) -> Option<String> {
    let whole = items(&container["envFrom"]).iter().flat_map(|it| {
        [(Kind::ConfigMap, &it["configMapRef"], false), (Kind::Secret, &it["secretRef"], false)]
    });
    let single = items(&container["env"]).iter().flat_map(|it| {
        let from = &it["valueFrom"];
        [
            (Kind::ConfigMap, &from["configMapKeyRef"], true),
            (Kind::Secret, &from["secretKeyRef"], true),
        ]
    });
    whole.chain(single).find_map(|(kind, reference, has_key)| {
        if reference.is_null() || reference["optional"] == true {
            return None;
        }
        let (namespace, name) = (meta::namespace(pod), text(&reference["name"]));
        let Some(object) = world.get(kind, namespace, name) else {
            return Some(format!("{} \"{name}\" not found", kind.name().to_lowercase()));
        };
        let key = text(&reference["key"]);
        let is_there = !object["data"][key].is_null() || !object["binaryData"][key].is_null();
        (has_key && !is_there)
            .then(|| format!("couldn't find key {key} in {} {namespace}/{name}", kind.name()))
    })
}

/// A container that must not run as root and is told to.
fn breaks_non_root(pod: &Value, container: &Value) -> Option<String> {
    let setting = |key: &str| {
        let own = &container["securityContext"][key];
        if own.is_null() { &pod["spec"]["securityContext"][key] } else { own }
    };
    let is_broken = *setting("runAsNonRoot") == true && setting("runAsUser").as_i64() == Some(0);
    is_broken.then(|| {
        format!(
            "container's runAsUser breaks non-root policy (pod: \"{}_{}({})\", container: {})",
            meta::name(pod),
            meta::namespace(pod),
            meta::uid(pod),
            text(&container["name"])
        )
    })
}
