//! Addresses and node ports of services.

use super::admit::{Operation, Review};
use crate::controllers::meta::{int, items, list_mut, remove, text};
use crate::{Api, Cause, Status};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};

/// The range of addresses, in CIDR notation.
pub(crate) const RANGE: &str = "10.96.0.0/16";
const FIRST_ADDRESS: u32 = u32::from_be_bytes([10, 96, 0, 1]);
const LAST_ADDRESS: u32 = u32::from_be_bytes([10, 96, 255, 254]);
const FIRST_PORT: i64 = 30_000;
const LAST_PORT: i64 = 32_767;

/// What has been given out, and to whom.
#[derive(Debug, Default)]
pub(crate) struct Allocator {
    state: Mutex<Given>,
}

#[derive(Debug, Default)]
struct Given {
    addresses: FxHashMap<u32, String>,
    ports: FxHashMap<i64, String>,
    by_owner: FxHashMap<String, (Vec<u32>, Vec<i64>)>,
}

impl Allocator {
    /// Takes back all that a service has.
    pub(crate) fn release(&self, namespace: &str, name: &str) {
        let mut given = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((addresses, ports)) = given.by_owner.remove(&owner(namespace, name)) {
            for address in addresses {
                given.addresses.remove(&address);
            }
            for port in ports {
                given.ports.remove(&port);
            }
        }
    }

    /// Gives a free address.
    fn any_address(&self, owner: &str) -> Option<u32> {
        let mut given = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let n_addresses = LAST_ADDRESS - FIRST_ADDRESS;
        let start = fastrand::u32(..n_addresses);
        let free = (0..n_addresses)
            .map(|it| FIRST_ADDRESS + 1 + (start + it) % n_addresses)
            .find(|it| !given.addresses.contains_key(it))?;
        given.take_address(free, owner);
        Some(free)
    }

    /// Gives a certain address; says why not.
    fn address(&self, address: u32, owner: &str) -> Result<(), &'static str> {
        if !(FIRST_ADDRESS..=LAST_ADDRESS).contains(&address) {
            return Err("the provided network does not match the current range");
        }
        let mut given = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match given.addresses.get(&address) {
            Some(it) if it != owner => Err("provided IP is already allocated"),
            Some(_) => Ok(()),
            None => {
                given.take_address(address, owner);
                Ok(())
            }
        }
    }

    fn any_port(&self, owner: &str) -> Option<i64> {
        let mut given = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let n_ports = LAST_PORT - FIRST_PORT + 1;
        let start = fastrand::i64(0..n_ports);
        let free = (0..n_ports)
            .map(|it| FIRST_PORT + (start + it) % n_ports)
            .find(|it| !given.ports.contains_key(it))?;
        given.take_port(free, owner);
        Some(free)
    }

    fn port(&self, port: i64, owner: &str) -> Result<(), String> {
        if !(FIRST_PORT..=LAST_PORT).contains(&port) {
            return Err(format!(
                "provided port is not in the valid range. The range of valid ports is {FIRST_PORT}-{LAST_PORT}"
            ));
        }
        let mut given = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match given.ports.get(&port) {
            Some(it) if it != owner => Err("provided port is already allocated".to_owned()),
            Some(_) => Ok(()),
            None => {
                given.take_port(port, owner);
                Ok(())
            }
        }
    }
}

impl Given {
    fn take_address(&mut self, address: u32, owner: &str) {
        self.addresses.insert(address, owner.to_owned());
        self.by_owner.entry(owner.to_owned()).or_default().0.push(address);
    }

    fn take_port(&mut self, port: i64, owner: &str) {
        self.ports.insert(port, owner.to_owned());
        self.by_owner.entry(owner.to_owned()).or_default().1.push(port);
    }
}

fn owner(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

/// Gives a service what its type needs: address, families, node ports.
pub(super) fn allocate(api: &Api, review: &Review<'_>, service: &mut Value) -> Result<(), Status> {
    let spec = &service["spec"];
    let type_ = text(&spec["type"]).to_owned();
    if type_ == "ExternalName" {
        for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            remove(&mut service["spec"], key);
        }
        if review.operation == Operation::Update && !review.dry_run {
            api.cluster().services.release(review.namespace, review.name);
        }
        return Ok(());
    }
    check_families(review, service)?;
    set_address(api, review, service)?;
    set_families(service);
    if matches!(type_.as_str(), "NodePort" | "LoadBalancer") {
        set_ports(api, review, service, &type_)?;
    }
    Ok(())
}

