//! Pods and their templates.

use super::{addresses, fraction, node_label, selector_labels, selector_term, volumes};
use crate::validate::{at, items, join, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Annotations that have no effect any more.
const ANNOTATIONS: &[(&str, &str)] = &[
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        r#"non-functional in v1.16+; use the "priorityClassName" field instead"#,
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        r#"non-functional in v1.11+; use the "sysctls" field instead"#,
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        r#"non-functional in v1.11+; use the "sysctls" field instead"#,
    ),
];
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const SECCOMP_MESSAGE: &str = r#"non-functional in v1.27+; use the "seccompProfile" field instead"#;
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const NO_SELECTOR: &str = "a null labelSelector results in matching no pod";
/// Rules for scheduling that must hold, and those that should.
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Warns about the template of a pod.
pub(super) fn template(template: &Value, path: &str, out: &mut Vec<String>) {
    spec_and_meta(at(template, "spec"), at(template, "metadata"), path, out);
}

/// Warns about a pod, or about the template at a path.
pub(super) fn spec_and_meta(spec: &Value, meta: &Value, path: &str, out: &mut Vec<String>) {
    let notes =
        Notes { annotations: at(meta, "annotations"), path: join(path, "metadata.annotations") };
    let is_template = !path.is_empty();
    let path = join(path, "spec");
    placement(spec, &path, out);
    for (key, message) in ANNOTATIONS {
        notes.warn(key, message, out);
    }
    for (path, volume) in items(spec, "volumes", &path) {
        volumes::source(volume, &path, true, out);
        let claim = at(at(volume, "ephemeral"), "volumeClaimTemplate");
        if !claim.is_null() {
            let path = format!("{path}.ephemeral.volumeClaimTemplate.spec");
            volumes::claim_spec(at(claim, "spec"), &path, out);
        }
    }
    for (_, volume) in items(spec, "volumes", &path) {
        overlaps(volume, out);
    }
    repeated(spec, "hostAliases", "ip", &path, out);
    repeated(spec, "imagePullSecrets", "name", &path, out);
    for (path, secret) in items(spec, "imagePullSecrets", &path) {
        if text(secret, "name").is_empty() {
            out.push(format!("{path}.name: invalid empty name \"\""));
        }
    }
    for name in ["memory", "ephemeral-storage"] {
        fraction(at(spec, "overhead"), name, &format!("{path}.overhead"), out);
    }
    let context = at(spec, "securityContext");
    if at(context, "seccompProfile").is_null() {
        notes.warn(SECCOMP, SECCOMP_MESSAGE, out);
    }
    for (path, container) in containers(spec, &path) {
        annotated(container, context, &notes, is_template, out);
        amounts(container, &path, out);
        hidden(container, &path, out);
    }
    ports(spec, &path, out);
    if at(spec, "terminationGracePeriodSeconds").as_i64().is_some_and(|seconds| seconds < 0) {
        out.push(format!(
            "{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and \
             will be treated as 1"
        ));
    }
    affinity(at(spec, "affinity"), &path, out);
    for (path, server) in items(at(spec, "dnsConfig"), "nameservers", &join(&path, "dnsConfig")) {
        addresses::address(&path, server.as_str().unwrap_or_default(), out);
    }
    for (path, alias) in items(spec, "hostAliases", &path) {
        addresses::address(&format!("{path}.ip"), text(alias, "ip"), out);
    }
}

/// The annotations of a pod or template, and where they are.
struct Notes<'a> {
    annotations: &'a Value,
    path: String,
}

impl Notes<'_> {
    fn warn(&self, key: &str, message: &str, out: &mut Vec<String>) {
        if self.annotations.get(key).is_some() {
            out.push(format!("{}[{key}]: {message}", self.path));
        }
    }
}

/// All containers, those for the start first.
fn containers<'a>(spec: &'a Value, path: &str) -> Vec<(String, &'a Value)> {
    ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(|key| items(spec, key, path))
        .collect()
}

fn placement(spec: &Value, path: &str, out: &mut Vec<String>) {
    for (label, message) in selector_labels(at(spec, "nodeSelector")) {
        out.push(format!("{path}.nodeSelector[{label}]: {message}"));
    }
    let nodes = at(at(spec, "affinity"), "nodeAffinity");
    let node_path = format!("{path}.affinity.nodeAffinity");
    let required = at(nodes, REQUIRED);
    for (path, term) in items(required, "nodeSelectorTerms", &join(&node_path, REQUIRED)) {
        selector_term(term, &path, false, out);
    }
    for (path, term) in items(nodes, PREFERRED, &node_path) {
        selector_term(at(term, "preference"), &format!("{path}.preference"), true, out);
    }
    for (path, rule) in items(spec, "topologySpreadConstraints", path) {
        let key = text(rule, "topologyKey");
        if let Some(message) = node_label(key) {
            out.push(format!("{path}.topologyKey: {key} is {message}"));
        }
        if at(rule, "labelSelector").is_null() {
            out.push(format!("{path}.labelSelector: {NO_SELECTOR}"));
        }
    }
}

