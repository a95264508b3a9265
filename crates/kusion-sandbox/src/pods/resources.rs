//! How much a pod asks for, and its class of service.

use crate::controllers::meta::items;
use kusion_k8s_schema::Quantity;
use serde_json::Value;
use std::collections::BTreeMap;

/// Amounts by resource name.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

/// The requests (or limits) of a whole pod: the larger of the sum over its containers and each
/// init container (with the sidecars before it), plus the overhead.
pub(crate) fn pod_amounts(pod: &Value, which: &str) -> Amounts {
    let spec = &pod["spec"];
    let mut total = Amounts::new();
    for container in items(&spec["containers"]) {
        add(&mut total, &container["resources"][which]);
    }
    let mut sidecars = Amounts::new();
    let mut peak = Amounts::new();
    for container in items(&spec["initContainers"]) {
        let amounts = &container["resources"][which];
        if container["restartPolicy"] == "Always" {
            add(&mut total, amounts);
            add(&mut sidecars, amounts);
            raise(&mut peak, &sidecars);
        } else {
            let mut own = sidecars.clone();
            add(&mut own, amounts);
            raise(&mut peak, &own);
        }
    }
    raise(&mut total, &peak);
    if let Some(amounts) = spec["resources"][which].as_object() {
        for (name, value) in amounts {
            if let Some(amount) = Quantity::of(value) {
                total.insert(name.clone(), amount);
            }
        }
    }
    if spec["overhead"].is_object() {
        add(&mut total, &spec["overhead"]);
    }
    total
}

fn add(total: &mut Amounts, amounts: &Value) {
    for (name, value) in amounts.as_object().into_iter().flatten() {
        if let Some(amount) = Quantity::of(value) {
            let slot = total.entry(name.clone()).or_insert(Quantity::ZERO);
            *slot = slot.plus(amount);
        }
    }
}

fn raise(total: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        let slot = total.entry(name.clone()).or_insert(*amount);
        *slot = (*slot).max(*amount);
    }
}

/// `Guaranteed`, `Burstable` or `BestEffort`.
pub(crate) fn qos_class(pod: &Value) -> &'static str {
    let spec = &pod["spec"];
    let positive = |value: &Value| Quantity::of(value).filter(|it| !it.is_zero());
    let mut any = false;
    let mut guaranteed = true;
    let mut look = |resources: &Value| {
        for name in ["cpu", "memory"] {
            let request = positive(&resources["requests"][name]);
            let limit = positive(&resources["limits"][name]);
            any |= request.is_some() || limit.is_some();
            guaranteed &= limit.is_some()
                && request.is_none_or(|it| {
                    Some(it).partial_cmp(&limit) == Some(std::cmp::Ordering::Equal)
                });
        }
    };
    if spec["resources"].as_object().is_some_and(|it| !it.is_empty()) {
        look(&spec["resources"]);
    } else {
        for container in items(&spec["initContainers"]).iter().chain(items(&spec["containers"])) {
            look(&container["resources"]);
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(requests: &Value, limits: &Value) -> Value {
        json!({"spec": {"containers": [{"resources": {"requests": requests, "limits": limits}}]}})
    }

    #[test]
    fn classes_of_service() {
        assert_eq!(qos_class(&pod(&json!({}), &json!({}))), "BestEffort");
        assert_eq!(qos_class(&pod(&json!({"cpu": "1"}), &json!({}))), "Burstable");
        let all = json!({"cpu": "1", "memory": "1Gi"});
        assert_eq!(qos_class(&pod(&all, &all)), "Guaranteed");
    }

    #[test]
    fn init_containers_count_by_their_peak() {
        let pod = json!({"spec": {
            "containers": [{"resources": {"requests": {"cpu": "100m"}}}, {"resources": {"requests": {"cpu": "100m"}}}],
            "initContainers": [{"resources": {"requests": {"cpu": "500m"}}}]}});
        assert_eq!(pod_amounts(&pod, "requests")["cpu"].to_string(), "500m");
    }
}
