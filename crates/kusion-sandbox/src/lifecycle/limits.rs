//! `LimitRange`: default amounts for containers, and bounds for pods and claims.

use super::admit::{Operation, Review, list};
use crate::controllers::kind::Kind;
use crate::controllers::meta::{items, list_mut, set_annotation, text};
use crate::pods::resources::pod_amounts;
use crate::{Api, Status};
use kusion_k8s_schema::Quantity;
use serde_json::{Map, Value};
use std::sync::Arc;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Gives the containers of a new pod the defaults of the namespace.
pub(super) fn set_defaults(api: &Api, review: &Review<'_>, pod: &mut Value) {
    for range in list(api, Kind::LimitRange, review.namespace) {
        let (requests, limits) = defaults(&range);
        let mut notes = Vec::new();
        for (key, word) in [("containers", "container"), ("initContainers", "init container")] {
            let Some(containers) = list_mut(pod, &["spec", key]) else { continue };
            for container in containers.iter_mut().filter(|it| it.is_object()) {
                let name = text(&container["name"]).to_owned();
                let set_limits = merge(container, "limits", &limits);
                let set_requests = merge(container, "requests", &requests);
                if !set_requests.is_empty() {
                    notes.push(format!("{} request for {word} {name}", set_requests.join(", ")));
                }
                if !set_limits.is_empty() {
                    notes.push(format!("{} limit for {word} {name}", set_limits.join(", ")));
                }
            }
        }
        if !notes.is_empty() {
            set_annotation(
                pod,
                ANNOTATION,
                format!("LimitRanger plugin set: {}", notes.join("; ")),
            );
        }
    }
}

fn defaults(range: &Value) -> (Map<String, Value>, Map<String, Value>) {
    let (mut requests, mut limits) = (Map::new(), Map::new());
    for limit in items(&range["spec"]["limits"]).iter().filter(|it| it["type"] == "Container") {
        for (key, into) in [("defaultRequest", &mut requests), ("default", &mut limits)] {
            for (name, value) in limit[key].as_object().into_iter().flatten() {
                into.insert(name.clone(), value.clone());
            }
        }
    }
    (requests, limits)
}

/// Adds missing amounts to a container; gives the names of those that were missing.
fn merge(container: &mut Value, key: &str, defaults: &Map<String, Value>) -> Vec<String> {
    let mut added = Vec::new();
    for (name, value) in defaults {
        if container["resources"][key].get(name).is_none() {
            if !container["resources"].is_object() {
                container["resources"] = Value::Object(Map::new());
            }
            if !container["resources"][key].is_object() {
                container["resources"][key] = Value::Object(Map::new());
            }
            container["resources"][key][name] = value.clone();
            added.push(name.clone());
        }
    }
    added
}

/// Refuses what lies outside the bounds of the namespace.
pub(super) fn check(api: &Api, review: &Review<'_>, object: &Value) -> Result<(), Status> {
    let kind = match Kind::of(review.resource) {
        Some(Kind::Pod) if review.operation == Operation::Create => Kind::Pod,
        Some(Kind::PersistentVolumeClaim) => Kind::PersistentVolumeClaim,
        _ => return Ok(()),
    };
    let ranges: Vec<Arc<Value>> = list(api, Kind::LimitRange, review.namespace);
    for range in ranges {
        let mut failures = Vec::new();
        for limit in items(&range["spec"]["limits"]) {
            match (kind, text(&limit["type"])) {
                (Kind::Pod, "Container") => {
                    for key in ["containers", "initContainers"] {
                        for container in items(&object["spec"][key]) {
                            let amounts = Given::of_container(container);
                            bounds(limit, "Container", &amounts, &mut failures);
                        }
                    }
                }
                (Kind::Pod, "Pod") => {
                    bounds(limit, "Pod", &Given::of_pod(object), &mut failures);
                }
                (Kind::PersistentVolumeClaim, "PersistentVolumeClaim") => {
                    claim_bounds(limit, object, &mut failures);
                }
                _ => {}
            }
        }
        if !failures.is_empty() {
            let why = match &failures[..] {
                [only] => only.clone(),
                all => format!("[{}]", all.join(", ")),
            };
            return Err(review.forbid(&why));
        }
    }
    Ok(())
}

/// What a container or pod asks for.
struct Given {
    requests: Value,
    limits: Value,
}

impl Given {
    fn of_container(container: &Value) -> Self {
        let resources = &container["resources"];
        Self { requests: resources["requests"].clone(), limits: resources["limits"].clone() }
    }

