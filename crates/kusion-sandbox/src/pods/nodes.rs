//! The simulated nodes: their objects, and their heartbeat.

use crate::Status;
use crate::controllers::clock::{rfc3339, rfc3339_micro};
use crate::controllers::kind::Kind;
use crate::controllers::meta;
use crate::controllers::task::Key;
use crate::controllers::world::{KUBELET, World};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The names of the nodes that are there from the start.
pub(crate) const NAMES: &[&str] = &["sandbox-1", "sandbox-2"];
/// How often a node renews its lease.
const HEARTBEAT_MS: i64 = 10_000;

/// The address of a node.
pub(crate) fn address(node: &Value) -> String {
    meta::items(&node["status"]["addresses"])
        .iter()
        .find(|it| it["type"] == "InternalIP")
        .map_or_else(|| "192.0.2.1".to_owned(), |it| meta::text(&it["address"]).to_owned())
}

/// The object of a node; `number` counts from one.
pub(crate) fn object(name: &str, number: usize) -> Value {
    json!({
        "metadata": {
            "name": name,
            "labels": {
                "beta.kubernetes.io/arch": "amd64",
                "beta.kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
            },
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
        },
        "spec": {
            "podCIDR": format!("10.244.{number}.0/24"),
            "podCIDRs": [format!("10.244.{number}.0/24")],
            "providerID": format!("sandbox://{name}"),
        },
    })
}

/// The status of a node that is well.
pub(crate) fn status(name: &str, number: usize, now: Timestamp) -> Value {
    let now = rfc3339(now);
    let condition = |type_: &str, status: &str, reason: &str, message: &str| {
        json!({"type": type_, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": now, "lastTransitionTime": now})
    };
    let amounts = json!({"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti",
        "pods": "10000", "hugepages-1Gi": "0", "hugepages-2Mi": "0"});
    json!({
        "addresses": [
            {"type": "InternalIP", "address": format!("192.0.2.{}", number + 1)},
            {"type": "Hostname", "address": name},
        ],
        "capacity": amounts,
        "allocatable": amounts,
        "conditions": [
            condition("MemoryPressure", "False", "KubeletHasSufficientMemory",
                "kubelet has sufficient memory available"),
            condition("DiskPressure", "False", "KubeletHasNoDiskPressure",
                "kubelet has no disk pressure"),
            condition("PIDPressure", "False", "KubeletHasSufficientPID",
                "kubelet has sufficient PID available"),
            condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "sandbox://0.1.0",
            "kernelVersion": "0.0.0-sandbox",
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.36.3",
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "Kusion sandbox",
            "systemUUID": "",
        },
    })
}

/// The lease of a node.
pub(crate) fn lease(node: &Value, now: Timestamp) -> Value {
    json!({
        "metadata": {
            "name": meta::name(node),
            "namespace": "kube-node-lease",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node",
                "name": meta::name(node), "uid": meta::uid(node)}],
        },
        "spec": {
            "holderIdentity": meta::name(node),
            "leaseDurationSeconds": 40,
            "renewTime": rfc3339_micro(now),
        },
    })
}

/// Renews the lease of a node that is one of ours.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(node) = world.get(Kind::Node, "", key.name()) else { return Ok(()) };
    if !NAMES.contains(&key.name()) {
        return Ok(());
    }
    let now = world.now();
    match world.get(Kind::Lease, "kube-node-lease", key.name()) {
        Some(known) => {
            let mut lease = (*known).clone();
            lease["spec"]["renewTime"] = rfc3339_micro(now).into();
            world.update_as(KUBELET, Kind::Lease, "", lease)?;
        }
        None => {
            world.create_as(KUBELET, Kind::Lease, "kube-node-lease", lease(&node, now))?;
        }
    }
    world.add_after(key, HEARTBEAT_MS);
    Ok(())
}
