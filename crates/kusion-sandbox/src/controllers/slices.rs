//! Service → `EndpointSlices`, and Endpoints without a selector → `EndpointSlices`.

use super::endpoints::{HEADLESS, hostname, is_headless, selected, selects, target_port};
use super::kind::Kind;
use super::meta::{self, items, text};
use super::task::Key;
use super::world::World;
use crate::Status;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const MANAGED: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslice-controller.k8s.io";
const MIRROR: &str = "endpointslicemirroring-controller.k8s.io";
const SKIP_MIRROR: &str = "endpointslice.kubernetes.io/skip-mirror";
/// How many endpoints a slice holds.
const LARGEST: usize = 100;

/// What one slice should hold.
struct Wanted {
    ports: Vec<Value>,
    endpoints: Vec<Value>,
}

/// Brings the slices of a service up to date.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let known = slices(world, key.namespace(), key.name(), MANAGER);
    let Some(service) = world.get(Kind::Service, key.namespace(), key.name()) else {
        return Ok(());
    };
    if !selects(&service) || meta::is_deleting(&service) {
        return Ok(());
    }
    let pods = selected(world, &service);
    let mut wanted = chunks(group(&service, &pods));
    if wanted.is_empty() {
        wanted.push(Wanted { ports: Vec::new(), endpoints: Vec::new() });
    }
    let mut labels = service["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    labels.retain(|name, _| !name.starts_with("endpointslice.kubernetes.io/"));
    labels.remove(HEADLESS);
    if is_headless(&service) {
        labels.insert(HEADLESS.to_owned(), "".into());
    }
    labels.insert(meta::SERVICE_NAME.to_owned(), key.name().into());
    labels.insert(MANAGED.to_owned(), MANAGER.into());
    let owner = meta::controller_reference(Kind::Service, &service);
    settle(world, key, known, wanted, &labels, &owner)
}

/// The slices of a service that a controller manages.
fn slices(world: &World, namespace: &str, service: &str, manager: &str) -> Vec<Arc<Value>> {
    let mut slices = world.cache.slices_of(namespace, service);
    slices.retain(|it| meta::label(it, MANAGED) == Some(manager) && !meta::is_deleting(it));
    slices
}

/// Endpoints by the ports that they serve.
fn group(service: &Value, pods: &[Arc<Value>]) -> BTreeMap<String, Wanted> {
    let mut groups: BTreeMap<String, Wanted> = BTreeMap::new();
    for pod in pods {
        let ports: Vec<Value> = items(&service["spec"]["ports"])
            .iter()
            .filter_map(|port| {
                let number = target_port(port, pod)?;
                let mut entry = json!({
                    "name": text(&port["name"]),
                    "port": number,
                    "protocol": port["protocol"].as_str().unwrap_or("TCP"),
                });
                if !text(&port["appProtocol"]).is_empty() {
                    entry["appProtocol"] = port["appProtocol"].clone();
                }
                Some(entry)
            })
            .collect();
        let group = groups
            .entry(Value::from(ports.clone()).to_string())
            .or_insert_with(|| Wanted { ports, endpoints: Vec::new() });
        group.endpoints.push(endpoint(service, pod));
    }
    groups
}

fn endpoint(service: &Value, pod: &Value) -> Value {
    let serving = meta::is_pod_ready(pod);
    let terminating = meta::is_deleting(pod);
    let ready = service["spec"]["publishNotReadyAddresses"] == true || (serving && !terminating);
    let mut endpoint = json!({
        "addresses": [pod["status"]["podIP"]],
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
        "nodeName": pod["spec"]["nodeName"],
        "targetRef": meta::object_reference(Kind::Pod, pod),
    });
    if let Some(hostname) = hostname(service, pod) {
        endpoint["hostname"] = hostname.into();
    }
    endpoint
}

fn chunks(groups: BTreeMap<String, Wanted>) -> Vec<Wanted> {
    let mut list = Vec::new();
    for group in groups.into_values() {
        for chunk in group.endpoints.chunks(LARGEST) {
            list.push(Wanted { ports: group.ports.clone(), endpoints: chunk.to_vec() });
        }
    }
    list
}

