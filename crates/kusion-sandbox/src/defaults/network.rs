//! Services and what stands around them.

use super::{Object, items, made, set, set_text, spec, text};
use serde_json::{Value, json};

/// Seconds for which a client stays with its pod.
const AFFINITY_SECONDS: i64 = 10_800;

/// A service.
pub(super) fn service(object: &mut Object) {
    let service = spec(object);
    set_text(service, "sessionAffinity", "None");
    match text(service, "sessionAffinity") {
        "ClientIP" => {
            let config = made(made(service, "sessionAffinityConfig"), "clientIP");
            set(config, "timeoutSeconds", AFFINITY_SECONDS);
        }
        _ => {
            service.remove("sessionAffinityConfig");
        }
    }
    set_text(service, "type", "ClusterIP");
    for port in items(service, "ports") {
        set_text(port, "protocol", "TCP");
        if target_is_missing(port)
            && let Some(number) = port.get("port").cloned()
        {
            port.insert("targetPort".into(), number);
        }
    }
    let kind = text(service, "type").to_owned();
    let external = service.get("externalIPs").and_then(Value::as_array);
    let addressed = kind == "ClusterIP" && external.is_some_and(|ips| !ips.is_empty());
    if kind == "NodePort" || kind == "LoadBalancer" || addressed {
        set_text(service, "externalTrafficPolicy", "Cluster");
    }
    if kind != "ExternalName" {
        set(service, "internalTrafficPolicy", "Cluster");
    }
    if kind == "LoadBalancer" {
        set(service, "allocateLoadBalancerNodePorts", true);
    }
}

fn target_is_missing(port: &Object) -> bool {
    match port.get("targetPort") {
        None | Some(Value::Null) => true,
        Some(Value::String(name)) => name.is_empty(),
        Some(number) => number.as_i64() == Some(0),
    }
}

/// The old form of endpoints.
pub(super) fn endpoints(object: &mut Object) {
    for subset in items(object, "subsets") {
        for port in items(subset, "ports") {
            set_text(port, "protocol", "TCP");
        }
    }
}

/// Endpoints in slices.
pub(super) fn endpoint_slice(object: &mut Object) {
    for port in items(object, "ports") {
        set(port, "name", "");
        set_text(port, "protocol", "TCP");
    }
}

/// A network policy: what it governs follows from its rules.
pub(super) fn policy(object: &mut Object) {
    let policy = spec(object);
    for key in ["ingress", "egress"] {
        for rule in items(policy, key) {
            for port in items(rule, "ports") {
                set_text(port, "protocol", "TCP");
            }
        }
    }
    if policy.get("policyTypes").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        let egress =
            policy.get("egress").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
        let types = if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
        policy.insert("policyTypes".into(), types);
    }
}

/// A class of ingresses.
pub(super) fn ingress_class(object: &mut Object) {
    if let Some(parameters) = super::child(spec(object), "parameters") {
        set(parameters, "scope", "Cluster");
    }
}
