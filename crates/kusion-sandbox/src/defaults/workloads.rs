//! Workloads: what makes and keeps pods.

use super::{Object, child, items, made, pod, set, set_text, spec, text};
use serde_json::{Value, json};

/// Kinds of the group `apps`.
pub(super) fn apps(kind: &str, object: &mut Object) {
    match kind {
        "Deployment" => deployment(spec(object)),
        "ReplicaSet" => set(spec(object), "replicas", 1),
        "StatefulSet" => stateful_set(spec(object)),
        "DaemonSet" => daemon_set(spec(object)),
        _ => return,
    }
    if let Some(template) = child(spec(object), "template") {
        pod::template(template);
    }
}

fn deployment(spec: &mut Object) {
    set(spec, "replicas", 1);
    set(spec, "revisionHistoryLimit", 10);
    set(spec, "progressDeadlineSeconds", 600);
    let strategy = made(spec, "strategy");
    set_text(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate" {
        let rolling = made(strategy, "rollingUpdate");
        set(rolling, "maxUnavailable", "25%");
        set(rolling, "maxSurge", "25%");
    }
}

fn stateful_set(spec: &mut Object) {
    set(spec, "replicas", 1);
    set(spec, "revisionHistoryLimit", 10);
    set_text(spec, "podManagementPolicy", "OrderedReady");
    let strategy = made(spec, "updateStrategy");
    if text(strategy, "type").is_empty() {
        set_text(strategy, "type", "RollingUpdate");
        made(strategy, "rollingUpdate");
    }
    // Who names the type and nothing else gets nothing else.
    if text(strategy, "type") == "RollingUpdate"
        && let Some(rolling) = child(strategy, "rollingUpdate")
    {
        set(rolling, "partition", 0);
    }
    let retention = made(spec, "persistentVolumeClaimRetentionPolicy");
    set_text(retention, "whenDeleted", "Retain");
    set_text(retention, "whenScaled", "Retain");
    for claim in items(spec, "volumeClaimTemplates") {
        set_text(claim, "apiVersion", "v1");
        set_text(claim, "kind", "PersistentVolumeClaim");
        super::cluster::claim(claim);
    }
}

fn daemon_set(spec: &mut Object) {
    set(spec, "revisionHistoryLimit", 10);
    let strategy = made(spec, "updateStrategy");
    set_text(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate" {
        let rolling = made(strategy, "rollingUpdate");
        set(rolling, "maxUnavailable", 1);
        set(rolling, "maxSurge", 0);
    }
}

/// A replication controller: labels and selector follow those of its pods.
pub(super) fn replication_controller(object: &mut Object) {
    let labels = template_labels(object);
    let controller = spec(object);
    set(controller, "replicas", 1);
    if let Some(template) = child(controller, "template") {
        pod::template(template);
    }
    if let Some(labels) = labels {
        if controller.get("selector").and_then(Value::as_object).is_none_or(Object::is_empty) {
            controller.insert("selector".into(), labels.clone());
        }
        label(object, labels);
    }
}

/// A job; one without labels takes those of its pods.
pub(super) fn job(object: &mut Object) {
    let labels = template_labels(object);
    let job = spec(object);
    if job.get("completions").is_none_or(Value::is_null)
        && job.get("parallelism").is_none_or(Value::is_null)
    {
        job.insert("completions".into(), 1.into());
    }
    set(job, "parallelism", 1);
    let per_index = job.get("backoffLimitPerIndex").is_some_and(|limit| !limit.is_null());
    set(job, "backoffLimit", if per_index { i32::MAX } else { 6 });
    set_text(job, "completionMode", "NonIndexed");
    set(job, "suspend", false);
    set(job, "manualSelector", false);
    let replaced = if job.get("podFailurePolicy").is_some_and(|policy| !policy.is_null()) {
        "Failed"
    } else {
        "TerminatingOrFailed"
    };
    set_text(job, "podReplacementPolicy", replaced);
    failure_policy(job);
    if let Some(template) = child(job, "template") {
        pod::template(template);
    }
    if let Some(labels) = labels {
        label(object, labels);
    }
}

/// What the failures of pods mean for their job.
fn failure_policy(job: &mut Object) {
    let Some(policy) = child(job, "podFailurePolicy") else { return };
    for rule in items(policy, "rules") {
        for pattern in items(rule, "onPodConditions") {
            set_text(pattern, "status", "True");
        }
    }
}

/// A cron job; its job template gets the defaults of pods, not those of jobs.
pub(super) fn cron_job(object: &mut Object) {
    let cron = spec(object);
    set_text(cron, "concurrencyPolicy", "Allow");
    set(cron, "suspend", false);
    set(cron, "successfulJobsHistoryLimit", 3);
    set(cron, "failedJobsHistoryLimit", 1);
    let job = made(cron, "jobTemplate");
    made(job, "metadata");
    failure_policy(spec(job));
    if let Some(template) = child(spec(job), "template") {
        pod::template(template);
    }
}

/// A horizontal pod autoscaler of version 2.
pub(super) fn autoscaler(object: &mut Object) {
    let scaler = spec(object);
    set(scaler, "minReplicas", 1);
    if scaler.get("metrics").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        let cpu = json!([{
            "type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
        }]);
        scaler.insert("metrics".into(), cpu);
    }
    if let Some(behavior) = child(scaler, "behavior") {
        let up = json!({"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ]});
        let down = json!({"selectPolicy": "Max", "policies": [
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ]});
        for (key, rules) in [("scaleUp", up), ("scaleDown", down)] {
            let given = made(behavior, key);
            for (name, value) in rules.as_object().into_iter().flatten() {
                set(given, name, value.clone());
            }
        }
    }
}

fn template_labels(object: &mut Object) -> Option<Value> {
    let template = child(spec(object), "template")?;
    let labels = child(template, "metadata")?.get("labels")?;
    labels.as_object().is_some_and(|labels| !labels.is_empty()).then(|| labels.clone())
}

/// Labels an object that has no labels.
fn label(object: &mut Object, labels: Value) {
    let metadata = made(object, "metadata");
    if metadata.get("labels").and_then(Value::as_object).is_none_or(Object::is_empty) {
        metadata.insert("labels".into(), labels);
    }
}
