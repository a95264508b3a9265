//! What a client is told about an object that is accepted: fields, annotations and kinds that
//! are deprecated or have no effect, as the real server words it.

mod addresses;
mod pod;
mod volumes;

use crate::registry::Served;
use crate::validate::{at, items, text};
use kusion_k8s_schema::{Quantity, names};
use serde_json::Value;

/// Labels of nodes that have other names now.
const NODE_LABELS: &[(&str, &str)] = &[
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    ("beta.kubernetes.io/arch", r#"deprecated since v1.14; use "kubernetes.io/arch" instead"#),
    (
        "beta.kubernetes.io/instance-type",
        r#"deprecated since v1.17; use "node.kubernetes.io/instance-type" instead"#,
    ),
    ("beta.kubernetes.io/os", r#"deprecated since v1.14; use "kubernetes.io/os" instead"#),
    (
        "failure-domain.beta.kubernetes.io/region",
        r#"deprecated since v1.17; use "topology.kubernetes.io/region" instead"#,
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        r#"deprecated since v1.17; use "topology.kubernetes.io/zone" instead"#,
    ),
    ("node-role.kubernetes.io/master", r#"use "node-role.kubernetes.io/control-plane" instead"#),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
];

/// Names that only policies in the files of a server may have.
const STATIC: &str = ".static.k8s.io";

/// Kinds of Kubernetes itself that are deprecated.
const DEPRECATED: &[(&str, &str)] = &[
    ("Endpoints", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
    ("ComponentStatus", "v1 ComponentStatus is deprecated in v1.19+"),
];

/// Returns the warning about all requests for a deprecated kind or version.
pub(crate) fn deprecation(served: &Served) -> Option<&str> {
    match &served.custom {
        Some(custom) => custom.deprecation.as_deref(),
        None if served.resource.group.is_empty() => {
            DEPRECATED.iter().find(|(kind, _)| *kind == &*served.kind).map(|(_, text)| *text)
        }
        None => None,
    }
}

/// Returns the warnings about a new or changed object in its storage version.
pub(crate) fn of(served: &Served, old: Option<&Value>, new: &Value) -> Vec<String> {
    let mut out = Vec::new();
    if !served.is_builtin() {
        return out;
    }
    let spec = at(new, "spec");
    let created = old.is_none();
    let changed = || {
        at(at(new, "metadata"), "generation")
            != old.map_or(&Value::Null, |old| at(at(old, "metadata"), "generation"))
    };
    match (&*served.storage.group, &*served.kind) {
        ("", "Pod") if created => {
            name(new, "the Pod's hostname", &mut out);
            pod::spec_and_meta(spec, at(new, "metadata"), "", &mut out);
        }
        ("", "PodTemplate") if created || changed() => {
            pod::template(at(new, "template"), "template", &mut out);
        }
        ("", "ReplicationController") | ("apps", _) | ("batch", "Job") if created || changed() => {
            if created && !matches!(&*served.kind, "StatefulSet" | "DaemonSet") {
                name(new, "Pod names and hostnames", &mut out);
            }
            if !at(spec, "template").is_null() {
                pod::template(at(spec, "template"), "spec.template", &mut out);
            }
            stateful(&served.kind, spec, &mut out);
        }
        ("batch", "CronJob") if created || changed() => {
            if created {
                name(new, "Pod names and hostnames", &mut out);
            }
            let path = "spec.jobTemplate.spec.template";
            let job = at(at(spec, "jobTemplate"), "spec");
            pod::template(at(job, "template"), path, &mut out);
        }
        ("", "PersistentVolumeClaim") => volumes::claim(new, &mut out),
        ("", "PersistentVolume") => volumes::volume(new, &mut out),
        ("", "Service") => service(new, &mut out),
        ("", "Secret") => key_pair(new, &mut out),
        ("", "ServiceAccount") => account(old, new, &mut out),
        ("", "ResourceQuota") if created => quota(at(spec, "hard"), &mut out),
        ("", "Endpoints") => addresses::endpoints(new, &mut out),
        ("", "Node") => node(spec, &mut out),
        ("networking.k8s.io", "Ingress") if created => ingress(new, &mut out),
        ("networking.k8s.io", "NetworkPolicy") => addresses::policy(spec, &mut out),
        ("discovery.k8s.io", "EndpointSlice") => addresses::slice(new, created, &mut out),
        ("storage.k8s.io", "StorageClass") => volumes::class(new, &mut out),
        ("storage.k8s.io", "CSIDriver") if created => volumes::driver(spec, &mut out),
        ("node.k8s.io", "RuntimeClass") => {
            let selector = at(at(new, "scheduling"), "nodeSelector");
            for (_, message) in selector_labels(selector) {
                out.push(format!("scheduling.nodeSelector: {message}"));
            }
        }
        ("admissionregistration.k8s.io", _) if crate::object::name(new).ends_with(STATIC) => {
            out.push(format!(
                "metadata.name: names ending with {STATIC:?} are reserved for static \
                 manifest-based configurations and cannot be managed via the API"
            ));
        }
        _ => {}
    }
    out
}

/// Returns what is said about a label of nodes.
fn node_label(label: &str) -> Option<&'static str> {
    NODE_LABELS.iter().find(|(name, _)| *name == label).map(|(_, message)| *message)
}

/// Returns the deprecated labels of a map, and what is said about them.
fn selector_labels(map: &Value) -> impl Iterator<Item = (&str, &'static str)> {
    let keys = map.as_object().into_iter().flat_map(|it| it.keys());
    keys.filter_map(|key| Some((key.as_str(), node_label(key)?)))
}

/// Warns about deprecated labels in a term of a node selector.
fn selector_term(term: &Value, path: &str, check_values: bool, out: &mut Vec<String>) {
    for (path, expression) in items(term, "matchExpressions", path) {
        let key = text(expression, "key");
        if let Some(message) = node_label(key) {
            out.push(format!("{path}.key: {key} is {message}"));
        }
        if !check_values {
            continue;
        }
        for (path, value) in items(expression, "values", &path) {
            let value = value.as_str().unwrap_or_default();
            for message in names::label_value(value) {
                out.push(format!("{path}: {value} is invalid, {message}"));
            }
        }
    }
}

/// Warns about a name that no host can have.
fn name(object: &Value, used_in: &str, out: &mut Vec<String>) {
    let messages = names::dns1123_label(crate::object::name(object));
    if !messages.is_empty() {
        out.push(format!(
            "metadata.name: this is used in {used_in}, which can result in surprising behavior; a \
             DNS label is recommended: [{}]",
            messages.join(" ")
        ));
    }
}

/// Warns about an amount of bytes that is no whole number.
fn fraction(amounts: &Value, name: &str, path: &str, out: &mut Vec<String>) {
    let value = at(amounts, name);
    if Quantity::of(value).is_some_and(|amount| amount.milli() % 1000 != 0) {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        out.push(format!(
            "{path}[{name}]: fractional byte value {shown:?} is invalid, must be an integer"
        ));
    }
}

fn stateful(kind: &str, spec: &Value, out: &mut Vec<String>) {
    if kind != "StatefulSet" {
        return;
    }
    for (path, claim) in items(spec, "volumeClaimTemplates", "spec") {
        volumes::claim_spec(at(claim, "spec"), &path, out);
    }
    if at(spec, "revisionHistoryLimit").as_i64().is_some_and(|limit| limit < 0) {
        let message = "spec.revisionHistoryLimit: a negative value retains all historical \
                       revisions; a value >= 0 is recommended";
        out.push(message.to_owned());
    }
}

fn service(service: &Value, out: &mut Vec<String>) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    let spec = at(service, "spec");
    if annotation(service, HINTS).is_some() {
        out.push(format!(
            "annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
        ));
    }
    let external = at(spec, "externalIPs").as_array().is_some_and(|list| !list.is_empty());
    let headless = text(spec, "type") == "ClusterIP" && text(spec, "clusterIP") == "None";
    if headless {
        let ignored = [
            (!text(spec, "loadBalancerIP").is_empty(), "loadBalancerIP"),
            (external, "externalIPs"),
            (text(spec, "sessionAffinity") != "None", "SessionAffinity"),
        ];
        for (_, field) in ignored.iter().filter(|it| it.0) {
            out.push(format!("spec.{field} is ignored for headless services"));
        }
    }
    addresses::service(spec, headless, out);
    let by_name = text(spec, "type") == "ExternalName";
    if external && !headless && !by_name {
        let message = "spec.externalIPs is deprecated and may no longer be implemented in some \
                       clusters";
        out.push(message.to_owned());
    }
    if by_name && external {
        out.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".to_owned());
    }
    if !by_name && !text(spec, "externalName").is_empty() {
        out.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".to_owned());
    }
    if text(spec, "trafficDistribution") == "PreferClose" {
        let message = "spec.trafficDistribution: \"PreferClose\" is deprecated; use \
                       \"PreferSameZone\"";
        out.push(message.to_owned());
    }
}

/// Warns about a certificate or key in which there is none.
fn key_pair(secret: &Value, out: &mut Vec<String>) {
    if text(secret, "type") != "kubernetes.io/tls" {
        return;
    }
    for (key, what) in [("tls.crt", "certificate"), ("tls.key", "key")] {
        let encoded = text(at(secret, "data"), key).as_bytes();
        let bytes = data_encoding::BASE64.decode(encoded).unwrap_or_default();
        if !String::from_utf8_lossy(&bytes).contains("-----BEGIN ") {
            out.push(format!("tls: failed to find any PEM data in {what} input"));
            return;
        }
    }
}

fn account(old: Option<&Value>, new: &Value, out: &mut Vec<String>) {
    const KEY: &str = "kubernetes.io/enforce-mountable-secrets";
    if annotation(new, KEY).is_some() && old.is_none_or(|old| annotation(old, KEY).is_none()) {
        out.push(format!(
            "metadata.annotations[{KEY}]: deprecated in v1.32+; prefer separate namespaces to \
             isolate access to mounted secrets"
        ));
    }
}

/// Warns about requests that exceed the limits of the same quota.
fn quota(hard: &Value, out: &mut Vec<String>) {
    for name in ["cpu", "memory", "ephemeral-storage"] {
        let request = [format!("requests.{name}"), name.to_owned()]
            .into_iter()
            .filter(|key| key.starts_with("requests.") || name != "ephemeral-storage")
            .find(|key| !at(hard, key).is_null());
        let Some(request) = request else { continue };
        let limit = format!("limits.{name}");
        let (wanted, most) = (at(hard, &request), at(hard, &limit));
        if let (Some(a), Some(b)) = (Quantity::of(wanted), Quantity::of(most))
            && a > b
        {
            let shown = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            out.push(format!(
                "ResourceQuota {request} ({}) should be less than {limit} ({})",
                shown(wanted),
                shown(most)
            ));
        }
    }
}

fn node(spec: &Value, out: &mut Vec<String>) {
    if !at(spec, "configSource").is_null() {
        out.push("spec.configSource: the feature is removed".to_owned());
    }
    if !text(spec, "externalID").is_empty() {
        let message = "spec.externalID: this field is deprecated, and is unused by Kubernetes";
        out.push(message.to_owned());
    }
}

fn ingress(ingress: &Value, out: &mut Vec<String>) {
    const KEY: &str = "kubernetes.io/ingress.class";
    if annotation(ingress, KEY).is_some() && at(at(ingress, "spec"), "ingressClassName").is_null() {
        out.push(format!(
            "annotation {KEY:?} is deprecated, please use 'spec.ingressClassName' instead"
        ));
    }
}

fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    at(at(object, "metadata"), "annotations").get(key)
}
