//! What every namespace has: the `ServiceAccount` `default` and the `ConfigMap` `kube-root-ca.crt`.

use crate::Status;
use crate::controllers::kind::Kind;
use crate::controllers::meta;
use crate::controllers::task::Key;
use crate::controllers::world::World;
use serde_json::{Value, json};

/// The name of the `ConfigMap` with the root certificate.
pub(crate) const ROOT_CA: &str = "kube-root-ca.crt";
/// The name of the `ServiceAccount` that pods get.
pub(crate) const ACCOUNT: &str = "default";
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/// Annotations of a Secret that name the account whose token it holds.
const TOKEN_ACCOUNT: &str = "kubernetes.io/service-account.name";
const TOKEN_UID: &str = "kubernetes.io/service-account.uid";
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

/// Fills a Secret with the token of its account, or deletes it if there is no such account.
pub(crate) fn sync_token(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(secret) = world.get(Kind::Secret, key.namespace(), key.name()) else { return Ok(()) };
    if meta::is_deleting(&secret) || !is_token(&secret) {
        return Ok(());
    }
    let name = meta::annotation(&secret, TOKEN_ACCOUNT).unwrap_or_default();
    let uid = meta::annotation(&secret, TOKEN_UID);
    // A namespace gets its first account in a moment.
    let account = world.get(Kind::ServiceAccount, key.namespace(), name);
    let Some(account) = account.filter(|it| uid.is_none_or(|uid| uid == meta::uid(it))) else {
        return world.delete(Kind::Secret, &secret);
    };
    if !secret["data"]["token"].is_null() {
        return Ok(());
    }
    let mut filled = (*secret).clone();
    meta::set_annotation(&mut filled, TOKEN_UID, meta::uid(&account));
    let token = crate::subresources::legacy_token(key.namespace(), name, meta::uid(&account));
    let authority = if world.root_ca.is_empty() { NO_AUTHORITY } else { &*world.root_ca };
    for (entry, value) in [("ca.crt", authority), ("namespace", key.namespace()), ("token", &token)]
    {
        filled["data"][entry] = data_encoding::BASE64.encode(value.as_bytes()).into();
    }
    world.update(Kind::Secret, filled).map(drop)
}

/// Whether a Secret holds the token of an account.
pub(crate) fn is_token(secret: &Value) -> bool {
    secret["type"] == "kubernetes.io/service-account-token"
}

fn ignore_existing(result: Result<(), Status>) -> Result<(), Status> {
    match result {
        Err(status) if status.reason == "AlreadyExists" || status.code == 404 => Ok(()),
        other => other,
    }
}
