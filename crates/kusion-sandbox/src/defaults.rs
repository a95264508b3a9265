//! Values that missing fields get, per kind.

use crate::registry::Served;
use serde_json::Value;

/// Fills in the missing fields of an object in the version of the request.
pub(crate) fn apply(_served: &Served, _object: &mut Value) {}
