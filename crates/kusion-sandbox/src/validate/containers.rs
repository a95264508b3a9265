//! Containers of a pod.

use super::report::{Report, amount, at, entries, items, join, text};
use kusion_k8s_schema::names;
use serde_json::Value;
use std::collections::BTreeSet;

/// Checks one container; `seen` holds the names of those before it.
pub(super) fn container<'a>(
    it: &'a Value,
    path: &str,
    volumes: &BTreeSet<&str>,
    seen: &mut BTreeSet<&'a str>,
    report: &mut Report,
) {
    let name = text(it, "name");
    if name.is_empty() {
        report.required(join(path, "name"), "");
    } else {
        let messages = names::dns1123_label(name);
        if messages.is_empty() {
            if !seen.insert(name) {
                report.duplicate(join(path, "name"), at(it, "name"));
            }
        } else {
            report.messages(&join(path, "name"), at(it, "name"), messages);
        }
    }
    let image = text(it, "image");
    if image.is_empty() {
        report.required(join(path, "image"), "");
    } else if image != image.trim() {
        report.invalid(
            join(path, "image"),
            at(it, "image"),
            "must not have leading or trailing whitespace",
        );
    }
    report.one_of_if_set(it, "terminationMessagePolicy", path, &["File", "FallbackToLogsOnError"]);
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if !at(it, key).is_null() {
            probe(at(it, key), &join(path, key), key == "readinessProbe", report);
        }
    }
    ports(it, path, report);
    env(it, path, report);
    mounts(it, path, volumes, report);
    report.one_of_if_set(it, "imagePullPolicy", path, &["Always", "IfNotPresent", "Never"]);
    resources(at(it, "resources"), &join(path, "resources"), report);
}

fn ports(container: &Value, path: &str, report: &mut Report) {
    let mut seen = BTreeSet::new();
    for (path, port) in items(container, "ports", path) {
        let name = text(port, "name");
        if !name.is_empty() {
            let messages = names::port_name(name);
            if !messages.is_empty() {
                report.messages(&join(&path, "name"), at(port, "name"), messages);
            } else if !seen.insert(name) {
                report.duplicate(join(&path, "name"), at(port, "name"));
            }
        }
        match at(port, "containerPort").as_i64() {
            None | Some(0) => report.required(join(&path, "containerPort"), ""),
            Some(number) => {
                let messages = names::port_number(number);
                report.messages(&join(&path, "containerPort"), at(port, "containerPort"), messages);
            }
        }
        if let Some(number) = at(port, "hostPort").as_i64().filter(|number| *number != 0) {
            let messages = names::port_number(number);
            report.messages(&join(&path, "hostPort"), at(port, "hostPort"), messages);
        }
        report.one_of(port, "protocol", &path, &["SCTP", "TCP", "UDP"]);
    }
}

fn env(container: &Value, path: &str, report: &mut Report) {
    for (path, it) in items(container, "env", path) {
        let name = text(it, "name");
        if name.is_empty() {
            report.required(join(&path, "name"), "");
        } else {
            report.messages(&join(&path, "name"), at(it, "name"), names::env_name(name));
        }
        let from = at(it, "valueFrom");
        if from.is_null() {
            continue;
        }
        let n_sources = entries(it, "valueFrom").filter(|(_, value)| !value.is_null()).count();
        if n_sources == 0 {
            let detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
            report.invalid(join(&path, "valueFrom"), &Value::String(String::new()), detail);
        } else if !text(it, "value").is_empty() {
            let detail = "may not be specified when `value` is not empty";
            report.invalid(join(&path, "valueFrom"), &Value::String(String::new()), detail);
        } else if n_sources > 1 {
            let detail = "may not have more than one field specified at a time";
            report.invalid(join(&path, "valueFrom"), &Value::String(String::new()), detail);
        }
        for key in ["configMapKeyRef", "secretKeyRef"] {
            let source = at(from, key);
            if !source.is_null() {
                for part in ["name", "key"] {
                    if text(source, part).is_empty() && part == "key" {
                        report.required(format!("{path}.valueFrom.{key}.{part}"), "");
                    }
                }
            }
        }
    }
}

fn mounts(container: &Value, path: &str, volumes: &BTreeSet<&str>, report: &mut Report) {
    let mut seen = BTreeSet::new();
    for (path, mount) in items(container, "volumeMounts", path) {
        let name = text(mount, "name");
        if name.is_empty() {
            report.required(join(&path, "name"), "");
        } else if !volumes.contains(name) {
            report.not_found(join(&path, "name"), at(mount, "name"));
        }
        let place = text(mount, "mountPath");
        if place.is_empty() {
            report.required(join(&path, "mountPath"), "");
        } else if !seen.insert(place) {
            report.invalid(join(&path, "mountPath"), at(mount, "mountPath"), "must be unique");
        }
    }
}

fn probe(probe: &Value, path: &str, readiness: bool, report: &mut Report) {
    let handlers = ["exec", "httpGet", "tcpSocket", "grpc"];
    let given: Vec<&str> = handlers.into_iter().filter(|key| !at(probe, key).is_null()).collect();
    if given.is_empty() {
        report.required(path, "must specify a handler type");
    }
    for key in given.iter().skip(1) {
        report.forbidden(join(path, key), "may not specify more than 1 handler type");
    }
    for key in ["httpGet", "tcpSocket"] {
        let port = at(at(probe, key), "port");
        if let Some(number) = port.as_i64() {
            report.messages(&format!("{path}.{key}.port"), port, names::port_number(number));
        } else if let Some(name) = port.as_str() {
            report.messages(&format!("{path}.{key}.port"), port, names::port_name(name));
        }
    }
    let numbers = [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ];
    for key in numbers {
        report.not_negative(probe, key, path);
    }
    if !readiness && at(probe, "successThreshold").as_i64().is_some_and(|count| count > 1) {
        report.invalid(join(path, "successThreshold"), at(probe, "successThreshold"), "must be 1");
    }
}

/// What a container asks for must be what it may take, or less.
pub(super) fn resources(resources: &Value, path: &str, report: &mut Report) {
    for (name, value) in entries(resources, "limits") {
        report.amount(&format!("{path}.limits[{name}]"), value);
    }
    for (name, value) in entries(resources, "requests") {
        report.amount(&format!("{path}.requests[{name}]"), value);
        let limit = at(at(resources, "limits"), name);
        let (Some(wanted), Some(most)) = (amount(value), amount(limit)) else { continue };
        if wanted.milli() > most.milli() {
            let shown = limit.as_str().map_or_else(|| limit.to_string(), str::to_owned);
            let detail = format!("must be less than or equal to {name} limit of {shown}");
            report.invalid(join(path, "requests"), value, &detail);
        }
    }
}
