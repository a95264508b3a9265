//! Daemon sets.

use super::fields::{number, text, unseen};
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    if let Some(unseen) = unseen(object) {
        return unseen;
    }
    let wanted = number(object, "/status/desiredNumberScheduled");
    let updated = number(object, "/status/updatedNumberScheduled");
    if text(object, "/spec/updateStrategy/type") != "OnDelete" && updated < wanted {
        return Health::progressing(format!("{updated} of {wanted} pods are new"));
    }
    let available = number(object, "/status/numberAvailable");
    if available < wanted {
        return Health::progressing(format!("{available} of {wanted} pods are available"));
    }
    Health::ready(format!("{available} of {wanted} pods are available"))
}
