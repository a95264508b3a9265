//! Logs of simulated pods.

use super::body::Body;
use super::present;
use super::query::Query;
use crate::api::Api;
use crate::{Status, object};
use hyper::Response;
use serde_json::Value;

/// Answers a request for the log of a pod.
pub(crate) fn answer(_api: &Api, pod: &Value, query: &Query) -> Result<Response<Body>, Status> {
    let containers: Vec<&str> = object::at(pod, &["spec", "containers"])
        .as_array()
        .into_iter()
        .flatten()
        .map(|container| object::text(container, &["name"]))
        .collect();
    let name = object::name(pod);
    let wanted = query.get("container");
    if wanted.is_empty() && containers.len() > 1 {
        return Err(Status::bad_request(format!(
            "a container name must be specified for pod {name}, choose one of: [{}]",
            containers.join(" ")
        )));
    }
    if !wanted.is_empty() && !containers.contains(&wanted) {
        return Err(Status::bad_request(format!("container {wanted} is not valid for pod {name}")));
    }
    Ok(present::text(200, ""))
}
