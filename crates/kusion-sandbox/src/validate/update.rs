//! What may not change once it is stored.

use super::report::{Report, at, inner_form, text};
use serde_json::Value;

/// Reports changes of fields that may not change.
pub(super) fn check(group: &str, kind: &str, old: &Value, new: &Value, report: &mut Report) {
    match (group, kind) {
        ("apps", "Deployment" | "ReplicaSet" | "DaemonSet") => {
            same(old, new, "/spec/selector", "spec.selector", report);
        }
        ("apps", "StatefulSet") => stateful_set(old, new, report),
        ("batch", "Job") => job(old, new, report),
        ("", "Secret") => {
            same(old, new, "/type", "type", report);
            immutable(old, new, &["data"], report);
        }
        ("", "ConfigMap") => immutable(old, new, &["binaryData", "data"], report),
        ("", "PersistentVolumeClaim") => claim(old, new, report),
        ("", "Pod") => pod(old, new, report),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            role(old, new, report);
        }
        ("storage.k8s.io", "StorageClass") => {
            for key in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
                if at(old, key) != at(new, key) {
                    report.forbidden(key, &format!("updates to {key} are forbidden."));
                }
            }
        }
        ("scheduling.k8s.io", "PriorityClass") if at(old, "value") != at(new, "value") => {
            report.invalid("value", at(new, "value"), "field is immutable");
        }
        _ => {}
    }
}

/// A field must stay what it is.
fn same(old: &Value, new: &Value, pointer: &str, path: &str, report: &mut Report) {
    let part = |value: &Value| value.pointer(pointer).cloned().unwrap_or(Value::Null);
    if part(old) != part(new) {
        report.invalid(path, &part(new), "field is immutable");
    }
}

fn immutable(old: &Value, new: &Value, keys: &[&str], report: &mut Report) {
    const DETAIL: &str = "field is immutable when `immutable` is set";
    if at(old, "immutable").as_bool() != Some(true) {
        return;
    }
    if at(new, "immutable").as_bool() != Some(true) {
        report.forbidden("immutable", DETAIL);
    }
    for key in keys {
        if at(old, key) != at(new, key) {
            report.forbidden(*key, DETAIL);
        }
    }
}

/// Puts the fields that may change to their old values; what then differs may not change.
fn differs_beyond(old: &Value, new: &Value, allowed: &[&str]) -> bool {
    let strip = |value: &Value| {
        let mut map = value.as_object().cloned().unwrap_or_default();
        map.retain(|key, _| !allowed.contains(&key.as_str()));
        map
    };
    strip(old) != strip(new)
}

fn stateful_set(old: &Value, new: &Value, report: &mut Report) {
    let allowed = [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ];
    if differs_beyond(at(old, "spec"), at(new, "spec"), &allowed) {
        report.forbidden(
            "spec",
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
             'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
             'minReadySeconds' are forbidden",
        );
    }
}

fn job(old: &Value, new: &Value, report: &mut Report) {
    let indexed = text(at(new, "spec"), "completionMode") == "Indexed";
    if !indexed {
        same(old, new, "/spec/completions", "spec.completions", report);
    }
    same(old, new, "/spec/selector", "spec.selector", report);
    let spec = |value: &Value| value.pointer("/spec/template/spec").cloned().unwrap_or(Value::Null);
    // A job that never started may still be placed elsewhere.
    let placing = ["nodeSelector", "affinity", "tolerations", "schedulingGates"];
    let suspended = at(at(old, "spec"), "suspend").as_bool() == Some(true)
        && at(at(old, "status"), "startTime").is_null();
    let allowed: &[&str] = if suspended { &placing } else { &[] };
    if differs_beyond(&spec(old), &spec(new), allowed) {
        report.invalid("spec.template.spec", &spec(new), "field is immutable");
    }
    same(old, new, "/spec/completionMode", "spec.completionMode", report);
}

fn claim(old: &Value, new: &Value, report: &mut Report) {
    let (mut before, mut after) = (at(old, "spec").clone(), at(new, "spec").clone());
    let unbound = text(&before, "volumeName").is_empty();
    for spec in [&mut before, &mut after] {
        let Some(map) = spec.as_object_mut() else { continue };
        map.remove("resources");
        map.remove("volumeAttributesClassName");
        if unbound {
            map.remove("volumeName");
        }
    }
    if before != after {
        report.forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and \
             volumeAttributesClassName for bound claims",
        );
    }
}

/// Of a pod's spec only images and a few other fields may change.
fn pod(old: &Value, new: &Value, report: &mut Report) {
    let strip = |value: &Value| {
        let mut spec = at(value, "spec").clone();
        let Some(map) = spec.as_object_mut() else { return spec };
        for key in
            ["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "nodeName"]
        {
            map.remove(key);
        }
        for key in ["schedulingGates", "ephemeralContainers"] {
            map.remove(key);
        }
        for key in ["containers", "initContainers"] {
            let list = map.get_mut(key).and_then(Value::as_array_mut);
            for container in list.into_iter().flatten().filter_map(Value::as_object_mut) {
                container.remove("image");
            }
        }
        spec
    };
    if strip(old) != strip(new) {
        report.forbidden(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,\
             `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only \
             additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be \
             set to 1 if it was previously negative)\n",
        );
    }
}

fn role(old: &Value, new: &Value, report: &mut Report) {
    let (before, after) = (at(old, "roleRef"), at(new, "roleRef"));
    if before != after {
        let shown = inner_form(after, &["APIGroup", "Kind", "Name"]);
        report.invalid_text("roleRef", &shown, "cannot change roleRef");
    }
}
