//! How many replicas metrics ask for. The values of metrics come from annotations of the autoscaler.

use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, annotation, items, text};
use crate::controllers::world::World;
use crate::selector::LabelSelector;
use kusion_k8s_schema::{Quantity, scripted_metric};
use serde_json::{Value, json};
use std::sync::Arc;

/// The annotation of a metric, without its name.
pub(super) const SCRIPT: &str = "sandbox.kusion.io/metric.";
/// A ratio that differs from 1 by no more than this changes nothing.
const TOLERANCE: f64 = 0.1;
const NANO: f64 = 1e9;
/// What a cluster without an adapter for metrics of programs says.
const NO_CUSTOM: &str = "unable to fetch metrics from custom metrics API: no custom metrics API \
                         (custom.metrics.k8s.io) registered";

/// What all metrics say.
pub(super) struct Proposals {
    /// The highest number of replicas and the name of its metric.
    pub(super) best: Result<(i64, String), Failure>,
    /// The current values, as the status shows them.
    pub(super) statuses: Vec<Value>,
}

/// Why the metrics say nothing.
pub(super) struct Failure {
    pub(super) reason: &'static str,
    pub(super) why: String,
    /// The same, with the metric that is meant.
    pub(super) whole: String,
    pub(super) n_invalid: usize,
    pub(super) n_all: usize,
}

/// What one metric says: replicas, its name, and its current value.
type Proposal = (i64, String, Value);

/// Why a metric says nothing: the reason of the condition, its message, and what precedes it in
/// the event about all metrics.
type Missing = (&'static str, String, String);

/// The pods of a target.
struct Target<'a> {
    scaler: &'a Value,
    ready: Vec<Arc<Value>>,
    n_unready: usize,
    current: i64,
    up: f64,
    down: f64,
}

/// Computes how many replicas the metrics of an autoscaler ask for.
pub(super) fn proposals(world: &World, scaler: &Value, scale: &Value, current: i64) -> Proposals {
    let target = Target::new(world, scaler, scale, current);
    let specs = items(&scaler["spec"]["metrics"]);
    let mut best: Option<(i64, String)> = None;
    let (mut statuses, mut failure, mut n_invalid) = (Vec::new(), None, 0);
    for spec in specs {
        match target.proposal(spec) {
            Ok((replicas, name, status)) => {
                statuses.push(status);
                if best.as_ref().is_none_or(|(most, _)| replicas > *most) {
                    best = Some((replicas, name));
                }
            }
            Err(missing) => {
                n_invalid += 1;
                statuses.push(json!({"type": ""}));
                failure.get_or_insert(missing);
            }
        }
    }
    // A metric that is missing must not scale down.
    let best = best.filter(|(replicas, _)| n_invalid == 0 || *replicas >= current);
    let best = best.ok_or_else(|| {
        let none = || ("InvalidMetricSourceType", "there are no metrics".to_owned(), String::new());
        let (reason, why, before) = failure.unwrap_or_else(none);
        let whole = format!("{before}{why}");
        Failure { reason, why, whole, n_invalid, n_all: specs.len() }
    });
    Proposals { best, statuses }
}

/// Returns the pods that a selector of a `Scale` matches and that have not ended.
pub(super) fn pods(world: &World, namespace: &str, selector: &str) -> Vec<Arc<Value>> {
    let labels = LabelSelector::parse(selector).unwrap_or_default();
    world
        .cache
        .in_namespace(Kind::Pod, namespace)
        .filter(|pod| labels.matches(pod["metadata"]["labels"].as_object()))
        .filter(|pod| !meta::is_deleting(pod) && !meta::is_pod_finished(pod))
        .collect()
}

impl<'a> Target<'a> {
    fn new(world: &World, scaler: &'a Value, scale: &Value, current: i64) -> Self {
        let selector = text(&scale["status"]["selector"]).to_owned();
        let pods = pods(world, meta::namespace(scaler), &selector);
        let (ready, others): (Vec<_>, Vec<_>) =
            pods.into_iter().partition(|pod| meta::is_pod_ready(pod));
        let tolerance = |key: &str| {
            let given = text(&scaler["spec"]["behavior"][key]["tolerance"]);
            Quantity::parse(given).map_or(TOLERANCE, |it| it.nano() as f64 / NANO)
        };
        Self {
            scaler,
            n_unready: others.len(),
            ready,
            current,
            up: tolerance("scaleUp"),
            down: tolerance("scaleDown"),
        }
    }

    fn is_close(&self, ratio: f64) -> bool {
        (1.0 - self.down..=1.0 + self.up).contains(&ratio)
    }

