//! The objects that are there from the start.

use super::services;
use crate::Status;
use crate::api::{PatchKind, Write};
use crate::controllers::kind::Kind;
use crate::controllers::meta;
use crate::controllers::world::{KUBELET, World};
use crate::pods::nodes::{self, Nodes};
use serde_json::{Value, json};

/// The address under which pods would reach the API.
const API_ADDRESS: &str = "10.96.0.1";
/// The field manager of the server itself.
const SERVER: &str = "kube-apiserver";
/// The namespaces of a new cluster.
const NAMESPACES: &[&str] = &["default", "kube-system", "kube-public", "kube-node-lease"];

/// Where the API server listens.
#[derive(Debug, Clone)]
pub struct ServerAddress {
    /// An IP address.
    pub ip: String,
    /// A port.
    pub port: u16,
}

impl Default for ServerAddress {
    fn default() -> Self {
        Self { ip: "127.0.0.1".to_owned(), port: 6443 }
    }
}

/// Makes the objects of a new cluster; those that exist are left alone.
pub(crate) fn run(world: &World, server: &ServerAddress, nodes: &Nodes) -> Result<(), Status> {
    for name in NAMESPACES {
        make(world, Kind::Namespace, "", json!({"metadata": {"name": name}}))?;
    }
    make_nodes(world, nodes)?;
    make_api_service(world, server)?;
    make_classes(world)?;
    make_recorded(world)?;
    let cidr = json!({
        "metadata": {
            "name": "kubernetes",
            "finalizers": ["networking.k8s.io/service-cidr-finalizer"],
        },
        "spec": {"cidrs": [services::RANGE]},
    });
    make(world, Kind::ServiceCIDR, "", cidr)
}

fn make(world: &World, kind: Kind, namespace: &str, object: Value) -> Result<(), Status> {
    match world.create_as(SERVER, kind, namespace, object) {
        Err(status) if status.reason == "AlreadyExists" => Ok(()),
        other => other.map(drop),
    }
}

/// Makes an object, or brings the one of an earlier process to its content.
fn set(world: &World, kind: Kind, namespace: &str, object: &Value) -> Result<(), Status> {
    match world.create_as(SERVER, kind, namespace, object.clone()) {
        Err(status) if status.reason == "AlreadyExists" => {
            let write = Write { manager: SERVER, ..Write::default() };
            let (resource, name) = (kind.resource(), meta::name(object));
            let patched =
                world.api.patch(resource, namespace, name, PatchKind::Merge, object, &write);
            patched.map(drop)
        }
        other => other.map(drop),
    }
}

fn make_nodes(world: &World, wanted: &Nodes) -> Result<(), Status> {
    for (idx, name) in wanted.names().enumerate() {
        let object = nodes::object(wanted, &name, idx + 1);
        match world.create_as(KUBELET, Kind::Node, "", object) {
            Ok(node) => {
                let status = nodes::status(wanted, &name, idx + 1, world.now());
                world.update_status_as(KUBELET, Kind::Node, &node, status)?;
                let lease = nodes::lease(&node, world.now());
                world.create_as(KUBELET, Kind::Lease, meta::namespace(&lease), lease.clone())?;
            }
            Err(status) if status.reason == "AlreadyExists" => {}
            Err(status) => return Err(status),
        }
    }
    Ok(())
}

fn make_api_service(world: &World, server: &ServerAddress) -> Result<(), Status> {
    let port = json!({"name": "https", "port": server.port, "protocol": "TCP"});
    let service = json!({
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": API_ADDRESS,
            "clusterIPs": [API_ADDRESS],
            "internalTrafficPolicy": "Cluster",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "sessionAffinity": "None",
            "type": "ClusterIP",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": server.port}],
        },
    });
    set(world, Kind::Service, "default", &service)?;
    let endpoints = json!({
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": [{"addresses": [{"ip": server.ip}], "ports": [port]}],
    });
    set(world, Kind::Endpoints, "default", &endpoints)?;
    let slice = json!({
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": "kubernetes"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [server.ip], "conditions": {"ready": true}}],
        "ports": [port],
    });
    set(world, Kind::EndpointSlice, "default", &slice)
}

fn make_classes(world: &World) -> Result<(), Status> {
    for (name, value, description) in [
        (
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
        ),
        (
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
    ] {
        let class = json!({
            "metadata": {"name": name},
            "value": value,
            "description": description,
            "preemptionPolicy": "PreemptLowerPriority",
        });
        make(world, Kind::PriorityClass, "", class)?;
    }
    let storage = json!({
        "metadata": {
            "name": "standard",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": crate::controllers::volumes::PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
        "allowVolumeExpansion": true,
    });
    make(world, Kind::StorageClass, "", storage)
}

/// Makes what a real server has from its start: roles, priority levels, served APIs.
///
/// The objects are as a real server stores them, so they are stored without further looks.
fn make_recorded(world: &World) -> Result<(), Status> {
    let cluster = world.api.cluster();
    let now = world.now_text();
    for mut object in kusion_k8s_schema::first_objects() {
        let text = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
        let (version, kind) = (text("apiVersion"), text("kind"));
        let (group, version) = version.split_once('/').unwrap_or(("", &version));
        let served =
            cluster.registry.by_kind(group, version, &kind).ok_or_else(Status::no_route)?;
        object["metadata"]["uid"] = crate::write::new_uid().into();
        object["metadata"]["creationTimestamp"] = now.as_str().into();
        for entry in object["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
            entry["time"] = now.as_str().into();
        }
        for condition in
            meta::list_mut(&mut object, &["status", "conditions"]).into_iter().flatten()
        {
            condition["lastTransitionTime"] = now.as_str().into();
        }
        let key = served.key(meta::namespace(&object), meta::name(&object));
        // One that exists already is left alone.
        let _ = cluster.store.insert(served.table()?, &key, object);
    }
    Ok(())
}
