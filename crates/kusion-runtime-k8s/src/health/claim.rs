//! Claims of volumes.

use super::fields::text;
use kusion_model::Health;
use serde_json::Value;

/// A claim that is not bound may wait for the first pod that uses it; so it is ready. A volume that
/// cannot be created shows in the health of the pod.
pub(super) fn health(object: &Value) -> Health {
    match text(object, "/status/phase") {
        "Bound" => Health::ready(format!("bound to `{}`", text(object, "/spec/volumeName"))),
        "Lost" => Health::failed("Lost", "its volume is missing"),
        "" => Health::progressing("not processed by its controller yet"),
        _ => Health::ready("not bound yet"),
    }
}
