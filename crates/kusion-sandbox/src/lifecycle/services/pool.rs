//! The addresses and node ports of a cluster.

use crate::controllers::meta::{int, items, text};
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};

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
    /// Makes what a service has given be what its stored object says; nothing when it is gone.
    pub(crate) fn settle(&self, namespace: &str, name: &str, stored: Option<&Value>) {
        let mut given = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = owner(namespace, name);
        if let Some((addresses, ports)) = given.by_owner.remove(&owner) {
            for address in addresses {
                given.addresses.remove(&address);
            }
            for port in ports {
                given.ports.remove(&port);
            }
        }
        let Some(spec) = stored.map(|it| &it["spec"]) else { return };
        for address in items(&spec["clusterIPs"]) {
            if let Ok(address) = text(address).parse::<Ipv4Addr>() {
                given.take_address(address.to_bits(), &owner);
            }
        }
        let health = std::iter::once(&spec["healthCheckNodePort"]);
        for port in items(&spec["ports"]).iter().map(|it| &it["nodePort"]).chain(health) {
            if int(port, 0) != 0 && !given.ports.contains_key(&int(port, 0)) {
                given.take_port(int(port, 0), &owner);
            }
        }
    }

    /// Gives a free address.
    pub(super) fn any_address(&self, owner: &str) -> Option<u32> {
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
    pub(super) fn address(&self, address: u32, owner: &str) -> Result<(), &'static str> {
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

    /// Gives a free port.
    pub(super) fn any_port(&self, owner: &str) -> Option<i64> {
        let mut given = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let n_ports = LAST_PORT - FIRST_PORT + 1;
        let start = fastrand::i64(0..n_ports);
        let free = (0..n_ports)
            .map(|it| FIRST_PORT + (start + it) % n_ports)
            .find(|it| !given.ports.contains_key(it))?;
        given.take_port(free, owner);
        Some(free)
    }

    /// Gives a certain port; says why not.
    pub(super) fn port(&self, port: i64, owner: &str) -> Result<(), String> {
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

/// The name under which a service holds what it has.
pub(super) fn owner(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_address_is_given_once() {
        let allocator = Allocator::default();
        let address = allocator.any_address("n/a").unwrap();
        assert_eq!(allocator.address(address, "n/b"), Err("provided IP is already allocated"));
        allocator.settle("n", "a", None);
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

    #[test]
    fn a_service_keeps_what_is_stored() {
        let allocator = Allocator::default();
        allocator.port(30_080, "n/a").unwrap();
        allocator.port(30_081, "n/a").unwrap();
        let stored =
            json!({"spec": {"ports": [{"nodePort": 30_081}], "clusterIPs": ["10.96.0.9"]}});
        allocator.settle("n", "a", Some(&stored));
        assert!(allocator.port(30_080, "n/b").is_ok());
        assert!(allocator.port(30_081, "n/b").is_err());
        let taken = u32::from_be_bytes([10, 96, 0, 9]);
        assert_eq!(allocator.address(taken, "n/b"), Err("provided IP is already allocated"));
    }
}
