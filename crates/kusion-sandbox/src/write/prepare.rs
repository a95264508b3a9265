//! What the server sets itself, per kind: generation, uid, times, and which half of an object a
//! write may touch.

use crate::registry::Served;
use crate::{clock, crd, object};
use serde_json::{Map, Value, json};

/// Returns whether objects of a kind count their spec changes in `metadata.generation`.
pub(crate) fn has_generation(served: &Served) -> bool {
    if !served.is_builtin() {
        return true;
    }
    matches!(
        &*served.kind,
        "Pod"
            | "PodTemplate"
            | "ReplicationController"
            | "Deployment"
            | "ReplicaSet"
            | "StatefulSet"
            | "DaemonSet"
            | "Job"
            | "CronJob"
            | "PodDisruptionBudget"
            | "Ingress"
            | "IngressClass"
            | "NetworkPolicy"
            | "EndpointSlice"
            | "FlowSchema"
            | "PriorityLevelConfiguration"
            | "PriorityClass"
            | "MutatingWebhookConfiguration"
            | "ValidatingWebhookConfiguration"
            | "ValidatingAdmissionPolicy"
            | "ValidatingAdmissionPolicyBinding"
            | "MutatingAdmissionPolicy"
            | "MutatingAdmissionPolicyBinding"
            | "CustomResourceDefinition"
            | "DeviceClass"
            | "ResourceSlice"
    )
}

/// Makes a new object ready to be stored.
pub(crate) fn for_create(served: &Served, new: &mut Value) {
    let generation = has_generation(served);
    let meta = object::meta_mut(new);
    for key in ["selfLink", "resourceVersion"] {
        meta.remove(key);
    }
    meta.insert("uid".to_owned(), super::names::uid().into());
    meta.insert("creationTimestamp".to_owned(), clock::now().into());
    if generation {
        meta.insert("generation".to_owned(), 1.into());
    }
    reset_status(served, new);
    super::gates::close(served, new);
    prepare_kind(served, new);
    if served.is("", "namespaces") {
        prepare_namespace(new);
    }
}

/// What the server sets in new objects of some kinds.
fn prepare_kind(served: &Served, new: &mut Value) {
    match (&*served.storage.group, &*served.kind) {
        ("", "Pod") => {
            let class = crate::pods::resources::qos_class(new);
            new["status"]["qosClass"] = class.into();
            let grace = &mut new["spec"]["terminationGracePeriodSeconds"];
            if grace.as_i64().is_some_and(|seconds| seconds < 0) {
                *grace = 1.into();
            }
        }
        ("certificates.k8s.io", "CertificateSigningRequest") => {
            let user = crate::rbac::User::admin().shown();
            for key in ["username", "uid", "groups"] {
                new["spec"][key] = user[key].clone();
            }
        }
        ("", "PersistentVolume") => {
            new["status"]["lastPhaseTransitionTime"] = clock::now().into();
        }
        ("apps", "DaemonSet") => {
            let annotations =
                object::meta_mut(new).entry("annotations").or_insert_with(|| json!({}));
            if let Some(map) = annotations.as_object_mut() {
                map.insert("deprecated.daemonset.template.generation".to_owned(), "1".into());
            }
        }
        _ => {}
    }
}

fn prepare_namespace(new: &mut Value) {
    let name = object::name(new).to_owned();
    let labels = object::meta_mut(new).entry("labels").or_insert_with(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        labels.insert("kubernetes.io/metadata.name".to_owned(), name.into());
    }
    let spec = object::child_mut(new, "spec");
    let finalizers = spec.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(list) = finalizers.as_array_mut()
        && !list.iter().any(|it| it == "kubernetes")
    {
        list.push("kubernetes".into());
    }
}

fn reset_status(served: &Served, new: &mut Value) {
    if !served.has("status") || served.is("", "nodes") {
        return;
    }
    let Some(map) = new.as_object_mut() else { return };
    map.remove("status");
    if served.is_builtin() {
        let status = if crd::is_definition(served) {
            crd::first_status(new)
        } else {
            empty_status(&served.kind)
        };
        object::slot(new, "status").clone_from(&status);
    } else if let Some(custom) = &served.custom {
        // A status that nobody has written yet has its defaults.
        custom.structural.default_applied(new);
    }
}

