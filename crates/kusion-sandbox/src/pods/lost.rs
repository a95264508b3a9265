//! Nodes that are lost: they stop, and their pods go elsewhere in time.

use super::nodes;
use super::scheduler::tolerates;
use crate::Status;
use crate::controllers::clock::rfc3339;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, items, text};
use crate::controllers::task::{Key, Task};
use crate::controllers::world::World;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

/// The taint of a node that does not answer.
const TAINT: &str = "node.kubernetes.io/unreachable";
const SILENT: &str = "Kubelet stopped posting node status.";

/// Marks a node as lost, and evicts the pods that do not bear that any longer.
pub(super) fn lose(world: &mut World, key: &Key, node: &Arc<Value>) -> Result<(), Status> {
    if meta::is_true(node, "Ready") {
        let mut status = node["status"].clone();
        let now = world.now_text();
        for type_ in ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] {
            let condition = json!({"type": type_, "status": "Unknown",
                "reason": "NodeStatusUnknown", "message": SILENT, "lastHeartbeatTime": now});
            meta::set_condition(&mut status["conditions"], condition, &now);
        }
        return world.update_status(Kind::Node, node, status);
    }
    if taint_of(node, "NoExecute").is_none() {
        let mut tainted = (**node).clone();
        let since = rfc3339(world.now());
        for effect in ["NoSchedule", "NoExecute"] {
            let taint = json!({"key": TAINT, "effect": effect, "timeAdded": since});
            meta::push(&mut tainted["spec"], "taints", taint);
        }
        return world.update(Kind::Node, tainted).map(drop);
    }
    for pod in pods_of(world, node) {
        if meta::is_pod_ready(&pod) {
            mark_unready(world, &pod)?;
        } else if !meta::is_deleting(&pod) {
            evict(world, key, node, &pod)?;
        }
    }
    Ok(())
}

/// Takes the marks of a lost node away; says whether there were any.
pub(super) fn regain(world: &mut World, node: &Arc<Value>) -> Result<bool, Status> {
    if taint_of(node, "NoExecute").is_some() {
        let mut free = (**node).clone();
        if let Some(list) = meta::list_mut(&mut free, &["spec", "taints"]) {
            list.retain(|it| it["key"] != TAINT);
            if list.is_empty() {
                meta::remove(&mut free["spec"], "taints");
            }
        }
        world.update(Kind::Node, free)?;
        return Ok(true);
    }
    let silent = |it: &Value| it["reason"] == "NodeStatusUnknown" && it["message"] == SILENT;
    if !items(&node["status"]["conditions"]).iter().any(silent) {
        return Ok(false);
    }
    let mut status = node["status"].clone();
    nodes::recover(&mut status, &world.now_text());
    world.update_status(Kind::Node, node, status)?;
    for pod in pods_of(world, node) {
        world.add(Task::Pod, Kind::Pod, &pod);
    }
    Ok(true)
}

fn taint_of<'a>(node: &'a Value, effect: &str) -> Option<&'a Value> {
    let is_ours = |it: &&Value| it["key"] == TAINT && it["effect"] == effect;
    items(&node["spec"]["taints"]).iter().find(is_ours)
}

fn pods_of(world: &World, node: &Value) -> Vec<Arc<Value>> {
    let here = |it: &Arc<Value>| {
        text(&it["spec"]["nodeName"]) == meta::name(node) && !meta::is_pod_finished(it)
    };
    world.cache.all(Kind::Pod).filter(here).collect()
}

fn mark_unready(world: &World, pod: &Value) -> Result<(), Status> {
    let mut status = pod["status"].clone();
    let condition = json!({"type": "Ready", "status": "False", "lastProbeTime": null,
        "observedGeneration": meta::generation(pod)});
    meta::set_condition(&mut status["conditions"], condition, &world.now_text());
    world.update_status(Kind::Pod, pod, status)
}

/// Deletes a pod when it does not bear the taint, or has borne it for long enough.
fn evict(world: &mut World, key: &Key, node: &Value, pod: &Value) -> Result<(), Status> {
    let Some(taint) = taint_of(node, "NoExecute") else { return Ok(()) };
    let borne: Vec<&Value> =
        items(&pod["spec"]["tolerations"]).iter().filter(|it| tolerates(it, taint)).collect();
    let seconds = borne.iter().filter_map(|it| it["tolerationSeconds"].as_i64()).min();
    let rest_ms = match (borne.is_empty(), seconds) {
        (true, _) => 0,
        (false, None) => return Ok(()),
        (false, Some(seconds)) => {
            let since = meta::time(&taint["timeAdded"]).map_or(0, Timestamp::as_millisecond);
            since + seconds * 1000 - world.now_ms()
        }
    };
    if rest_ms > 0 {
        world.add_after(key, rest_ms);
        return Ok(());
    }
    world.delete(Kind::Pod, pod)
}
