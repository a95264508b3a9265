//! Makes room for a pod by ending pods of lower priority.

use super::load::priority;
use super::neighbours::Neighbours;
use super::ports;
use super::resources::{Amounts, pod_amounts};
use super::scheduler::misfit;
use crate::Status;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, text};
use crate::controllers::record::{Source, Tone, record};
use crate::controllers::world::{SCHEDULER, World};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::sync::Arc;

/// The pods of a node that have to go.
#[derive(Debug)]
struct Plan<'a> {
    node: &'a Arc<Value>,
    victims: Vec<Arc<Value>>,
}

/// Ends pods of lower priority so that a pod gets a node soon; says whether that is possible.
///
/// `nodes` are those that could take the pod if they had fewer pods.
pub(super) fn make_room(
    world: &mut World,
    pod: &Arc<Value>,
    all: &[Arc<Value>],
    nodes: &[&Arc<Value>],
) -> Result<bool, Status> {
    if pod["spec"]["preemptionPolicy"] == "Never" || !world.load.has_lower(pod) {
        return Ok(false);
    }
    if is_under_way(world, pod) {
        return Ok(true);
    }
    let plans = nodes.iter().filter_map(|node| plan(world, pod, all, node));
    let cost = |plan: &Plan<'_>| {
        let priorities = || plan.victims.iter().map(|it| priority(it));
        (priorities().max(), priorities().sum::<i64>(), plan.victims.len())
    };
    let Some(best) = plans.min_by_key(cost) else { return Ok(false) };
    let message = format!("Preempted by pod {} on node {}", meta::uid(pod), meta::name(best.node));
    for victim in &best.victims {
        mark(world, victim)?;
        world.delete(Kind::Pod, victim)?;
        let source = Source::component("default-scheduler");
        record(world, source, Kind::Pod, victim, Tone::Normal, "Preempted", &message);
    }
    let mut status = pod["status"].clone();
    status["nominatedNodeName"] = meta::name(best.node).into();
    world.update_status_as(SCHEDULER, Kind::Pod, pod, status)?;
    Ok(true)
}

/// Whether pods on the node that was chosen before are still about to end.
fn is_under_way(world: &World, pod: &Value) -> bool {
    let node = text(&pod["status"]["nominatedNodeName"]);
    !node.is_empty()
        && world.cache.all(Kind::Pod).any(|it| {
            text(&it["spec"]["nodeName"]) == node
                && meta::is_deleting(&it)
                && priority(&it) < priority(pod)
        })
}

/// The fewest pods of the lowest priority that have to leave a node for a pod; none when even
/// all of them would not be enough.
fn plan<'a>(
    world: &World,
    pod: &Value,
    all: &[Arc<Value>],
    node: &'a Arc<Value>,
) -> Option<Plan<'a>> {
    let here = |it: &Value| text(&it["spec"]["nodeName"]) == meta::name(node);
    let mut victims: Vec<Arc<Value>> = world
        .cache
        .all(Kind::Pod)
        .filter(|it| here(it) && !meta::is_pod_finished(it) && priority(it) < priority(pod))
        .collect();
    if victims.is_empty() || !fits_without(world, pod, all, node, &victims) {
        return None;
    }
    // Those of high priority, and the oldest, are spared first.
    victims.sort_by_key(|it| {
        (Reverse(priority(it)), text(&it["metadata"]["creationTimestamp"]).to_owned())
    });
    let mut at = 0;
    while at < victims.len() {
        let spared = victims.remove(at);
        if !fits_without(world, pod, all, node, &victims) {
            victims.insert(at, spared);
            at += 1;
        }
    }
    Some(Plan { node, victims })
}

fn fits_without(
    world: &World,
    pod: &Value,
    all: &[Arc<Value>],
    node: &Value,
    gone: &[Arc<Value>],
) -> bool {
    let uids: Vec<&str> = gone.iter().map(|it| meta::uid(it)).collect();
    let mut freed = Amounts::new();
    for victim in gone {
        for (name, amount) in pod_amounts(victim, "requests") {
            let slot = freed.entry(name).or_insert(kusion_k8s_schema::Quantity::ZERO);
            *slot = slot.plus(amount);
        }
    }
    let wanted = pod_amounts(pod, "requests");
    misfit(pod, node).is_none()
        && !ports::conflicts(world, pod, node, &uids)
        && world.load.lacks(node, &wanted, &freed, gone.len() as i64).is_none()
        && Neighbours::new(world, pod, all, &uids).is_none_or(|it| it.misfit(node).is_none())
}

/// Notes in the status of a pod why it ends.
fn mark(world: &World, victim: &Value) -> Result<(), Status> {
    let mut status = victim["status"].clone();
    let condition = json!({"type": "DisruptionTarget", "status": "True",
        "reason": "PreemptionByScheduler", "lastProbeTime": null,
        "message": "default-scheduler: preempting to accommodate a higher priority pod",
        "observedGeneration": meta::generation(victim)});
    meta::set_condition(&mut status["conditions"], condition, &world.now_text());
    world.update_status_as(SCHEDULER, Kind::Pod, victim, status)
}
