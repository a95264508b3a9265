//! `ReplicaSet` and `ReplicationController`: as many pods as asked for.

use super::kind::Kind;
use super::meta::{self, int, set_count};
use super::ownership::claim;
use super::record::{Source, Tone, record};
use super::selector;
use super::task::Key;
use super::template;
use super::world::World;
use crate::Status;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::sync::Arc;

/// How many pods one pass makes or removes at most.
const BURST: usize = 500;

/// Brings the pods of a `ReplicaSet` or `ReplicationController` to the number it wants.
pub(crate) fn sync(world: &mut World, key: &Key, kind: Kind) -> Result<(), Status> {
    let Some(set) = world.get(kind, key.namespace(), key.name()) else { return Ok(()) };
    let label_selector = label_selector(kind, &set);
    let claimed = claim(world, kind, &set, Kind::Pod, &label_selector)?;
    let (active, rest): (Vec<_>, Vec<_>) =
        claimed.into_iter().partition(|it| meta::is_pod_active(it));
    let ending = rest.iter().filter(|it| meta::is_deleting(it) && !meta::is_pod_finished(it));
    let ending = ending.count() as i64;
    let managed =
        if meta::is_deleting(&set) { Ok(active) } else { manage(world, kind, &set, active) };
    let (active, failure) = match managed {
        Ok(active) => (active, None),
        Err((active, status)) => (active, Some(status)),
    };
    let pods = Observed { active: &active, ending, failure: failure.as_ref() };
    let now = world.now();
    let (status, recheck) = status(kind, &set, &pods, now, &world.now_text());
    world.update_status(kind, &set, status)?;
    if let Some(seconds) = recheck {
        world.add_after(key, seconds * 1000);
    }
    match failure {
        Some(status) if !template::is_namespace_ending(&status) => Err(status),
        _ => Ok(()),
    }
}

/// The selector of the spec, in the form with `matchLabels`.
pub(crate) fn label_selector(kind: Kind, set: &Value) -> Value {
    if kind == Kind::ReplicationController {
        json!({"matchLabels": set["spec"]["selector"]})
    } else {
        set["spec"]["selector"].clone()
    }
}

fn component(kind: Kind) -> &'static str {
    if kind == Kind::ReplicationController {
        "replication-controller"
    } else {
        "replicaset-controller"
    }
}

type Managed = Result<Vec<Arc<Value>>, (Vec<Arc<Value>>, Status)>;

fn manage(world: &mut World, kind: Kind, set: &Value, mut active: Vec<Arc<Value>>) -> Managed {
    let wanted = int(&set["spec"]["replicas"], 1).max(0) as usize;
    if active.len() < wanted {
        for _ in 0..(wanted - active.len()).min(BURST) {
            let pod = template::pod(&set["spec"]["template"], kind, set);
            match template::create_pod(world, component(kind), kind, set, pod) {
                Ok(pod) => active.push(pod),
                Err(status) => return Err((active, status)),
            }
        }
    } else if active.len() > wanted {
        let n_surplus = (active.len() - wanted).min(BURST);
        let ranks = node_ranks(world, set, &active);
        let now = world.now();
        active = order_for_removal(active, &ranks, now);
        let kept = active.split_off(n_surplus);
        for pod in &active {
            if let Err(status) = template::delete_pod(world, component(kind), kind, set, pod) {
                let message = format!("Error deleting: {status}");
                let source = Source::component(component(kind));
                record(world, source, kind, set, Tone::Warning, "FailedDelete", &message);
                return Err((kept, status));
            }
        }
        active = kept;
    }
    Ok(active)
}

/// For each pod: how many active pods of sets with the same controller run on its node.
fn node_ranks(world: &World, set: &Value, pods: &[Arc<Value>]) -> Vec<usize> {
    let siblings = match meta::controller(set) {
        Some(owner) => world.cache.children(meta::text(&owner["uid"]), Kind::ReplicaSet),
        None => Vec::new(),
    };
    let mut related: Vec<Arc<Value>> = Vec::new();
    for sibling in &siblings {
        related.extend(world.cache.children(meta::uid(sibling), Kind::Pod));
    }
    let related = if siblings.is_empty() { pods } else { &related };
    let mut on_node: rustc_hash::FxHashMap<&str, usize> = rustc_hash::FxHashMap::default();
    for pod in related.iter().filter(|it| meta::is_pod_active(it)) {
        *on_node.entry(meta::text(&pod["spec"]["nodeName"])).or_default() += 1;
    }
    pods.iter()
        .map(|it| on_node.get(meta::text(&it["spec"]["nodeName"])).copied().unwrap_or(0))
        .collect()
}

/// Sorts pods: those that are missed least come first.
fn order_for_removal(pods: Vec<Arc<Value>>, ranks: &[usize], now: Timestamp) -> Vec<Arc<Value>> {
    let mut ranked: Vec<(usize, Arc<Value>)> = ranks.iter().copied().zip(pods).collect();
    ranked.sort_by(|a, b| compare_for_removal(a, b, now));
    ranked.into_iter().map(|(_, pod)| pod).collect()
}

