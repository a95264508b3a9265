//! Admission: what a write must pass, and what is filled in on the way.
//!
//! The pipeline calls [`mutate`] after defaulting and before validation, and [`check`] after
//! validation, as the last step before managed fields and the store. Neither may be called
//! while the store is locked: both read other objects through [`Api`].

use super::{limits, pod_admission, quota, services};
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, annotation, text};
use crate::{Api, Resource, Scope, Selection, Status};
use serde_json::Value;
use std::sync::Arc;

/// The annotation that named the class of a claim before claims had a field for it.
const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// What is done to the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// It is new.
    Create,
    /// It replaces a stored one.
    Update,
}

/// A write that asks to be let in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Review<'a> {
    /// The resource in its storage version.
    pub resource: &'a Resource,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// Name of the object.
    pub name: &'a str,
    /// Subresource; empty for the object itself.
    pub subresource: &'a str,
    /// What is done.
    pub operation: Operation,
    /// The stored object, when there is one.
    pub old: Option<&'a Value>,
    /// Nothing may be kept.
    pub dry_run: bool,
}

impl Review<'_> {
    /// A refusal that names the object.
    pub(super) fn forbid(&self, why: &str) -> Status {
        Status::forbidden(&self.resource.group, &self.resource.plural, self.name, why)
    }
}

/// Fills in what depends on other objects (service account, limits, priority, classes), and
/// gives out addresses and ports of services.
pub(crate) fn mutate(api: &Api, review: &Review<'_>, object: &mut Value) -> Result<(), Status> {
    if !review.subresource.is_empty() {
        return Ok(());
    }
    if review.operation == Operation::Update {
        return match Kind::of(review.resource) {
            Some(Kind::Service) => services::allocate(api, review, object),
            _ => Ok(()),
        };
    }
    match Kind::of(review.resource) {
        Some(Kind::Service) => services::allocate(api, review, object),
        Some(Kind::Pod) => {
            // The name is made up later.
            let prefix = text(&object["metadata"]["generateName"]).to_owned();
            let name = if prefix.is_empty() { review.name } else { &prefix };
            pod_admission::mutate(api, &Review { name, ..*review }, object)?;
            limits::set_defaults(api, review, object);
            Ok(())
        }
        Some(Kind::PersistentVolumeClaim) => {
            add_finalizer(object, "kubernetes.io/pvc-protection");
            let by_annotation = annotation(object, BETA_CLASS).is_some();
            if object["spec"].get("storageClassName").is_none() && !by_annotation {
                let mark = "storageclass.kubernetes.io/is-default-class";
                if let Some(name) = default_class(api, Kind::StorageClass, mark) {
                    object["spec"]["storageClassName"] = name.into();
                }
            }
            Ok(())
        }
        Some(Kind::Job) => {
            generate_selector(object);
            Ok(())
        }
        Some(Kind::PersistentVolume) => {
            add_finalizer(object, "kubernetes.io/pv-protection");
            Ok(())
        }
        Some(Kind::Ingress) => {
            let by_annotation = annotation(object, "kubernetes.io/ingress.class").is_some();
            if object["spec"].get("ingressClassName").is_none() && !by_annotation {
                let mark = "ingressclass.kubernetes.io/is-default-class";
                if let Some(name) = default_class(api, Kind::IngressClass, mark) {
                    object["spec"]["ingressClassName"] = name.into();
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Refuses what exceeds a limit or quota.
pub(crate) fn check(api: &Api, review: &Review<'_>, object: &mut Value) -> Result<(), Status> {
    if review.subresource.is_empty() {
        limits::check(api, review, object)?;
    }
    quota::check(api, review, object)
}

/// All objects of a kind in a namespace (everywhere when it is empty); none on failure.
pub(super) fn list(api: &Api, kind: Kind, namespace: &str) -> Vec<Arc<Value>> {
    let scope = if namespace.is_empty() { Scope::All } else { Scope::Namespace(namespace) };
    api.list(kind.resource(), scope, Selection::default()).map(|it| it.0).unwrap_or_default()
}

/// The newest class that is marked as the default.
fn default_class(api: &Api, kind: Kind, mark: &str) -> Option<String> {
    list(api, kind, "")
        .iter()
        .filter(|it| annotation(it, mark) == Some("true"))
        .max_by_key(|it| text(&it["metadata"]["creationTimestamp"]).to_owned())
        .map(|it| meta::name(it).to_owned())
}

/// Gives a Job without a selector of its own one that only its pods match.
fn generate_selector(job: &mut Value) {
    if job["spec"]["manualSelector"] == true || !job["spec"]["template"].is_object() {
        return;
    }
    let (uid, name) = (meta::uid(job).to_owned(), meta::name(job).to_owned());
    let template = &mut job["spec"]["template"];
    if !template["metadata"].is_object() {
        template["metadata"] = serde_json::json!({});
    }
    for (key, value) in [
        ("controller-uid", &uid),
        ("batch.kubernetes.io/controller-uid", &uid),
        ("job-name", &name),
        ("batch.kubernetes.io/job-name", &name),
    ] {
        meta::set_label(template, key, value.as_str());
    }
    if !job["spec"]["selector"].is_object() {
        job["spec"]["selector"] = serde_json::json!({});
    }
    if !job["spec"]["selector"]["matchLabels"].is_object() {
        job["spec"]["selector"]["matchLabels"] = serde_json::json!({});
    }
    job["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"] = uid.into();
}

fn add_finalizer(object: &mut Value, finalizer: &str) {
    if meta::has_finalizer(object, finalizer) {
        return;
    }
    meta::push(&mut object["metadata"], "finalizers", finalizer.into());
}
