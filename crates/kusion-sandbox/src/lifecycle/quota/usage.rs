//! What one object costs, and which quotas it counts against.

use super::scopes;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, annotation, items, text};
use crate::controllers::selector::expression_matches;
use crate::lifecycle::admit::{Operation, Review};
use crate::pods::resources::{Amounts, pod_amounts, qos_class};
use crate::{Resource, Status};
use kusion_k8s_schema::Quantity;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Kinds that have a name of their own besides `count/…`.
const PLAIN: &[&str] = &[
    "configmaps",
    "secrets",
    "replicationcontrollers",
    "resourcequotas",
    "services",
    "persistentvolumeclaims",
];
/// Amounts that every container must state when a quota limits them.
const STATED: &[&str] =
    &["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

/// Whether a write changes what is used.
pub(super) fn is_charged(review: &Review<'_>, object: &Value) -> bool {
    let kind = Kind::of(review.resource);
    if kind == Some(Kind::Event) {
        return false;
    }
    match (review.subresource, review.operation) {
        ("", Operation::Create) | ("resize", _) => true,
        ("", Operation::Update) => match kind {
            Some(Kind::Service | Kind::PersistentVolumeClaim) => true,
            Some(Kind::Pod) => review.old.is_some_and(|old| {
                old["spec"]["activeDeadlineSeconds"].is_null()
                    != object["spec"]["activeDeadlineSeconds"].is_null()
            }),
            _ => false,
        },
        _ => false,
    }
}

/// What an object uses, by the names that quotas have for it.
pub(super) fn of(resource: &Resource, object: &Value) -> Amounts {
    let mut amounts = Amounts::new();
    let one = Quantity::count(1);
    let qualified = crate::status::qualified(&resource.group, &resource.plural);
    amounts.insert(format!("count/{qualified}"), one);
    if resource.group.is_empty() && PLAIN.contains(&&*resource.plural) {
        amounts.insert(resource.plural.to_string(), one);
    }
    match Kind::of(resource) {
        Some(Kind::Pod) => add_pod(&mut amounts, object),
        Some(Kind::Service) => add_service(&mut amounts, object),
        Some(Kind::PersistentVolumeClaim) => add_claim(&mut amounts, object),
        _ => {}
    }
    amounts
}

/// Whether what an object uses depends on more than its kind.
pub(super) fn is_measured(resource: &Resource) -> bool {
    let kind = Kind::of(resource);
    matches!(kind, Some(Kind::Pod | Kind::Service | Kind::PersistentVolumeClaim))
}

fn add_pod(amounts: &mut Amounts, pod: &Value) {
    if meta::is_pod_finished(pod) {
        return;
    }
    amounts.insert("pods".to_owned(), Quantity::count(1));
    for (name, amount) in pod_amounts(pod, "requests") {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage")
            || name.starts_with("hugepages-")
        {
            amounts.insert(name.clone(), amount);
        }
        amounts.insert(format!("requests.{name}"), amount);
    }
    for (name, amount) in pod_amounts(pod, "limits") {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            amounts.insert(format!("limits.{name}"), amount);
        }
    }
}

fn add_service(amounts: &mut Amounts, service: &Value) {
    let ports = items(&service["spec"]["ports"]);
    let node_ports = match text(&service["spec"]["type"]) {
        "NodePort" => ports.len(),
        "LoadBalancer" => {
            amounts.insert("services.loadbalancers".to_owned(), Quantity::count(1));
            if service["spec"]["allocateLoadBalancerNodePorts"] == false {
                ports.iter().filter(|it| meta::int(&it["nodePort"], 0) != 0).count()
            } else {
                ports.len()
            }
        }
        _ => 0,
    };
    amounts.insert("services.nodeports".to_owned(), Quantity::count(node_ports as i64));
    amounts.entry("services.loadbalancers".to_owned()).or_insert(Quantity::ZERO);
}

fn add_claim(amounts: &mut Amounts, claim: &Value) {
    let storage = Quantity::of(&claim["spec"]["resources"]["requests"]["storage"]);
    let class = annotation(claim, "volume.beta.kubernetes.io/storage-class")
        .unwrap_or_else(|| text(&claim["spec"]["storageClassName"]));
    if let Some(storage) = storage {
        amounts.insert("requests.storage".to_owned(), storage);
        if !class.is_empty() {
            amounts
                .insert(format!("{class}.storageclass.storage.k8s.io/requests.storage"), storage);
        }
    }
    if !class.is_empty() {
        let name = format!("{class}.storageclass.storage.k8s.io/persistentvolumeclaims");
        amounts.insert(name, Quantity::count(1));
    }
}