    fn of_pod(pod: &Value) -> Self {
        let amounts = |which: &str| {
            let map: Map<String, Value> = pod_amounts(pod, which)
                .into_iter()
                .map(|(name, amount)| (name, amount.to_string().into()))
                .collect();
            Value::Object(map)
        };
        Self { requests: amounts("requests"), limits: amounts("limits") }
    }
}

fn bounds(limit: &Value, type_: &str, given: &Given, failures: &mut Vec<String>) {
    for (name, bound) in pairs(&limit["min"]) {
        let (request, max) =
            (Quantity::of(&given.requests[name]), Quantity::of(&given.limits[name]));
        let head = format!("minimum {name} usage per {type_} is {bound}");
        match (request, max) {
            (None, _) => failures.push(format!("{head}.  No request is specified")),
            (Some(it), _) if it < bound => failures.push(format!("{head}, but request is {it}")),
            (_, Some(it)) if it < bound => failures.push(format!("{head}, but limit is {it}")),
            _ => {}
        }
    }
    for (name, bound) in pairs(&limit["max"]) {
        let (request, max) =
            (Quantity::of(&given.requests[name]), Quantity::of(&given.limits[name]));
        let head = format!("maximum {name} usage per {type_} is {bound}");
        match (request, max) {
            (_, None) => failures.push(format!("{head}.  No limit is specified")),
            (_, Some(it)) if it > bound => failures.push(format!("{head}, but limit is {it}")),
            (Some(it), _) if it > bound => failures.push(format!("{head}, but request is {it}")),
            _ => {}
        }
    }
    for (name, bound) in pairs(&limit["maxLimitRequestRatio"]) {
        let request = Quantity::of(&given.requests[name]).filter(|it| !it.is_zero());
        let max = Quantity::of(&given.limits[name]).filter(|it| !it.is_zero());
        let head = format!("{name} max limit to request ratio per {type_} is {bound}, but");
        match (request, max) {
            (None, _) => failures.push(format!("{head} no request is specified or request is 0")),
            (_, None) => failures.push(format!("{head} no limit is specified or limit is 0")),
            (Some(request), Some(max)) => {
                let ratio = max.milli() as f64 / request.milli() as f64;
                if ratio * 1000.0 > bound.milli() as f64 {
                    failures.push(format!("{head} provided ratio is {ratio:.6}"));
                }
            }
        }
    }
}

fn claim_bounds(limit: &Value, claim: &Value, failures: &mut Vec<String>) {
    let requests = &claim["spec"]["resources"]["requests"];
    for (name, bound) in pairs(&limit["min"]) {
        let head = format!("minimum {name} usage per PersistentVolumeClaim is {bound}");
        match Quantity::of(&requests[name]) {
            None => failures.push(format!("{head}.  No request is specified")),
            Some(it) if it < bound => failures.push(format!("{head}, but request is {it}")),
            _ => {}
        }
    }
    for (name, bound) in pairs(&limit["max"]) {
        let head = format!("maximum {name} usage per PersistentVolumeClaim is {bound}");
        match Quantity::of(&requests[name]) {
            None => failures.push(format!("{head}.  No request is specified")),
            Some(it) if it > bound => failures.push(format!("{head}, but request is {it}")),
            _ => {}
        }
    }
}

fn pairs(amounts: &Value) -> impl Iterator<Item = (&String, Quantity)> {
    amounts
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Quantity::of(value).map(|it| (name, it)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bounds_are_worded_as_the_server_does() {
        let limit = json!({"min": {"cpu": "50m"}, "max": {"cpu": "500m"}});
        let given = Given { requests: json!({"cpu": "10m"}), limits: json!({"cpu": "600m"}) };
        let mut failures = Vec::new();
        bounds(&limit, "Container", &given, &mut failures);
        assert_eq!(
            failures,
            [
                "minimum cpu usage per Container is 50m, but request is 10m",
                "maximum cpu usage per Container is 500m, but limit is 600m"
            ]
        );
    }

    #[test]
    fn defaults_fill_gaps_only() {
        let range = json!({"spec": {"limits": [{"type": "Container",
            "default": {"cpu": "1"}, "defaultRequest": {"cpu": "100m", "memory": "1Mi"}}]}});
        let (requests, _) = defaults(&range);
        let mut container = json!({"resources": {"requests": {"cpu": "5m"}}});
        assert_eq!(merge(&mut container, "requests", &requests), ["memory"]);
        assert_eq!(container["resources"]["requests"]["cpu"], "5m");
    }
}
