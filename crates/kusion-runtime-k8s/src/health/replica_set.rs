//! Replica sets, and the controllers that came before them.

use super::fields::{Condition, condition, number, replicas, unseen};
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    if let Some(unseen) = unseen(object) {
        return unseen;
    }
    if let Some(failure) = condition(object, "ReplicaFailure").filter(Condition::is_true) {
        return failure.failed();
    }
    let desired = replicas(object);
    let available = number(object, "/status/availableReplicas");
    let words = format!("{available} of {desired} pods available");
    if available < desired { Health::progressing(words) } else { Health::ready(words) }
}
