//! How objects fare: a pure function for each kind.

use kusion_model::Health;
use serde_json::Value;

/// Says how an object fares by itself.
pub fn of_object(_object: &Value) -> Health {
    Health::ready("")
}
