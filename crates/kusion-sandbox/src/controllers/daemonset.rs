//! `DaemonSet`: one pod on each node that fits.

use super::kind::Kind;
use super::meta::{self, int, items, set_count, text};
use super::ownership::claim;
use super::revision::{self, LABEL, Revisions};
use super::task::Key;
use super::template;
use super::world::World;
use crate::Status;
use crate::pods::scheduler::{selects, untolerated};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const COMPONENT: &str = "daemonset-controller";
const GENERATION_LABEL: &str = "pod-template-generation";
/// Taints that pods of `DaemonSets` bear, with their effects.
const BORNE: &[(&str, &str)] = &[
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

type ByNode = BTreeMap<String, Vec<Arc<Value>>>;

/// Brings the pods of a `DaemonSet` one step nearer to what it wants.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(set) = world.get(Kind::DaemonSet, key.namespace(), key.name()) else {
        return Ok(());
    };
    let label_selector = set["spec"]["selector"].clone();
    let pods = claim(world, Kind::DaemonSet, &set, Kind::Pod, &label_selector)?;
    if meta::is_deleting(&set) {
        return Ok(());
    }
    let mut collisions = int(&set["status"]["collisionCount"], 0);
    let revisions = revision::ensure(world, Kind::DaemonSet, &set, &mut collisions)?;
    let hash = revision::label_of(&revisions.update).to_owned();
    let nodes: Vec<Arc<Value>> = world.cache.all(Kind::Node).collect();
    let by_node = group(&pods);
    let probe = json!({"spec": pod_spec(&set, "")});
    let mut done = manage(world, &set, &nodes, &by_node, &probe, &hash);
    if done.is_ok() && set["spec"]["updateStrategy"]["type"] != "OnDelete" {
        done = roll(world, &set, &nodes, &by_node, &probe, &hash);
    }
    let used =
        |it: &Value| pods.iter().any(|pod| meta::label(pod, LABEL) == Some(revision::label_of(it)));
    revision::prune(world, &set, &revisions, used)?;
    let now = world.now();
    let fresh = world.cache.children(meta::uid(&set), Kind::Pod);
    let status = status(&set, &nodes, &group(&fresh), &probe, &revisions, collisions, now);
    world.update_status(Kind::DaemonSet, &set, status)?;
    let min_ready = int(&set["spec"]["minReadySeconds"], 0);
    let rest =
        pods.iter().filter_map(|it| meta::pod_available(it, min_ready, now).err().flatten()).min();
    if let Some(seconds) = rest {
        world.add_after(key, seconds * 1000);
    }
    // The status is written whether or not pods were refused.
    done
}

/// The node that a pod runs on, or is meant for.
fn node_of(pod: &Value) -> &str {
    let node = text(&pod["spec"]["nodeName"]);
    if !node.is_empty() {
        return node;
    }
    let terms = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"];
    text(&terms[0]["matchFields"][0]["values"][0])
}

fn group(pods: &[Arc<Value>]) -> ByNode {
    let mut by_node = ByNode::new();
    for pod in pods {
        by_node.entry(node_of(pod).to_owned()).or_default().push(pod.clone());
    }
    by_node
}

/// Whether a pod should run on a node, and whether one that runs there may stay.
fn fits(probe: &Value, node: &Value) -> (bool, bool) {
    let tolerations = items(&probe["spec"]["tolerations"]);
    if !selects(probe, node) {
        return (false, false);
    }
    match untolerated(tolerations, node) {
        None => (true, true),
        Some(taint) => (false, taint["effect"] != "NoExecute"),
    }
}