    /// Returns the scripted value of a metric: an amount, and whether all pods share it. A
    /// percentage is of what the pods request.
    fn value(&self, name: &str, requests: f64) -> Option<(f64, bool)> {
        let text = annotation(self.scaler, &format!("{SCRIPT}{name}"))?;
        let (amount, is_percent, is_total) = scripted_metric(text)?;
        let amount = amount.nano() as f64 / NANO;
        Some((if is_percent { amount / 100.0 * requests } else { amount }, is_total))
    }

    fn proposal(&self, spec: &Value) -> Result<Proposal, Missing> {
        match text(&spec["type"]) {
            "Resource" => self.resource(&spec["resource"], ""),
            "ContainerResource" => {
                let source = &spec["containerResource"];
                self.resource(source, text(&source["container"]))
            }
            "Pods" => self.of_pods(&spec["pods"]),
            "Object" => self.of_object(&spec["object"]),
            "External" => self.external(&spec["external"]),
            other => {
                let why = format!("unknown metric source type {other:?}");
                Err(("InvalidMetricSourceType", why, String::new()))
            }
        }
    }

    /// What each pod uses, on average.
    fn average(&self, name: &str, requests: f64) -> Option<f64> {
        let (value, is_total) = self.value(name, requests)?;
        let count = self.ready.len().max(1) as f64;
        Some(if is_total { value / count } else { value })
    }

    /// The replicas for a ratio of use to target, by pod.
    fn by_ratio(&self, ratio: f64) -> i64 {
        let ready = self.ready.len();
        if self.n_unready == 0 || ratio < 1.0 {
            if self.is_close(ratio) {
                return self.current;
            }
            return (ratio * ready as f64).ceil() as i64;
        }
        // Pods that are not ready yet count as if they used nothing.
        let count = ready + self.n_unready;
        let damped = ratio * ready as f64 / count as f64;
        let wanted = (damped * count as f64).ceil() as i64;
        if self.is_close(damped) || damped < 1.0 || wanted < self.current {
            return self.current;
        }
        wanted
    }

    fn resource(&self, source: &Value, container: &str) -> Result<Proposal, Missing> {
        let name = text(&source["name"]);
        let is_container = !container.is_empty();
        let reason = if is_container {
            "FailedGetContainerResourceMetric"
        } else {
            "FailedGetResourceMetric"
        };
        let target = &source["target"];
        let utilization = target.get("averageUtilization").and_then(Value::as_i64);
        let what = if utilization.is_some() { "utilization" } else { "usage" };
        let before = match container {
            "" => format!("failed to get {name} resource metric value: "),
            container => format!("failed to get {container} container metric value: "),
        };
        let fail =
            |why: String| (reason, format!("failed to get {name} {what}: {why}"), before.clone());
        if self.ready.is_empty() && self.n_unready == 0 {
            let why = format!(
                "unable to get metrics for resource {name}: no metrics returned from resource \
                 metrics API"
            );
            return Err(fail(why));
        }
        let request = self.request(name, container);
        let each = request.as_ref().copied().unwrap_or(0.0);
        let Some(average) = self.average(name, each) else {
            return Err(fail(format!(
                "unable to get metrics for resource {name}: unable to fetch metrics from resource \
                 metrics API: the server could not find the requested resource (get \
                 pods.metrics.k8s.io)"
            )));
        };
        if self.ready.is_empty() {
            return Err(fail(
                "did not receive metrics for targeted pods (pods might be unready)".to_owned(),
            ));
        }
        let (ratio, title, status) = match utilization {
            Some(wanted) => {
                let each = request.map_err(fail)?;
                let percent = (average * 100.0 / each).floor();
                let title = "resource utilization (percentage of request)";
                let status = json!({"averageUtilization": percent as i64,
                    "averageValue": milli(average)});
                (percent / wanted as f64, title, status)
            }
            None => {
                let wanted = amount(&target["averageValue"]);
                (average / wanted, "resource", json!({"averageValue": milli(average)}))
            }
        };
        let (kind, mut shown) = if is_container {
            ("ContainerResource", json!({"name": name, "container": container}))
        } else {
            ("Resource", json!({"name": name}))
        };
        shown["current"] = status;
        let key = if is_container { "containerResource" } else { "resource" };
        let title = if is_container {
            format!("{name} container {title}")
        } else {
            format!("{name} {title}")
        };
        Ok((self.by_ratio(ratio), title, json!({"type": kind, key: shown})))
    }

