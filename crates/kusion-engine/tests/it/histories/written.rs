//! Histories that are written by hand: one pod, with what its kubelet reports.

use super::History;
use jiff::{SignedDuration, Timestamp};
use kusion_runtime_k8s::ObjectChange;
use serde_json::{Value, json};

/// The time at which watches of written histories start.
const START: i64 = 1_767_225_600;

/// The state of the container of a pod.
#[derive(Clone, Copy)]
pub(super) enum Report {
    /// It waits, with a reason.
    Waits(&'static str),
    /// It runs and is ready.
    Ready,
    /// It runs and is not ready.
    Unready,
    /// It crashed with an exit code, and waits for its restart.
    Crashed(i64),
    /// The pod has failed, with a reason.
    Failed(&'static str),
    /// The pod cannot be scheduled.
    Unschedulable,
}

/// Writes the history of a pod from its reports, in seconds after the start of the watch.
pub(super) fn pod(has_probe: bool, reports: &[(i64, Report)]) -> History {
    let mut changes = Vec::new();
    let mut last: Option<(i64, i64, i64)> = None;
    let mut running: Option<i64> = None;
    let mut restarts = 0;
    let created = reports.first().map_or(0, |it| it.0);
    let mut is_ready = (false, created);
    for (at, report) in reports {
        match report {
            Report::Ready | Report::Unready if running.is_none() => {
                restarts += i64::from(last.is_some());
                running = Some(*at);
            }
            Report::Crashed(code) => {
                last = Some((*code, running.unwrap_or(*at), *at));
                running = None;
            }
            Report::Waits(_) | Report::Failed(_) => running = None,
            _ => {}
        }
        if is_ready.0 != matches!(report, Report::Ready) {
            is_ready = (!is_ready.0, *at);
        }
        let container = container(*report, running, last, restarts);
        let mut object = object(has_probe, created, *report);
        object["status"]["containerStatuses"] = json!([container]);
        object["status"]["conditions"] = conditions(*report, is_ready);
        changes.push((at * 1000, ObjectChange::Changed(object)));
    }
    let target = object(has_probe, created, Report::Unready);
    History { start: time(0), changes, target, acts: Vec::new() }
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(START + seconds)
}

fn text(seconds: i64) -> String {
    time(seconds).to_string()
}

fn object(has_probe: bool, created: i64, report: Report) -> Value {
    let mut container = json!({"name": "main", "image": "web:1"});
    if has_probe {
        container["readinessProbe"] = json!({"httpGet": {"port": 80}});
    }
    let (phase, reason) = match report {
        Report::Failed(reason) => ("Failed", reason),
        Report::Waits(_) | Report::Unschedulable => ("Pending", ""),
        _ => ("Running", ""),
    };
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "it", "namespace": "default", "uid": "it",
            "creationTimestamp": text(created)},
        "spec": {"containers": [container]},
        "status": {"phase": phase, "reason": reason, "startTime": text(created)}})
}

fn container(
    report: Report,
    running: Option<i64>,
    last: Option<(i64, i64, i64)>,
    restarts: i64,
) -> Value {
    let waits = |reason: &str| json!({"waiting": {"reason": reason, "message": reason}});
    let state = match (report, running) {
        (_, Some(since)) => json!({"running": {"startedAt": text(since)}}),
        (Report::Waits(reason), _) => waits(reason),
        (Report::Crashed(_), _) => waits("CrashLoopBackOff"),
        _ => waits("ContainerCreating"),
    };
    let last = last.map(|(code, start, end)| {
        let reason = if code == 137 { "OOMKilled" } else { "Error" };
        json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": text(start),
            "finishedAt": text(end)}})
    });
    let is_ready = matches!(report, Report::Ready);
    json!({"name": "main", "ready": is_ready, "restartCount": restarts, "state": state,
        "lastState": last.unwrap_or_else(|| json!({}))})
}

fn conditions(report: Report, (is_ready, since): (bool, i64)) -> Value {
    let status = if is_ready { "True" } else { "False" };
    if matches!(report, Report::Unschedulable) {
        return json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": "0/2 nodes are available", "lastTransitionTime": text(since)}]);
    }
    json!([{"type": "Ready", "status": status, "lastTransitionTime": text(since)},
        {"type": "ContainersReady", "status": status, "lastTransitionTime": text(since)},
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": text(since)}])
}