/// The spec of a pod for a node (for no node in particular when the name is empty).
fn pod_spec(set: &Value, node: &str) -> Value {
    let mut spec = set["spec"]["template"]["spec"].clone();
    for (key, effect) in BORNE {
        let toleration = json!({"key": key, "operator": "Exists", "effect": effect});
        if !items(&spec["tolerations"]).contains(&toleration) {
            meta::push(&mut spec, "tolerations", toleration);
        }
    }
    if spec["hostNetwork"] == true {
        let toleration = json!({"key": "node.kubernetes.io/network-unavailable",
            "operator": "Exists", "effect": "NoSchedule"});
        meta::push(&mut spec, "tolerations", toleration);
    }
    if !node.is_empty() {
        let field = json!([{"key": "metadata.name", "operator": "In", "values": [node]}]);
        let required = &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            ["nodeSelectorTerms"];
        let mut terms = required.as_array().cloned().unwrap_or_default();
        if terms.is_empty() {
            terms.push(json!({}));
        }
        for term in &mut terms {
            term["matchFields"] = field.clone();
        }
        let mut affinity = spec["affinity"].clone();
        if !affinity.is_object() {
            affinity = json!({});
        }
        affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
            json!({"nodeSelectorTerms": terms});
        spec["affinity"] = affinity;
    }
    spec
}

fn new_pod(set: &Value, node: &str, hash: &str) -> Value {
    let mut pod = template::pod(&set["spec"]["template"], Kind::DaemonSet, set);
    pod["spec"] = pod_spec(set, node);
    meta::set_label(&mut pod, LABEL, hash);
    let generation = generation(set).to_string();
    meta::set_label(&mut pod, GENERATION_LABEL, generation);
    pod
}

fn generation(set: &Value) -> i64 {
    meta::annotation(set, "deprecated.daemonset.template.generation")
        .and_then(|it| it.parse().ok())
        .unwrap_or(1)
}

/// Creates missing pods, deletes those that have no place or have failed.
fn manage(
    world: &mut World,
    set: &Value,
    nodes: &[Arc<Value>],
    by_node: &ByNode,
    probe: &Value,
    hash: &str,
) -> Result<(), Status> {
    for node in nodes {
        let name = meta::name(node);
        let pods = by_node.get(name).map_or(&[][..], Vec::as_slice);
        let (should_run, may_stay) = fits(probe, node);
        if should_run {
            let mut alive: Vec<&Arc<Value>> = Vec::new();
            for pod in pods {
                if meta::is_deleting(pod) {
                    continue;
                }
                if meta::is_pod_finished(pod) {
                    template::delete_pod(world, COMPONENT, Kind::DaemonSet, set, pod)?;
                } else {
                    alive.push(pod);
                }
            }
            if pods.is_empty() {
                let pod = new_pod(set, name, hash);
                template::create_pod(world, COMPONENT, Kind::DaemonSet, set, pod)?;
            }
            let surge = surge(set, nodes.len() as i64) > 0;
            if alive.len() > 1 && !surge {
                alive.sort_by_key(|it| text(&it["metadata"]["creationTimestamp"]).to_owned());
                for pod in &alive[1..] {
                    template::delete_pod(world, COMPONENT, Kind::DaemonSet, set, pod)?;
                }
            }
        } else if !may_stay {
            for pod in pods.iter().filter(|it| !meta::is_deleting(it)) {
                template::delete_pod(world, COMPONENT, Kind::DaemonSet, set, pod)?;
            }
        }
    }
    for (node, pods) in by_node {
        if nodes.iter().any(|it| meta::name(it) == node) {
            continue;
        }
        for pod in pods.iter().filter(|it| !meta::is_deleting(it)) {
            template::delete_pod(world, COMPONENT, Kind::DaemonSet, set, pod)?;
        }
    }
    Ok(())
}

fn surge(set: &Value, n_nodes: i64) -> i64 {
    meta::scaled(&set["spec"]["updateStrategy"]["rollingUpdate"]["maxSurge"], n_nodes, true)
}

