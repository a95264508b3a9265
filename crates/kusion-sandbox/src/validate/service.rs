//! Services.

use super::addresses as ips;
use super::network::PROTOCOLS;
use super::report::{Report, at, inner_form, is_empty, items, join, text};
use crate::Cause;
use kusion_k8s_schema::names;
use serde_json::Value;
use std::collections::BTreeSet;

/// The longest time for which a client stays with its pod, in seconds.
const MAX_AFFINITY_SECONDS: i64 = 86_400;
const ONLY_BALANCER: &str = "may only be used when `type` is 'LoadBalancer'";

/// A service, and what may not change in it.
pub(super) fn service(old: Option<&Value>, new: &Value, report: &mut Report) {
    let spec = at(new, "spec");
    let old = old.map(|it| at(it, "spec"));
    if let Some(old) = old {
        changes(old, spec, report);
    }
    let kind = text(spec, "type");
    if is_empty(at(spec, "ports")) && !is_headless(spec) && kind != "ExternalName" {
        report.required("spec.ports", "");
    }
    match kind {
        "NodePort" | "LoadBalancer" if is_headless(spec) => {
            let detail = format!("may not be set to 'None' for {kind} services");
            report.invalid("spec.clusterIPs[0]", &Value::from("None"), &detail);
        }
        "ExternalName" => external_name(spec, report),
        _ => {}
    }
    ports(spec, report);
    report.causes.extend(names::labels(spec.get("selector"), "spec.selector"));
    affinity(spec, report);
    report.causes.extend(addresses(spec, old));
    external_addresses(spec, old, report);
    report.one_of(spec, "type", "spec", &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]);
    port_pairs(spec, report);
    balancer(spec, report);
    traffic(spec, report);
}

fn is_headless(spec: &Value) -> bool {
    list(spec, "clusterIPs").len() == 1 && list(spec, "clusterIPs")[0] == "None"
}

fn list<'a>(spec: &'a Value, key: &str) -> &'a [Value] {
    at(spec, key).as_array().map_or(&[], Vec::as_slice)
}

fn is_external_name(spec: &Value) -> bool {
    text(spec, "type") == "ExternalName"
}

fn number(value: &Value, key: &str) -> i64 {
    at(value, key).as_i64().unwrap_or(0)
}

/// Whether a service has pods of its own node asked for their health.
fn needs_health_check(spec: &Value) -> bool {
    text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local"
}

fn external_name(spec: &Value, report: &mut Report) {
    for key in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if !is_empty(at(spec, key)) {
            report.forbidden(join("spec", key), "may not be set for ExternalName services");
        }
    }
    let name = text(spec, "externalName");
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() {
        report.required("spec.externalName", "");
    } else {
        let messages = names::dns1123_subdomain(name);
        report.messages("spec.externalName", &Value::from(name), messages);
    }
}

/// What cannot change, or only together with the policy.
fn changes(old: &Value, spec: &Value, report: &mut Report) {
    if !is_external_name(old) && !is_external_name(spec) {
        let (was_headless, headless) = (is_headless(old), is_headless(spec));
        if !(was_headless && headless) {
            changed_list(old, spec, ("clusterIPs", "clusterIP"), report);
        }
        if !was_headless && !headless {
            changed_list(old, spec, ("ipFamilies", "ipFamily"), report);
        }
    }
    let class = "loadBalancerClass";
    let balanced = |it: &Value| text(it, "type") == "LoadBalancer";
    if balanced(old) && balanced(spec) && at(old, class) != at(spec, class) {
        report.invalid("spec.loadBalancerClass", at(spec, class), "may not change once set");
    }
    balancer_class(spec, report);
    if needs_health_check(old)
        && needs_health_check(spec)
        && number(old, "healthCheckNodePort") != number(spec, "healthCheckNodePort")
    {
        report.forbidden("spec.healthCheckNodePort", "field is immutable");
    }
}

/// Addresses and families stay; a second one may be added, and released by policy.
fn changed_list(old: &Value, spec: &Value, (key, one): (&str, &str), report: &mut Report) {
    let (before, after) = (list(old, key), list(spec, key));
    let path = |idx: usize| format!("spec.{key}[{idx}]");
    let shown = Value::from(after.to_vec());
    if before.len() == after.len() {
        for (idx, (before, after)) in before.iter().zip(after).enumerate() {
            if before != after {
                // The real server names the first family whichever differs.
                let idx = if key == "ipFamilies" { 0 } else { idx };
                report.invalid(path(idx), &shown, "may not change once set");
            }
        }
        return;
    }
    if after.is_empty() {
        report.invalid(path(0), &shown, &format!("primary {one} can not be unset"));
    }
    if let (Some(before), Some(after)) = (before.first(), after.first())
        && before != after
    {
        report.invalid(path(0), &shown, "may not change once set");
    }
    if before.len() > after.len()
        && after.len() == 1
        && text(spec, "ipFamilyPolicy") != "SingleStack"
    {
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {one}");
        report.invalid("spec.ipFamilyPolicy", at(spec, "ipFamilyPolicy"), &detail);
    }
}

