//! Stateful sets.

use super::fields::{number, replicas, text, unseen};
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    if let Some(unseen) = unseen(object) {
        return unseen;
    }
    let desired = replicas(object);
    let ready = number(object, "/status/readyReplicas");
    // Servers before 1.22 do not count available pods.
    let available = object.pointer("/status/availableReplicas").and_then(Value::as_i64);
    let available = available.unwrap_or(ready);
    if text(object, "/spec/updateStrategy/type") != "OnDelete" {
        let partition = number(object, "/spec/updateStrategy/rollingUpdate/partition");
        let to_update = (desired - partition).max(0);
        let updated = number(object, "/status/updatedReplicas");
        if updated < to_update {
            return Health::progressing(format!("{updated} of {to_update} pods updated"));
        }
        let current = text(object, "/status/currentRevision");
        if partition == 0 && ready >= desired && current != text(object, "/status/updateRevision") {
            return Health::progressing("waiting for the last old pods to be replaced");
        }
    }
    if ready < desired {
        return Health::progressing(format!("{ready} of {desired} pods ready"));
    }
    if available < desired {
        return Health::progressing(format!("{available} of {desired} pods available"));
    }
    Health::ready(format!("{ready} of {desired} pods ready"))
}
