//! The health of the parts of a control plane, which are all in this process.

use super::negotiate::{Form, Shape};
use crate::Status;
use crate::cluster::Cluster;
use crate::registry::Served;
use serde_json::{Value, json};

const NAMES: [&str; 3] = ["scheduler", "controller-manager", "etcd-0"];

fn component(name: &str) -> Value {
    let condition = json!({"type": "Healthy", "status": "True", "message": "ok"});
    json!({"metadata": {"name": name}, "conditions": [condition]})
}

/// Returns the status of all parts.
pub(crate) fn list(cluster: &Cluster, served: &Served, form: &Form) -> Value {
    let items: Vec<Value> = NAMES.into_iter().map(component).collect();
    if let Shape::Table(version) = &form.shape {
        let rows: Vec<&Value> = items.iter().collect();
        return crate::table::table(cluster, served, version, form.rows, &rows);
    }
    json!({"kind": "ComponentStatusList", "apiVersion": "v1", "metadata": {}, "items": items})
}

/// Returns the status of one part.
pub(crate) fn named(name: &str) -> Result<Value, Status> {
    if !NAMES.contains(&name) {
        return Err(Status::not_found("", "componentstatus", name));
    }
    let mut found = component(name);
    found["kind"] = "ComponentStatus".into();
    found["apiVersion"] = "v1".into();
    Ok(found)
}
