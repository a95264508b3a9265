//! All other kinds, custom ones too: by the conditions that most of them have.

use super::fields::{Condition, condition, unseen};
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    if object.pointer("/status/observedGeneration").is_some()
        && let Some(unseen) = unseen(object)
    {
        return unseen;
    }
    if let Some(stalled) = condition(object, "Stalled").filter(Condition::is_true) {
        return stalled.failed();
    }
    if let Some(working) = condition(object, "Reconciling").filter(Condition::is_true) {
        return working.stuck();
    }
    for kind in ["Ready", "Available"] {
        match condition(object, kind) {
            Some(found) if found.is_true() => return Health::ready(found.message),
            Some(found) => return found.stuck(),
            None => {}
        }
    }
    Health::ready("")
}
