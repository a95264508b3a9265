//! The rules of the kinds.

use crate::Cause;
use crate::registry::Served;
use serde_json::Value;

/// Returns what is wrong with an object in its storage version.
pub(crate) fn check(
    _served: &Served,
    _subresource: &str,
    _old: Option<&Value>,
    _new: &Value,
) -> Vec<Cause> {
    Vec::new()
}