/// Returns what is wrong with addresses and families, each for itself and together.
pub(crate) fn addresses(spec: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut report = Report::default();
    if is_external_name(spec) {
        return report.causes;
    }
    let all = at(spec, "clusterIPs");
    let listed = list(spec, "clusterIPs");
    let single = text(spec, "clusterIP");
    match listed.first() {
        None if !single.is_empty() => report.required("spec.clusterIPs", ""),
        Some(_) if single.is_empty() => {
            let detail = "must be empty when `clusterIP` is not specified";
            report.invalid("spec.clusterIPs", all, detail);
        }
        Some(first) if first != single => {
            report.invalid("spec.clusterIPs", all, "first value must match `clusterIP`");
        }
        _ => {}
    }
    let families = list(spec, "ipFamilies");
    for (idx, (path, family)) in items(spec, "ipFamilies", "spec").enumerate() {
        if !matches!(family.as_str(), Some("IPv4" | "IPv6")) {
            report.not_supported(path.clone(), family, &["IPv4", "IPv6"]);
        }
        if families[..idx].contains(family) {
            report.duplicate(path, family);
        }
    }
    let policy = at(spec, "ipFamilyPolicy");
    let policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    if policy.as_str().is_some_and(|it| !policies.contains(&it)) {
        report.not_supported("spec.ipFamilyPolicy", policy, &policies);
    }
    let known = old.map_or(&[][..], |old| list(old, "clusterIPs"));
    let mut usable = true;
    for (idx, (path, address)) in items(spec, "clusterIPs", "spec").enumerate() {
        if idx == 0 && address == "None" {
            if listed.len() > 1 {
                usable = false;
                let detail = "'None' must be the first and only value";
                report.invalid("spec.clusterIPs", all, detail);
            }
        } else if !known.contains(address) {
            usable &= ips::valid(&path, address, &mut report);
        }
    }
    if listed.len() > 2 {
        report.invalid("spec.clusterIPs", all, "may only hold up to 2 values");
    }
    if usable {
        matching_families(spec, &mut report);
    }
    report.causes
}

