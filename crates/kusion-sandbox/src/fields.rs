//! Which fields a field selector may name, per kind.

use crate::Status;
use crate::registry::Served;

/// Returns an error when a kind has no such field to select by.
pub(crate) fn check(served: &Served, path: &str) -> Result<(), Status> {
    let known = match path {
        "metadata.name" => true,
        "metadata.namespace" => served.namespaced || !served.is_builtin(),
        _ if served.custom.as_ref().is_some_and(|custom| {
            custom.selectable.iter().any(|it| it.trim_start_matches('.') == path)
        }) =>
        {
            true
        }
        _ => of_kind(&served.resource.group, &served.kind).contains(&path),
    };
    if known {
        return Ok(());
    }
    let own = of_kind(&served.resource.group, &served.kind);
    Err(Status::bad_request(if own.is_empty() {
        format!(
            "\"{path}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        )
    } else {
        format!("field label not supported: {path}")
    }))
}

fn of_kind(group: &str, kind: &str) -> &'static [&'static str] {
    match (group, kind) {
        ("", "Pod") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "Node") => &["spec.unschedulable"],
        ("", "Namespace") => &["status.phase"],
        ("", "Secret") => &["type"],
        ("", "Service") => &["spec.clusterIP", "spec.type"],
        ("", "ReplicationController") | ("apps", "ReplicaSet") => &["status.replicas"],
        ("batch", "Job") => &["status.successful"],
        ("certificates.k8s.io", "CertificateSigningRequest") => &["spec.signerName"],
        ("" | "events.k8s.io", "Event") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingComponent",
            "reportingController",
            "source",
            "type",
        ],
        ("resource.k8s.io", "ResourceSlice") => &["spec.nodeName", "spec.driver"],
        ("networking.k8s.io", "IPAddress") => &["spec.parentRef.name"],
        _ => &[],
    }
}
