//! Values that missing fields get, per kind.

use crate::crd;
use crate::registry::Served;
use serde_json::Value;

/// Fills in the missing fields of an object in the version of the request.
pub(crate) fn apply(served: &Served, object: &mut Value) {
    if let Some(custom) = &served.custom {
        custom.structural.default(object);
    } else if crd::is_definition(served) {
        crd::default(object);
    }
}
