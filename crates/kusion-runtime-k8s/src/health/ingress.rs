//! Ingresses.

use super::fields::list;
use super::service::address_text;
use kusion_model::Health;
use serde_json::Value;

/// An ingress is ready once it is accepted: many controllers never write an address.
pub(super) fn health(object: &Value) -> Health {
    match list(object, "/status/loadBalancer/ingress").first() {
        Some(address) => Health::ready(format!("address: {}", address_text(address))),
        None => Health::ready(""),
    }
}
