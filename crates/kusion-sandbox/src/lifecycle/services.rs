//! What a service is given: families, addresses and node ports.
//!
//! All of it is settled before the rules of the kind are checked, so that a request for what
//! cannot be had is told only that.

mod families;
mod pool;

use super::admit::{Operation, Review};
use crate::controllers::meta::{int, items, list_mut, remove, text};
use crate::{Api, Cause, Status};
use pool::owner;
use serde_json::{Value, json};
use std::net::Ipv4Addr;

pub(crate) use pool::Allocator;

/// The range of addresses, in CIDR notation.
pub(crate) const RANGE: &str = "10.96.0.0/16";

/// Gives a service what its type needs: families, addresses, node ports.
///
/// Whoever calls it settles the [`Allocator`] when the write has ended.
pub(super) fn allocate(api: &Api, review: &Review<'_>, service: &mut Value) -> Result<(), Status> {
    let old = match review.operation {
        Operation::Create => None,
        Operation::Update => review.old.map(|it| &it["spec"]),
    };
    if !service["spec"].is_object() {
        return Ok(());
    }
    let spec = &mut service["spec"];
    if let Some(old) = old {
        carry_over(old, spec);
    }
    sync_addresses(spec, old);
    let invalid = |causes: Vec<Cause>| Status::invalid("", "Service", review.name, &causes);
    families::init(spec, old).map_err(invalid)?;
    let given =
        Given { allocator: &api.cluster().services, owner: owner(review.namespace, review.name) };
    if old.is_none_or(|it| text(&it["type"]) == "ExternalName") {
        given.address(spec).map_err(|failed| failed.status(review))?;
    }
    match old {
        None => given.new_ports(spec),
        Some(old) => given.changed_ports(spec, old),
    }
    .map_err(|failed| failed.status(review))?;
    if let Some(old) = old {
        drop_unused(old, spec);
        if text(&spec["type"]) != "LoadBalancer" && service["status"]["loadBalancer"].is_object() {
            service["status"]["loadBalancer"] = json!({});
        }
    }
    Ok(())
}

/// Why something could not be given.
enum Failed {
    /// What was asked for.
    Invalid(Cause),
    /// Nothing is left, or it was asked for in a way that is not foreseen.
    Other(Status),
}

impl Failed {
    fn status(self, review: &Review<'_>) -> Status {
        match self {
            Self::Invalid(cause) => Status::invalid("", "Service", review.name, &[cause]),
            Self::Other(status) => status,
        }
    }
}

/// The pool, on behalf of one service.
struct Given<'a> {
    allocator: &'a Allocator,
    owner: String,
}

