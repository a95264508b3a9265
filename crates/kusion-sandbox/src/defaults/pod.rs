//! Pods, and what describes them in workloads.

use super::image::follows_latest;
use super::{Object, child, items, made, set, set_number, set_text, spec, text};
use serde_json::{Map, Value, json};

/// How files of config maps, secrets and the like may be used, in octal 644.
const FILE_MODE: i64 = 0o644;
/// Texts of some kinds of volumes, in pods and on their own.
const SOURCES: &[(&str, &[(&str, &str)])] = &[
    ("azureDisk", &[("cachingMode", "ReadWrite"), ("fsType", "ext4"), ("kind", "Shared")]),
    ("hostPath", &[("type", "")]),
    ("iscsi", &[("iscsiInterface", "default")]),
    ("rbd", &[("pool", "rbd"), ("user", "admin"), ("keyring", "/etc/ceph/keyring")]),
    ("scaleIO", &[("storageMode", "ThinProvisioned"), ("fsType", "xfs")]),
];
/// Seconds for which a token in a volume is good.
const TOKEN_SECONDS: i64 = 3600;

/// A pod itself.
pub(super) fn pod(object: &mut Object) {
    let spec = spec(object);
    set(spec, "enableServiceLinks", true);
    for key in ["containers", "initContainers"] {
        for container in items(spec, key) {
            request_what_is_limited(container);
        }
    }
    pod_spec(spec);
}

/// The template of a pod.
pub(super) fn template(template: &mut Object) {
    made(template, "metadata");
    pod_spec(spec(template));
}

/// What a container may take at most it also asks for, unless it says otherwise.
fn request_what_is_limited(container: &mut Object) {
    let Some(resources) = child(container, "resources") else { return };
    let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned() else { return };
    let requests = made(resources, "requests");
    for (name, limit) in limits {
        requests.entry(name).or_insert(limit);
    }
}

fn pod_spec(spec: &mut Object) {
    set_text(spec, "restartPolicy", "Always");
    set_text(spec, "dnsPolicy", "ClusterFirst");
    set_text(spec, "schedulerName", "default-scheduler");
    set(spec, "terminationGracePeriodSeconds", 30);
    set(spec, "securityContext", json!({}));
    same_account(spec);
    let host_network = spec.get("hostNetwork").and_then(Value::as_bool).unwrap_or(false);
    for key in ["containers", "initContainers", "ephemeralContainers"] {
        for it in items(spec, key) {
            container(it, host_network);
        }
    }
    for it in items(spec, "volumes") {
        volume(it);
    }
    for rule in items(spec, "topologySpreadConstraints") {
        set_text(rule, "whenUnsatisfiable", "DoNotSchedule");
    }
}

/// The service account has an old and a new name; both are served.
fn same_account(spec: &mut Object) {
    let (new, old) = (text(spec, "serviceAccountName"), text(spec, "serviceAccount"));
    let account = if new.is_empty() { old } else { new }.to_owned();
    if !account.is_empty() {
        spec.insert("serviceAccountName".into(), account.clone().into());
        spec.insert("serviceAccount".into(), account.into());
    }
}

fn container(container: &mut Object, host_network: bool) {
    let policy = if follows_latest(text(container, "image")) { "Always" } else { "IfNotPresent" };
    set_text(container, "imagePullPolicy", policy);
    set_text(container, "terminationMessagePath", "/dev/termination-log");
    set_text(container, "terminationMessagePolicy", "File");
    set(container, "resources", json!({}));
    for port in items(container, "ports") {
        set_text(port, "protocol", "TCP");
        if host_network && let Some(number) = port.get("containerPort").cloned() {
            set(port, "hostPort", number);
        }
    }
    for env in items(container, "env") {
        if let Some(field) = child(env, "valueFrom").and_then(|it| child(it, "fieldRef")) {
            set_text(field, "apiVersion", "v1");
        }
    }
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(it) = child(container, key) {
            probe(it);
        }
    }
    if let Some(lifecycle) = child(container, "lifecycle") {
        for key in ["postStart", "preStop"] {
            if let Some(request) = child(lifecycle, key).and_then(|it| child(it, "httpGet")) {
                http_request(request);
            }
        }
    }
}

fn probe(probe: &mut Object) {
    for (key, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        set_number(probe, key, value);
    }
    if let Some(request) = child(probe, "httpGet") {
        http_request(request);
    }
    if let Some(request) = child(probe, "grpc") {
        set(request, "service", "");
    }
}

fn http_request(request: &mut Object) {
    set_text(request, "path", "/");
    set_text(request, "scheme", "HTTP");
}

/// What a volume consists of, in a pod or on its own.
pub(super) fn volume_source(volume: &mut Object) {
    for (kind, texts) in SOURCES {
        let Some(source) = child(volume, kind) else { continue };
        for (key, value) in *texts {
            // Of disks of this kind, an empty text is a choice.
            match *kind {
                "azureDisk" | "hostPath" => set(source, key, *value),
                _ => set_text(source, key, value),
            }
        }
        if *kind == "azureDisk" {
            set(source, "readOnly", false);
        }
    }
}

/// A volume of a pod; one without a source is an empty folder.
fn volume(volume: &mut Object) {
    if volume.keys().all(|key| key == "name") {
        volume.insert("emptyDir".into(), Value::Object(Map::new()));
    }
    for key in ["secret", "configMap"] {
        if let Some(source) = child(volume, key) {
            set(source, "defaultMode", FILE_MODE);
        }
    }
    if let Some(source) = child(volume, "downwardAPI") {
        set(source, "defaultMode", FILE_MODE);
        downward_items(source);
    }
    volume_source(volume);
    if let Some(source) = child(volume, "projected") {
        set(source, "defaultMode", FILE_MODE);
        for part in items(source, "sources") {
            if let Some(token) = child(part, "serviceAccountToken") {
                set(token, "expirationSeconds", TOKEN_SECONDS);
            }
            if let Some(part) = child(part, "downwardAPI") {
                downward_items(part);
            }
        }
    }
    if let Some(claim) = child(volume, "ephemeral").and_then(|it| child(it, "volumeClaimTemplate"))
    {
        set_text(spec(claim), "volumeMode", "Filesystem");
    }
    if let Some(image) = child(volume, "image") {
        let policy =
            if follows_latest(text(image, "reference")) { "Always" } else { "IfNotPresent" };
        set_text(image, "pullPolicy", policy);
    }
}

fn downward_items(source: &mut Object) {
    for item in items(source, "items") {
        if let Some(field) = child(item, "fieldRef") {
            set_text(field, "apiVersion", "v1");
        }
    }
}
