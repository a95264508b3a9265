//! `HorizontalPodAutoscaler`: scales by metrics that annotations script.

mod behavior;
mod metrics;

use super::cache::Place;
use super::clock::rfc3339;
use super::kind::Kind;
use super::meta::{self, int, text};
use super::record::{Source, Tone, record};
use super::task::Key;
use super::world::{MANAGER, World};
use crate::registry::Served;
use crate::selector::LabelSelector;
use crate::{Status, Write};
use behavior::{Limited, Memory};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::sync::Arc;

const COMPONENT: &str = "horizontal-pod-autoscaler";
/// The pause between two looks at scripted metrics, in milliseconds.
const PERIOD_MS: i64 = 1000;
/// The same without a script, as in a cluster.
const LONG_PERIOD_MS: i64 = 15_000;

/// What is remembered of each autoscaler.
pub(crate) type Memories = FxHashMap<Place, Memory>;

/// Looks at the metrics of an autoscaler and scales its target.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(scaler) = world.get(Kind::HorizontalPodAutoscaler, key.namespace(), key.name()) else {
        world.autoscalers.remove(&key.place);
        return Ok(());
    };
    if meta::is_deleting(&scaler) {
        return Ok(());
    }
    let mut memory = world.autoscalers.remove(&key.place).unwrap_or_default();
    let mut run = Run { world, scaler: &scaler, status: status_of(&scaler), memory: &mut memory };
    run.step();
    let status = run.status;
    let result = world.update_status(Kind::HorizontalPodAutoscaler, &scaler, status);
    world.autoscalers.insert(key.place.clone(), memory);
    let scripted = scaler["metadata"]["annotations"].as_object();
    let scripted = scripted.is_some_and(|it| it.keys().any(|key| key.starts_with(metrics::SCRIPT)));
    world.add_after(key, if scripted { PERIOD_MS } else { LONG_PERIOD_MS });
    match result {
        Err(status) if status.is_conflict() => Ok(()),
        result => result,
    }
}

fn status_of(scaler: &Value) -> Value {
    let mut status = scaler["status"].clone();
    if !status.is_object() {
        status = json!({"currentMetrics": null, "desiredReplicas": 0});
    }
    status
}

/// Returns the target of an autoscaler: its resource and its scale.
fn target(world: &World, scaler: &Value) -> Result<(Arc<Served>, Value), String> {
    let reference = &scaler["spec"]["scaleTargetRef"];
    let (version, kind) = (text(&reference["apiVersion"]), text(&reference["kind"]));
    let cluster = world.api.cluster();
    let (group, plain) = version.rsplit_once('/').unwrap_or(("", version));
    let served = cluster.registry.by_kind(group, plain, kind);
    let served =
        served.ok_or_else(|| format!("no matches for kind {kind:?} in group {group:?}"))?;
    let scale = cluster
        .scale(&served, meta::namespace(scaler), text(&reference["name"]))
        .map_err(|status| status.message)?;
    Ok((served, scale))
}

/// One look at an autoscaler.
struct Run<'a> {
    world: &'a mut World,
    scaler: &'a Arc<Value>,
    status: Value,
    memory: &'a mut Memory,
}

