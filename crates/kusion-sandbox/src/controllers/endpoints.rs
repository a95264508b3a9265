//! Service → Endpoints: the addresses behind a service, in the old form.

use super::kind::Kind;
use super::meta::{self, items, text};
use super::selector::map_matches;
use super::task::Key;
use super::world::World;
use crate::Status;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) const HEADLESS: &str = "service.kubernetes.io/headless";
const MANAGED: &str = "endpoints.kubernetes.io/managed-by";
/// How many addresses an object holds at most.
const LARGEST: usize = 1000;

/// Brings the Endpoints of a service up to date.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let known = world.get(Kind::Endpoints, key.namespace(), key.name());
    let Some(service) = world.get(Kind::Service, key.namespace(), key.name()) else {
        return match known {
            Some(known) => world.delete(Kind::Endpoints, &known),
            None => Ok(()),
        };
    };
    if !selects(&service) {
        return Ok(());
    }
    let pods: Vec<Arc<Value>> = selected(world, &service);
    let subsets = subsets(&service, &pods);
    let mut labels = service["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    labels.insert(MANAGED.to_owned(), "endpoint-controller".into());
    if is_headless(&service) {
        labels.insert(HEADLESS.to_owned(), "".into());
    } else {
        labels.remove(HEADLESS);
    }
    write(world, &service, known, subsets, labels)
}

fn write(
    world: &World,
    service: &Value,
    known: Option<Arc<Value>>,
    subsets: Vec<Value>,
    labels: Map<String, Value>,
) -> Result<(), Status> {
    let labels = Value::Object(labels);
    match known {
        None => {
            let mut object = json!({"metadata": {
                "name": meta::name(service),
                "namespace": meta::namespace(service),
                "labels": labels,
            }});
            if !subsets.is_empty() {
                object["subsets"] = subsets.into();
            }
            match world.create(Kind::Endpoints, meta::namespace(service), object) {
                Err(status) if status.details["causes"][0]["reason"] == "NamespaceTerminating" => {
                    Ok(())
                }
                result => result.map(drop),
            }
        }
        Some(known) => {
            if items(&known["subsets"]) == subsets && known["metadata"]["labels"] == labels {
                return Ok(());
            }
            let mut object = (*known).clone();
            object["metadata"]["labels"] = labels;
            if subsets.is_empty() {
                meta::remove(&mut object, "subsets");
            } else {
                object["subsets"] = subsets.into();
            }
            world.update(Kind::Endpoints, object).map(drop)
        }
    }
}

/// Whether a service selects pods.
pub(super) fn selects(service: &Value) -> bool {
    service["spec"]["selector"].is_object() && service["spec"]["type"] != "ExternalName"
}

/// Whether a service has no address of its own.
pub(super) fn is_headless(service: &Value) -> bool {
    service["spec"]["clusterIP"] == "None"
}

/// The pods that a service selects.
pub(super) fn selected(world: &World, service: &Value) -> Vec<Arc<Value>> {
    let wanted = &service["spec"]["selector"];
    world
        .cache
        .in_namespace(Kind::Pod, meta::namespace(service))
        .filter(|it| {
            map_matches(wanted, &it["metadata"]["labels"])
                && !text(&it["status"]["podIP"]).is_empty()
                && !meta::is_pod_finished(it)
        })
        .collect()
}

/// The number behind a port of a service on a pod; none when the pod has no port of the name.
pub(super) fn target_port(port: &Value, pod: &Value) -> Option<i64> {
    match &port["targetPort"] {
        Value::Number(number) => {
            number.as_i64().filter(|it| *it != 0).or_else(|| port["port"].as_i64())
        }
        Value::String(name) => {
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            let containers = items(&pod["spec"]["containers"]).iter().chain(
                items(&pod["spec"]["initContainers"])
                    .iter()
                    .filter(|it| it["restartPolicy"] == "Always"),
            );
            containers
                .flat_map(|it| items(&it["ports"]))
                .find(|it| {
                    it["name"] == **name && it["protocol"].as_str().unwrap_or("TCP") == protocol
                })
                .and_then(|it| it["containerPort"].as_i64())
                .or_else(|| name.parse().ok())
        }
        _ => port["port"].as_i64(),
    }
}

