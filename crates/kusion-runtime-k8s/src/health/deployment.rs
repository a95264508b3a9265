//! Deployments.

use super::fields::{condition, count, flag, number, replicas, unseen};
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    if let Some(unseen) = unseen(object) {
        return unseen;
    }
    let desired = replicas(object);
    let updated = number(object, "/status/updatedReplicas");
    let all = number(object, "/status/replicas");
    let available = number(object, "/status/availableReplicas");
    let late =
        condition(object, "Progressing").filter(|it| it.reason == "ProgressDeadlineExceeded");
    let is_done = updated >= desired && all <= updated && available >= desired;
    match (late, condition(object, "ReplicaFailure")) {
        (Some(late), _) if !is_done => return late.failed(),
        (_, Some(failure)) if failure.is_true() && !is_done => return failure.failed(),
        _ => {}
    }
    if flag(object, "/spec/paused") && available >= desired {
        return Health::ready("paused");
    }
    if updated < desired {
        return Health::progressing(format!("{updated} of {desired} pods updated"));
    }
    if all > updated {
        return Health::progressing(format!(
            "waiting for {} to terminate",
            count(all - updated, "old pod")
        ));
    }
    if available < desired {
        return Health::progressing(format!("{available} of {desired} updated pods available"));
    }
    Health::ready(format!("{available} of {desired} pods available"))
}
