//! Health of objects: a pure function for each kind.
//!
//! A state counts only once the controller has seen the newest change (`observedGeneration`), and
//! only what was made from it (updated replicas). An object that cannot become ready without
//! intervention has failed, with a reason.
//!
//! These functions know no time: they return the health that an object has if it stays as it is.
//! Some failures may heal ([`grace`]), and a restarted pod must prove itself ([`run`]); the judge of
//! a watch takes that into account.

mod autoscaler;
mod budget;
mod claim;
mod cron_job;
mod daemon_set;
mod definition;
mod deployment;
mod fields;
mod generic;
pub(crate) mod grace;
mod ingress;
mod job;
mod namespace;
mod pod;
mod replica_set;
pub(crate) mod run;
mod service;
mod stateful_set;
mod summary;
mod volume;

use crate::delete::waits_for;
use kusion_model::Health;
use serde_json::Value;

pub use summary::summary;
pub(crate) use summary::{settling_pods, summary_of};

/// Returns the health of an object, without its related objects.
pub fn of_object(object: &Value) -> Health {
    if object.pointer("/metadata/deletionTimestamp").is_some() {
        return Health::terminating(waits_for(object));
    }
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    match (group, text("kind")) {
        ("apps", "Deployment") => deployment::health(object),
        ("apps", "StatefulSet") => stateful_set::health(object),
        ("apps", "DaemonSet") => daemon_set::health(object),
        ("apps", "ReplicaSet") | ("", "ReplicationController") => replica_set::health(object),
        ("batch", "Job") => job::health(object),
        ("batch", "CronJob") => cron_job::health(object),
        ("", "Pod") => pod::health(object),
        ("", "PersistentVolumeClaim") => claim::health(object),
        ("", "PersistentVolume") => volume::health(object),
        ("", "Service") => service::health(object),
        ("", "Namespace") => namespace::health(object),
        ("networking.k8s.io", "Ingress") => ingress::health(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition::health(object),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler::health(object),
        ("policy", "PodDisruptionBudget") => budget::health(object),
        _ => generic::health(object),
    }
}
