//! Health of a resource together with its related objects.

use super::fields::{list, number, text};
use super::of_object;
use kusion_model::{Health, HealthState};
use serde_json::Value;

/// Returns the health of an object, including the objects that it owns, directly or indirectly.
///
/// While it is progressing, it fails if one of its new pods cannot run. Pods of an earlier template
/// are ignored: they are being replaced.
pub fn summary(object: &Value, related: &[&Value]) -> Health {
    let own = of_object(object);
    if own.state != HealthState::Progressing {
        return own;
    }
    let mut delay = None;
    for pod in new_pods(object, related) {
        // A pod that has ended is replaced; whether that goes on for ever, its owner decides.
        if text(pod, "/status/phase") == "Failed" {
            continue;
        }
        let health = of_object(pod);
        let words = || format!("pod `{}`: {}", text(pod, "/metadata/name"), health.message);
        match (health.state, &health.reason) {
            (HealthState::Failed, Some(reason)) => {
                return Health::failed(reason.as_str(), words());
            }
            (HealthState::Progressing, Some(reason)) if delay.is_none() => {
                delay = Some((reason.clone(), words()));
            }
            _ => {}
        }
    }
    match delay {
        Some((reason, words)) if own.reason.is_none() => {
            Health { message: format!("{}; {words}", own.message), reason: Some(reason), ..own }
        }
        _ => own,
    }
}

/// Returns the pods that were made from the newest template.
fn new_pods<'a>(object: &Value, related: &[&'a Value]) -> Vec<&'a Value> {
    let pods = related.iter().copied().filter(|it| {
        text(it, "/kind") == "Pod" && it.pointer("/metadata/deletionTimestamp").is_none()
    });
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