/// Returns the status that an object has before anyone has looked at it.
fn empty_status(kind: &str) -> Value {
    match kind {
        "Namespace" => json!({"phase": "Active"}),
        "Pod" | "PersistentVolume" | "PersistentVolumeClaim" => json!({"phase": "Pending"}),
        "ReplicaSet" | "ReplicationController" => json!({"replicas": 0}),
        "StatefulSet" => json!({"replicas": 0, "availableReplicas": 0}),
        "DaemonSet" => json!({
            "currentNumberScheduled": 0,
            "desiredNumberScheduled": 0,
            "numberMisscheduled": 0,
            "numberReady": 0,
        }),
        "PodDisruptionBudget" => json!({
            "currentHealthy": 0,
            "desiredHealthy": 0,
            "disruptionsAllowed": 0,
            "expectedPods": 0,
        }),
        "HorizontalPodAutoscaler" => json!({"currentMetrics": null, "desiredReplicas": 0}),
        "Service" | "Ingress" => json!({"loadBalancer": {}}),
        "VolumeAttachment" => json!({"attached": false}),
        _ => json!({}),
    }
}

/// Makes a changed object ready to be stored: what a client may not change comes from `old`.
pub(crate) fn for_update(served: &Served, old: &Value, new: &mut Value) {
    keep_meta(old, new);
    super::gates::close(served, new);
    if served.has("status") {
        keep(old, new, "status");
    }
    if crd::is_definition(served) {
        crd::note_storage(new);
    }
    if served.is("", "namespaces") {
        let finalizers = object::at(old, &["spec", "finalizers"]).clone();
        if finalizers.is_null() {
            object::child_mut(new, "spec").remove("finalizers");
        } else {
            object::child_mut(new, "spec").insert("finalizers".to_owned(), finalizers);
        }
    }
}

/// Counts a change of the spec.
pub(crate) fn count_generation(served: &Served, old: &Value, new: &mut Value) {
    if has_generation(served) && differs(served, old, new) {
        bump_generation(new);
    }
}

/// Copies the metadata that only the server writes.
pub(crate) fn keep_meta(old: &Value, new: &mut Value) {
    let empty = Map::new();
    let old = old.get("metadata").and_then(Value::as_object).unwrap_or(&empty);
    let meta = object::meta_mut(new);
    for key in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "generateName",
        "resourceVersion",
        "selfLink",
    ] {
        match old.get(key) {
            Some(value) => meta.insert(key.to_owned(), value.clone()),
            None => meta.remove(key),
        };
    }
}

/// Copies a top-level field.
pub(crate) fn keep(old: &Value, new: &mut Value, key: &str) {
    let Some(map) = new.as_object_mut() else { return };
    match old.get(key) {
        Some(value) => map.insert(key.to_owned(), value.clone()),
        None => map.remove(key),
    };
}

/// Counts one more change of the spec.
pub(crate) fn bump_generation(object: &mut Value) {
    let meta = object::meta_mut(object);
    let generation = meta.get("generation").and_then(Value::as_i64).unwrap_or(0);
    meta.insert("generation".to_owned(), (generation + 1).into());
}

fn differs(served: &Served, old: &Value, new: &Value) -> bool {
    let (Some(old_map), Some(new_map)) = (old.as_object(), new.as_object()) else { return true };
    let counts = |key: &str| {
        let is_status = key == "status" && served.has("status");
        !is_status && !matches!(key, "metadata" | "apiVersion" | "kind")
    };
    if new_map.iter().any(|(key, value)| counts(key) && old_map.get(key) != Some(value))
        || old_map.keys().any(|key| counts(key) && !new_map.contains_key(key))
    {
        return true;
    }
    served.is("apps", "deployments")
        && object::at(old, &["metadata", "annotations"])
            != object::at(new, &["metadata", "annotations"])
}
