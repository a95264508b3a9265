//! Definitions of custom kinds.

use super::fields::{Condition, condition};
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    if let Some(names) = condition(object, "NamesAccepted").filter(Condition::is_false) {
        return names.failed();
    }
    match condition(object, "Established") {
        Some(established) if established.is_true() => Health::ready(""),
        _ => Health::progressing("not served yet"),
    }
}