/// The names among `hard` that objects of a resource count against.
pub(super) fn matching<'a>(resource: &Resource, hard: &'a Amounts) -> Vec<&'a str> {
    let count = format!("count/{}", crate::status::qualified(&resource.group, &resource.plural));
    let kind = Kind::of(resource);
    hard.keys()
        .map(String::as_str)
        .filter(|name| {
            *name == count
                || match kind {
                    Some(Kind::Pod) => {
                        matches!(*name, "pods" | "cpu" | "memory" | "ephemeral-storage")
                            || name.starts_with("limits.")
                            || name.starts_with("hugepages-")
                            || (name.starts_with("requests.") && *name != "requests.storage")
                    }
                    Some(Kind::Service) => {
                        matches!(
                            *name,
                            "services" | "services.nodeports" | "services.loadbalancers"
                        )
                    }
                    Some(Kind::PersistentVolumeClaim) => {
                        matches!(*name, "persistentvolumeclaims" | "requests.storage")
                            || name.contains(".storageclass.storage.k8s.io/")
                    }
                    _ => resource.group.is_empty() && *name == &*resource.plural,
                }
        })
        .collect()
}

/// Whether a quota counts an object at all.
pub(super) fn covers(quota: &Value, resource: &Resource, object: &Value) -> bool {
    let hard = super::amounts(&quota["spec"]["hard"]);
    if matching(resource, &hard).is_empty() {
        return false;
    }
    let scopes = scopes(quota);
    scopes.is_empty()
        || (Kind::of(resource) == Some(Kind::Pod) && scopes.iter().all(|it| in_scope(it, object)))
}

fn in_scope(scope: &Value, pod: &Value) -> bool {
    let terminating = pod["spec"]["activeDeadlineSeconds"].as_i64().is_some_and(|it| it >= 0);
    match text(&scope["scopeName"]) {
        "Terminating" => terminating,
        "NotTerminating" => !terminating,
        "BestEffort" => qos_class(pod) == "BestEffort",
        "NotBestEffort" => qos_class(pod) != "BestEffort",
        "PriorityClass" => {
            let mut labels = json!({});
            let class = text(&pod["spec"]["priorityClassName"]);
            if !class.is_empty() {
                labels["PriorityClass"] = class.into();
            }
            let mut expression = scope.clone();
            expression["key"] = "PriorityClass".into();
            expression_matches(&expression, &labels)
        }
        "CrossNamespacePodAffinity" => crosses_namespaces(pod),
        _ => false,
    }
}

fn crosses_namespaces(pod: &Value) -> bool {
    let crossing = |term: &Value| {
        !items(&term["namespaces"]).is_empty() || !term["namespaceSelector"].is_null()
    };
    ["podAffinity", "podAntiAffinity"].iter().any(|key| {
        let affinity = &pod["spec"]["affinity"][*key];
        items(&affinity["requiredDuringSchedulingIgnoredDuringExecution"]).iter().any(crossing)
            || items(&affinity["preferredDuringSchedulingIgnoredDuringExecution"])
                .iter()
                .any(|it| crossing(&it["podAffinityTerm"]))
    })
}

/// Refuses a pod whose containers do not state what a quota limits.
pub(super) fn check_constraints(
    review: &Review<'_>,
    quota: &Value,
    object: &Value,
) -> Result<(), Status> {
    if Kind::of(review.resource) != Some(Kind::Pod)
        || object["spec"]["resources"].as_object().is_some_and(|it| !it.is_empty())
    {
        return Ok(());
    }
    let hard = super::amounts(&quota["status"]["hard"]);
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for name in STATED.iter().filter(|it| hard.contains_key(**it)) {
        let (which, resource) = name.split_once('.').unwrap_or(("requests", name));
        for key in ["containers", "initContainers"] {
            for container in items(&object["spec"][key]) {
                if container["resources"][which].get(resource).is_none() {
                    missing.entry(name).or_default().insert(text(&container["name"]));
                }
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let parts: Vec<String> = missing
        .into_iter()
        .map(|(name, containers)| {
            let names: Vec<&str> = containers.into_iter().collect();
            format!("{name} for: {}", names.join(","))
        })
        .collect();
    Err(review.forbid(&format!(
        "failed quota: {}: must specify {}",
        meta::name(quota),
        parts.join("; ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_counts_in_many_ways() {
        let pod = json!({"spec": {"containers": [{"resources":
            {"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}}}]}});
        let amounts = of(Kind::Pod.resource(), &pod);
        assert_eq!(amounts["cpu"].to_string(), "500m");
        assert_eq!(amounts["requests.cpu"].to_string(), "500m");
        assert_eq!(amounts["limits.cpu"].to_string(), "1");
        assert_eq!(amounts["count/pods"].to_string(), "1");
    }

    #[test]
    fn scopes_select_pods() {
        let quota = json!({"spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}});
        let pod = json!({"spec": {"containers": [{}]}});
        assert!(covers(&quota, Kind::Pod.resource(), &pod));
        assert!(!covers(&quota, Kind::Secret.resource(), &pod));
        let quota = json!({"spec": {"hard": {"pods": "1"}, "scopes": ["Terminating"]}});
        assert!(!covers(&quota, Kind::Pod.resource(), &pod));
    }
}