/// Replaces pods of old revisions, as many at a time as may be missing.
fn roll(
    world: &mut World,
    set: &Value,
    nodes: &[Arc<Value>],
    by_node: &ByNode,
    probe: &Value,
    hash: &str,
) -> Result<(), Status> {
    let rolling = &set["spec"]["updateStrategy"]["rollingUpdate"];
    let wanted: Vec<&Arc<Value>> = nodes.iter().filter(|it| fits(probe, it).0).collect();
    let total = wanted.len() as i64;
    let max_surge = surge(set, total);
    let max_unavailable = match rolling.get("maxUnavailable") {
        Some(it) if !it.is_null() => meta::scaled(it, total, true),
        _ => 1,
    };
    let max_unavailable = if max_surge == 0 { max_unavailable.max(1) } else { max_unavailable };
    let min_ready = int(&set["spec"]["minReadySeconds"], 0);
    let now = world.now();
    let is_new = |pod: &Value| meta::label(pod, LABEL) == Some(hash);
    let available =
        |pod: &Value| meta::is_pod_active(pod) && meta::pod_available(pod, min_ready, now).is_ok();
    let mut missing = 0;
    let mut surging = 0;
    let mut outdated: Vec<(&str, &Arc<Value>)> = Vec::new();
    for node in &wanted {
        let pods = by_node.get(meta::name(node)).map_or(&[][..], Vec::as_slice);
        let alive: Vec<&Arc<Value>> = pods.iter().filter(|it| meta::is_pod_active(it)).collect();
        missing += i64::from(!alive.iter().any(|it| available(it)));
        let old = alive.iter().find(|it| !is_new(it));
        let new = alive.iter().find(|it| is_new(it));
        match (old, new) {
            (Some(old), Some(new)) => {
                surging += 1;
                if available(new) {
                    template::delete_pod(world, COMPONENT, Kind::DaemonSet, set, old)?;
                }
            }
            (Some(old), None) => outdated.push((meta::name(node), old)),
            _ => {}
        }
    }
    for (node, pod) in outdated {
        if max_surge > 0 {
            if surging < max_surge || !available(pod) {
                let pod = new_pod(set, node, hash);
                template::create_pod(world, COMPONENT, Kind::DaemonSet, set, pod)?;
                surging += 1;
            }
        } else if !available(pod) {
            template::delete_pod(world, COMPONENT, Kind::DaemonSet, set, pod)?;
        } else if missing < max_unavailable {
            template::delete_pod(world, COMPONENT, Kind::DaemonSet, set, pod)?;
            missing += 1;
        }
    }
    Ok(())
}

fn status(
    set: &Value,
    nodes: &[Arc<Value>],
    by_node: &ByNode,
    probe: &Value,
    revisions: &Revisions,
    collisions: i64,
    now: Timestamp,
) -> Value {
    let hash = revision::label_of(&revisions.update);
    let min_ready = int(&set["spec"]["minReadySeconds"], 0);
    let (mut desired, mut current, mut misplaced, mut ready, mut available, mut updated) =
        (0, 0, 0, 0, 0, 0);
    for node in nodes {
        let pods = by_node.get(meta::name(node)).map_or(&[][..], Vec::as_slice);
        let oldest = pods
            .iter()
            .filter(|it| meta::is_pod_active(it))
            .min_by_key(|it| text(&it["metadata"]["creationTimestamp"]).to_owned());
        if !fits(probe, node).0 {
            misplaced += i64::from(oldest.is_some());
            continue;
        }
        desired += 1;
        let Some(pod) = oldest else { continue };
        current += 1;
        ready += i64::from(meta::is_pod_ready(pod));
        available += i64::from(meta::pod_available(pod, min_ready, now).is_ok());
        updated += i64::from(meta::label(pod, LABEL) == Some(hash));
    }
    let mut status = set["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    status["desiredNumberScheduled"] = desired.into();
    status["currentNumberScheduled"] = current.into();
    status["numberMisscheduled"] = misplaced.into();
    status["numberReady"] = ready.into();
    set_count(&mut status, "numberAvailable", available);
    set_count(&mut status, "numberUnavailable", desired - available);
    set_count(&mut status, "updatedNumberScheduled", updated);
    set_count(&mut status, "observedGeneration", meta::generation(set));
    set_count(&mut status, "collisionCount", collisions);
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_tied_to_its_node() {
        let set = json!({"metadata": {"name": "d"}, "spec": {"template": {"spec": {}}}});
        let pod = new_pod(&set, "n1", "h");
        assert_eq!(node_of(&pod), "n1");
        assert_eq!(items(&pod["spec"]["tolerations"]).len(), 6);
        let node = |name: &str| json!({"metadata": {"name": name, "labels": {}}});
        assert_eq!(fits(&pod, &node("n1")), (true, true));
        assert_eq!(fits(&pod, &node("n2")), (false, false));
    }
}
