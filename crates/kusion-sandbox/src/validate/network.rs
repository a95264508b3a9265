//! Endpoints, ingresses and network policies.

use super::addresses;
use super::report::{Report, at, is_empty, items, join, text};
use kusion_k8s_schema::names;
use serde_json::Value;
use std::net::IpAddr;

pub(super) const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];

/// The old form of endpoints.
pub(super) fn endpoints(object: &Value, report: &mut Report) {
    for (path, subset) in items(object, "subsets", "") {
        if is_empty(at(subset, "addresses")) && is_empty(at(subset, "notReadyAddresses")) {
            report.required(path.clone(), "must specify `addresses` or `notReadyAddresses`");
        }
        for key in ["addresses", "notReadyAddresses"] {
            for (path, address) in items(subset, key, &path) {
                // Loopback addresses stay allowed: the sandbox itself has one.
                addresses::valid(&join(&path, "ip"), at(address, "ip"), report);
            }
        }
        for (path, port) in items(subset, "ports", &path) {
            let number = at(port, "port");
            let messages = names::port_number(number.as_i64().unwrap_or(0));
            report.messages(&join(&path, "port"), number, messages);
        }
    }
}

/// Endpoints in slices.
pub(super) fn endpoint_slice(object: &Value, report: &mut Report) {
    report.one_of(object, "addressType", "", &["FQDN", "IPv4", "IPv6"]);
    for (path, endpoint) in items(object, "endpoints", "") {
        if is_empty(at(endpoint, "addresses")) {
            report.required(join(&path, "addresses"), "must contain at least 1 address");
        }
    }
    for (path, port) in items(object, "ports", "") {
        report.one_of(port, "protocol", &path, PROTOCOLS);
    }
}

/// An ingress.
pub(super) fn ingress(spec: &Value, report: &mut Report) {
    if is_empty(at(spec, "rules")) && at(spec, "defaultBackend").is_null() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        report.invalid("spec", &Value::Null, detail);
    }
    if !at(spec, "defaultBackend").is_null() {
        backend(at(spec, "defaultBackend"), "spec.defaultBackend", report);
    }
    for (path, rule) in items(spec, "rules", "spec") {
        host(at(rule, "host"), &join(&path, "host"), report);
        let http = at(rule, "http");
        if http.is_null() {
            continue;
        }
        if is_empty(at(http, "paths")) {
            report.required(format!("{path}.http.paths"), "");
        }
        for (path, it) in items(http, "paths", &join(&path, "http")) {
            ingress_path(it, &path, report);
        }
    }
}

fn host(host: &Value, path: &str, report: &mut Report) {
    let Some(name) = host.as_str().filter(|name| !name.is_empty()) else { return };
    if name.parse::<IpAddr>().is_ok() {
        report.invalid(path, host, "must be a DNS name, not an IP address");
    } else if name.contains('*') {
        report.messages(path, host, names::wildcard_subdomain(name));
    } else {
        report.messages(path, host, names::dns1123_subdomain(name));
    }
}

fn ingress_path(it: &Value, path: &str, report: &mut Report) {
    let place = at(it, "path");
    match text(it, "pathType") {
        "" => return report.required(join(path, "pathType"), "pathType must be specified"),
        "Exact" | "Prefix" => {
            if !place.as_str().is_some_and(|it| it.starts_with('/')) {
                report.invalid(
                    join(path, "path"),
                    &Value::from(place.as_str().unwrap_or_default()),
                    "must be an absolute path",
                );
            }
        }
        "ImplementationSpecific" => {}
        _ => {
            let known = ["Exact", "ImplementationSpecific", "Prefix"];
            report.not_supported(join(path, "pathType"), at(it, "pathType"), &known);
        }
    }
    backend(at(it, "backend"), &join(path, "backend"), report);
}

fn backend(backend: &Value, path: &str, report: &mut Report) {
    let service = at(backend, "service");
    if service.is_null() {
        if at(backend, "resource").is_null() {
            report.required(path, "");
        }
        return;
    }
    let name = text(service, "name");
    if name.is_empty() {
        report.required(format!("{path}.service.name"), "");
    }
    let port = at(service, "port");
    let number = at(port, "number").as_i64().unwrap_or(0);
    let has_name = !text(port, "name").is_empty();
    if has_name && number != 0 {
        report.invalid(path, backend, "cannot set both port name & port number");
    } else if has_name {
        let messages = names::port_name(text(port, "name"));
        report.messages(&format!("{path}.service.port.name"), at(port, "name"), messages);
    } else if number != 0 {
        let messages = names::port_number(number);
        report.messages(&format!("{path}.service.port.number"), at(port, "number"), messages);
    } else {
        report.required(path, "port name or number is required");
    }
}

/// A network policy.
pub(super) fn policy(spec: &Value, report: &mut Report) {
    for (path, it) in items(spec, "policyTypes", "spec") {
        if !matches!(it.as_str(), Some("Ingress" | "Egress")) {
            report.not_supported(path, it, &["Ingress", "Egress"]);
        }
    }
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for (path, rule) in items(spec, rules, "spec") {
            for (path, it) in items(rule, peers, &path) {
                peer(it, &path, report);
            }
        }
    }
}

/// Whom a network policy lets through.
fn peer(peer: &Value, path: &str, report: &mut Report) {
    let given = |key: &str| !at(peer, key).is_null();
    let selected = given("podSelector") || given("namespaceSelector");
    if given("ipBlock") {
        block(at(peer, "ipBlock"), &join(path, "ipBlock"), report);
        if selected {
            report.forbidden(path, "may not specify both ipBlock and another peer");
        }
    } else if !selected {
        report.required(path, "must specify a peer");
    }
}

/// A range of addresses without some that are in it.
fn block(block: &Value, path: &str, report: &mut Report) {
    if text(block, "cidr").is_empty() {
        return report.required(join(path, "cidr"), "");
    }
    let Some((start, bits)) = addresses::range(&join(path, "cidr"), text(block, "cidr"), report)
    else {
        return;
    };
    for (path, it) in items(block, "except", path) {
        let Some((inner, inner_bits)) =
            addresses::range(&path, it.as_str().unwrap_or_default(), report)
        else {
            continue;
        };
        if addresses::start_of_range(inner, bits) != start || inner_bits <= bits {
            report.invalid(path, it, "must be a strict subset of `cidr`");
        }
    }
}
