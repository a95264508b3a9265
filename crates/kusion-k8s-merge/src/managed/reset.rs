//! The fields that writes to a resource or subresource never change, by kind.

use std::sync::LazyLock;

use crate::set::Set;

/// Kinds whose status is written only by the status subresource, and what that one does not change.
const WITH_STATUS: &[(&str, &str, Status)] = &[
    ("", "Namespace", Status::Spec),
    ("", "Node", Status::Spec),
    ("", "PersistentVolume", Status::Spec),
    ("", "PersistentVolumeClaim", Status::Spec),
    ("", "Pod", Status::Pod),
    ("", "ReplicationController", Status::Spec),
    ("", "ResourceQuota", Status::Spec),
    ("", "Service", Status::Spec),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", Status::SpecAndMetadata),
    ("apiextensions.k8s.io", "CustomResourceDefinition", Status::Spec),
    ("apiregistration.k8s.io", "APIService", Status::SpecAndMetadata),
    ("apps", "DaemonSet", Status::Spec),
    ("apps", "Deployment", Status::Deployment),
    ("apps", "ReplicaSet", Status::Spec),
    ("apps", "StatefulSet", Status::Spec),
    ("autoscaling", "HorizontalPodAutoscaler", Status::Spec),
    ("batch", "CronJob", Status::Spec),
    ("batch", "Job", Status::Spec),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema", Status::SpecAndMetadata),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", Status::SpecAndMetadata),
    ("internal.apiserver.k8s.io", "StorageVersion", Status::SpecAndMetadata),
    ("networking.k8s.io", "Ingress", Status::Spec),
    ("networking.k8s.io", "ServiceCIDR", Status::SpecAndMetadata),
    ("policy", "PodDisruptionBudget", Status::Spec),
    ("resource.k8s.io", "DeviceTaintRule", Status::SpecAndMetadata),
    ("resource.k8s.io", "ResourceClaim", Status::SpecAndMetadata),
    ("storage.k8s.io", "VolumeAttachment", Status::SpecAndMetadata),
];

/// The fields that a status subresource does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Spec,
    SpecAndMetadata,
    Deployment,
    Pod,
}

/// Returns the fields that writes to a built-in kind, or to a subresource of it, never change.
pub fn reset_fields(group: &str, kind: &str, subresource: &str) -> Option<&'static Set<'static>> {
    if (group, kind) == ("certificates.k8s.io", "CertificateSigningRequest") {
        return Some(match subresource {
            "status" => &CSR_STATUS,
            "approval" => &CSR_APPROVAL,
            _ => &CSR,
        });
    }
    let (_, _, status) = WITH_STATUS.iter().find(|(g, k, _)| (*g, *k) == (group, kind))?;
    Some(match (subresource, status) {
        ("status", Status::Spec) => &SPEC,
        ("status", Status::SpecAndMetadata) => &SPEC_AND_METADATA,
        ("status", Status::Deployment) => &DEPLOYMENT_STATUS,
        ("status", Status::Pod) => &POD_STATUS,
        _ => &STATUS,
    })
}

/// Returns the fields that writes to a custom kind never change.
///
/// A custom kind without a status subresource has none.
pub fn custom_reset_fields(has_status: bool, subresource: &str) -> Option<&'static Set<'static>> {
    match subresource {
        "status" => Some(&SPEC_AND_METADATA),
        _ if has_status => Some(&STATUS),
        _ => None,
    }
}

static STATUS: LazyLock<Set<'static>> = LazyLock::new(|| Set::of_fields(&[&["status"]]));
static SPEC: LazyLock<Set<'static>> = LazyLock::new(|| Set::of_fields(&[&["spec"]]));
static SPEC_AND_METADATA: LazyLock<Set<'static>> =
    LazyLock::new(|| Set::of_fields(&[&["metadata"], &["spec"]]));
static DEPLOYMENT_STATUS: LazyLock<Set<'static>> =
    LazyLock::new(|| Set::of_fields(&[&["spec"], &["metadata", "labels"]]));
static POD_STATUS: LazyLock<Set<'static>> = LazyLock::new(|| {
    Set::of_fields(&[
        &["spec"],
        &["metadata", "deletionTimestamp"],
        &["metadata", "ownerReferences"],
    ])
});
static CSR: LazyLock<Set<'static>> = LazyLock::new(|| Set::of_fields(&[&["spec"], &["status"]]));
static CSR_STATUS: LazyLock<Set<'static>> =
    LazyLock::new(|| Set::of_fields(&[&["spec"], &["status", "conditions"]]));
static CSR_APPROVAL: LazyLock<Set<'static>> =
    LazyLock::new(|| Set::of_fields(&[&["spec"], &["status", "certificate"]]));