/// Updates slices with the same ports, creates missing ones, deletes the rest.
fn settle(
    world: &World,
    key: &Key,
    mut known: Vec<Arc<Value>>,
    wanted: Vec<Wanted>,
    labels: &Map<String, Value>,
    owner: &Value,
) -> Result<(), Status> {
    let labels = Value::Object(labels.clone());
    for wanted in wanted {
        let fit = known
            .iter()
            .position(|it| items(&it["ports"]) == wanted.ports)
            .or_else(|| (!known.is_empty()).then_some(0));
        let Some(idx) = fit else {
            let slice = json!({
                "metadata": {
                    "generateName": format!("{}-", key.name()),
                    "namespace": key.namespace(),
                    "labels": labels,
                    "ownerReferences": [owner],
                },
                "addressType": "IPv4",
                "endpoints": or_null(wanted.endpoints),
                "ports": or_null(wanted.ports),
            });
            match world.create(Kind::EndpointSlice, key.namespace(), slice) {
                Err(status) if super::template::is_namespace_ending(&status) => return Ok(()),
                result => result.map(drop)?,
            }
            continue;
        };
        let slice = known.remove(idx);
        if items(&slice["endpoints"]) == wanted.endpoints
            && items(&slice["ports"]) == wanted.ports
            && slice["metadata"]["labels"] == labels
        {
            continue;
        }
        let mut slice = (*slice).clone();
        slice["endpoints"] = or_null(wanted.endpoints);
        slice["ports"] = or_null(wanted.ports);
        slice["metadata"]["labels"] = labels.clone();
        world.update(Kind::EndpointSlice, slice)?;
    }
    for slice in known {
        world.delete(Kind::EndpointSlice, &slice)?;
    }
    Ok(())
}

/// Mirrors Endpoints that people wrote themselves.
pub(crate) fn mirror(world: &mut World, key: &Key) -> Result<(), Status> {
    let known = slices(world, key.namespace(), key.name(), MIRROR);
    let endpoints = world.get(Kind::Endpoints, key.namespace(), key.name());
    let service = world.get(Kind::Service, key.namespace(), key.name());
    let mirrored = endpoints.filter(|it| {
        meta::label(it, SKIP_MIRROR) != Some("true")
            && meta::annotation(it, "control-plane.alpha.kubernetes.io/leader").is_none()
            && !meta::is_deleting(it)
            && service.as_ref().is_some_and(|it| !it["spec"]["selector"].is_object())
    });
    let Some(endpoints) = mirrored else {
        for slice in known {
            world.delete(Kind::EndpointSlice, &slice)?;
        }
        return Ok(());
    };
    let mut wanted = Vec::new();
    for subset in items(&endpoints["subsets"]) {
        let ports: Vec<Value> = items(&subset["ports"])
            .iter()
            .map(|it| {
                json!({"name": text(&it["name"]), "port": it["port"],
                    "protocol": it["protocol"].as_str().unwrap_or("TCP")})
            })
            .collect();
        let mut list = Vec::new();
        for (field, ready) in [("addresses", true), ("notReadyAddresses", false)] {
            list.extend(items(&subset[field]).iter().map(|it| mirrored_endpoint(it, ready)));
        }
        wanted.push(Wanted { ports, endpoints: list });
    }
    let mut labels = endpoints["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    labels.insert(meta::SERVICE_NAME.to_owned(), key.name().into());
    labels.insert(MANAGED.to_owned(), MIRROR.into());
    let owner = meta::controller_reference(Kind::Endpoints, &endpoints);
    settle(world, key, known, wanted, &labels, &owner)
}

fn mirrored_endpoint(address: &Value, ready: bool) -> Value {
    let mut endpoint = json!({"addresses": [address["ip"]], "conditions": {"ready": ready}});
    for key in ["hostname", "nodeName", "targetRef"] {
        if !address[key].is_null() {
            endpoint[key] = address[key].clone();
        }
    }
    endpoint
}

/// A list as the real controller writes it: null if it is empty.
fn or_null(list: Vec<Value>) -> Value {
    if list.is_empty() { Value::Null } else { list.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminating_pod_serves_but_is_not_ready() {
        let pod = json!({"metadata": {"name": "p", "deletionTimestamp": "t"}, "status":
            {"podIP": "10.0.0.1", "conditions": [{"type": "Ready", "status": "True"}]}});
        let endpoint = endpoint(&json!({"spec": {}}), &pod);
        assert_eq!(endpoint["conditions"]["ready"], false);
        assert_eq!(endpoint["conditions"]["serving"], true);
        assert_eq!(endpoint["conditions"]["terminating"], true);
    }
}