/// Copies what was given out before into an update that leaves it out.
pub(super) fn carry_over(old: Option<&Value>, service: &mut Value) {
    let Some(old) = old else { return };
    let needs = |it: &Value| text(&it["spec"]["type"]) != "ExternalName";
    if needs(old) && needs(service) && text(&service["spec"]["clusterIP"]).is_empty() {
        for key in ["clusterIP", "clusterIPs"] {
            if !old["spec"][key].is_null() {
                service["spec"][key] = old["spec"][key].clone();
            }
        }
    }
    let with_ports = |it: &Value| matches!(text(&it["spec"]["type"]), "NodePort" | "LoadBalancer");
    let external = |it: &Value| with_ports(it) || !items(&it["spec"]["externalIPs"]).is_empty();
    let policy = "externalTrafficPolicy";
    if external(old) && !external(service) && old["spec"][policy] == service["spec"][policy] {
        remove(&mut service["spec"], policy);
    }
    if !with_ports(old) {
        return;
    }
    if !with_ports(service) {
        for (idx, port) in list_mut(service, &["spec", "ports"]).into_iter().flatten().enumerate() {
            if port["nodePort"] == old["spec"]["ports"][idx]["nodePort"] {
                remove(port, "nodePort");
            }
        }
        return;
    }
    for port in list_mut(service, &["spec", "ports"]).into_iter().flatten() {
        if int(&port["nodePort"], 0) == 0
            && let Some(known) = items(&old["spec"]["ports"])
                .iter()
                .find(|it| it["port"] == port["port"] && it["protocol"] == port["protocol"])
            && int(&known["nodePort"], 0) != 0
        {
            port["nodePort"] = known["nodePort"].clone();
        }
    }
}

fn set_address(api: &Api, review: &Review<'_>, service: &mut Value) -> Result<(), Status> {
    let given = text(&service["spec"]["clusterIP"]).to_owned();
    let listed = items(&service["spec"]["clusterIPs"]).first().map_or("", text).to_owned();
    let wanted = if given.is_empty() { listed } else { given };
    if wanted == "None" {
        service["spec"]["clusterIP"] = "None".into();
        service["spec"]["clusterIPs"] = json!(["None"]);
        return Ok(());
    }
    let owner = owner(review.namespace, review.name);
    let allocator = &api.cluster().services;
    if !wanted.is_empty() {
        let Ok(address) = wanted.parse::<Ipv4Addr>() else { return Ok(()) };
        if review.dry_run {
            return Ok(());
        }
        if let Err(why) = allocator.address(address.to_bits(), &owner) {
            let message =
                format!("Invalid value: [\"{wanted}\"]: failed to allocate IP {wanted}: {why}");
            let cause = Cause::new("FieldValueInvalid", "spec.clusterIPs", message);
            return Err(Status::invalid("", "Service", review.name, &[cause]));
        }
        service["spec"]["clusterIP"] = wanted.clone().into();
        service["spec"]["clusterIPs"] = json!([wanted]);
        return Ok(());
    }
    let Some(address) = allocator.any_address(&owner) else {
        return Err(Status::internal("failed to allocate a serviceIP: range is full"));
    };
    let address = Ipv4Addr::from_bits(address).to_string();
    service["spec"]["clusterIP"] = address.clone().into();
    service["spec"]["clusterIPs"] = json!([address]);
    if review.dry_run {
        allocator.release(review.namespace, review.name);
    }
    Ok(())
}

