//! Known immutable fields. Others are detected by the error of the server.

use kusion_k8s_schema::Quantity;
use kusion_model::FieldPath;
use serde_json::Value;

/// How two values of a field are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// Any difference counts: the server adds nothing here.
    Whole,
    /// Only what both sides set counts: the server fills in the rest.
    Shared,
}

/// A field of a kind: group, kind, path.
type Rule = (&'static str, &'static str, &'static [&'static str], Comparison);

const RULES: &[Rule] = &[
    ("apps", "Deployment", &["spec", "selector"], Comparison::Whole),
    ("apps", "ReplicaSet", &["spec", "selector"], Comparison::Whole),
    ("apps", "DaemonSet", &["spec", "selector"], Comparison::Whole),
    ("apps", "StatefulSet", &["spec", "selector"], Comparison::Whole),
    ("apps", "StatefulSet", &["spec", "serviceName"], Comparison::Whole),
    ("apps", "StatefulSet", &["spec", "podManagementPolicy"], Comparison::Whole),
    ("apps", "StatefulSet", &["spec", "volumeClaimTemplates"], Comparison::Shared),
    ("batch", "Job", &["spec", "selector"], Comparison::Shared),
    ("batch", "Job", &["spec", "completionMode"], Comparison::Whole),
    ("batch", "Job", &["spec", "template"], Comparison::Shared),
    ("", "Service", &["spec", "clusterIP"], Comparison::Whole),
    ("", "PersistentVolumeClaim", &["spec", "accessModes"], Comparison::Whole),
    ("", "PersistentVolumeClaim", &["spec", "storageClassName"], Comparison::Whole),
    ("", "PersistentVolumeClaim", &["spec", "volumeName"], Comparison::Whole),
    ("", "PersistentVolumeClaim", &["spec", "volumeMode"], Comparison::Whole),
    ("", "PersistentVolumeClaim", &["spec", "selector"], Comparison::Whole),
    ("", "Secret", &["type"], Comparison::Whole),
    ("rbac.authorization.k8s.io", "RoleBinding", &["roleRef"], Comparison::Shared),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", &["roleRef"], Comparison::Shared),
    ("storage.k8s.io", "StorageClass", &["provisioner"], Comparison::Whole),
    ("storage.k8s.io", "StorageClass", &["parameters"], Comparison::Whole),
    ("storage.k8s.io", "StorageClass", &["reclaimPolicy"], Comparison::Whole),
    ("storage.k8s.io", "StorageClass", &["volumeBindingMode"], Comparison::Whole),
    ("storage.k8s.io", "CSIDriver", &["spec", "attachRequired"], Comparison::Whole),
    ("scheduling.k8s.io", "PriorityClass", &["value"], Comparison::Whole),
    ("scheduling.k8s.io", "PriorityClass", &["preemptionPolicy"], Comparison::Whole),
    ("networking.k8s.io", "IngressClass", &["spec", "controller"], Comparison::Whole),
    ("node.k8s.io", "RuntimeClass", &["handler"], Comparison::Whole),
    ("apiextensions.k8s.io", "CustomResourceDefinition", &["spec", "scope"], Comparison::Whole),
    ("apiextensions.k8s.io", "CustomResourceDefinition", &["spec", "group"], Comparison::Whole),
];

/// Fields of a `ConfigMap` or Secret that has been closed for changes.
const CLOSED: &[Rule] = &[
    ("", "ConfigMap", &["data"], Comparison::Whole),
    ("", "ConfigMap", &["binaryData"], Comparison::Whole),
    ("", "ConfigMap", &["immutable"], Comparison::Whole),
    ("", "Secret", &["data"], Comparison::Whole),
    ("", "Secret", &["immutable"], Comparison::Whole),
];