fn affinity(affinity: &Value, path: &str, out: &mut Vec<String>) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let path = format!("{path}.affinity.{kind}");
        for (path, term) in items(at(affinity, kind), REQUIRED, &path) {
            if at(term, "labelSelector").is_null() {
                out.push(format!("{path}.labelSelector: {NO_SELECTOR}"));
            }
        }
        for (path, term) in items(at(affinity, kind), PREFERRED, &path) {
            if at(at(term, "podAffinityTerm"), "labelSelector").is_null() {
                out.push(format!("{path}.podAffinityTerm.labelSelector: {NO_SELECTOR}"));
            }
        }
    }
}

fn repeated(spec: &Value, list: &str, key: &str, path: &str, out: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (path, item) in items(spec, list, path) {
        let value = text(item, key);
        if !seen.insert(value) {
            out.push(format!("{path}.{key}: duplicate {key} {value:?}"));
        }
    }
}

/// Annotations that name a container.
fn annotated(
    container: &Value,
    pod_context: &Value,
    notes: &Notes<'_>,
    is_template: bool,
    out: &mut Vec<String>,
) {
    let name = text(container, "name");
    let context = at(container, "securityContext");
    if at(context, "seccompProfile").is_null() {
        notes.warn(&format!("{SECCOMP_CONTAINER}{name}"), SECCOMP_MESSAGE, out);
    }
    let by_field =
        !at(context, "appArmorProfile").is_null() || !at(pod_context, "appArmorProfile").is_null();
    if is_template && !by_field {
        let message = r#"deprecated since v1.30; use the "appArmorProfile" field instead"#;
        notes.warn(&format!("{APP_ARMOR}{name}"), message, out);
    }
}

fn amounts(container: &Value, path: &str, out: &mut Vec<String>) {
    for name in ["memory", "ephemeral-storage"] {
        for key in ["limits", "requests"] {
            let amounts = at(at(container, "resources"), key);
            fraction(amounts, name, &format!("{path}.resources.{key}"), out);
        }
    }
}

/// Variables that another one of the same name replaces.
fn hidden(container: &Value, path: &str, out: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (path, variable) in items(container, "env", path) {
        let (name, value) = (text(variable, "name"), text(variable, "value"));
        let reference = format!("$({name})");
        let extends = value != reference && value.contains(&reference);
        let is_fine = extends && at(variable, "valueFrom").is_null();
        if !seen.insert(name) && !is_fine {
            out.push(format!(
                "{path}: hides previous definition of {name:?}, which may be dropped when using \
                 apply"
            ));
        }
    }
}

fn ports(spec: &Value, path: &str, out: &mut Vec<String>) {
    let mut taken: BTreeMap<(i64, &str), Vec<(String, &Value)>> = BTreeMap::new();
    let number = |port: &Value, key: &str| at(port, key).as_i64().unwrap_or(0);
    let containers = containers(spec, path);
    for (path, container) in &containers {
        for (path, port) in items(container, "ports", path) {
            let (host, ip) = (number(port, "hostPort"), text(port, "hostIP"));
            if !ip.is_empty() && host == 0 {
                out.push(format!(
                    "{path}: hostIP set without hostPort: {{Name:{} HostPort:{host} \
                     ContainerPort:{} Protocol:{} HostIP:{ip}}}",
                    text(port, "name"),
                    number(port, "containerPort"),
                    text(port, "protocol"),
                ));
            }
            let key = (number(port, "containerPort"), text(port, "protocol"));
            let others = taken.entry(key).or_default();
            for (other_path, other) in others.iter() {
                let (other_host, other_ip) = (number(other, "hostPort"), text(other, "hostIP"));
                let problem = if ip == other_ip && host == other_host {
                    "duplicate"
                } else if host == 0 || other_host == 0 {
                    "overlapping"
                } else if host == other_host && ip.is_empty() != other_ip.is_empty() {
                    "dangerously ambiguous"
                } else {
                    continue;
                };
                out.push(format!("{path}: {problem} port definition with {other_path}"));
            }
            others.push((path, port));
        }
    }
    port_names(&containers, out);
}

fn port_names(containers: &[(String, &Value)], out: &mut Vec<String>) {
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    for (path, container) in containers {
        for (path, port) in items(container, "ports", path) {
            let name = text(port, "name");
            if name.is_empty() {
                continue;
            }
            match names.get(name) {
                Some(other) => out.push(format!(
                    "{path}: duplicate port name {name:?} with {other}, services and probes that \
                     select ports by name will use {other}"
                )),
                None => {
                    names.insert(name, path);
                }
            }
        }
    }
}

