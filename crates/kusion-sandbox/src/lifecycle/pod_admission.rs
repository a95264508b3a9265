//! What pods get on their way in: service account, token, priority, tolerations.

use super::accounts::{ACCOUNT, ROOT_CA};
use super::admit::{Review, list};
use crate::controllers::kind::Kind;
use crate::controllers::meta::{annotation, items, list_mut, push, text};
use crate::{Api, Status};
use serde_json::{Value, json};
use std::sync::Arc;

/// Where a container finds its token.
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// How long taints of a node that is not well are borne.
const TOLERATION_SECONDS: i64 = 300;

/// Fills in the pod.
pub(super) fn mutate(api: &Api, review: &Review<'_>, pod: &mut Value) -> Result<(), Status> {
    if !pod["spec"].is_object() {
        return Ok(());
    }
    set_priority(api, review, pod)?;
    if annotation(pod, "kubernetes.io/config.mirror").is_none() {
        set_account(api, review, pod)?;
    }
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        add_toleration(pod, key);
    }
    Ok(())
}

fn set_account(api: &Api, review: &Review<'_>, pod: &mut Value) -> Result<(), Status> {
    let spec = &mut pod["spec"];
    if text(&spec["serviceAccountName"]).is_empty() {
        spec["serviceAccountName"] = ACCOUNT.into();
    }
    spec["serviceAccount"] = spec["serviceAccountName"].clone();
    let name = text(&spec["serviceAccountName"]).to_owned();
    let account = match api.get(Kind::ServiceAccount.resource(), review.namespace, &name) {
        Ok(account) => account,
        // Each namespace has this one; it may take a moment after the namespace was made.
        Err(_) if name == ACCOUNT => Arc::new(json!({})),
        Err(_) => {
            return Err(review.forbid(&format!(
                "error looking up service account {}/{name}: serviceaccount \"{name}\" not found",
                review.namespace
            )));
        }
    };
    let automount = spec["automountServiceAccountToken"]
        .as_bool()
        .or_else(|| account["automountServiceAccountToken"].as_bool())
        .unwrap_or(true);
    if automount {
        mount_token(pod);
    }
    let spec = &mut pod["spec"];
    if items(&spec["imagePullSecrets"]).is_empty()
        && !items(&account["imagePullSecrets"]).is_empty()
    {
        spec["imagePullSecrets"] = account["imagePullSecrets"].clone();
    }
    Ok(())
}

/// Adds the projected volume with the token, and mounts it where nothing else is mounted.
fn mount_token(pod: &mut Value) {
    let spec = &mut pod["spec"];
    let existing = items(&spec["volumes"])
        .iter()
        .map(|it| text(&it["name"]))
        .find(|it| it.starts_with("kube-api-access-"))
        .map(str::to_owned);
    let name = existing
        .clone()
        .unwrap_or_else(|| format!("kube-api-access-{}", crate::write::generate_name("")));
    let mount = json!({"name": name, "readOnly": true, "mountPath": TOKEN_PATH});
    let mut used = false;
    for key in ["initContainers", "containers"] {
        let Some(containers) = list_mut(spec, &[key]) else { continue };
        for container in containers {
            if items(&container["volumeMounts"]).iter().any(|it| it["mountPath"] == TOKEN_PATH) {
                continue;
            }
            used = true;
            push(container, "volumeMounts", mount.clone());
        }
    }
    if !used || existing.is_some() {
        return;
    }
    let volume = json!({
        "name": name,
        "projected": {
            "defaultMode": 420,
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": ROOT_CA, "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [{"path": "namespace", "fieldRef":
                    {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
            ],
        },
    });
    push(spec, "volumes", volume);
}

fn add_toleration(pod: &mut Value, key: &str) {
    let taint = json!({"key": key, "effect": "NoExecute"});
    let spec = &mut pod["spec"];
    if items(&spec["tolerations"]).iter().any(|it| crate::pods::scheduler::tolerates(it, &taint)) {
        return;
    }
    let toleration = json!({"key": key, "operator": "Exists", "effect": "NoExecute",
        "tolerationSeconds": TOLERATION_SECONDS});
    push(spec, "tolerations", toleration);
}

fn set_priority(api: &Api, review: &Review<'_>, pod: &mut Value) -> Result<(), Status> {
    let name = text(&pod["spec"]["priorityClassName"]).to_owned();
    let class = if name.is_empty() {
        let classes = list(api, Kind::PriorityClass, "");
        let default = classes
            .iter()
            .filter(|it| it["globalDefault"] == true)
            .min_by_key(|it| it["value"].as_i64());
        default.cloned()
    } else {
        let found = api.get(Kind::PriorityClass.resource(), "", &name);
        let why = format!("no PriorityClass with name {name} was found");
        Some(found.map_err(|_| review.forbid(&why))?)
    };
    let priority = class.as_ref().map_or(0, |it| it["value"].as_i64().unwrap_or(0));
    if let Some(given) = pod["spec"]["priority"].as_i64()
        && given != priority
    {
        return Err(review.forbid(&format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller computed {priority} from the given PriorityClass name"
        )));
    }
    let policy = class
        .as_ref()
        .and_then(|it| it["preemptionPolicy"].as_str())
        .unwrap_or("PreemptLowerPriority");
    if let Some(given) = pod["spec"]["preemptionPolicy"].as_str()
        && given != policy
    {
        return Err(review.forbid(&format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission controller computed {policy} from the given PriorityClass name"
        )));
    }
    if let Some(class) = &class {
        pod["spec"]["priorityClassName"] = class["metadata"]["name"].clone();
    }
    pod["spec"]["priority"] = priority.into();
    pod["spec"]["preemptionPolicy"] = policy.into();
    Ok(())
}
