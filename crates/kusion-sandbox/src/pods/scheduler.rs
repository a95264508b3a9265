//! Finds a node for each pod that has none.

use super::ports;
use super::resources::{Amounts, pod_amounts};
use crate::Status;
use crate::controllers::clock::rfc3339_micro;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, items, text};
use crate::controllers::selector::{expression_matches, map_matches};
use crate::controllers::task::{Key, Task};
use crate::controllers::world::{SCHEDULER, World};
use kusion_k8s_schema::Quantity;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the pods on a node ask for together; kept up by [`Load::note`].
#[derive(Debug, Default)]
pub(crate) struct Load {
    nodes: FxHashMap<Arc<str>, NodeLoad>,
}

#[derive(Debug, Default)]
struct NodeLoad {
    pods: i64,
    amounts: Amounts,
}

impl Load {
    /// Takes note of a pod before and after a change.
    pub(crate) fn note(&mut self, old: Option<&Value>, new: Option<&Value>) {
        let place = |pod: &Value| {
            let node = text(&pod["spec"]["nodeName"]);
            (!node.is_empty() && !meta::is_pod_finished(pod)).then(|| Arc::<str>::from(node))
        };
        let (before, after) = (old.and_then(place), new.and_then(place));
        if before == after {
            return;
        }
        if let (Some(node), Some(pod)) = (before, old) {
            let load = self.nodes.entry(node).or_default();
            load.pods -= 1;
            for (name, amount) in pod_amounts(pod, "requests") {
                let slot = load.amounts.entry(name).or_insert(Quantity::ZERO);
                *slot = slot.minus(amount);
            }
        }
        if let (Some(node), Some(pod)) = (after, new) {
            let load = self.nodes.entry(node).or_default();
            load.pods += 1;
            for (name, amount) in pod_amounts(pod, "requests") {
                let slot = load.amounts.entry(name).or_insert(Quantity::ZERO);
                *slot = slot.plus(amount);
            }
        }
    }

    fn pods(&self, node: &str) -> i64 {
        self.nodes.get(node).map_or(0, |it| it.pods)
    }

    /// The first resource of which a node has too little left.
    fn lacks(&self, node: &Value, wanted: &Amounts) -> Option<String> {
        let load = self.nodes.get(meta::name(node));
        let allocatable = &node["status"]["allocatable"];
        let room = Quantity::of(&allocatable["pods"]).unwrap_or(Quantity::ZERO);
        if Quantity::count(load.map_or(0, |it| it.pods) + 1) > room {
            return Some("Too many pods".to_owned());
        }
        wanted.iter().find_map(|(name, amount)| {
            if amount.is_zero() {
                return None;
            }
            let total = Quantity::of(&allocatable[name]).unwrap_or(Quantity::ZERO);
            let used = load.and_then(|it| it.amounts.get(name)).copied().unwrap_or(Quantity::ZERO);
            (used.plus(*amount) > total).then(|| format!("Insufficient {name}"))
        })
    }
}

/// Binds a pod to a node, or says why that is not possible.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(pod) = world.get(Kind::Pod, key.namespace(), key.name()) else { return Ok(()) };
    let mine = matches!(text(&pod["spec"]["schedulerName"]), "" | "default-scheduler");
    if !mine
        || !text(&pod["spec"]["nodeName"]).is_empty()
        || meta::is_deleting(&pod)
        || meta::is_pod_finished(&pod)
    {
        return Ok(());
    }
    if !items(&pod["spec"]["schedulingGates"]).is_empty() {
        let message = "Scheduling is blocked due to non-empty scheduling gates";
        return refuse(world, &pod, "SchedulingGated", message);
    }
    if let Some(message) = missing_claim(world, &pod) {
        tell_failure(world, &pod, &message);
        return refuse(world, &pod, "Unschedulable", &message);
    }
    let wanted = pod_amounts(&pod, "requests");
    let nodes: Vec<Arc<Value>> = world.cache.all(Kind::Node).collect();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut best: Option<(i64, &Arc<Value>)> = None;
    for node in &nodes {
        let reason = misfit(&pod, node)
            .or_else(|| ports::conflicts(world, &pod, node).then(|| ports::MISFIT.to_owned()))
            .or_else(|| world.load.lacks(node, &wanted));
        if let Some(reason) = reason {
            *reasons.entry(reason).or_default() += 1;
            continue;
        }
        let load = world.load.pods(meta::name(node));
        if best.is_none_or(|(least, _)| load < least) {
            best = Some((load, node));
        }
    }
    match best {
        Some((_, node)) => bind(world, &pod, node),
        None => {
            let message = failure_message(nodes.len(), &reasons);
            tell_failure(world, &pod, &message);
            refuse(world, &pod, "Unschedulable", &message)
        }
    }
}

