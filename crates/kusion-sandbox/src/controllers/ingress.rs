//! Addresses from outside: of Ingresses and of services of type `LoadBalancer`.

use super::kind::Kind;
use super::meta::{self, items};
use super::task::Key;
use super::world::World;
use crate::Status;
use serde_json::{Value, json};

/// The address that all Ingresses get.
const INGRESS_ADDRESS: &str = "192.0.2.80";

/// Gives an Ingress its address.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(ingress) = world.get(Kind::Ingress, key.namespace(), key.name()) else {
        return Ok(());
    };
    if meta::is_deleting(&ingress)
        || !items(&ingress["status"]["loadBalancer"]["ingress"]).is_empty()
    {
        return Ok(());
    }
    let mut status = ingress["status"].clone();
    status["loadBalancer"] = json!({"ingress": [{"ip": INGRESS_ADDRESS}]});
    world.update_status(Kind::Ingress, &ingress, status)
}

/// Gives a service of type `LoadBalancer` its address; takes it away when the type changes.
pub(crate) fn sync_service(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(service) = world.get(Kind::Service, key.namespace(), key.name()) else {
        return Ok(());
    };
    let has = !items(&service["status"]["loadBalancer"]["ingress"]).is_empty();
    let wants = service["spec"]["type"] == "LoadBalancer"
        && service["spec"]["loadBalancerClass"].is_null()
        && !meta::is_deleting(&service);
    if wants == has || (has && service["spec"]["type"] == "LoadBalancer") {
        return Ok(());
    }
    let mut status = service["status"].clone();
    status["loadBalancer"] = if wants {
        let address = format!("192.0.2.{}", 100 + last_octet(&service) % 100);
        json!({"ingress": [{"ip": address, "ipMode": "VIP"}]})
    } else {
        json!({})
    };
    world.update_status(Kind::Service, &service, status)
}

fn last_octet(service: &Value) -> u32 {
    let address = meta::text(&service["spec"]["clusterIP"]);
    address.rsplit('.').next().and_then(|it| it.parse().ok()).unwrap_or(0)
}
