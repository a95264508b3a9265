//! Pods.

use super::fields::{Condition, condition, list, number, stuck, text};
use super::grace::{Cause, Finality, of_waiting};
use kusion_model::Health;
use serde_json::Value;

/// Number of restarts after which a crash loop is a failure.
const MAX_RESTARTS: i64 = 2;

pub(super) fn health(object: &Value) -> Health {
    match text(object, "/status/phase") {
        "Succeeded" => return Health::ready("completed"),
        "Failed" => return ended(object),
        _ => {}
    }
    if let Some(waiting) = waiting(object) {
        return waiting;
    }
    if let Some(scheduled) = condition(object, "PodScheduled").filter(Condition::is_false) {
        return scheduled.stuck();
    }
    let statuses = list(object, "/status/containerStatuses");
    let n_ready =
        statuses.iter().filter(|it| it.get("ready").and_then(Value::as_bool) == Some(true)).count();
    let n_all = list(object, "/spec/containers").len().max(statuses.len());
    let words = format!("{n_ready} of {n_all} containers ready");
    if condition(object, "Ready").is_some_and(|it| it.is_true()) {
        return Health::ready(words);
    }
    Health::progressing(words)
}

/// Returns the health of a failed pod.
fn ended(object: &Value) -> Health {
    let reason = text(object, "/status/reason");
    let message = text(object, "/status/message");
    if !reason.is_empty() {
        return Health::failed(reason, if message.is_empty() { reason } else { message });
    }
    let failed = containers(object).find_map(|status| {
        let state = status.get("state")?.get("terminated")?;
        (number(state, "/exitCode") != 0).then(|| {
            let (reason, words) = termination(state);
            Health::failed(reason, format!("container `{}` {words}", text(status, "/name")))
        })
    });
    failed.unwrap_or_else(|| Health::failed("Failed", "the pod failed"))
}

/// Returns the health of a pod with a container that cannot run: if several cannot, of the one
/// that cannot heal.
fn waiting(object: &Value) -> Option<Health> {
    let mut failed: Option<Health> = None;
    let mut later = None;
    for status in containers(object) {
        let Some(state) = status.get("state").and_then(|state| state.get("waiting")) else {
            continue;
        };
        let name = text(status, "/name");
        let reason = text(state, "/reason");
        let message = text(state, "/message");
        if let Some(Cause { finality, .. }) = of_waiting(reason) {
            let words = if message.is_empty() { reason } else { message };
            let health = Health::failed(reason, format!("container `{name}`: {words}"));
            if finality == Finality::GivenUp {
                return Some(health);
            }
            failed.get_or_insert(health);
        }
        if reason == "CrashLoopBackOff" {
            let restarts = number(status, "/restartCount");
            let last = status.pointer("/lastState/terminated").map(|state| termination(state).1);
            let last = last.unwrap_or_else(|| "exited".to_owned());
            let words = format!("container `{name}` {last}; restarts: {restarts}");
            if restarts >= MAX_RESTARTS {
                return Some(Health::failed(reason, words));
            }
            later.get_or_insert(stuck(reason, words));
        }
    }
    failed.or(later)
}

/// Returns the states of all containers, those that prepare the pod first.
pub(super) fn containers(object: &Value) -> impl Iterator<Item = &Value> {
    let first = list(object, "/status/initContainerStatuses").iter();
    first.chain(list(object, "/status/containerStatuses"))
}

/// Returns the reason and the text of the termination of a container.
pub(super) fn termination(state: &Value) -> (&str, String) {
    let reason = text(state, "/reason");
    let code = number(state, "/exitCode");
    let message = text(state, "/message").trim();
    let mut words = match reason {
        "OOMKilled" => "was killed: out of memory".to_owned(),
        _ => format!("exited with code {code}"),
    };
    if !message.is_empty() {
        words.push_str(": ");
        words.extend(message.chars().take(200));
    }
    (if reason.is_empty() { "Error" } else { reason }, words)
}
