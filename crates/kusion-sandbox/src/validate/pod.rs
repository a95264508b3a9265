//! Pods and their templates.

use super::containers;
use super::report::{Report, at, is_empty, items, join, text};
use kusion_k8s_schema::names;
use serde_json::Value;
use std::collections::BTreeSet;

/// Kinds of volumes, in the order in which the server looks at them.
const VOLUME_KINDS: &[&str] = &[
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "cinder",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "scaleIO",
    "projected",
    "csi",
    "ephemeral",
    "image",
];

/// A pod; most of it is looked at only once.
pub(super) fn pod(pod: &Value, created: bool, report: &mut Report) {
    if created {
        spec(at(pod, "spec"), "spec", report);
        if !is_empty(at(at(pod, "spec"), "ephemeralContainers")) {
            report.forbidden("spec.ephemeralContainers", "cannot be set on create");
        }
    }
}

/// The template of a pod.
pub(super) fn template(template: &Value, path: &str, report: &mut Report) {
    let metadata = at(template, "metadata");
    let path_to = |key: &str| format!("{path}.metadata.{key}").replace("metadata.labels", "labels");
    report.causes.extend(names::labels(metadata.get("labels"), &path_to("labels")));
    let annotations = format!("{path}.annotations");
    report.causes.extend(names::annotations(metadata.get("annotations"), &annotations));
    spec(at(template, "spec"), &join(path, "spec"), report);
}

fn spec(spec: &Value, path: &str, report: &mut Report) {
    let volumes = volumes(spec, path, report);
    let mut seen = BTreeSet::new();
    if is_empty(at(spec, "containers")) {
        report.required(join(path, "containers"), "");
    }
    for (at_path, it) in items(spec, "containers", path) {
        containers::container(it, &at_path, &volumes, &mut seen, report);
    }
    for (at_path, it) in items(spec, "initContainers", path) {
        containers::container(it, &at_path, &volumes, &mut seen, report);
    }
    report.one_of(spec, "restartPolicy", path, &["Always", "OnFailure", "Never"]);
    let dns = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    report.one_of(spec, "dnsPolicy", path, &dns);
    node_selector(spec, path, report);
    let account = text(spec, "serviceAccountName");
    if !account.is_empty() {
        let messages = names::dns1123_subdomain(account);
        report.messages(
            &join(path, "serviceAccountName"),
            at(spec, "serviceAccountName"),
            messages,
        );
    }
    let deadline = at(spec, "activeDeadlineSeconds");
    if deadline.as_i64().is_some_and(|seconds| !(1..=i64::from(i32::MAX)).contains(&seconds)) {
        let detail = "must be between 1 and 2147483647, inclusive";
        report.invalid(join(path, "activeDeadlineSeconds"), deadline, detail);
    }
    for (at_path, it) in items(spec, "tolerations", path) {
        toleration(it, &at_path, report);
    }
    for (at_path, it) in items(spec, "hostAliases", path) {
        if text(it, "ip").parse::<std::net::IpAddr>().is_err() {
            let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            report.invalid(join(&at_path, "ip"), at(it, "ip"), detail);
        }
    }
}

fn node_selector(spec: &Value, path: &str, report: &mut Report) {
    let selector = spec.get("nodeSelector");
    report.causes.extend(names::labels(selector, &join(path, "nodeSelector")));
}

fn toleration(it: &Value, path: &str, report: &mut Report) {
    let key = text(it, "key");
    if !key.is_empty() {
        report.messages(&join(path, "key"), at(it, "key"), names::qualified_name(key));
    }
    let operator = text(it, "operator");
    if key.is_empty() && operator != "Exists" {
        let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        report.invalid(join(path, "operator"), at(it, "operator"), detail);
    }
    if at(it, "tolerationSeconds").is_i64() && text(it, "effect") != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        report.invalid(join(path, "effect"), at(it, "effect"), detail);
    }
    match operator {
        "" | "Equal" => {
            report.messages(
                &join(path, "operator"),
                at(it, "value"),
                names::label_value(text(it, "value")),
            );
        }
        "Exists" => {
            if !text(it, "value").is_empty() {
                let detail = "value must be empty when `operator` is 'Exists'";
                report.invalid(join(path, "operator"), at(it, "value"), detail);
            }
        }
        // Those that a server knows but does not have by default are listed only with each other.
        "Lt" | "Gt" => {
            let known = ["Equal", "Exists", "Lt", "Gt"];
            report.not_supported(join(path, "operator"), at(it, "operator"), &known);
        }
        _ => report.not_supported(join(path, "operator"), at(it, "operator"), &["Equal", "Exists"]),
    }
    let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    let effect = text(it, "effect");
    if !effect.is_empty() && !effects.contains(&effect) {
        report.not_supported(join(path, "effect"), at(it, "effect"), &effects);
    }
}

/// Checks the volumes and returns their names.
fn volumes<'a>(spec: &'a Value, path: &str, report: &mut Report) -> BTreeSet<&'a str> {
    let mut known = BTreeSet::new();
    for (at_path, it) in items(spec, "volumes", path) {
        let name = text(it, "name");
        volume_source(it, &at_path, report);
        if name.is_empty() {
            report.required(join(&at_path, "name"), "");
            continue;
        }
        let messages = names::dns1123_label(name);
        if !messages.is_empty() {
            report.messages(&join(&at_path, "name"), at(it, "name"), messages);
        } else if !known.insert(name) {
            report.duplicate(join(&at_path, "name"), at(it, "name"));
        }
    }
    known
}

fn volume_source(volume: &Value, path: &str, report: &mut Report) {
    let mut count = 0;
    for kind in VOLUME_KINDS {
        let source = at(volume, kind);
        if source.is_null() {
            continue;
        }
        count += 1;
        let path = join(path, kind);
        if count > 1 {
            report.forbidden(path, "may not specify more than 1 volume type");
            continue;
        }
        match *kind {
            "hostPath" if text(source, "path").is_empty() => {
                report.required(join(&path, "path"), "");
            }
            "secret" if text(source, "secretName").is_empty() => {
                report.required(join(&path, "secretName"), "");
            }
            "configMap" if text(source, "name").is_empty() => {
                report.required(join(&path, "name"), "");
            }
            "persistentVolumeClaim" if text(source, "claimName").is_empty() => {
                report.required(join(&path, "claimName"), "");
            }
            "csi" if text(source, "driver").is_empty() => {
                report.required(join(&path, "driver"), "");
            }
            _ => {}
        }
    }
    if count == 0 {
        report.required(path, "must specify a volume type");
    }
}