impl Given<'_> {
    fn address(&self, spec: &mut Value) -> Result<(), Failed> {
        let listed = spec["clusterIPs"].clone();
        let wanted = items(&listed).first().map_or("", text);
        if wanted == "None" || text(&spec["type"]) == "ExternalName" {
            return Ok(());
        }
        let address = if wanted.is_empty() {
            let Some(address) = self.allocator.any_address(&self.owner) else {
                let why = "failed to allocate a serviceIP: range is full";
                return Err(Failed::Other(Status::internal(why)));
            };
            Ipv4Addr::from_bits(address).to_string()
        } else {
            let address = wanted.parse::<Ipv4Addr>().map_or(0, Ipv4Addr::to_bits);
            self.allocator.address(address, &self.owner).map_err(|why| {
                let detail = format!("failed to allocate IP {wanted}: {why}");
                Failed::Invalid(Cause::invalid("spec.clusterIPs", &listed, detail))
            })?;
            wanted.to_owned()
        };
        spec["clusterIPs"] = json!([address]);
        spec["clusterIP"] = address.into();
        Ok(())
    }

    fn any_port(&self) -> Result<i64, Failed> {
        self.allocator.any_port(&self.owner).ok_or_else(|| {
            Failed::Other(Status::internal("failed to allocate a nodePort: range is full"))
        })
    }

    fn port(&self, idx: usize, number: i64) -> Result<(), Failed> {
        self.allocator.port(number, &self.owner).map_err(|why| {
            let field = format!("spec.ports[{idx}].nodePort");
            Failed::Invalid(Cause::invalid(field, &number.into(), why))
        })
    }

    /// One port in several protocols shares its node port.
    fn new_ports(&self, spec: &mut Value) -> Result<(), Failed> {
        if has_node_ports(spec) {
            let give = gives_node_ports(spec);
            let requested: Vec<(i64, i64)> = items(&spec["ports"])
                .iter()
                .map(|it| (int(&it["port"], 0), int(&it["nodePort"], 0)))
                .filter(|it| it.1 != 0)
                .collect();
            let mut known: Vec<(i64, i64)> = Vec::new();
            let of = |list: &[(i64, i64)], port| list.iter().find(|it| it.0 == port).map(|it| it.1);
            for (idx, it) in list_mut(spec, &["ports"]).into_iter().flatten().enumerate() {
                let (port, number) = (int(&it["port"], 0), int(&it["nodePort"], 0));
                if number == 0 && !give {
                    continue;
                }
                let number = match (of(&known, port), of(&requested, port)) {
                    (Some(shared), _) if number == 0 || number == shared => shared,
                    (Some(_), _) => {
                        self.port(idx, number)?;
                        number
                    }
                    (None, Some(wanted)) => {
                        self.port(idx, wanted)?;
                        wanted
                    }
                    (None, None) => self.any_port()?,
                };
                it["nodePort"] = number.into();
                known.push((port, number));
            }
        }
        if needs_health_check(spec) { self.health_check(spec) } else { Ok(()) }
    }

    fn changed_ports(&self, spec: &mut Value, old: &Value) -> Result<(), Failed> {
        if has_node_ports(spec) {
            let give = gives_node_ports(spec);
            let mut seen: Vec<(String, i64)> = Vec::new();
            for (idx, it) in list_mut(spec, &["ports"]).into_iter().flatten().enumerate() {
                let mut number = int(&it["nodePort"], 0);
                if number != 0 {
                    self.port(idx, number)?;
                } else if give {
                    number = self.any_port()?;
                    it["nodePort"] = number.into();
                } else {
                    continue;
                }
                let key = (text(&it["protocol"]).to_owned(), number);
                if seen.contains(&key) {
                    let why = format!("duplicate nodePort: {{{} {}}}", key.0, key.1);
                    return Err(Failed::Other(Status::unnamed(why)));
                }
                seen.push(key);
            }
        }
        if needs_health_check(spec) && !needs_health_check(old) {
            return self.health_check(spec);
        }
        Ok(())
    }

    fn health_check(&self, spec: &mut Value) -> Result<(), Failed> {
        let wanted = int(&spec["healthCheckNodePort"], 0);
        if wanted == 0 {
            spec["healthCheckNodePort"] = self.any_port()?.into();
            return Ok(());
        }
        self.allocator.port(wanted, &self.owner).map_err(|why| {
            Failed::Other(Status::internal(&format!(
                "failed to allocate requested HealthCheck NodePort {wanted}: {why}"
            )))
        })
    }
}

fn needs_address(spec: &Value) -> bool {
    text(&spec["type"]) != "ExternalName"
}

fn has_node_ports(spec: &Value) -> bool {
    matches!(text(&spec["type"]), "NodePort" | "LoadBalancer")
}

fn gives_node_ports(spec: &Value) -> bool {
    has_node_ports(spec)
        && !(text(&spec["type"]) == "LoadBalancer"
            && spec["allocateLoadBalancerNodePorts"] == false)
}

/// Whether a service is asked from outside whether it has pods on a node.
fn needs_health_check(spec: &Value) -> bool {
    text(&spec["type"]) == "LoadBalancer" && text(&spec["externalTrafficPolicy"]) == "Local"
}

fn is_external(spec: &Value) -> bool {
    has_node_ports(spec)
        || text(&spec["type"]) == "ClusterIP" && !items(&spec["externalIPs"]).is_empty()
}

