//! Deployments.

use super::fields::{condition, flag, number, replicas, unseen};
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    if let Some(unseen) = unseen(object) {
        return unseen;
    }
    let wanted = replicas(object);
    let updated = number(object, "/status/updatedReplicas");
    let all = number(object, "/status/replicas");
    let available = number(object, "/status/availableReplicas");
    let late =
        condition(object, "Progressing").filter(|it| it.reason == "ProgressDeadlineExceeded");
    let is_done = updated >= wanted && all <= updated && available >= wanted;
    match (late, condition(object, "ReplicaFailure")) {
        (Some(late), _) if !is_done => return late.failed(),
        (_, Some(failure)) if failure.is_true() && !is_done => return failure.failed(),
        _ => {}
    }
    if flag(object, "/spec/paused") && available >= wanted {
        return Health::ready("it is paused");
    }
    if updated < wanted {
        return Health::progressing(format!("{updated} of {wanted} new pods are made"));
    }
    if all > updated {
        return Health::progressing(format!("{} old pods are still there", all - updated));
    }
    if available < wanted {
        return Health::progressing(format!("{available} of {wanted} new pods are available"));
    }
    Health::ready(format!("{available} of {wanted} pods are available"))
}
