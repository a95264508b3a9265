//! Namespaces.

use super::fields::text;
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    match text(object, "/status/phase") {
        "Active" => Health::ready(""),
        "Terminating" => Health::terminating("its objects are being deleted"),
        _ => Health::progressing("not active yet"),
    }
}