fn matching_families(spec: &Value, report: &mut Report) {
    let listed = list(spec, "clusterIPs");
    let is_v6 = |it: &Value| it.as_str().is_some_and(|it| it.contains(':'));
    if listed.len() > 1 && listed.iter().any(is_v6) == listed.iter().all(is_v6) {
        let detail = "may specify no more than one IP for each IP family";
        report.invalid("spec.clusterIPs", at(spec, "clusterIPs"), detail);
    }
    if is_headless(spec) {
        return;
    }
    for (idx, (address, family)) in listed.iter().zip(list(spec, "ipFamilies")).enumerate() {
        let family = family.as_str().unwrap_or_default();
        if matches!(family, "IPv4" | "IPv6") && (family == "IPv6") != is_v6(address) {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{idx}]`");
            report.invalid(format!("spec.clusterIPs[{idx}]"), address, &detail);
        }
    }
}

fn external_addresses(spec: &Value, old: Option<&Value>, report: &mut Report) {
    let known = old.map_or(&[][..], |old| list(old, "externalIPs"));
    for (path, address) in items(spec, "externalIPs", "spec") {
        if known.contains(address) || ips::valid(&path, address, report) {
            ips::reachable(&path, address, report);
        }
    }
}

fn affinity(spec: &Value, report: &mut Report) {
    report.one_of(spec, "sessionAffinity", "spec", &["ClientIP", "None"]);
    let config = at(spec, "sessionAffinityConfig");
    match text(spec, "sessionAffinity") {
        "None" if !config.is_null() => {
            let detail = "must not be set when session affinity is None";
            report.forbidden("spec.sessionAffinityConfig", detail);
        }
        "ClientIP" => {
            let seconds = at(at(config, "clientIP"), "timeoutSeconds");
            if seconds.as_i64().is_some_and(|it| !(1..=MAX_AFFINITY_SECONDS).contains(&it)) {
                let path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
                let detail = format!("must be greater than 0 and less than {MAX_AFFINITY_SECONDS}");
                report.invalid(path, seconds, &detail);
            }
        }
        _ => {}
    }
}

fn ports(spec: &Value, report: &mut Report) {
    let several = list(spec, "ports").len() > 1;
    let mut seen = BTreeSet::new();
    for (path, port) in items(spec, "ports", "spec") {
        let name = text(port, "name");
        if name.is_empty() {
            if several {
                report.required(join(&path, "name"), "");
            }
        } else {
            let messages = names::dns1123_label(name);
            report.messages(&join(&path, "name"), at(port, "name"), messages);
            if !seen.insert(name) {
                report.duplicate(join(&path, "name"), at(port, "name"));
            }
        }
        let messages = names::port_number(number(port, "port"));
        report.messages(&join(&path, "port"), at(port, "port"), messages);
        report.one_of(port, "protocol", &path, PROTOCOLS);
        let target = at(port, "targetPort");
        let messages = match target {
            Value::String(name) => names::port_name(name),
            other => names::port_number(other.as_i64().unwrap_or(0)),
        };
        report.messages(&join(&path, "targetPort"), target, messages);
        if let Some(protocol) = at(port, "appProtocol").as_str() {
            let messages = names::qualified_name(protocol);
            report.messages(&join(&path, "appProtocol"), at(port, "appProtocol"), messages);
        }
    }
}

/// Ports and node ports are unique, each with its protocol.
fn port_pairs(spec: &Value, report: &mut Report) {
    if text(spec, "type") == "ClusterIP" {
        for (path, port) in items(spec, "ports", "spec") {
            if number(port, "nodePort") != 0 {
                let detail = "may not be used when `type` is 'ClusterIP'";
                report.forbidden(join(&path, "nodePort"), detail);
            }
        }
    }
    let mut seen = BTreeSet::new();
    for (path, port) in items(spec, "ports", "spec") {
        let pair = (text(port, "protocol"), number(port, "nodePort"));
        if pair.1 != 0 && !seen.insert(pair) {
            report.duplicate(join(&path, "nodePort"), at(port, "nodePort"));
        }
    }
    seen.clear();
    for (path, port) in items(spec, "ports", "spec") {
        let pair = (text(port, "protocol"), number(port, "port"));
        if !seen.insert(pair) {
            let key = serde_json::json!({
                "name": "", "protocol": pair.0, "port": pair.1, "targetPort": 0, "nodePort": 0,
            });
            let fields = ["Name", "Protocol", "AppProtocol", "Port", "TargetPort", "NodePort"];
            report.duplicate_text(path, &inner_form(&key, &fields));
        }
    }
}

fn balancer(spec: &Value, report: &mut Report) {
    let balanced = text(spec, "type") == "LoadBalancer";
    if !is_empty(at(spec, "loadBalancerSourceRanges")) {
        // The real server spells the field like this.
        let path = "spec.LoadBalancerSourceRanges";
        if !balanced {
            report.forbidden(path, ONLY_BALANCER);
        }
        for (idx, range) in list(spec, "loadBalancerSourceRanges").iter().enumerate() {
            let range = range.as_str().unwrap_or_default().trim();
            ips::range(&format!("{path}[{idx}]"), range, report);
        }
    }
    if !at(spec, "allocateLoadBalancerNodePorts").is_null() && !balanced {
        report.forbidden("spec.allocateLoadBalancerNodePorts", ONLY_BALANCER);
    }
    balancer_class(spec, report);
}

fn balancer_class(spec: &Value, report: &mut Report) {
    let class = at(spec, "loadBalancerClass");
    if class.is_null() {
        return;
    }
    if text(spec, "type") == "LoadBalancer" {
        let messages = names::qualified_name(class.as_str().unwrap_or_default());
        report.messages("spec.loadBalancerClass", class, messages);
    } else {
        report.forbidden("spec.loadBalancerClass", ONLY_BALANCER);
    }
}

/// Where traffic from outside and inside goes.
fn traffic(spec: &Value, report: &mut Report) {
    let kind = text(spec, "type");
    let external = matches!(kind, "NodePort" | "LoadBalancer")
        || kind == "ClusterIP" && !is_empty(at(spec, "externalIPs"));
    let policy = at(spec, "externalTrafficPolicy");
    if external {
        report.one_of(spec, "externalTrafficPolicy", "spec", &["Cluster", "Local"]);
    } else if !is_empty(policy) {
        let detail = "may only be set for externally-accessible services";
        report.invalid("spec.externalTrafficPolicy", policy, detail);
    }
    let health = number(spec, "healthCheckNodePort");
    let path = "spec.healthCheckNodePort";
    if needs_health_check(spec) {
        if health == 0 {
            report.required(path, "");
        } else {
            report.messages(path, &health.into(), names::port_number(health));
        }
    } else if health != 0 {
        let detail =
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        report.invalid(path, &health.into(), detail);
    }
    let policy = at(spec, "internalTrafficPolicy");
    let internal = matches!(kind, "NodePort" | "LoadBalancer" | "ClusterIP");
    if policy.is_null() {
        if internal {
            report.required("spec.internalTrafficPolicy", "");
        }
    } else if !matches!(policy.as_str(), Some("Cluster" | "Local")) {
        report.not_supported("spec.internalTrafficPolicy", policy, &["Cluster", "Local"]);
    }
    let ways = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    if let Some(way) = at(spec, "trafficDistribution").as_str()
        && !ways.contains(&way)
    {
        report.not_supported("spec.trafficDistribution", &Value::from(way), &ways);
    }
}
