//! Budgets of disruptions.

use super::fields::{number, unseen};
use kusion_model::Health;
use serde_json::Value;

/// A budget is always ready: too few pods are a problem of their owner.
pub(super) fn health(object: &Value) -> Health {
    if object.pointer("/status/observedGeneration").is_some()
        && let Some(unseen) = unseen(object)
    {
        return unseen;
    }
    let allowed = number(object, "/status/disruptionsAllowed");

    Health::ready(format!("allowed disruptions: {allowed}"))
}