fn compare_for_removal(
    a: &(usize, Arc<Value>),
    b: &(usize, Arc<Value>),
    now: Timestamp,
) -> Ordering {
    let assigned = |pod: &Value| !meta::text(&pod["spec"]["nodeName"]).is_empty();
    let phase = |pod: &Value| match meta::text(&pod["status"]["phase"]) {
        "Pending" => 0,
        "Unknown" => 1,
        _ => 2,
    };
    let cost = |pod: &Value| -> i64 {
        let text = meta::annotation(pod, "controller.kubernetes.io/pod-deletion-cost");
        text.and_then(|it| it.parse().ok()).unwrap_or(0)
    };
    let ready_since = |pod: &Value| {
        meta::condition(pod, "Ready")
            .filter(|it| it["status"] == "True")
            .and_then(|it| meta::time(&it["lastTransitionTime"]))
            .unwrap_or(now)
    };
    let restarts = |pod: &Value| {
        meta::items(&pod["status"]["containerStatuses"])
            .iter()
            .map(|it| int(&it["restartCount"], 0))
            .max()
    };
    let (rank_a, a) = a;
    let (rank_b, b) = b;
    assigned(a)
        .cmp(&assigned(b))
        .then_with(|| phase(a).cmp(&phase(b)))
        .then_with(|| meta::is_pod_ready(a).cmp(&meta::is_pod_ready(b)))
        .then_with(|| cost(a).cmp(&cost(b)))
        .then_with(|| rank_b.cmp(rank_a))
        .then_with(|| ready_since(b).cmp(&ready_since(a)))
        .then_with(|| restarts(b).cmp(&restarts(a)))
        .then_with(|| meta::created(b).cmp(&meta::created(a)))
}

/// What was found out about the pods of a set.
struct Observed<'a> {
    active: &'a [Arc<Value>],
    ending: i64,
    failure: Option<&'a Status>,
}

/// The status of a set, and the seconds after which it may change by itself.
fn status(
    kind: Kind,
    set: &Value,
    pods: &Observed<'_>,
    now: Timestamp,
    now_text: &str,
) -> (Value, Option<i64>) {
    let min_ready = int(&set["spec"]["minReadySeconds"], 0);
    let template_labels = &set["spec"]["template"]["metadata"]["labels"];
    let (mut labeled, mut ready, mut available) = (0, 0, 0);
    let mut recheck: Option<i64> = None;
    for pod in pods.active {
        if selector::map_matches(template_labels, &pod["metadata"]["labels"]) {
            labeled += 1;
        }
        if meta::is_pod_ready(pod) {
            ready += 1;
        }
        match meta::pod_available(pod, min_ready, now) {
            Ok(()) => available += 1,
            Err(Some(rest)) => recheck = Some(recheck.map_or(rest, |it: i64| it.min(rest))),
            Err(None) => {}
        }
    }
    let mut status = set["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    status["replicas"] = (pods.active.len() as i64).into();
    set_count(&mut status, "fullyLabeledReplicas", labeled);
    set_count(&mut status, "readyReplicas", ready);
    set_count(&mut status, "availableReplicas", available);
    set_count(&mut status, "observedGeneration", meta::generation(set));
    if kind == Kind::ReplicaSet {
        status["terminatingReplicas"] = pods.ending.into();
    }
    match pods.failure {
        Some(failure) => {
            let wanted = int(&set["spec"]["replicas"], 1);
            let reason =
                if (pods.active.len() as i64) < wanted { "FailedCreate" } else { "FailedDelete" };
            let known = meta::items(&status["conditions"]).iter().any(|it| {
                it["type"] == "ReplicaFailure" && it["status"] == "True" && it["reason"] == reason
            });
            if !known {
                let condition = json!({"type": "ReplicaFailure", "status": "True",
                    "reason": reason, "message": failure.message});
                meta::set_condition(&mut status["conditions"], condition, now_text);
            }
        }
        None => {
            meta::remove_condition(&mut status, "ReplicaFailure");
        }
    }
    (status, recheck)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str, node: &str, ready: bool) -> Arc<Value> {
        let status = if ready { "True" } else { "False" };
        Arc::new(json!({"metadata": {"name": name}, "spec": {"nodeName": node}, "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": status,
                "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}))
    }

    #[test]
    fn pods_that_do_nothing_go_first() {
        let now: Timestamp = "2026-01-01T01:00:00Z".parse().unwrap();
        let pods =
            vec![pod("ready", "n1", true), pod("unready", "n1", false), pod("free", "", false)];
        let order = order_for_removal(pods, &[2, 2, 0], now);
        let names: Vec<&str> = order.iter().map(|it| meta::name(it)).collect();
        assert_eq!(names, ["free", "unready", "ready"]);
    }

    #[test]
    fn a_crowded_node_gives_first() {
        let now: Timestamp = "2026-01-01T01:00:00Z".parse().unwrap();
        let pods = vec![pod("alone", "n1", true), pod("crowded", "n2", true)];
        let order = order_for_removal(pods, &[1, 2], now);
        assert_eq!(meta::name(&order[0]), "crowded");
    }

    #[test]
    fn the_status_counts_and_waits() {
        let now: Timestamp = "2026-01-01T00:00:04Z".parse().unwrap();
        let set = json!({"metadata": {"generation": 2}, "spec": {"minReadySeconds": 10}});
        let active = [pod("a", "n", true), pod("b", "n", false)];
        let pods = Observed { active: &active, ending: 1, failure: None };
        let (status, recheck) = status(Kind::ReplicaSet, &set, &pods, now, "now");
        assert_eq!(status["replicas"], 2);
        assert_eq!(status["readyReplicas"], 1);
        assert_eq!(status["availableReplicas"], Value::Null);
        assert_eq!(recheck, Some(6));
    }
}
