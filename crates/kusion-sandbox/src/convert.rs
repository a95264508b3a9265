//! Conversion between the served versions of one stored kind.
//!
//! Custom kinds differ in their `apiVersion` only. Of the built-in ones, events are stored as in
//! the core group and autoscalers as in `autoscaling/v2`.

use crate::object;
use crate::registry::Served;
use serde_json::{Map, Value, json};

/// Names of the fields of an event in the core group and in `events.k8s.io`.
const EVENT_FIELDS: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];
/// Holds the metrics that `autoscaling/v1` has no fields for.
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
/// Holds the behaviour, which `autoscaling/v1` has no field for.
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// Converts an object from its storage version to the one in which it is served.
pub(crate) fn from_storage(served: &Served, value: &mut Value) {
    if served.is_storage() {
        return;
    }
    value["apiVersion"] = Value::String(served.api_version());
    match &*served.resource.group {
        "events.k8s.io" => rename(value, EVENT_FIELDS),
        "autoscaling" => scaler_to_v1(value),
        _ => {}
    }
}

/// Converts an object from the version in which it is served to its storage version.
pub(crate) fn to_storage(served: &Served, value: &mut Value) {
    if served.is_storage() {
        return;
    }
    value["apiVersion"] = Value::String(served.storage.api_version());
    match &*served.resource.group {
        "events.k8s.io" => rename(value, EVENT_FIELDS.map(|(core, new)| (new, core))),
        "autoscaling" => scaler_to_v2(value),
        _ => {}
    }
}

/// Returns the stored path of a field that a selector names.
pub(crate) fn stored_path(served: &Served, path: &str) -> String {
    if &*served.resource.group == "events.k8s.io" || &*served.kind == "Event" {
        if path == "source" {
            return "source.component".to_owned();
        }
        let (first, rest) = path.split_once('.').map_or((path, ""), |(first, rest)| (first, rest));
        if let Some((core, _)) = EVENT_FIELDS.iter().find(|(_, new)| *new == first) {
            return if rest.is_empty() { (*core).to_owned() } else { format!("{core}.{rest}") };
        }
    }
    path.to_owned()
}

fn rename<const N: usize>(value: &mut Value, names: [(&str, &str); N]) {
    let Some(map) = value.as_object_mut() else { return };
    for (from, to) in names {
        if let Some(field) = map.remove(from) {
            map.insert(to.to_owned(), field);
        }
    }
}

fn is_cpu_share(metric: &Value) -> bool {
    metric["type"] == "Resource"
        && metric["resource"]["name"] == "cpu"
        && metric["resource"]["target"]["averageUtilization"].is_number()
}

fn annotate(value: &mut Value, key: &str, content: &Value) {
    let annotations = object::meta_mut(value).entry("annotations").or_insert_with(|| json!({}));
    if let Some(map) = annotations.as_object_mut() {
        map.insert(key.to_owned(), content.to_string().into());
    }
}

fn take_annotation(value: &mut Value, key: &str) -> Option<Value> {
    let annotations = object::meta_mut(value).get_mut("annotations")?.as_object_mut()?;
    let text = annotations.remove(key)?;
    if annotations.is_empty() {
        object::meta_mut(value).remove("annotations");
    }
    serde_json::from_str(text.as_str()?).ok()
}

fn scaler_to_v1(value: &mut Value) {
    let spec = object::child_mut(value, "spec");
    let behavior = spec.remove("behavior");
    let metrics = spec.remove("metrics");
    let mut others = Vec::new();
    for metric in metrics.as_ref().and_then(Value::as_array).into_iter().flatten() {
        if is_cpu_share(metric) && !spec.contains_key("targetCPUUtilizationPercentage") {
            let share = metric["resource"]["target"]["averageUtilization"].clone();
            spec.insert("targetCPUUtilizationPercentage".to_owned(), share);
        } else {
            others.push(metric.clone());
        }
    }
    let status = object::child_mut(value, "status");
    let current = status.remove("currentMetrics");
    status.remove("conditions");
    let share = current.as_ref().and_then(Value::as_array).into_iter().flatten().find_map(|it| {
        let current = &it["resource"]["current"]["averageUtilization"];
        (it["resource"]["name"] == "cpu" && current.is_number()).then(|| current.clone())
    });
    if let Some(share) = share {
        status.insert("currentCPUUtilizationPercentage".to_owned(), share);
    }
    status.entry("currentReplicas").or_insert_with(|| 0.into());
    if !others.is_empty() {
        annotate(value, METRICS, &Value::Array(others));
    }
    if let Some(behavior) = behavior.filter(|it| !it.is_null()) {
        annotate(value, BEHAVIOR, &behavior);
    }
}

fn scaler_to_v2(value: &mut Value) {
    let others = take_annotation(value, METRICS);
    let behavior = take_annotation(value, BEHAVIOR);
    let spec = object::child_mut(value, "spec");
    let mut metrics = Vec::new();
    if let Some(share) = spec.remove("targetCPUUtilizationPercentage") {
        metrics.push(json!({
            "type": "Resource",
            "resource": {
                "name": "cpu",
                "target": {"type": "Utilization", "averageUtilization": share},
            },
        }));
    }
    if let Some(Value::Array(others)) = others {
        metrics.extend(others);
    }
    if !metrics.is_empty() {
        spec.insert("metrics".to_owned(), Value::Array(metrics));
    }
    if let Some(behavior) = behavior {
        spec.insert("behavior".to_owned(), behavior);
    }
    let status: &mut Map<String, Value> = object::child_mut(value, "status");
    if let Some(share) = status.remove("currentCPUUtilizationPercentage") {
        let current = json!([{
            "type": "Resource",
            "resource": {"name": "cpu", "current": {"averageUtilization": share}},
        }]);
        status.insert("currentMetrics".to_owned(), current);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn autoscalers_survive_the_way_to_v1_and_back() {
        let v2 = json!({
            "metadata": {"name": "a"},
            "spec": {
                "behavior": {"scaleUp": {}},
                "metrics": [
                    {"type": "Resource", "resource": {
                        "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80},
                    }},
                    {"type": "Pods", "pods": {}},
                ],
            },
            "status": {},
        });
        let mut there = v2.clone();
        scaler_to_v1(&mut there);
        assert_eq!(there["spec"]["targetCPUUtilizationPercentage"], 80);
        assert!(there["spec"]["metrics"].is_null());
        scaler_to_v2(&mut there);
        assert_eq!(there["spec"], v2["spec"]);
        assert_eq!(there["metadata"], v2["metadata"]);
    }
}