/// Refuses what needs more than IPv4; services without selector and address may ask for it.
fn check_families(review: &Review<'_>, service: &Value) -> Result<(), Status> {
    let spec = &service["spec"];
    if is_headless_without_selector(spec) {
        return Ok(());
    }
    let mut causes = Vec::new();
    if text(&spec["ipFamilyPolicy"]) == "RequireDualStack" {
        let message = "Invalid value: \"RequireDualStack\": this cluster is not configured for \
                       dual-stack services";
        causes.push(Cause::new("FieldValueInvalid", "spec.ipFamilyPolicy", message));
    }
    for (idx, family) in items(&spec["ipFamilies"]).iter().enumerate() {
        if text(family) == "IPv6" {
            let message = "Invalid value: \"IPv6\": not configured on this cluster";
            let field = format!("spec.ipFamilies[{idx}]");
            causes.push(Cause::new("FieldValueInvalid", field, message));
        }
    }
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid("", "Service", review.name, &causes))
}

fn is_headless_without_selector(spec: &Value) -> bool {
    text(&spec["clusterIP"]) == "None"
        && spec["selector"].as_object().is_none_or(serde_json::Map::is_empty)
}

fn set_families(service: &mut Value) {
    let spec = &mut service["spec"];
    if text(&spec["ipFamilyPolicy"]).is_empty() {
        let headless_without_selector = is_headless_without_selector(spec);
        let policy = if headless_without_selector { "RequireDualStack" } else { "SingleStack" };
        spec["ipFamilyPolicy"] = policy.into();
        if headless_without_selector && items(&spec["ipFamilies"]).is_empty() {
            spec["ipFamilies"] = json!(["IPv4", "IPv6"]);
        }
    }
    if items(&spec["ipFamilies"]).is_empty() {
        spec["ipFamilies"] = json!(["IPv4"]);
    }
}

fn set_ports(
    api: &Api,
    review: &Review<'_>,
    service: &mut Value,
    type_: &str,
) -> Result<(), Status> {
    let allocator = &api.cluster().services;
    let owner = owner(review.namespace, review.name);
    let give = type_ == "NodePort" || service["spec"]["allocateLoadBalancerNodePorts"] != false;
    let mut known: Vec<(i64, String, i64)> = Vec::new();
    let ports = list_mut(service, &["spec", "ports"]);
    for (idx, port) in ports.into_iter().flatten().enumerate() {
        let number = int(&port["nodePort"], 0);
        let protocol = text(&port["protocol"]).to_owned();
        if number != 0 {
            if review.dry_run {
                continue;
            }
            if let Err(why) = allocator.port(number, &owner) {
                let field = format!("spec.ports[{idx}].nodePort");
                let cause = Cause::new(
                    "FieldValueInvalid",
                    field,
                    format!("Invalid value: {number}: {why}"),
                );
                return Err(Status::invalid("", "Service", review.name, &[cause]));
            }
            known.push((int(&port["port"], 0), protocol, number));
        } else if give {
            // The same port in two protocols shares one node port.
            let shared = known
                .iter()
                .find(|(it, other, _)| *it == int(&port["port"], 0) && *other != protocol)
                .map(|it| it.2);
            let Some(number) = shared.or_else(|| allocator.any_port(&owner)) else {
                return Err(Status::internal("failed to allocate a nodePort: range is full"));
            };
            port["nodePort"] = number.into();
            known.push((int(&port["port"], 0), protocol, number));
        }
    }
    let local = service["spec"]["externalTrafficPolicy"] == "Local";
    if type_ == "LoadBalancer"
        && local
        && int(&service["spec"]["healthCheckNodePort"], 0) == 0
        && let Some(number) = allocator.any_port(&owner)
    {
        service["spec"]["healthCheckNodePort"] = number.into();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_given_once() {
        let allocator = Allocator::default();
        let address = allocator.any_address("n/a").unwrap();
        assert_eq!(allocator.address(address, "n/b"), Err("provided IP is already allocated"));
        allocator.release("n", "a");
        assert_eq!(allocator.address(address, "n/b"), Ok(()));
    }

    #[test]
    fn ports_stay_in_their_range() {
        let allocator = Allocator::default();
        assert!(allocator.port(80, "n/a").is_err());
        assert!(allocator.port(30_080, "n/a").is_ok());
        assert!(allocator.port(30_080, "n/b").is_err());
        for _ in 0..100 {
            let port = allocator.any_port("n/c").unwrap();
            assert!((FIRST_PORT..=LAST_PORT).contains(&port));
        }
    }
}
