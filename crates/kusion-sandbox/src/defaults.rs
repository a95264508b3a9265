//! Values that missing fields get, per kind.
//!
//! The tables of the API hold only few defaults; the others are here, one function per kind.
//! They work on objects in the version of the request. Start reading at [`apply`].

mod admission;
mod cluster;
mod image;
mod network;
mod pod;
mod workloads;

use crate::registry::Served;
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// Sets what server-side apply left out.
pub(crate) fn apply_merged(served: &Served, object: &mut Value) {
    match &served.custom {
        Some(custom) => custom.structural.default_applied(object),
        None => apply(served, object),
    }
}

/// Fills in the missing fields of an object in the version of the request.
pub(crate) fn apply(served: &Served, object: &mut Value) {
    if let Some(custom) = &served.custom {
        custom.structural.default(object);
        return;
    }
    let Some(object) = object.as_object_mut() else { return };
    match (&*served.resource.group, &*served.kind) {
        ("", kind) => core(kind, object),
        ("apps", kind) => workloads::apps(kind, object),
        ("batch", "Job") => workloads::job(object),
        ("batch", "CronJob") => workloads::cron_job(object),
        ("autoscaling", "HorizontalPodAutoscaler") if &*served.resource.version != "v1" => {
            workloads::autoscaler(object);
        }
        ("autoscaling", "HorizontalPodAutoscaler") => {
            set(spec(object), "minReplicas", 1);
        }
        ("networking.k8s.io", "NetworkPolicy") => network::policy(object),
        ("networking.k8s.io", "IngressClass") => network::ingress_class(object),
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice(object),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            cluster::binding(object);
        }
        ("storage.k8s.io", "StorageClass") => cluster::storage_class(object),
        ("storage.k8s.io", "CSIDriver") => cluster::csi_driver(object),
        ("scheduling.k8s.io", "PriorityClass") => {
            set(object, "preemptionPolicy", "PreemptLowerPriority");
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => cluster::definition(object),
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => admission::webhooks(&served.kind, object),
        ("admissionregistration.k8s.io", kind) => admission::policy(kind, object),
        ("apiregistration.k8s.io", "APIService") => admission::aggregation(object),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => admission::flow_schema(object),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => {
            admission::priority_level(object);
        }
        ("resource.k8s.io", "ResourceClaim") => cluster::resource_claim(spec(object)),
        ("resource.k8s.io", "ResourceClaimTemplate") => {
            cluster::resource_claim(made(spec(object), "spec"));
        }
        ("certificates.k8s.io", "CertificateSigningRequest") => {
            set(spec(object), "signerName", "kubernetes.io/legacy-unknown");
        }
        _ => {}
    }
}

fn core(kind: &str, object: &mut Object) {
    match kind {
        "Pod" => pod::pod(object),
        "PodTemplate" => {
            if let Some(template) = child(object, "template") {
                pod::template(template);
            }
        }
        "ReplicationController" => workloads::replication_controller(object),
        "Service" => network::service(object),
        "Endpoints" => network::endpoints(object),
        "Secret" => cluster::secret(object),
        "Namespace" => cluster::namespace(object),
        "LimitRange" => cluster::limit_range(object),
        "PersistentVolume" => cluster::volume(object),
        "PersistentVolumeClaim" => cluster::claim(object),
        _ => {}
    }
}

/// Sets a field that is missing or null.
fn set(object: &mut Object, key: &str, value: impl Into<Value>) {
    let slot = object.entry(key).or_insert(Value::Null);
    if slot.is_null() {
        *slot = value.into();
    }
}

/// Sets a number that is missing, null or zero.
fn set_number(object: &mut Object, key: &str, value: i64) {
    let slot = object.entry(key).or_insert(Value::Null);
    if slot.is_null() || slot.as_i64() == Some(0) {
        *slot = value.into();
    }
}

/// Sets a field that is missing, null or an empty text.
fn set_text(object: &mut Object, key: &str, value: &str) {
    let slot = object.entry(key).or_insert(Value::Null);
    if slot.is_null() || slot.as_str() == Some("") {
        *slot = value.into();
    }
}

/// Returns the object in a field.
fn child<'a>(object: &'a mut Object, key: &str) -> Option<&'a mut Object> {
    object.get_mut(key)?.as_object_mut()
}

/// Returns the object in a field, making it if it is missing.
fn made<'a>(object: &'a mut Object, key: &str) -> &'a mut Object {
    let slot = object.entry(key).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    slot.as_object_mut().expect("an object was put there")
}

/// Returns the spec, making it if it is missing.
fn spec(object: &mut Object) -> &mut Object {
    made(object, "spec")
}

/// Returns the objects in a list.
fn items<'a>(object: &'a mut Object, key: &str) -> impl Iterator<Item = &'a mut Object> {
    let list = object.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Returns the text in a field, empty when it is missing.
fn text<'a>(object: &'a Object, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}