impl Run<'_> {
    fn condition(&mut self, type_: &str, holds: bool, reason: &str, message: &str) {
        let status = if holds { "True" } else { "False" };
        let now = self.world.now_text();
        let condition =
            json!({"type": type_, "status": status, "reason": reason, "message": message});
        let list = &mut self.status["conditions"];
        meta::set_condition(list, condition, &now);
    }

    fn tell(&mut self, tone: Tone, reason: &str, message: &str) {
        let source = Source::component(COMPONENT);
        let kind = Kind::HorizontalPodAutoscaler;
        record(self.world, source, kind, self.scaler, tone, reason, message);
    }

    fn step(&mut self) {
        let (served, scale) = match target(self.world, self.scaler) {
            Ok(found) => found,
            Err(why) => {
                self.tell(Tone::Warning, "FailedGetScale", &why);
                let message = format!(
                    "the HPA controller was unable to get the target's current scale: {why}"
                );
                self.condition("AbleToScale", false, "FailedGetScale", &message);
                return;
            }
        };
        let message = "the HPA controller was able to get the target's current scale";
        self.condition("AbleToScale", true, "SucceededGetScale", message);
        let current = int(&scale["spec"]["replicas"], 0);
        meta::set_count(&mut self.status, "currentReplicas", current);
        let now = self.world.now_ms();
        self.memory.start(current, now);
        let spec = &self.scaler["spec"];
        let (lowest, highest) = (int(&spec["minReplicas"], 1), int(&spec["maxReplicas"], 0));
        let (desired, reason) = if current == 0 && lowest != 0 {
            let message = "scaling is disabled since the replica count of the target is zero";
            self.condition("ScalingActive", false, "ScalingDisabled", message);
            (0, "")
        } else if current > highest {
            (highest, "Current number of replicas above Spec.MaxReplicas")
        } else if current < lowest {
            (lowest, "Current number of replicas below Spec.MinReplicas")
        } else {
            let Some((wanted, name)) = self.wanted(&scale, current) else { return };
            let reason = match wanted {
                wanted if wanted > current => format!("{name} above target"),
                wanted if wanted < current => "All metrics below target".to_owned(),
                _ => String::new(),
            };
            let desired = self.limited(current, wanted, now);
            self.rescale(&served, &scale, current, desired, &reason);
            return;
        };
        self.rescale(&served, &scale, current, desired, reason);
    }

    /// Returns how many replicas the metrics ask for, and which of them; `None` if they are not
    /// known.
    fn wanted(&mut self, scale: &Value, current: i64) -> Option<(i64, String)> {
        if let Some(why) = self.ambiguous(scale) {
            self.tell(Tone::Warning, "AmbiguousSelector", &why);
            self.condition("ScalingActive", false, "AmbiguousSelector", &why);
            self.tell(Tone::Warning, "FailedComputeMetricsReplicas", &why);
            return None;
        }
        let found = metrics::proposals(self.world, self.scaler, scale, current);
        self.status["currentMetrics"] = found.statuses.into();
        match found.best {
            Ok((replicas, name)) => {
                let message = format!(
                    "the HPA was able to successfully calculate a replica count from {name}"
                );
                self.condition("ScalingActive", true, "ValidMetricFound", &message);
                Some((replicas, name))
            }
            Err(failure) => {
                self.tell(Tone::Warning, failure.reason, &failure.why);
                let message =
                    format!("the HPA was unable to compute the replica count: {}", failure.why);
                self.condition("ScalingActive", false, failure.reason, &message);
                let text = format!(
                    "invalid metrics ({} invalid out of {}), first error is: {}",
                    failure.n_invalid, failure.n_all, failure.whole
                );
                self.tell(Tone::Warning, "FailedComputeMetricsReplicas", &text);
                None
            }
        }
    }

    /// Says that other autoscalers scale the same pods, if they do.
    fn ambiguous(&self, scale: &Value) -> Option<String> {
        let namespace = meta::namespace(self.scaler);
        let own = text(&scale["status"]["selector"]);
        let pods = metrics::pods(self.world, namespace, own);
        let mut names: Vec<String> = Vec::new();
        for other in self.world.list(Kind::HorizontalPodAutoscaler, namespace) {
            let is_own = meta::name(&other) == meta::name(self.scaler);
            let shares = || {
                let (_, scale) = target(self.world, &other).ok()?;
                let labels = LabelSelector::parse(text(&scale["status"]["selector"])).ok()?;
                let mut both =
                    pods.iter().filter(|it| labels.matches(it["metadata"]["labels"].as_object()));
                both.next().map(drop)
            };
            if is_own || shares().is_some() {
                names.push(format!("{namespace}/{}", meta::name(&other)));
            }
        }
        names.sort();
        (names.len() > 1).then(|| {
            let names = names.join(" ");
            format!("pods by selector {own} are controlled by multiple HPAs: [{names}]")
        })
    }

    /// Brings what the metrics ask for into the limits of the autoscaler.
    fn limited(&mut self, current: i64, wanted: i64, now: i64) -> i64 {
        let limited: Limited = self.memory.limit(&self.scaler["spec"], current, wanted, now);
        let (reason, message) = limited.able;
        self.condition("AbleToScale", true, reason, message);
        let (is_limited, reason, message) = limited.scaling;
        self.condition("ScalingLimited", is_limited, reason, message);
        limited.desired
    }

    fn rescale(
        &mut self,
        served: &Served,
        scale: &Value,
        current: i64,
        desired: i64,
        reason: &str,
    ) {
        let active = current != 0 || int(&self.scaler["spec"]["minReplicas"], 1) == 0;
        if desired == current || !active {
            self.status["desiredReplicas"] = if active { current } else { 0 }.into();
            return;
        }
        let mut new = scale.clone();
        new["spec"]["replicas"] = desired.into();
        let write = Write { manager: MANAGER, subresource: "scale", ..Write::default() };
        let namespace = meta::namespace(self.scaler);
        let name = text(&self.scaler["spec"]["scaleTargetRef"]["name"]);
        let cluster = Arc::clone(self.world.api.cluster());
        if let Err(status) = cluster.update_scale(served, namespace, name, &new, &write) {
            let why = &status.message;
            self.tell(
                Tone::Warning,
                "FailedRescale",
                &format!("New size: {desired}; reason: {reason}; error: {why}"),
            );
            let message =
                format!("the HPA controller was unable to update the target scale: {why}");
            self.condition("AbleToScale", false, "FailedUpdateScale", &message);
            return;
        }
        let message =
            format!("the HPA controller was able to update the target scale to {desired}");
        self.condition("AbleToScale", true, "SucceededRescale", &message);
        let text = format!("New size: {desired}; reason: {reason}");
        self.tell(Tone::Normal, "SuccessfulRescale", &text);
        let now = self.world.now_ms();
        self.memory.scaled(current, desired, now);
        self.status["desiredReplicas"] = desired.into();
        self.status["lastScaleTime"] = rfc3339(self.world.now()).into();
    }
}