/// Asks for another look at all pods that have no node.
pub(crate) fn retry_all(world: &mut World) {
    let waiting: Vec<Arc<Value>> = world
        .cache
        .all(Kind::Pod)
        .filter(|it| text(&it["spec"]["nodeName"]).is_empty() && !meta::is_pod_finished(it))
        .collect();
    for pod in waiting {
        world.add(Task::Schedule, Kind::Pod, &pod);
    }
}

/// `0/2 nodes are available: 2 Insufficient cpu. …`, as the real scheduler words it.
fn failure_message(n_nodes: usize, reasons: &BTreeMap<String, usize>) -> String {
    if n_nodes == 0 {
        return "no nodes available to schedule pods".to_owned();
    }
    let mut parts: Vec<String> =
        reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    parts.sort_unstable();
    let taint_or_selector = n_nodes;
    format!(
        "0/{n_nodes} nodes are available: {}. preemption: 0/{n_nodes} nodes are available: \
         {taint_or_selector} Preemption is not helpful for scheduling.",
        parts.join(", ")
    )
}

fn missing_claim(world: &World, pod: &Value) -> Option<String> {
    for volume in items(&pod["spec"]["volumes"]) {
        let name = text(&volume["persistentVolumeClaim"]["claimName"]);
        if name.is_empty() {
            continue;
        }
        let claim = world.cache.get(Kind::PersistentVolumeClaim, meta::namespace(pod), name);
        if claim.is_none_or(|it| meta::is_deleting(&it)) {
            return Some(format!("persistentvolumeclaim \"{name}\" not found"));
        }
    }
    None
}

fn tell_failure(world: &mut World, pod: &Value, message: &str) {
    let known = meta::condition(pod, "PodScheduled")
        .is_some_and(|it| it["status"] == "False" && it["message"] == message);
    if !known {
        tell(world, pod, "Warning", "FailedScheduling", "Scheduling", message);
    }
}

/// Tells an event in the form that the scheduler uses.
fn tell(world: &mut World, pod: &Value, tone: &str, reason: &str, action: &str, message: &str) {
    let now = world.now();
    let mut involved = meta::object_reference(Kind::Pod, pod);
    involved["apiVersion"] = "v1".into();
    involved["resourceVersion"] = pod["metadata"]["resourceVersion"].clone();
    let event = json!({
        "metadata": {
            "name": format!("{}.{:x}", meta::name(pod), now.as_nanosecond()),
            "namespace": meta::namespace(pod),
        },
        "involvedObject": involved,
        "action": action,
        "reason": reason,
        "message": message,
        "type": tone,
        "source": {},
        "eventTime": rfc3339_micro(now),
        "firstTimestamp": null,
        "lastTimestamp": null,
        "reportingComponent": "default-scheduler",
        "reportingInstance": "default-scheduler-sandbox",
    });
    let _ = world.create_as(SCHEDULER, Kind::Event, meta::namespace(pod), event);
}

fn refuse(world: &World, pod: &Value, reason: &str, message: &str) -> Result<(), Status> {
    let mut status = pod["status"].clone();
    if !status.is_object() {
        status = json!({"phase": "Pending"});
    }
    let condition = json!({"type": "PodScheduled", "status": "False", "reason": reason,
        "message": message, "lastProbeTime": null, "observedGeneration": meta::generation(pod)});
    meta::set_condition(&mut status["conditions"], condition, &world.now_text());
    world.update_status_as(SCHEDULER, Kind::Pod, pod, status)
}