/// Groups addresses by the ports that they serve.
fn subsets(service: &Value, pods: &[Arc<Value>]) -> Vec<Value> {
    let not_ready_too = service["spec"]["publishNotReadyAddresses"] == true;
    let mut groups: BTreeMap<String, (Value, Vec<Value>, Vec<Value>)> = BTreeMap::new();
    for pod in pods.iter().take(LARGEST) {
        if meta::is_deleting(pod) && !not_ready_too {
            continue;
        }
        let Some(ports) = ports(service, pod) else { continue };
        let group =
            groups.entry(ports.to_string()).or_insert_with(|| (ports, Vec::new(), Vec::new()));
        let address = address(service, pod);
        if not_ready_too || meta::is_pod_ready(pod) {
            group.1.push(address);
        } else {
            group.2.push(address);
        }
    }
    groups
        .into_values()
        .map(|(ports, mut ready, mut unready)| {
            let mut subset = json!({});
            for (key, list) in [("addresses", &mut ready), ("notReadyAddresses", &mut unready)] {
                list.sort_by(|a, b| text(&a["ip"]).cmp(text(&b["ip"])));
                if !list.is_empty() {
                    subset[key] = std::mem::take(list).into();
                }
            }
            if !items(&ports).is_empty() {
                subset["ports"] = ports;
            }
            subset
        })
        .collect()
}

/// The ports of a pod behind a service; none when it lacks one that has a name.
fn ports(service: &Value, pod: &Value) -> Option<Value> {
    let mut list = Vec::new();
    for port in items(&service["spec"]["ports"]) {
        let number = target_port(port, pod)?;
        let mut entry =
            json!({"port": number, "protocol": port["protocol"].as_str().unwrap_or("TCP")});
        for key in ["name", "appProtocol"] {
            if !text(&port[key]).is_empty() {
                entry[key] = port[key].clone();
            }
        }
        list.push(entry);
    }
    Some(list.into())
}

fn address(service: &Value, pod: &Value) -> Value {
    let mut address = json!({
        "ip": pod["status"]["podIP"],
        "nodeName": pod["spec"]["nodeName"],
        "targetRef": meta::object_reference(Kind::Pod, pod),
    });
    if let Some(hostname) = hostname(service, pod) {
        address["hostname"] = hostname.into();
    }
    address
}

/// The name that a pod has within a headless service.
pub(super) fn hostname<'a>(service: &Value, pod: &'a Value) -> Option<&'a str> {
    let hostname = text(&pod["spec"]["hostname"]);
    let fits = is_headless(service) && pod["spec"]["subdomain"] == service["metadata"]["name"];
    (fits && !hostname.is_empty()).then_some(hostname)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(ip: &str, ready: bool) -> Arc<Value> {
        Arc::new(json!({"metadata": {"name": ip, "namespace": "n", "uid": "u"},
            "spec": {"nodeName": "n1", "containers": [{"ports":
                [{"name": "web", "containerPort": 8080}]}]},
            "status": {"podIP": ip, "conditions":
                [{"type": "Ready", "status": if ready { "True" } else { "False" }}]}}))
    }

    #[test]
    fn named_ports_are_looked_up_and_readiness_counts() {
        let service = json!({"metadata": {"name": "s"}, "spec": {"ports":
            [{"name": "http", "port": 80, "targetPort": "web", "protocol": "TCP"}]}});
        let subsets = subsets(&service, &[pod("10.0.0.2", true), pod("10.0.0.1", false)]);
        assert_eq!(subsets.len(), 1);
        assert_eq!(subsets[0]["addresses"][0]["ip"], "10.0.0.2");
        assert_eq!(subsets[0]["notReadyAddresses"][0]["ip"], "10.0.0.1");
        assert_eq!(subsets[0]["ports"][0]["port"], 8080);
    }
}