/// Copies what was given before into an update that leaves it out.
fn carry_over(old: &Value, spec: &mut Value) {
    if needs_address(old) && needs_address(spec) {
        if text(&spec["clusterIP"]).is_empty() {
            copy(old, spec, "clusterIP");
        }
        if items(&spec["clusterIPs"]).is_empty() {
            copy(old, spec, "clusterIPs");
        }
    }
    if gives_node_ports(old) && gives_node_ports(spec) {
        let numbers = |it: &Value| -> Vec<i64> {
            items(&it["ports"]).iter().map(|it| int(&it["nodePort"], 0)).collect()
        };
        let (before, after) = (numbers(old), numbers(spec));
        for port in list_mut(spec, &["ports"]).into_iter().flatten() {
            let known =
                items(&old["ports"]).iter().rfind(|it| text(&it["name"]) == text(&port["name"]));
            let number = known.map_or(0, |it| int(&it["nodePort"], 0));
            let used = before.contains(&number) && after.contains(&number);
            if int(&port["nodePort"], 0) == 0 && number != 0 && !used {
                port["nodePort"] = number.into();
            }
        }
    }
    if needs_health_check(old)
        && needs_health_check(spec)
        && int(&spec["healthCheckNodePort"], 0) == 0
    {
        copy(old, spec, "healthCheckNodePort");
    }
}

fn copy(old: &Value, spec: &mut Value, key: &str) {
    if let Some(value) = old.get(key) {
        spec[key] = value.clone();
    }
}

/// Brings the list of addresses in line with the one address.
fn sync_addresses(spec: &mut Value, old: Option<&Value>) {
    let address = text(&spec["clusterIP"]).to_owned();
    let Some(old) = old else {
        if !address.is_empty() && items(&spec["clusterIPs"]).is_empty() {
            spec["clusterIPs"] = json!([address]);
        }
        return;
    };
    let before = text(&old["clusterIP"]);
    if before == address {
        if items(&spec["clusterIPs"]).is_empty() && !items(&old["clusterIPs"]).is_empty() {
            copy(old, spec, "clusterIPs");
        }
    } else if items(&spec["clusterIPs"]) == items(&old["clusterIPs"]) {
        if !address.is_empty() {
            spec["clusterIPs"] = json!([address]);
        } else if !before.is_empty() {
            remove(spec, "clusterIPs");
        }
    }
}

/// Removes what a service of its present type has no use for, unless the writer changed it.
fn drop_unused(old: &Value, spec: &mut Value) {
    if needs_address(old) && !needs_address(spec) {
        if text(&old["clusterIP"]) == text(&spec["clusterIP"])
            && items(&old["clusterIPs"]) == items(&spec["clusterIPs"])
        {
            remove(spec, "clusterIP");
            remove(spec, "clusterIPs");
        }
        drop_same(old, spec, "ipFamilies");
        drop_same(old, spec, "ipFamilyPolicy");
    }
    if has_node_ports(old) && !has_node_ports(spec) {
        let known = |port: &Value| {
            int(&port["nodePort"], 0) == 0
                || items(&old["ports"]).iter().any(|it| it["nodePort"] == port["nodePort"])
        };
        if items(&spec["ports"]).iter().all(known) {
            for port in list_mut(spec, &["ports"]).into_iter().flatten() {
                remove(port, "nodePort");
            }
        }
    }
    if needs_health_check(old) && !needs_health_check(spec) {
        drop_same(old, spec, "healthCheckNodePort");
    }
    let balanced = |it: &Value| text(&it["type"]) == "LoadBalancer";
    if balanced(old) && !balanced(spec) {
        drop_same(old, spec, "allocateLoadBalancerNodePorts");
        drop_same(old, spec, "loadBalancerClass");
    }
    if is_external(old) && !is_external(spec) {
        drop_same(old, spec, "externalTrafficPolicy");
    }
}

fn drop_same(old: &Value, spec: &mut Value, key: &str) {
    if old[key] == spec[key] {
        remove(spec, key);
    }
}
