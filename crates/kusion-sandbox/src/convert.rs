//! Conversion between the served versions of one stored kind.

use crate::registry::Served;
use serde_json::Value;

/// Converts an object from its storage version to the one in which it is served.
pub(crate) fn from_storage(served: &Served, value: &mut Value) {
    value["apiVersion"] = Value::String(served.api_version());
}

/// Converts an object from the version in which it is served to its storage version.
pub(crate) fn to_storage(served: &Served, value: &mut Value) {
    value["apiVersion"] = Value::String(served.storage.api_version());
}
