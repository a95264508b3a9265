//! Configuration, quotas, access and other kinds.

use super::report::{Report, amount, at, entries, is_empty, items, join, text};
use kusion_k8s_schema::names;
use serde_json::Value;

/// The highest priority that users may define.
const HIGHEST_PRIORITY: i64 = 1_000_000_000;
/// The largest config map or secret, in bytes.
const LARGEST: usize = 1 << 20;

/// A config map.
pub(super) fn config_map(object: &Value, report: &mut Report) {
    for key in ["data", "binaryData"] {
        for (name, _) in entries(object, key) {
            let path = format!("{key}[{name}]");
            let value = Value::from(name.as_str());
            report.messages(&path, &value, names::config_key(name));
            if key == "data" && !at(at(object, "binaryData"), name).is_null() {
                report.invalid(path, &value, "duplicate of key present in binaryData");
            }
        }
    }
    size(object, &["data", "binaryData"], "", report);
}

/// A secret.
pub(super) fn secret(object: &Value, report: &mut Report) {
    for (name, _) in entries(object, "data") {
        report.messages(
            &format!("data[{name}]"),
            &Value::from(name.as_str()),
            names::config_key(name),
        );
    }
    size(object, &["data"], "data", report);
    let data = at(object, "data");
    let needed: &[&str] = match text(object, "type") {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/basic-auth" => {
            if data.get("username").is_none() && data.get("password").is_none() {
                report.required("data[username]", "");
                report.required("data[password]", "");
            }
            &[]
        }
        _ => &[],
    };
    for key in needed {
        if data.get(key).is_none() {
            report.required(format!("data[{key}]"), "");
        }
    }
}

fn size(object: &Value, keys: &[&str], path: &str, report: &mut Report) {
    let total: usize = keys
        .iter()
        .flat_map(|key| entries(object, key))
        .map(|(_, value)| value.as_str().map_or(0, str::len))
        .sum();
    if total > LARGEST {
        report.causes.push(kusion_k8s_schema::Cause::too_long(path, LARGEST as u64));
    }
}

/// Limits of a namespace.
pub(super) fn limit_range(spec: &Value, report: &mut Report) {
    for (path, limit) in items(spec, "limits", "spec") {
        let mut names: Vec<&String> = ["max", "min", "default", "defaultRequest"]
            .iter()
            .flat_map(|key| entries(limit, key).map(|(name, _)| name))
            .collect();
        names.sort();
        names.dedup();
        for name in names {
            limit_of(limit, name, &path, report);
        }
    }
}

fn limit_of(limit: &Value, name: &str, path: &str, report: &mut Report) {
    let value = |key: &str| at(at(limit, key), name);
    let shown =
        |key: &str| value(key).as_str().map_or_else(|| value(key).to_string(), str::to_owned);
    let exceeds = |low: &str, high: &str| {
        let (low, high) = (amount(value(low)), amount(value(high)));
        low.zip(high).is_some_and(|(low, high)| low.milli() > high.milli())
    };
    // The field, the lower and the upper amount, and how both are called; the value shown is that
    // of the field's own pair in the real server, which once is the wrong one.
    let rules = [
        ("min", "min", "max", "min value", "max value", "min"),
        (
            "defaultRequest",
            "min",
            "defaultRequest",
            "min value",
            "default request value",
            "defaultRequest",
        ),
        (
            "defaultRequest",
            "defaultRequest",
            "max",
            "default request value",
            "max value",
            "defaultRequest",
        ),
        (
            "defaultRequest",
            "defaultRequest",
            "default",
            "default request value",
            "limit default value",
            "defaultRequest",
        ),
        ("default", "min", "default", "min value", "default value", "min"),
        ("default", "default", "max", "default value", "max value", "max"),
    ];
    for (field, low, high, low_text, high_text, value_of) in rules {
        if exceeds(low, high) {
            let detail =
                format!("{low_text} {} is greater than {high_text} {}", shown(low), shown(high));
            let value = Value::String(shown(value_of));
            report.invalid(format!("{path}.{field}[{name}]"), &value, &detail);
        }
    }
}

