//! Finds a node for each pod that has none.

use super::claims::{self, Claims, Verdict};
use super::neighbours::Neighbours;
use super::resources::{Amounts, pod_amounts};
use super::{ports, preemption, preference};
use crate::Status;
use crate::controllers::clock::rfc3339_micro;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, items, text};
use crate::controllers::record::{Source, Tone, record};
use crate::controllers::selector::{expression_matches, map_matches};
use crate::controllers::task::{Key, Task};
use crate::controllers::world::{SCHEDULER, World};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long a look at waiting pods is put off after a change.
const RETRY_MS: i64 = 50;

/// Why a node does not take a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// The reason, as the real scheduler words it.
    pub(super) reason: String,
    /// Whether the node could take the pod if it had fewer pods.
    pub(super) can_change: bool,
}

impl Misfit {
    /// The node cannot take the pod, whatever pods it has.
    pub(super) fn for_good(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), can_change: false }
    }

    /// The node cannot take the pod because of the pods that it has.
    pub(super) fn for_now(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), can_change: true }
    }
}

/// What keeps a pod from all nodes.
#[derive(Debug, Default)]
struct Refusal {
    /// How many nodes there are.
    n_nodes: usize,
    /// Why nodes do not take the pod, and how many say so; a count of 0 concerns the pod itself.
    reasons: BTreeMap<String, usize>,
    /// How many of them could take it if they had fewer pods.
    n_changeable: usize,
    /// Whether the pod claims devices.
    has_claims: bool,
}

impl Refusal {
    fn add(&mut self, misfit: Misfit) {
        *self.reasons.entry(misfit.reason).or_default() += 1;
        self.n_changeable += usize::from(misfit.can_change);
    }

    /// `0/2 nodes are available: 2 Insufficient cpu. …`, as the real scheduler words it.
    fn message(&self) -> String {
        let n_nodes = self.n_nodes;
        if n_nodes == 0 {
            return "no nodes available to schedule pods".to_owned();
        }
        let list = |parts: Vec<(usize, &str)>| -> String {
            let mut parts: Vec<String> = parts
                .into_iter()
                .map(|(count, it)| if count == 0 { it.to_owned() } else { format!("{count} {it}") })
                .collect();
            parts.sort_unstable();
            parts.join(", ")
        };
        let reasons = list(self.reasons.iter().map(|(it, count)| (*count, it.as_str())).collect());
        let claims =
            if self.has_claims { "still not schedulable" } else { "no new claims to deallocate" };
        let victims = [
            (self.n_changeable, "No preemption victims found for incoming pod"),
            (n_nodes - self.n_changeable.min(n_nodes), "Preemption is not helpful for scheduling"),
        ];
        let victims = list(victims.into_iter().filter(|it| it.0 > 0).collect());
        format!(
            "0/{n_nodes} nodes are available: {reasons}. {claims}, preemption: 0/{n_nodes} nodes \
             are available: {victims}."
        )
    }

