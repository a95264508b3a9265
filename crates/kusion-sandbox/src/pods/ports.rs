//! Ports of the node that pods ask for.

use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, int, items, text};
use crate::controllers::world::World;
use serde_json::Value;

/// Why a pod does not fit a node.
pub(super) const MISFIT: &str = "node(s) didn't have free ports for the requested pod ports";
/// Why a node refuses a pod.
pub(super) const REJECTION: &str = "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";

type HostPort<'a> = (i64, &'a str, &'a str);

fn host_ports(pod: &Value) -> Vec<HostPort<'_>> {
    items(&pod["spec"]["containers"])
        .iter()
        .flat_map(|it| items(&it["ports"]))
        .filter(|it| int(&it["hostPort"], 0) > 0)
        .map(|it| {
            let protocol = it["protocol"].as_str().unwrap_or("TCP");
            (int(&it["hostPort"], 0), protocol, text(&it["hostIP"]))
        })
        .collect()
}

/// Whether another pod on the node, except some, has a port that this one asks for.
pub(super) fn conflicts(world: &World, pod: &Value, node: &Value, without: &[&str]) -> bool {
    let wanted = host_ports(pod);
    if wanted.is_empty() {
        return false;
    }
    world.cache.all(Kind::Pod).any(|other| {
        other["spec"]["nodeName"] == node["metadata"]["name"]
            && meta::uid(&other) != meta::uid(pod)
            && !without.contains(&meta::uid(&other))
            && !meta::is_pod_finished(&other)
            && !text(&other["status"]["podIP"]).is_empty()
            && host_ports(&other).iter().any(|taken| wanted.iter().any(|it| clash(it, taken)))
    })
}

fn clash(a: &HostPort<'_>, b: &HostPort<'_>) -> bool {
    let open = |ip: &str| ip.is_empty() || ip == "0.0.0.0";
    a.0 == b.0 && a.1 == b.1 && (a.2 == b.2 || open(a.2) || open(b.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_clash_by_number_protocol_and_address() {
        assert!(clash(&(80, "TCP", ""), &(80, "TCP", "10.0.0.1")));
        assert!(!clash(&(80, "TCP", ""), &(80, "UDP", "")));
        assert!(!clash(&(80, "TCP", "10.0.0.2"), &(80, "TCP", "10.0.0.1")));
    }
}
