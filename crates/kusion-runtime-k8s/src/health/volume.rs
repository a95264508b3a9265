//! Volumes.

use super::fields::text;
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    match text(object, "/status/phase") {
        "Failed" => Health::failed("Failed", text(object, "/status/message")),
        "" | "Pending" => Health::progressing("not available yet"),
        phase => Health::ready(phase.to_lowercase()),
    }
}
