//! Services.

use super::fields::{list, text};
use kusion_model::Health;
use serde_json::Value;

pub(super) fn health(object: &Value) -> Health {
    if text(object, "/spec/type") != "LoadBalancer" {
        return Health::ready("");
    }
    match list(object, "/status/loadBalancer/ingress").first() {
        Some(address) => Health::ready(format!("address: {}", address_text(address))),
        None => Health::progressing("waiting for the address of the load balancer"),
    }
}

/// Returns the address of a load balancer.
pub(super) fn address_text(address: &Value) -> &str {
    let ip = text(address, "/ip");
    if ip.is_empty() { text(address, "/hostname") } else { ip }
}
