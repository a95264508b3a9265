//! The rules of the kinds, as the real server words them.
//!
//! [`check`] looks at an object in its storage version: metadata, then the rules of its kind,
//! then, for an update, what may not change. Rules of several kinds share a [`Report`], which
//! gathers what is wrong.

mod addresses;
mod config;
mod containers;
mod network;
mod pod;
mod report;
mod service;
mod update;
mod volumes;
mod workloads;

pub(crate) use addresses::{start_of_range, without_zeros as address_without_zeros};
pub(crate) use report::{at, items, join, text};
pub(crate) use service::addresses as service_addresses;

use crate::Cause;
use crate::registry::Served;
use kusion_k8s_schema::{names, policy};
use report::Report;
use serde_json::Value;

/// Returns what is wrong with an object in its storage version.
pub(crate) fn check(
    served: &Served,
    subresource: &str,
    old: Option<&Value>,
    new: &Value,
) -> Vec<Cause> {
    let mut report = Report::default();
    metadata(served, old, new, &mut report);
    if subresource.is_empty() && served.is_builtin() {
        kind(&served.storage.group, &served.kind, old, new, &mut report);
        if let Some(old) = old {
            update::check(&served.storage.group, &served.kind, old, new, &mut report);
        }
    }
    report.causes
}

fn metadata(served: &Served, old: Option<&Value>, new: &Value, report: &mut Report) {
    let group = if served.is_builtin() { &*served.resource.group } else { "" };
    let rule = names::name_rule(group, &served.kind);
    let metadata = at(new, "metadata");
    let mut causes = names::object_meta(metadata, served.namespaced, rule);
    if old.is_some() {
        // A stored name is good, and must stay what it is.
        causes.retain(|it| it.field != "metadata.name" && it.field != "metadata.generateName");
    }
    let mut gathered = Report { causes };
    if let Some(old) = old.filter(|old| !at(at(old, "metadata"), "deletionTimestamp").is_null()) {
        no_new_finalizers(old, new, &mut gathered);
    }
    if served.is_builtin() {
        standard_finalizers(metadata, &mut gathered);
    }
    if old.is_some() {
        // The real server looks at the metadata of an update twice, and says so.
        report.causes.extend(gathered.causes.clone());
    }
    report.causes.append(&mut gathered.causes);
}

/// A finalizer is one of the standard ones, or has a domain.
fn standard_finalizers(metadata: &Value, report: &mut Report) {
    const STANDARD: &[&str] = &["kubernetes", "orphan", "foregroundDeletion"];
    for (path, it) in report::items(metadata, "finalizers", "metadata") {
        let name = it.as_str().unwrap_or_default();
        if !name.contains('/') && !STANDARD.contains(&name) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            report.invalid(path, it, detail);
        }
    }
}

/// An object that is being deleted cannot be held by more than holds it already.
fn no_new_finalizers(old: &Value, new: &Value, report: &mut Report) {
    let finalizers = |object| at(at(object, "metadata"), "finalizers").as_array();
    let known = finalizers(old).map_or(&[][..], Vec::as_slice);
    let added: Vec<String> = finalizers(new)
        .into_iter()
        .flatten()
        .filter(|it| !known.contains(it))
        .map(Value::to_string)
        .collect();
    if !added.is_empty() {
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers \
             []string{{{}}}",
            added.join(", ")
        );
        report.forbidden("metadata.finalizers", &detail);
    }
}

fn kind(group: &str, kind: &str, old: Option<&Value>, new: &Value, report: &mut Report) {
    let spec = at(new, "spec");
    match (group, kind) {
        ("", "Pod") => pod::pod(new, old.is_none(), report),
        ("", "PodTemplate") => pod::template(at(new, "template"), "template", report),
        ("", "ReplicationController") => workloads::replication_controller(spec, report),
        ("", "Service") => service::service(old, new, report),
        ("", "Endpoints") => network::endpoints(new, report),
        ("", "ConfigMap") => config::config_map(new, report),
        ("", "Secret") => config::secret(new, report),
        ("", "LimitRange") => config::limit_range(spec, report),
        ("", "ResourceQuota") => config::quota(spec, report),
        ("", "PersistentVolume") => volumes::volume(spec, report),
        ("", "PersistentVolumeClaim") => volumes::claim(spec, "spec", report),
        ("", "Event") => config::event(new, report),
        ("apps", "Deployment") => workloads::deployment(spec, report),
        ("apps", "ReplicaSet") => workloads::replica_set(spec, report),
        ("apps", "StatefulSet") => workloads::stateful_set(spec, report),
        ("apps", "DaemonSet") => workloads::daemon_set(spec, report),
        ("batch", "Job") => workloads::job(spec, "spec", report),
        ("batch", "CronJob") => workloads::cron_job(new, report),
        ("autoscaling", "HorizontalPodAutoscaler") => workloads::autoscaler(spec, report),
        ("policy", "PodDisruptionBudget") => workloads::budget(spec, report),
        ("networking.k8s.io", "Ingress") => network::ingress(spec, report),
        ("networking.k8s.io", "NetworkPolicy") => network::policy(spec, report),
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice(new, report),
        ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => {
            config::role(new, kind == "Role", report);
        }
        ("rbac.authorization.k8s.io", "RoleBinding") => {
            config::binding(new, &["Role", "ClusterRole"], report);
        }
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => {
            config::binding(new, &["ClusterRole"], report);
        }
        ("storage.k8s.io", "StorageClass") => volumes::class(new, report),
        ("admissionregistration.k8s.io", name) => {
            report.causes.extend(match name {
                "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy" => {
                    policy::check_policy(new)
                }
                "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" => {
                    policy::check_binding(new)
                }
                _ => policy::check_webhooks(new),
            });
        }
        ("scheduling.k8s.io", "PriorityClass") if old.is_none() => {
            config::priority_class(new, report);
        }
        _ => {}
    }
}