    /// The average request of the ready pods.
    fn request(&self, name: &str, container: &str) -> Result<f64, String> {
        let mut total = 0.0;
        for pod in &self.ready {
            for own in items(&pod["spec"]["containers"]) {
                if !container.is_empty() && text(&own["name"]) != container {
                    continue;
                }
                let request = &own["resources"]["requests"][name];
                if request.is_null() {
                    let (container, pod) = (text(&own["name"]), meta::name(pod));
                    return Err(format!(
                        "missing request for {name} in container {container} of Pod {pod}"
                    ));
                }
                total += amount(request);
            }
        }
        Ok(total / self.ready.len().max(1) as f64)
    }

    fn of_pods(&self, source: &Value) -> Result<Proposal, Missing> {
        let name = text(&source["metric"]["name"]);
        let Some(average) = self.average(name, 0.0) else {
            let why = format!("unable to get metric {name}: {NO_CUSTOM}");
            return Err((
                "FailedGetPodsMetric",
                why,
                "failed to get pods metric value: ".to_owned(),
            ));
        };
        let wanted = amount(&source["target"]["averageValue"]);
        let status = json!({"type": "Pods", "pods": {"metric": source["metric"],
            "current": {"averageValue": milli(average)}}});
        Ok((self.by_ratio(average / wanted), format!("pods metric {name}"), status))
    }

    /// The replicas for a value that is not one of the pods.
    fn by_value(&self, target: &Value, value: f64) -> (i64, Value) {
        if target.get("value").is_some_and(|it| !it.is_null()) {
            let ratio = value / amount(&target["value"]);
            let ready = self.ready.len() as f64;
            let replicas =
                if self.is_close(ratio) { self.current } else { (ratio * ready).ceil() as i64 };
            return (replicas, json!({"value": milli(value)}));
        }
        let wanted = amount(&target["averageValue"]);
        let count = self.current.max(1) as f64;
        let replicas = if self.is_close(value / (wanted * count)) {
            self.current
        } else {
            (value / wanted).ceil() as i64
        };
        (replicas, json!({"averageValue": milli(value / count)}))
    }

    fn of_object(&self, source: &Value) -> Result<Proposal, Missing> {
        let name = text(&source["metric"]["name"]);
        let object = &source["describedObject"];
        let kind = text(&object["kind"]);
        let Some((value, _)) = self.value(name, 0.0) else {
            let namespace = meta::namespace(self.scaler);
            let object = text(&object["name"]);
            let why =
                format!("unable to get metric {name}: {kind} on {namespace} {object}/{NO_CUSTOM}");
            let before = "failed to get object metric value: ".to_owned();
            return Err(("FailedGetObjectMetric", why, before));
        };
        let (replicas, current) = self.by_value(&source["target"], value);
        let status = json!({"type": "Object", "object": {"metric": source["metric"],
            "current": current, "describedObject": object}});
        Ok((replicas, format!("{kind} metric {name}"), status))
    }

    fn external(&self, source: &Value) -> Result<Proposal, Missing> {
        let name = text(&source["metric"]["name"]);
        let namespace = meta::namespace(self.scaler);
        let Some((value, _)) = self.value(name, 0.0) else {
            let shown = shown_selector(&source["metric"]["selector"]);
            let why = format!(
                "unable to get external metric {namespace}/{name}/{shown}: unable to fetch metrics \
                 from external metrics API: the server could not find the requested resource (get \
                 {name}.external.metrics.k8s.io)"
            );
            let inner = match source["target"].get("averageValue") {
                Some(_) => format!("failed to get {name} external metric"),
                None => format!("failed to get external metric {name}"),
            };
            let before = format!("failed to get {name} external metric value: {inner}: ");
            return Err(("FailedGetExternalMetric", why, before));
        };
        let (replicas, current) = self.by_value(&source["target"], value);
        let status = json!({"type": "External", "external": {"metric": source["metric"],
            "current": current}});
        let shown = shown_selector(&source["metric"]["selector"]);
        Ok((replicas, format!("external metric {name}({shown})"), status))
    }
}

/// Returns a selector as the real controller prints it.
fn shown_selector(selector: &Value) -> String {
    if !selector.is_object() {
        return "nil".to_owned();
    }
    let pair = |(key, value): (&String, &Value)| format!("{key}: {},", text(value));
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let labels = labels.map(pair).collect::<Vec<_>>().concat();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},\
         MatchExpressions:[]LabelSelectorRequirement{{}},}}"
    )
}

fn amount(value: &Value) -> f64 {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Quantity::parse(&text).map_or(0.0, |it| it.nano() as f64 / NANO)
}

/// Returns an amount in thousandths, as the status shows it.
fn milli(value: f64) -> String {
    let milli = (value * 1000.0).round() as i64;
    if milli % 1000 == 0 { (milli / 1000).to_string() } else { format!("{milli}m") }
}
