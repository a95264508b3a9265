//! Daemon sets.

use super::fields::{number, text, unseen};
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    if let Some(unseen) = unseen(object) {
        return unseen;
    }
    let desired = number(object, "/status/desiredNumberScheduled");
    let updated = number(object, "/status/updatedNumberScheduled");
    if text(object, "/spec/updateStrategy/type") != "OnDelete" && updated < desired {
        return Health::progressing(format!("{updated} of {desired} pods updated"));
    }
    let available = number(object, "/status/numberAvailable");
    if available < desired {
        return Health::progressing(format!("{available} of {desired} pods available"));
    }
    Health::ready(format!("{available} of {desired} pods available"))
}