/// Returns the immutable fields that certainly differ.
pub(crate) fn changed(desired: &Value, live: &Value) -> Vec<FieldPath> {
    let text = |name: &str| desired.get(name).and_then(Value::as_str).unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    let kind = text("kind");
    let closed = live.get("immutable") == Some(&Value::Bool(true));
    let rules = RULES.iter().chain(if closed { CLOSED } else { &[] });
    rules
        .filter(|rule| rule.0 == group && rule.1 == kind && !is_free(rule, desired, live))
        .filter_map(|(_, _, path, how)| {
            let path = path.iter().fold(FieldPath::default(), |path, step| path.key(step));
            let (wanted, there) = (path.find(desired)?, path.find(live)?);
            let differs = match how {
                // With an empty text, the server chooses.
                Comparison::Whole => wanted != there && wanted != "",
                Comparison::Shared => surely_differ(wanted, there),
            };
            differs.then_some(path)
        })
        .collect()
}

/// Whether a field may change after all.
fn is_free(rule: &Rule, desired: &Value, live: &Value) -> bool {
    let kind_of_service = |object: &Value| {
        object.pointer("/spec/type").and_then(Value::as_str).unwrap_or("ClusterIP").to_owned()
    };
    match rule.1 {
        // A service that changes its type loses its address, or gets one.
        "Service" => {
            kind_of_service(desired) == "ExternalName" || kind_of_service(live) == "ExternalName"
        }
        // A job that waits may still be given another template.
        "Job" => live.pointer("/spec/suspend") == Some(&Value::Bool(true)),
        _ => false,
    }
}

/// Whether two values differ in what both of them set.
fn surely_differ(wanted: &Value, there: &Value) -> bool {
    match (wanted, there) {
        (Value::Object(wanted), Value::Object(there)) => wanted.iter().any(|(key, value)| {
            // Labels and the status come from the server.
            key != "status" && there.get(key).is_some_and(|there| surely_differ(value, there))
        }),
        (Value::Array(wanted), Value::Array(there)) => {
            wanted.len() != there.len()
                || wanted.iter().zip(there).any(|(wanted, there)| surely_differ(wanted, there))
        }
        (Value::Null, _) | (_, Value::Null) => false,
        _ => wanted != there && !same_quantity(wanted, there),
    }
}

fn same_quantity(a: &Value, b: &Value) -> bool {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (a, b) = (text(a), text(b));
    a == b
        || match (Quantity::parse(&a), Quantity::parse(&b)) {
            (Some(a), Some(b)) => a.nano() == b.nano(),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(api_version: &str, kind: &str, desired: Value, live: Value) -> Vec<String> {
        let whole = |mut value: Value| {
            value["apiVersion"] = api_version.into();
            value["kind"] = kind.into();
            value
        };
        changed(&whole(desired), &whole(live)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn another_selector_needs_another_deployment() {
        let spec = |app: &str| json!({"spec": {"selector": {"matchLabels": {"app": app}}}});
        assert_eq!(fields("apps/v1", "Deployment", spec("a"), spec("b")), ["spec.selector"]);
        assert!(fields("apps/v1", "Deployment", spec("a"), spec("a")).is_empty());
        assert!(fields("apps/v1", "Deployment", json!({}), spec("a")).is_empty());
    }

    #[test]
    fn what_the_server_fills_in_is_no_change() {
        let claim = |storage: &str| json!({"resources": {"requests": {"storage": storage}}});
        let wanted = json!({"spec": {"volumeClaimTemplates": [
            {"metadata": {"name": "d"}, "spec": claim("1Gi")}]}});
        let live = |storage: &str| {
            let mut spec = claim(storage);
            spec["volumeMode"] = "Filesystem".into();
            json!({"spec": {"volumeClaimTemplates": [
                {"kind": "PersistentVolumeClaim", "metadata": {"name": "d"}, "spec": spec}]}})
        };
        assert!(fields("apps/v1", "StatefulSet", wanted.clone(), live("1024Mi")).is_empty());
        assert_eq!(
            fields("apps/v1", "StatefulSet", wanted, live("2Gi")),
            ["spec.volumeClaimTemplates"]
        );
    }

    #[test]
    fn closed_config_maps_do_not_change() {
        let data =
            |text: &str, immutable: bool| json!({"data": {"a": text}, "immutable": immutable});
        assert_eq!(fields("v1", "ConfigMap", data("x", true), data("y", true)), ["data"]);
        assert!(fields("v1", "ConfigMap", data("x", false), data("y", false)).is_empty());
        assert_eq!(fields("v1", "Secret", data("x", false), data("x", true)), ["immutable"]);
    }
}
