//! The simulated nodes: their objects, and their heartbeat.

use crate::Status;
use crate::controllers::clock::{rfc3339, rfc3339_micro};
use crate::controllers::kind::Kind;
use crate::controllers::meta;
use crate::controllers::task::Key;
use crate::controllers::world::{KUBELET, World};
use jiff::Timestamp;
use kusion_k8s_schema::Quantity;
use serde_json::{Value, json};

/// The provider of the nodes that are there from the start.
const PROVIDER: &str = "sandbox://";
/// The nodes of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// How many there are.
    pub count: u16,
    /// Over how many zones they are spread; with 0, they have no labels of zones.
    pub zones: u16,
    /// The CPUs of each.
    pub cpu: u32,
    /// The memory of each, as a quantity (`256Gi`).
    pub memory: String,
}

impl Nodes {
    /// The most nodes that a sandbox has.
    pub const MOST: u16 = 100;
    /// The most zones that they are spread over.
    pub const MOST_ZONES: u16 = 26;

    /// Returns whether a text is an amount of memory that a node can have.
    pub fn is_memory(text: &str) -> bool {
        Quantity::parse(text).is_some_and(|it| !it.is_zero() && !it.is_negative())
    }

    /// Returns the names of the nodes.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        (1..=self.count.min(Self::MOST)).map(|number| format!("sandbox-{number}"))
    }

    /// Returns the name of the zone of a node; `number` counts from one.
    fn zone(&self, number: usize) -> Option<String> {
        let zones = usize::from(self.zones.min(Self::MOST_ZONES));
        let letter = u8::try_from((number - 1).checked_rem(zones)?).ok()?;
        Some(format!("zone-{}", char::from(b'a' + letter)))
    }
}

impl Default for Nodes {
    fn default() -> Self {
        Self { count: 2, zones: 0, cpu: 64, memory: "256Gi".to_owned() }
    }
}

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
pub(crate) fn object(nodes: &Nodes, name: &str, number: usize) -> Value {
    let mut node = json!({
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
            "providerID": format!("{PROVIDER}{name}"),
        },
    });
    if let Some(zone) = nodes.zone(number) {
        meta::set_label(&mut node, "topology.kubernetes.io/zone", zone);
        meta::set_label(&mut node, "topology.kubernetes.io/region", "sandbox");
    }
    node
}

/// The status of a node that is well.
pub(crate) fn status(nodes: &Nodes, name: &str, number: usize, now: Timestamp) -> Value {
    let now = rfc3339(now);
    let mut conditions = Value::Null;
    set_conditions(&mut conditions, &now);
    let amounts = json!({"cpu": nodes.cpu.to_string(), "memory": nodes.memory, "ephemeral-storage": "1Ti",
        "pods": "10000", "hugepages-1Gi": "0", "hugepages-2Mi": "0"});
    json!({
        "addresses": [
            {"type": "InternalIP", "address": format!("192.0.2.{}", number + 1)},
            {"type": "Hostname", "address": name},
        ],
        "capacity": amounts,
        "allocatable": amounts,
        "conditions": conditions,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "sandbox://0.1.0",
            "kernelVersion": "0.0.0-sandbox",
            "kubeProxyVersion": "",
            "kubeletVersion": kusion_k8s_schema::version(),
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "Kusion sandbox",
            "systemUUID": "",
        },
    })
}

/// Sets the conditions of a node that is well.
fn set_conditions(conditions: &mut Value, now: &str) {
    for (type_, status, reason, message) in [
        (
            "MemoryPressure",
            "False",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
        ),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ] {
        let condition = json!({"type": type_, "status": status, "reason": reason,
            "message": message, "lastHeartbeatTime": now});
        meta::set_condition(conditions, condition, now);
    }
}

/// Sets the conditions of a node that answers again.
pub(super) fn recover(status: &mut Value, now: &str) {
    set_conditions(&mut status["conditions"], now);
}

/// Whether a node is one of those that are there from the start.
pub(crate) fn is_simulated(node: &Value) -> bool {
    meta::text(&node["spec"]["providerID"]).starts_with(PROVIDER)
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
    if !is_simulated(&node) {
        return Ok(());
    }
    if crate::faults::is_lost(&node) {
        return super::lost::lose(world, key, &node);
    }
    if super::lost::regain(world, &node)? {
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