    /// The flag of `kusion sandbox up` that would give the pod a node.
    fn flag(&self, wanted: &Amounts) -> Option<String> {
        let more = format!("--nodes {}", self.n_nodes + 1);
        self.reasons.keys().find_map(|reason| {
            let amount = |name: &str| wanted.get(name).map(|it| it.milli());
            match reason.as_str() {
                _ if self.n_changeable > 0 => Some(more.clone()),
                "Insufficient cpu" => Some(format!("--node-cpu {}", (amount("cpu")? + 999) / 1000)),
                "Insufficient memory" => {
                    let bytes = amount("memory")? / 1000;
                    Some(format!("--node-memory {}Gi", (bytes >> 30) + 1))
                }
                it if it.ends_with("(missing required label)") => Some("--zones 3".to_owned()),
                _ => None,
            }
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
    let wanted = pod_amounts(&pod, "requests");
    let nodes: Vec<Arc<Value>> = world.cache.all(Kind::Node).collect();
    if let Some(name) = missing_claim(world, &pod) {
        let message = format!(
            "0/{} nodes are available: persistentvolumeclaim {name:?} not found. not found",
            nodes.len()
        );
        tell_failure(world, &pod, &message, None);
        return refuse(world, &pod, "Unschedulable", &message);
    }
    let mut refusal = Refusal { n_nodes: nodes.len(), ..Refusal::default() };
    let claims = match claims::look(world, &pod)? {
        Verdict::Known(claims) => claims,
        Verdict::Waits => {
            world.load.wait(&pod);
            return Ok(());
        }
        Verdict::Refused(reason) => {
            refusal.reasons.insert(reason, 0);
            Claims::default()
        }
    };
    refusal.has_claims = !claims.is_empty();
    let blocked = !refusal.reasons.is_empty();
    let mut fitting: Vec<&Arc<Value>> = Vec::new();
    let mut changeable: Vec<&Arc<Value>> = Vec::new();
    let neighbours = Neighbours::new(world, &pod, &nodes, &[]);
    for node in nodes.iter().filter(|_| !blocked) {
        let found = misfit(&pod, node)
            .map(Misfit::for_good)
            .or_else(|| {
                ports::conflicts(world, &pod, node, &[]).then(|| Misfit::for_now(ports::MISFIT))
            })
            .or_else(|| world.load.lacks(node, &wanted, &Amounts::new(), 0))
            .or_else(|| neighbours.as_ref().and_then(|it| it.misfit(node)))
            .or_else(|| claims.misfit(node));
        if let Some(found) = found {
            if found.can_change {
                changeable.push(node);
            }
            refusal.add(found);
            continue;
        }
        fitting.push(node);
    }
    let best = preference::best(world, &pod, &fitting, neighbours.as_ref());
    drop(neighbours);
    if let Some(node) = best {
        claims.reserve(world, &pod, node)?;
        return bind(world, &pod, node);
    }
    if preemption::make_room(world, &pod, &nodes, &changeable)? {
        world.load.wait(&pod);
        return Ok(());
    }
    let message = refusal.message();
    tell_failure(world, &pod, &message, refusal.flag(&wanted));
    refuse(world, &pod, "Unschedulable", &message)
}

/// Asks for another look at all pods that got no node.
pub(crate) fn retry_all(world: &mut World) {
    let now = world.now_ms();
    for (namespace, name) in world.load.look_again(now, RETRY_MS) {
        // Many changes at a time ask for one look.
        let key = Key::new(Task::Schedule, Kind::Pod, &namespace, &name);
        world.queue.add_at(key, now + RETRY_MS);
    }
}

/// The name of a claim of a pod that does not exist.
fn missing_claim(world: &World, pod: &Value) -> Option<String> {
    for volume in items(&pod["spec"]["volumes"]) {
        let name = text(&volume["persistentVolumeClaim"]["claimName"]);
        if name.is_empty() {
            continue;
        }
        let claim = world.cache.get(Kind::PersistentVolumeClaim, meta::namespace(pod), name);
        if claim.is_none_or(|it| meta::is_deleting(&it)) {
            return Some(name.to_owned());
        }
    }
    None
}

/// Tells why a pod got no node, and which flag of `kusion sandbox up` would help.
fn tell_failure(world: &mut World, pod: &Value, message: &str, flag: Option<String>) {
    let known = meta::condition(pod, "PodScheduled")
        .is_some_and(|it| it["status"] == "False" && it["message"] == message);
    if known {
        return;
    }
    tell(world, pod, "Warning", "FailedScheduling", "Scheduling", message);
    if let Some(flag) = flag {
        let hint =
            format!("run `kusion sandbox up {flag}` to start a sandbox with room for this pod");
        record(world, Source::component("sandbox"), Kind::Pod, pod, Tone::Normal, "Hint", &hint);
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

fn refuse(world: &mut World, pod: &Value, reason: &str, message: &str) -> Result<(), Status> {
    world.load.wait(pod);
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
    required.as_array().is_none_or(|terms| terms.iter().any(|term| term_selects(term, node)))
}

/// Whether a term of a node selector takes a node; one without rules takes none.
pub(super) fn term_selects(term: &Value, node: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    let fields = json!({"metadata.name": meta::name(node)});
    items(&term["matchExpressions"]).iter().all(|it| expression_matches(it, labels))
        && items(&term["matchFields"]).iter().all(|it| expression_matches(it, &fields))
        && term.as_object().is_some_and(|it| !it.is_empty())
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
            "spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}})
    }

    #[test]
    fn a_refusal_says_what_would_help() {
        let mut refusal = Refusal { n_nodes: 2, ..Refusal::default() };
        refusal.add(Misfit::for_good("Insufficient cpu"));
        refusal.add(Misfit::for_good("Insufficient cpu"));
        let pod = json!({"spec": {"containers": [{"resources": {"requests": {"cpu": "64500m"}}}]}});
        let flag = refusal.flag(&pod_amounts(&pod, "requests"));
        assert_eq!(flag.as_deref(), Some("--node-cpu 65"));
        assert_eq!(
            refusal.message(),
            "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: \
             0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        );
        refusal.add(Misfit::for_now("Too many pods"));
        assert_eq!(refusal.flag(&Amounts::new()).as_deref(), Some("--nodes 3"));
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
}
