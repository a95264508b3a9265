//! `PodDisruptionBudget`: how many pods may be missing at present.

use super::kind::Kind;
use super::meta::{self, int, items, text};
use super::record::{Source, Tone, record};
use super::selector;
use super::task::Key;
use super::world::World;
use crate::Status;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const COMPONENT: &str = "controllermanager";
/// How long an eviction that was granted counts before its pod goes.
const GRANT_SECONDS: i64 = 120;

/// Counts the pods of a budget.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(budget) = world.get(Kind::PodDisruptionBudget, key.namespace(), key.name()) else {
        return Ok(());
    };
    let wanted = &budget["spec"]["selector"];
    let pods: Vec<Arc<Value>> = world
        .cache
        .in_namespace(Kind::Pod, key.namespace())
        .filter(|it| selector::matches(wanted, &it["metadata"]["labels"]))
        .collect();
    if pods.is_empty() {
        let message = "No matching pods found";
        let source = Source::component(COMPONENT);
        if int(&budget["status"]["observedGeneration"], 0) == 0 {
            record(
                world,
                source,
                Kind::PodDisruptionBudget,
                &budget,
                Tone::Normal,
                "NoPods",
                message,
            );
        }
    }
    let (expected, desired) = match expectation(world, &budget, &pods) {
        Ok(found) => found,
        Err(message) => return fail(world, &budget, &message),
    };
    let now = world.now();
    let disrupted = still_disrupted(&budget, &pods, now.as_second());
    if !disrupted.is_empty() {
        world.add_after(key, GRANT_SECONDS * 1000);
    }
    let healthy = pods
        .iter()
        .filter(|it| {
            meta::is_pod_ready(it)
                && !meta::is_deleting(it)
                && !disrupted.contains_key(meta::name(it))
        })
        .count() as i64;
    let allowed = if expected <= 0 || healthy < desired { 0 } else { healthy - desired };
    let generation = meta::generation(&budget);
    let mut status = budget["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    status["currentHealthy"] = healthy.into();
    status["desiredHealthy"] = desired.into();
    status["expectedPods"] = expected.into();
    status["disruptionsAllowed"] = allowed.into();
    status["observedGeneration"] = generation.into();
    if disrupted.is_empty() {
        meta::remove(&mut status, "disruptedPods");
    } else {
        status["disruptedPods"] = disrupted.into_iter().collect::<serde_json::Map<_, _>>().into();
    }
    let (value, reason) =
        if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    let condition = json!({"type": "DisruptionAllowed", "status": value, "reason": reason,
        "message": "", "observedGeneration": generation});
    meta::set_condition(&mut status["conditions"], condition, &world.now_text());
    world.update_status(Kind::PodDisruptionBudget, &budget, status)
}

/// How many pods there should be, and how many of them must be healthy.
fn expectation(world: &World, budget: &Value, pods: &[Arc<Value>]) -> Result<(i64, i64), String> {
    let spec = &budget["spec"];
    if let Some(limit) = spec.get("maxUnavailable").filter(|it| !it.is_null()) {
        let expected = expected_count(world, pods)?;
        let desired = expected - meta::scaled(limit, expected, true);
        return Ok((expected, desired.max(0)));
    }
    match &spec["minAvailable"] {
        Value::Number(number) => Ok((pods.len() as i64, number.as_i64().unwrap_or(0))),
        limit @ Value::String(_) => {
            let expected = expected_count(world, pods)?;
            Ok((expected, meta::scaled(limit, expected, true)))
        }
        _ => Ok((pods.len() as i64, 0)),
    }
}

/// The sum of what the controllers of the pods want.
fn expected_count(world: &World, pods: &[Arc<Value>]) -> Result<i64, String> {
    let mut sizes: BTreeMap<String, i64> = BTreeMap::new();
    for pod in pods {
        let Some(reference) = meta::controller(pod) else {
            return Err(format!("found no controller ref for pod {:?}", meta::name(pod)));
        };
        let mut uid = text(&reference["uid"]).to_owned();
        let Some(place) = world.cache.place_of(&uid).cloned() else { continue };
        let Some(mut owner) = world.cache.at(&place) else { continue };
        if reference["kind"] == "ReplicaSet"
            && let Some(above) = meta::controller(&owner)
            && above["kind"] == "Deployment"
            && let Some(place) = world.cache.place_of(text(&above["uid"]))
            && let Some(deployment) = world.cache.at(place)
        {
            text(&above["uid"]).clone_into(&mut uid);
            owner = deployment;
        }
        if reference["kind"] == "Job" || reference["kind"] == "DaemonSet" {
            let kind = text(&reference["kind"]);
            return Err(format!(
                "{}s.{} does not implement the scale subresource",
                kind.to_lowercase(),
                text(&reference["apiVersion"]).split('/').next().unwrap_or_default()
            ));
        }
        sizes.insert(uid, int(&owner["spec"]["replicas"], 1));
    }
    Ok(sizes.values().sum())
}

fn still_disrupted(budget: &Value, pods: &[Arc<Value>], now: i64) -> BTreeMap<String, Value> {
    let granted = budget["status"]["disruptedPods"].as_object();
    granted
        .into_iter()
        .flatten()
        .filter(|(name, time)| {
            let alive = pods.iter().any(|it| meta::name(it) == *name && !meta::is_deleting(it));
            alive && meta::time(time).is_some_and(|it| it.as_second() + GRANT_SECONDS > now)
        })
        .map(|(name, time)| (name.clone(), time.clone()))
        .collect()
}

fn fail(world: &mut World, budget: &Value, message: &str) -> Result<(), Status> {
    let mut status = budget["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    let known = items(&status["conditions"])
        .iter()
        .any(|it| it["reason"] == "SyncFailed" && it["message"] == message);
    if !known {
        let text = format!("Failed to calculate the number of expected pods: {message}");
        let source = Source::component(COMPONENT);
        let reason = "CalculateExpectedPodCountFailed";
        record(world, source, Kind::PodDisruptionBudget, budget, Tone::Warning, reason, &text);
    }
    status["disruptionsAllowed"] = 0.into();
    status["observedGeneration"] = meta::generation(budget).into();
    for key in ["currentHealthy", "desiredHealthy", "expectedPods"] {
        if status[key].is_null() {
            status[key] = 0.into();
        }
    }
    let condition = json!({"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed",
        "message": message, "observedGeneration": meta::generation(budget)});
    meta::set_condition(&mut status["conditions"], condition, &world.now_text());
    world.update_status(Kind::PodDisruptionBudget, budget, status)
}