fn bind(world: &mut World, pod: &Arc<Value>, node: &Value) -> Result<(), Status> {
    let mut bound = (**pod).clone();
    bound["spec"]["nodeName"] = meta::name(node).into();
    let condition = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null,
        "observedGeneration": meta::generation(pod)});
    meta::set_condition(&mut bound["status"]["conditions"], condition, &world.now_text());
    world.update_as(SCHEDULER, Kind::Pod, "binding", bound)?;
    let message = format!(
        "Successfully assigned {}/{} to {}",
        meta::namespace(pod),
        meta::name(pod),
        meta::name(node)
    );
    tell(world, pod, "Normal", "Scheduled", "Binding", &message);
    Ok(())
}

/// Why a pod cannot go to a node; none when it can.
pub(crate) fn misfit(pod: &Value, node: &Value) -> Option<String> {
    let tolerations = items(&pod["spec"]["tolerations"]);
    if node["spec"]["unschedulable"] == true {
        let taint = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
        if !tolerations.iter().any(|it| tolerates(it, &taint)) {
            return Some("node(s) were unschedulable".to_owned());
        }
    }
    if !selects(pod, node) {
        return Some("node(s) didn't match Pod's node affinity/selector".to_owned());
    }
    untolerated(tolerations, node).map(|taint| {
        format!(
            "node(s) had untolerated taint {{{}: {}}}",
            text(&taint["key"]),
            text(&taint["value"])
        )
    })
}

/// Whether node selector and required node affinity take a node.
pub(crate) fn selects(pod: &Value, node: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    if !map_matches(&pod["spec"]["nodeSelector"], labels) {
        return false;
    }
    let required = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"];
    let fields = json!({"metadata.name": meta::name(node)});
    required.as_array().is_none_or(|terms| {
        terms.iter().any(|term| {
            items(&term["matchExpressions"]).iter().all(|it| expression_matches(it, labels))
                && items(&term["matchFields"]).iter().all(|it| expression_matches(it, &fields))
                && term.as_object().is_some_and(|it| !it.is_empty())
        })
    })
}

/// The first taint of a node that keeps a pod with these tolerations away.
pub(crate) fn untolerated<'a>(tolerations: &[Value], node: &'a Value) -> Option<&'a Value> {
    items(&node["spec"]["taints"])
        .iter()
        .filter(|it| matches!(text(&it["effect"]), "NoSchedule" | "NoExecute"))
        .find(|taint| !tolerations.iter().any(|it| tolerates(it, taint)))
}

/// Whether a toleration covers a taint.
pub(crate) fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let effect = text(&toleration["effect"]);
    let key = text(&toleration["key"]);
    if !effect.is_empty() && taint["effect"] != effect {
        return false;
    }
    if !key.is_empty() && taint["key"] != key {
        return false;
    }
    match text(&toleration["operator"]) {
        "Exists" => true,
        _ => text(&toleration["value"]) == text(&taint["value"]) && !key.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Value {
        json!({"metadata": {"name": "n", "labels": {"disk": "ssd"}},
            "spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
            "status": {"allocatable": {"pods": "1", "cpu": "1"}}})
    }

    #[test]
    fn taints_and_selectors_keep_pods_away() {
        let pod = json!({"spec": {"nodeSelector": {"disk": "hdd"}}});
        assert_eq!(
            misfit(&pod, &node()).unwrap(),
            "node(s) didn't match Pod's node affinity/selector"
        );
        let pod = json!({"spec": {}});
        assert_eq!(misfit(&pod, &node()).unwrap(), "node(s) had untolerated taint {k: v}");
        let pod = json!({"spec": {"tolerations": [{"key": "k", "operator": "Exists"}]}});
        assert_eq!(misfit(&pod, &node()), None);
    }

    #[test]
    fn a_full_node_takes_no_more() {
        let mut load = Load::default();
        let pod = json!({"spec": {"nodeName": "n", "containers":
            [{"resources": {"requests": {"cpu": "800m"}}}]}});
        let wanted = pod_amounts(&pod, "requests");
        assert_eq!(load.lacks(&node(), &wanted), None);
        load.note(None, Some(&pod));
        assert_eq!(load.lacks(&node(), &wanted).unwrap(), "Too many pods");
        load.note(Some(&pod), None);
        assert_eq!(load.lacks(&node(), &wanted), None);
    }
}