/// A quota of a namespace.
pub(super) fn quota(spec: &Value, report: &mut Report) {
    for (name, value) in entries(spec, "hard") {
        let path = format!("spec.hard[{name}]");
        if !name.contains('/') && !is_standard_resource(name) {
            let shown = Value::from(name.as_str());
            report.invalid(
                path.clone(),
                &shown,
                "must be a standard resource type or fully qualified",
            );
            report.invalid(path.clone(), &shown, "must be a standard resource for quota");
        }
        report.amount(&path, value);
    }
    for (_, scope) in items(spec, "scopes", "spec") {
        let known = [
            "Terminating",
            "NotTerminating",
            "BestEffort",
            "NotBestEffort",
            "PriorityClass",
            "CrossNamespacePodAffinity",
            "VolumeAttributesClass",
        ];
        if scope.as_str().is_some_and(|it| !known.contains(&it)) {
            report.invalid("spec.scopes", at(spec, "scopes"), "unsupported scope");
        }
    }
}

fn is_standard_resource(name: &str) -> bool {
    let counted = [
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.storage",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    ];
    counted.contains(&name)
        || name.starts_with("hugepages-")
        || name.starts_with("requests.hugepages-")
}

/// A role.
pub(super) fn role(object: &Value, namespaced: bool, report: &mut Report) {
    for (path, rule) in items(object, "rules", "") {
        if is_empty(at(rule, "verbs")) {
            report.required(join(&path, "verbs"), "verbs must contain at least one value");
        }
        if !is_empty(at(rule, "nonResourceURLs")) {
            if namespaced {
                let detail = "namespaced rules cannot apply to non-resource URLs";
                report.invalid(join(&path, "nonResourceURLs"), at(rule, "nonResourceURLs"), detail);
            }
            continue;
        }
        if is_empty(at(rule, "apiGroups")) {
            let detail = "resource rules must supply at least one api group";
            report.required(join(&path, "apiGroups"), detail);
        }
        if is_empty(at(rule, "resources")) {
            let detail = "resource rules must supply at least one resource";
            report.required(join(&path, "resources"), detail);
        }
    }
}

/// A binding of a role.
pub(super) fn binding(object: &Value, kinds: &[&str], report: &mut Report) {
    let role = at(object, "roleRef");
    let group = "rbac.authorization.k8s.io";
    if text(role, "apiGroup") != group {
        report.not_supported("roleRef.apiGroup", at(role, "apiGroup"), &[group]);
    }
    if !kinds.contains(&text(role, "kind")) {
        report.not_supported("roleRef.kind", at(role, "kind"), kinds);
    }
    if text(role, "name").is_empty() {
        report.required("roleRef.name", "");
    }
    for (path, subject) in items(object, "subjects", "") {
        if text(subject, "name").is_empty() {
            report.required(join(&path, "name"), "");
        }
        let known = ["ServiceAccount", "User", "Group"];
        if !known.contains(&text(subject, "kind")) {
            report.not_supported(join(&path, "kind"), at(subject, "kind"), &known);
        }
    }
}

/// A class of priorities.
pub(super) fn priority_class(object: &Value, report: &mut Report) {
    let name = text(at(object, "metadata"), "name");
    if name.starts_with("system-") {
        return;
    }
    if at(object, "value").as_i64().is_some_and(|value| value > HIGHEST_PRIORITY) {
        let detail =
            format!("maximum allowed value of a user defined priority is {HIGHEST_PRIORITY}");
        report.forbidden("value", &detail);
    }
}

/// An event belongs to the namespace of the object it speaks of.
pub(super) fn event(object: &Value, report: &mut Report) {
    let own = text(at(object, "metadata"), "namespace");
    let other = at(at(object, "involvedObject"), "namespace");
    let name = other.as_str().unwrap_or_default();
    let wanted = if name.is_empty() { "default" } else { name };
    if own != wanted {
        report.invalid("involvedObject.namespace", other, "does not match event.namespace");
    }
}
