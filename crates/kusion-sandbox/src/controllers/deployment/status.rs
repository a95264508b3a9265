//! The status of a Deployment: counts, conditions, and the deadline for progress.

use super::{Rollout, plan};
use crate::Status;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, int, items, set_count, text};
use serde_json::{Value, json};
use std::sync::Arc;

/// The value that stands for "no deadline".
const NO_DEADLINE: i64 = i32::MAX as i64;

/// A condition without its times.
pub(super) fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": type_, "status": status, "reason": reason, "message": message})
}

/// Sets a condition; one with the same status and reason stays as it is.
pub(super) fn set_condition(conditions: &mut Value, mut new: Value, now: &str) {
    let same = items(conditions).iter().any(|it| {
        it["type"] == new["type"] && it["status"] == new["status"] && it["reason"] == new["reason"]
    });
    if !same {
        new["lastUpdateTime"] = now.into();
        append(conditions, new, now);
    }
}

/// Sets a condition and moves it to the end of the list.
fn append(conditions: &mut Value, new: Value, now: &str) {
    let type_ = new["type"].clone();
    meta::set_condition(conditions, new, now);
    if let Some(list) = conditions.as_array_mut()
        && let Some(at) = list.iter().position(|it| it["type"] == type_)
    {
        list[at..].rotate_left(1);
    }
}

/// The seconds that a rollout may stand still; none when it may for ever.
pub(super) fn deadline(deployment: &Value) -> Option<i64> {
    deployment["spec"]["progressDeadlineSeconds"].as_i64().filter(|it| *it != NO_DEADLINE)
}

/// Whether all pods are of the new template and available, and no old ones are left.
pub(super) fn is_complete(deployment: &Value, status: &Value) -> bool {
    let wanted = int(&deployment["spec"]["replicas"], 1);
    let count = |key: &str| int(&status[key], 0);
    count("updatedReplicas") == wanted
        && count("replicas") == wanted
        && count("availableReplicas") == wanted
        && count("observedGeneration") >= meta::generation(deployment)
}

/// Whether a rollout got on between two statuses.
fn is_progressing(old: &Value, new: &Value) -> bool {
    let count = |status: &Value, key: &str| int(&status[key], 0);
    let old_pods = |status: &Value| count(status, "replicas") - count(status, "updatedReplicas");
    count(new, "updatedReplicas") > count(old, "updatedReplicas")
        || old_pods(new) < old_pods(old)
        || count(new, "readyReplicas") > count(old, "readyReplicas")
        || count(new, "availableReplicas") > count(old, "availableReplicas")
}

/// The counts, and the condition `Available`.
fn counted(deployment: &Value, sets: &[Arc<Value>], new: Option<&Value>, now: &str) -> Value {
    let sum = |key: &str| sets.iter().map(|it| int(&it["status"][key], 0)).sum::<i64>();
    let size: i64 = sets.iter().map(|it| plan::size(it)).sum();
    let available = sum("availableReplicas");
    let mut status = deployment["status"].clone();
    set_count(&mut status, "observedGeneration", meta::generation(deployment));
    set_count(&mut status, "replicas", sum("replicas"));
    set_count(
        &mut status,
        "updatedReplicas",
        new.map_or(0, |it| int(&it["status"]["replicas"], 0)),
    );
    set_count(&mut status, "readyReplicas", sum("readyReplicas"));
    set_count(&mut status, "availableReplicas", available);
    set_count(&mut status, "unavailableReplicas", (size - available).max(0));
    status["terminatingReplicas"] = sum("terminatingReplicas").into();
    let wanted = int(&deployment["spec"]["replicas"], 1);
    let condition = if available >= wanted - plan::max_unavailable(deployment) {
        condition(
            "Available",
            "True",
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.",
        )
    } else {
        condition(
            "Available",
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        )
    };
    set_condition(&mut status["conditions"], condition, now);
    status
}

