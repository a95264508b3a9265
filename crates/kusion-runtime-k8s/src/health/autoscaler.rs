//! Autoscalers of pods.

use super::fields::{Condition, condition, number};
use kusion_model::Health;
use serde_json::Value;

/// An autoscaler without metrics is ready; one without a target to scale has failed.
pub(super) fn health(object: &Value) -> Health {
    if let Some(able) = condition(object, "AbleToScale").filter(Condition::is_false) {
        return able.failed();
    }
    match condition(object, "ScalingActive").filter(Condition::is_false) {
        Some(active) => Health::ready(active.words()),
        None => Health::ready(format!(
            "desired replicas: {}",
            number(object, "/status/desiredReplicas")
        )),
    }
}
