//! Deletion of objects, with a wait until they no longer exist.

use crate::calls::Call;
use crate::discovery::Served;
use crate::key::ObjectKey;
use crate::object;
use crate::runtime::KubernetesRuntime;
use crate::watch::events::{EventKind, Events};
use http::{Method, StatusCode};
use kusion_runtime::{Deletion, RuntimeError, WaitSink};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// Kinds without relevant dependents: nothing has to be deleted before them. The server deletes
/// the others slowly (about five per second).
const LEAVES: &[(&str, &str)] = &[
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "ServiceAccount"),
    ("v1", "Service"),
    ("v1", "LimitRange"),
    ("v1", "ResourceQuota"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Namespace"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("networking.k8s.io/v1", "Ingress"),
    ("networking.k8s.io/v1", "IngressClass"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("policy/v1", "PodDisruptionBudget"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("storage.k8s.io/v1", "StorageClass"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
];

/// Deletes an object and waits until it no longer exists.
pub(crate) async fn delete(
    runtime: &KubernetesRuntime,
    deletion: Deletion<'_>,
) -> Result<(), RuntimeError> {
    let prior = deletion.prior;
    let key = ObjectKey::parse(&prior.identity.key)
        .or_else(|| ObjectKey::of_object(&prior.resource.attributes))
        .ok_or_else(|| RuntimeError::Invalid(format!("`{}` has no key", prior.resource.id)))?;
    let found = runtime.discovery.find(&runtime.calls, &key.api_version, &key.kind).await?;
    // All objects of a kind are deleted with its definition.
    let Some(served) = found else { return Ok(()) };
    let key = runtime.placed(&served, key);
    let uid = prior.identity.uid.as_deref();
    let is_leaf = LEAVES.contains(&(key.api_version.as_str(), key.kind.as_str()));
    let policy = if is_leaf { "Background" } else { "Foreground" };
    let mut version = deletion.live.and_then(object::version_of);
    let mut n_left = CHECKS;
    let answer = loop {
        let body = options(policy, uid, version.as_deref());
        let call = Call::with_body(Method::DELETE, served.object(&key), "application/json", body);
        let answer = runtime.calls.send(call).await?;
        if answer.status != StatusCode::CONFLICT || n_left == 0 {
            break answer;
        }
        // The object changed: it may have another owner by now.
        n_left -= 1;
        let Some(live) = runtime.get(&served, &key).await? else { return Ok(()) };
        if uid.is_some() && live.identity.uid.as_deref() != uid {
            // Another object has the name now; ours no longer exists.
            return Ok(());
        }
        if let Some(owner) = live.owner.clone()
            && runtime.mark.is_foreign(Some(&owner))
            && !deletion.take_over
        {
            return Err(RuntimeError::Owned(Box::new(owner)));
        }
        version = object::version_of(&live);
    };
    let Some(answer) = answer.found()? else { return Ok(()) };
    // Some kinds answer with the object even after its deletion; `wait` checks that.
    let left: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if left.get("kind").and_then(Value::as_str) == Some("Status") {
        return Ok(());
    }
    wait(runtime, &served, &key, uid, left, deletion.waits).await
}

/// How often an object is read again because it changed after its owner was checked.
const CHECKS: u32 = 10;

/// Returns the body of the request.
fn options(policy: &str, uid: Option<&str>, version: Option<&str>) -> Vec<u8> {
    let mut preconditions = serde_json::Map::new();
    preconditions.extend(uid.map(|it| ("uid".to_owned(), it.into())));
    preconditions.extend(version.map(|it| ("resourceVersion".to_owned(), it.into())));
    let mut options = json!({
        "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy,
    });
    if !preconditions.is_empty() {
        options["preconditions"] = preconditions.into();
    }
    options.to_string().into_bytes()
}

/// How long a watch is relied on before the object is read again.
const LOOK_AGAIN: Duration = Duration::from_secs(15);
/// How long a deletion takes before it says what it waits for.
const TELL_AFTER: Duration = Duration::from_secs(2);

/// Waits until an object no longer exists.
async fn wait(
    runtime: &KubernetesRuntime,
    served: &Served,
    key: &ObjectKey,
    uid: Option<&str>,
    mut left: Value,
    waits: WaitSink<'_>,
) -> Result<(), RuntimeError> {
    let deadline = Instant::now() + runtime.options.delete_timeout;
    let mut pause = Duration::from_millis(20);
    let tell_from = Instant::now() + TELL_AFTER;
    let mut tell_at = tell_from;
    loop {
        match runtime.get(served, key).await {
            Ok(None) => return Ok(()),
            Ok(Some(live)) => {
                if uid.is_some() && live.identity.uid.as_deref() != uid {
                    return Ok(());
                }
                left = live.attributes.into_value();
            }
            Err(error) if error.is_transient() => {}
            Err(error) => return Err(error),
        }
        if Instant::now() >= tell_at {
            waits.tell(&waits_for(&left));
            tell_at = Instant::now() + LOOK_AGAIN;
        }
        // The object is also read from time to time, in case the watch misses an event.
        let until = deadline.min(tell_at).min(Instant::now() + LOOK_AGAIN);
        let news = |object: &Value| {
            if Instant::now() >= tell_from {
                waits.tell(&waits_for(object));
            }
        };
        let watched = watch(runtime, served, key, &mut left, &news);
        match tokio::time::timeout_at(until, watched).await {
            Ok(Ok(true)) => return Ok(()),
            Ok(Err(error)) if !error.is_transient() => return Err(error),
            Ok(_) | Err(_) => {}
        }
        if Instant::now() + pause >= deadline {
            return Err(overdue(runtime, key, &left));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(2));
    }
}

/// Watches one object; true when it is seen to go, false when the watch ends. `news` gets each
/// version of it.
async fn watch(
    runtime: &KubernetesRuntime,
    served: &Served,
    key: &ObjectKey,
    left: &mut Value,
    news: &(dyn Fn(&Value) + Sync),
) -> Result<bool, RuntimeError> {
    let version = left.pointer("/metadata/resourceVersion").and_then(Value::as_str);
    let Some(version) = version.filter(|_| served.can_watch) else { return Ok(false) };
    let name = format!("metadata.name={}", key.name);
    let mut events =
        Events::open(&runtime.calls, served, &key.namespace, version, Some(&name)).await?;
    while let Some(event) = events.next().await? {
        match event.kind {
            EventKind::Deleted => return Ok(true),
            EventKind::Added | EventKind::Modified => {
                *left = event.object;
                news(left);
            }
            EventKind::Bookmark => {}
            EventKind::Error => return Ok(false),
        }
    }
    Ok(false)
}

fn overdue(runtime: &KubernetesRuntime, key: &ObjectKey, left: &Value) -> RuntimeError {
    let seconds = runtime.options.delete_timeout.as_secs();
    let reason = waits_for(left);
    RuntimeError::Transient {
        message: format!("{} `{}` still exists after {seconds} s: {reason}", key.kind, key.name),
        retry_after_ms: None,
    }
}

/// Returns what an object that is being deleted waits for.
pub(crate) fn waits_for(object: &Value) -> String {
    let texts = |pointer: &str| -> Vec<String> {
        let list = object.pointer(pointer).and_then(Value::as_array);
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        texts.map(|text| format!("`{text}`")).collect()
    };
    let mut parts = Vec::new();
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    for condition in conditions.into_iter().flatten() {
        let text = |name: &str| condition.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_reason = text("type").starts_with("Namespace") && text("status") == "True";
        if is_reason && !text("message").is_empty() {
            parts.push(text("message").to_owned());
        }
    }
    let mut finalizers = texts("/metadata/finalizers");
    // Every namespace has this one; its conditions say more.
    if parts.is_empty() {
        finalizers.extend(texts("/spec/finalizers"));
    }
    if !finalizers.is_empty() {
        parts.insert(0, format!("waiting for the finalizers {}", finalizers.join(", ")));
    }
    if parts.is_empty() { "the server has not removed it yet".to_owned() } else { parts.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_deletion_waits_for_is_named() {
        let held = json!({"metadata": {"finalizers": ["a/b", "c"]}});
        assert_eq!(waits_for(&held), "waiting for the finalizers `a/b`, `c`");
        let mut namespace = json!({"metadata": {}, "spec": {"finalizers": ["kubernetes"]}});
        assert_eq!(waits_for(&namespace), "waiting for the finalizers `kubernetes`");
        namespace["status"]["conditions"] = json!([
            {"type": "NamespaceContentRemaining", "status": "True", "message": "1 pod is left"},
            {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "fine"},
        ]);
        assert_eq!(waits_for(&namespace), "1 pod is left");
        assert_eq!(waits_for(&json!({})), "the server has not removed it yet");
    }
}