impl Rollout<'_> {
    /// Notes in the condition `Progressing` that a Deployment was paused or goes on.
    pub(super) fn note_pause(&mut self) -> Result<(), Status> {
        if deadline(&self.deployment).is_none() {
            return Ok(());
        }
        let current = meta::condition(&self.deployment, "Progressing");
        let reason = current.map_or("", |it| text(&it["reason"]));
        if reason == "ProgressDeadlineExceeded" {
            return Ok(());
        }
        let paused = self.deployment["spec"]["paused"] == true;
        let new = match (paused, reason == "DeploymentPaused") {
            (true, false) => ("DeploymentPaused", "Deployment is paused"),
            (false, true) => ("DeploymentResumed", "Deployment is resumed"),
            _ => return Ok(()),
        };
        let now = self.world.now_text();
        let condition = condition("Progressing", "Unknown", new.0, new.1);
        set_condition(&mut self.deployment["status"]["conditions"], condition, &now);
        self.store_status()
    }

    /// Writes counts and availability, leaving progress aside.
    pub(super) fn write_plain_status(&mut self, new: Option<&Value>) -> Result<(), Status> {
        let now = self.world.now_text();
        let status = counted(&self.deployment, &self.sets, new, &now);
        self.write_status(status)
    }

    /// Writes counts, availability and progress.
    pub(super) fn write_rollout_status(&mut self) -> Result<(), Status> {
        let (new, _) = self.split();
        let now = self.world.now_text();
        let mut status = counted(&self.deployment, &self.sets, new.as_deref(), &now);
        if deadline(&self.deployment).is_none() {
            meta::remove_condition(&mut status, "Progressing");
        }
        let current = items(&status["conditions"]).iter().find(|it| it["type"] == "Progressing");
        let was_complete = int(&status["replicas"], 0) == int(&status["updatedReplicas"], 0)
            && current.is_some_and(|it| it["reason"] == "NewReplicaSetAvailable");
        if deadline(&self.deployment).is_some() && !was_complete {
            self.set_progress(&mut status, new.as_deref(), &now);
        }
        copy_failure(&mut status, &self.sets, new.as_deref(), &now);
        self.write_status(status)?;
        self.await_deadline();
        Ok(())
    }

    fn set_progress(&self, status: &mut Value, new: Option<&Value>, now: &str) {
        let subject = new.map_or_else(
            || format!("Deployment \"{}\"", meta::name(&self.deployment)),
            |it| format!("ReplicaSet \"{}\"", meta::name(it)),
        );
        let old_status = self.stored_status();
        if is_complete(&self.deployment, status) {
            let message = format!("{subject} has successfully progressed.");
            let new = condition("Progressing", "True", "NewReplicaSetAvailable", &message);
            set_condition(&mut status["conditions"], new, now);
        } else if is_progressing(&old_status, status) {
            let message = format!("{subject} is progressing.");
            let mut new = condition("Progressing", "True", "ReplicaSetUpdated", &message);
            new["lastUpdateTime"] = now.into();
            append(&mut status["conditions"], new, now);
        } else if self.is_overdue(status) {
            let message = format!("{subject} has timed out progressing.");
            let new = condition("Progressing", "False", "ProgressDeadlineExceeded", &message);
            set_condition(&mut status["conditions"], new, now);
        }
    }

    /// The status that watchers know.
    fn stored_status(&self) -> Value {
        let key = self.key;
        self.world
            .cache
            .get(Kind::Deployment, key.namespace(), key.name())
            .map_or(Value::Null, |it| it["status"].clone())
    }

    fn is_overdue(&self, status: &Value) -> bool {
        let Some(current) =
            items(&status["conditions"]).iter().find(|it| it["type"] == "Progressing")
        else {
            return false;
        };
        match text(&current["reason"]) {
            "NewReplicaSetAvailable" => false,
            "ProgressDeadlineExceeded" => true,
            _ => self.rest(current).is_some_and(|it| it < 0),
        }
    }

    /// The seconds until the deadline; negative when it is over.
    fn rest(&self, progressing: &Value) -> Option<i64> {
        let since = meta::time(&progressing["lastUpdateTime"])?;
        let limit = deadline(&self.deployment)?;
        Some(since.as_second() + limit - self.world.now().as_second())
    }

    /// Looks again when the deadline is over.
    fn await_deadline(&mut self) {
        let status = &self.deployment["status"];
        let Some(current) =
            items(&status["conditions"]).iter().find(|it| it["type"] == "Progressing")
        else {
            return;
        };
        if deadline(&self.deployment).is_none()
            || is_complete(&self.deployment, status)
            || current["reason"] == "ProgressDeadlineExceeded"
        {
            return;
        }
        if let Some(rest) = self.rest(current) {
            let key = self.key;
            self.world.add_after(key, (rest.max(0) + 1) * 1000);
        }
    }

    fn write_status(&mut self, status: Value) -> Result<(), Status> {
        self.deployment["status"] = status;
        let key = self.key;
        let known = self.world.cache.get(Kind::Deployment, key.namespace(), key.name());
        let same = known.is_some_and(|it| {
            it["status"] == self.deployment["status"]
                && it["metadata"]["annotations"] == self.deployment["metadata"]["annotations"]
        });
        if same { Ok(()) } else { self.store_status() }
    }
}

/// Carries a failure of the new set (or an old one) to create pods over to the Deployment.
fn copy_failure(status: &mut Value, sets: &[Arc<Value>], new: Option<&Value>, now: &str) {
    let failure = new
        .and_then(|it| meta::condition(it, "ReplicaFailure"))
        .or_else(|| sets.iter().find_map(|it| meta::condition(it, "ReplicaFailure")));
    match failure {
        Some(failure) => {
            let new = condition(
                "ReplicaFailure",
                text(&failure["status"]),
                text(&failure["reason"]),
                text(&failure["message"]),
            );
            set_condition(&mut status["conditions"], new, now);
        }
        None => meta::remove_condition(status, "ReplicaFailure"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_looks_at_all_counts() {
        let deployment = json!({"metadata": {"generation": 2}, "spec": {"replicas": 2}});
        let mut status = json!({"updatedReplicas": 2, "replicas": 2, "availableReplicas": 2,
            "observedGeneration": 2});
        assert!(is_complete(&deployment, &status));
        status["replicas"] = 3.into();
        assert!(!is_complete(&deployment, &status));
    }

    #[test]
    fn availability_allows_for_what_may_be_missing() {
        let deployment = json!({"metadata": {"generation": 1}, "status": {}, "spec": {"replicas": 4,
            "strategy": {"type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}}});
        let set = Arc::new(json!({"spec": {"replicas": 4}, "status":
            {"replicas": 4, "readyReplicas": 3, "availableReplicas": 3}}));
        let status = counted(&deployment, std::slice::from_ref(&set), Some(&set), "now");
        assert_eq!(status["conditions"][0]["status"], "True");
        assert_eq!(status["unavailableReplicas"], 1);
    }
}
