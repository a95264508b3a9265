//! What every namespace has: the `ServiceAccount` `default` and the `ConfigMap` `kube-root-ca.crt`.

use crate::Status;
use crate::controllers::kind::Kind;
use crate::controllers::meta;
use crate::controllers::task::Key;
use crate::controllers::world::World;
use serde_json::json;

/// The name of the `ConfigMap` with the root certificate.
pub(crate) const ROOT_CA: &str = "kube-root-ca.crt";
/// The name of the `ServiceAccount` that pods get.
pub(crate) const ACCOUNT: &str = "default";
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/// What stands in place of a certificate when there is none.
const NO_AUTHORITY: &str = "# This sandbox is served without TLS.\n";

/// Puts back what a namespace must have.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(namespace) = world.get(Kind::Namespace, "", key.name()) else { return Ok(()) };
    if meta::is_deleting(&namespace) {
        return Ok(());
    }
    if world.get(Kind::ServiceAccount, key.name(), ACCOUNT).is_none() {
        let account = json!({"metadata": {"name": ACCOUNT, "namespace": key.name()}});
        ignore_existing(world.create(Kind::ServiceAccount, key.name(), account).map(drop))?;
    }
    let authority = if world.root_ca.is_empty() { NO_AUTHORITY } else { &*world.root_ca };
    let data = json!({"ca.crt": authority});
    match world.get(Kind::ConfigMap, key.name(), ROOT_CA) {
        None => {
            let map = json!({
                "metadata": {
                    "name": ROOT_CA,
                    "namespace": key.name(),
                    "annotations": {"kubernetes.io/description": DESCRIPTION},
                },
                "data": data,
            });
            ignore_existing(world.create(Kind::ConfigMap, key.name(), map).map(drop))
        }
        Some(known) if known["data"] != data => {
            let mut map = (*known).clone();
            map["data"] = data;
            meta::set_annotation(&mut map, "kubernetes.io/description", DESCRIPTION);
            world.update(Kind::ConfigMap, map).map(drop)
        }
        Some(_) => Ok(()),
    }
}

fn ignore_existing(result: Result<(), Status>) -> Result<(), Status> {
    match result {
        Err(status) if status.reason == "AlreadyExists" || status.code == 404 => Ok(()),
        other => other,
    }
}
