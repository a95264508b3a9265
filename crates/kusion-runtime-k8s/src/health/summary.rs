//! Health of a resource together with its related objects.

use super::fields::{flag, list, number, replicas, text};
use super::of_object;
use kusion_model::{Health, HealthState};
use serde_json::Value;

/// Returns the health of an object, including the objects that it owns, directly or indirectly, if
/// all of them stay as they are.
pub fn summary(object: &Value, related: &[&Value]) -> Health {
    summary_of(object, related, &of_object)
}

/// Returns the health of an object from that of itself and of the objects that it owns.
///
/// While it is progressing, it fails if one of its new pods cannot run. Pods of an earlier template
/// are ignored: they are being replaced. It is ready only if all its pods are: its own status may be
/// older than theirs.
pub(crate) fn summary_of(
    object: &Value,
    related: &[&Value],
    health_of: &dyn Fn(&Value) -> Health,
) -> Health {
    let own = health_of(object);
    let is_ready = own.state == HealthState::Ready && counts_pods(object);
    if own.state != HealthState::Progressing && !is_ready {
        return own;
    }
    let is_job = text(object, "/kind") == "Job";
    let mut delay: Option<(Option<String>, String)> = None;
    for pod in new_pods(object, related) {
        // A pod that has ended is replaced; whether that goes on for ever, its owner decides.
        if matches!(text(pod, "/status/phase"), "Failed" | "Succeeded") {
            continue;
        }
        let health = health_of(pod);
        let words = || format!("pod `{}`: {}", text(pod, "/metadata/name"), health.message);
        match (health.state, &health.reason) {
            // A job counts the crashes of its pods and gives up itself.
            (HealthState::Failed, Some(reason)) if !is_job || reason != "CrashLoopBackOff" => {
                return Health::failed(reason.as_str(), words());
            }
            (HealthState::Progressing | HealthState::Failed, reason)
                if reason.is_some() && delay.as_ref().is_none_or(|it| it.0.is_none())
                    || is_ready && delay.is_none() =>
            {
                delay = Some((reason.clone(), words()));
            }
            _ => {}
        }
    }
    match delay {
        Some((reason, words)) if own.reason.is_none() => {
            Health::delayed(reason, format!("{}; {words}", own.message))
        }
        _ => own,
    }
}

/// Returns whether an object is ready by the number of its ready pods.
fn counts_pods(object: &Value) -> bool {
    let kinds = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"];
    kinds.contains(&text(object, "/kind")) && !flag(object, "/spec/paused")
}

/// Returns the running pods that show whether a ready object is stable, and how many there must be.
/// `None` for objects without such pods, and for those whose controller waits itself
/// (`minReadySeconds`).
pub(crate) fn settling_pods<'a>(
    object: &'a Value,
    related: &[&'a Value],
) -> Option<(Vec<&'a Value>, usize)> {
    if text(object, "/kind") == "Pod" {
        let is_done = text(object, "/status/phase") == "Succeeded";
        return (!is_done).then(|| (vec![object], 1));
    }
    if !counts_pods(object) || number(object, "/spec/minReadySeconds") > 0 {
        return None;
    }
    let pods = live_pods(related).filter(|it| text(it, "/status/phase") == "Running").collect();
    let desired = match text(object, "/kind") {
        "DaemonSet" => number(object, "/status/desiredNumberScheduled"),
        _ => replicas(object),
    };
    Some((pods, usize::try_from(desired).unwrap_or_default()))
}

fn live_pods<'a>(related: &[&'a Value]) -> impl Iterator<Item = &'a Value> {
    related.iter().copied().filter(|it| {
        text(it, "/kind") == "Pod" && it.pointer("/metadata/deletionTimestamp").is_none()
    })
}

/// Returns the pods that were made from the newest template.
fn new_pods<'a>(object: &Value, related: &[&'a Value]) -> Vec<&'a Value> {
    let pods = live_pods(related);
    match text(object, "/kind") {
        "Deployment" => {
            let newest = related
                .iter()
                .filter(|it| text(it, "/kind") == "ReplicaSet" && is_owned_by(it, object))
                .max_by_key(|it| revision(it));
            let Some(newest) = newest else { return Vec::new() };
            pods.filter(|pod| is_owned_by(pod, newest)).collect()
        }
        "StatefulSet" => {
            let revision = text(object, "/status/updateRevision");
            pods.filter(|pod| {
                let label = text(pod, "/metadata/labels/controller-revision-hash");
                label.is_empty() || revision.is_empty() || label == revision
            })
            .collect()
        }
        "DaemonSet" => {
            let generation = number(object, "/metadata/generation").to_string();
            pods.filter(|pod| {
                let label = text(pod, "/metadata/labels/pod-template-generation");
                label.is_empty() || label == generation
            })
            .collect()
        }
        _ => pods.collect(),
    }
}

/// Returns the number that a deployment gave a replica set.
fn revision(object: &Value) -> (i64, &str) {
    let number = text(object, "/metadata/annotations/deployment.kubernetes.io~1revision");
    (number.parse().unwrap_or_default(), text(object, "/metadata/creationTimestamp"))
}

fn is_owned_by(object: &Value, owner: &Value) -> bool {
    let uid = text(owner, "/metadata/uid");
    !uid.is_empty()
        && list(object, "/metadata/ownerReferences").iter().any(|it| text(it, "/uid") == uid)
}