/// Files of a volume that are in each other's way.
fn overlaps(volume: &Value, out: &mut Vec<String>) {
    let name = text(volume, "name");
    for (kind, label, key) in [
        ("configMap", "ConfigMap", "name"),
        ("secret", "Secret", "secretName"),
        ("downwardAPI", "DownwardAPI", ""),
    ] {
        let source = at(volume, kind);
        let mut known = Vec::new();
        for (_, item) in items(source, "items", "") {
            let shown = match key {
                "" => label.to_owned(),
                key => format!("{label} {:?}", text(source, key)),
            };
            place(&mut known, text(item, "path"), String::new(), |overlap| {
                out.push(format!("volume {name:?} ({shown}): overlapping paths: {overlap}"));
            });
        }
    }
    let mut known = Vec::new();
    for (_, source) in items(at(volume, "projected"), "sources", "") {
        if source.as_object().is_some_and(serde_json::Map::is_empty) {
            out.push(format!("volume {name:?} (Projected) has no sources provided"));
        }
        for (path, label) in projected(source) {
            place(&mut known, path, format!(" ({label})"), |overlap| {
                out.push(format!("volume {name:?} (Projected): overlapping paths: {overlap}"));
            });
        }
    }
}

/// The paths of a projected source, and what they come from.
fn projected(source: &Value) -> Vec<(&str, String)> {
    let files = |kind: &str| -> Vec<&Value> {
        items(at(source, kind), "items", "").map(|(_, item)| item).collect()
    };
    for (kind, label) in [("configMap", "ConfigMap"), ("secret", "Secret")] {
        let name = text(at(source, kind), "name");
        let found = files(kind);
        if !found.is_empty() {
            let label = format!("{label} {name:?}");
            return found.iter().map(|it| (text(it, "path"), label.clone())).collect();
        }
    }
    let found = files("downwardAPI");
    if !found.is_empty() {
        return found.iter().map(|it| (text(it, "path"), "DownwardAPI".to_owned())).collect();
    }
    match source.get("serviceAccountToken") {
        Some(token) => vec![(text(token, "path"), "ServiceAccountToken".to_owned())],
        None => Vec::new(),
    }
}

/// Adds a path to those that are known, and tells with which of them it collides.
fn place<'a>(
    known: &mut Vec<(&'a str, String)>,
    path: &'a str,
    source: String,
    mut tell: impl FnMut(String),
) {
    let path = path.trim_end_matches('/');
    let inside =
        |a: &str, b: &str| a.strip_prefix(b).is_some_and(|it| it.is_empty() || it.starts_with('/'));
    if !path.is_empty() {
        for (other, from) in known.iter().filter(|it| !it.0.is_empty()) {
            if inside(path, other) || inside(other, path) {
                tell(format!("{path:?}{source} with {other:?}{from}"));
            }
        }
    }
    known.push((path, source));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ports_variables_and_files_in_the_way_of_others_are_told() {
        let spec = json!({
            "containers": [
                {"name": "a", "ports": [{"name": "web", "containerPort": 80, "protocol": "TCP"}],
                    "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"},
                        {"name": "A", "value": "3"}]},
                {"name": "b", "ports": [{"name": "web", "containerPort": 80, "protocol": "TCP"}]},
            ],
            "volumes": [{"name": "v", "configMap": {"name": "c", "items": [
                {"path": "a"}, {"path": "a/b"}, {"path": "ab"}]}}],
        });
        let mut out = Vec::new();
        spec_and_meta(&spec, &json!({}), "", &mut out);
        assert_eq!(
            out,
            [
                r#"volume "v" (ConfigMap "c"): overlapping paths: "a/b" with "a""#,
                "spec.containers[0].env[2]: hides previous definition of \"A\", which may be \
                 dropped when using apply",
                "spec.containers[1].ports[0]: duplicate port definition with \
                 spec.containers[0].ports[0]",
                "spec.containers[1].ports[0]: duplicate port name \"web\" with \
                 spec.containers[0].ports[0], services and probes that select ports by name will \
                 use spec.containers[0].ports[0]",
            ]
        );
    }

    #[test]
    fn old_annotations_and_labels_are_told() {
        let template = json!({
            "metadata": {"annotations": {
                "container.apparmor.security.beta.kubernetes.io/a": "unconfined",
                "seccomp.security.alpha.kubernetes.io/pod": "x",
            }},
            "spec": {
                "nodeSelector": {"beta.kubernetes.io/os": "linux"},
                "containers": [{"name": "a"}],
                "volumes": [{"name": "v", "storageos": {}}, {"name": "w", "projected": {"sources": [{}]}}],
                "topologySpreadConstraints": [{"topologyKey": "k"}],
            },
        });
        let mut out = Vec::new();
        super::template(&template, "spec.template", &mut out);
        assert_eq!(
            out,
            [
                r#"spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead"#,
                "spec.template.spec.topologySpreadConstraints[0].labelSelector: a null \
                 labelSelector results in matching no pod",
                "spec.template.spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+",
                r#"volume "w" (Projected) has no sources provided"#,
                r#"spec.template.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead"#,
                r#"spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/a]: deprecated since v1.30; use the "appArmorProfile" field instead"#,
            ]
        );
    }
}
