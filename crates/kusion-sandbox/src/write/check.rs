//! What an object must pass: known fields, admission, and the rules of its kind.

use crate::api::{PatchKind, Resource, Validation, Write};
use crate::cluster::Cluster;
use crate::lifecycle::admit::{self, Operation, Review};
use crate::registry::Served;
use crate::store::Stored;
use crate::{Cause, Status, crd, object};
use kusion_k8s_schema::{Expected, Finding, cannot_handle, strict_error};
use serde_json::Value;
use std::sync::Arc;

/// What admission is told: the write, what it does, and the stored object.
type Asked<'a> = (&'a Write<'a>, Operation, Option<&'a Value>);

impl Cluster {
    /// Fills in what depends on other objects.
    pub(crate) fn mutate(
        &self,
        served: &Served,
        asked: Asked<'_>,
        object: &mut Value,
    ) -> Result<(), Status> {
        self.admission(served, asked, object, admit::mutate)?;
        self.hooks_mutate(served, asked.0, asked.2, object)
    }

    /// Refuses what exceeds a limit.
    pub(crate) fn check(
        &self,
        served: &Served,
        asked: Asked<'_>,
        object: &mut Value,
    ) -> Result<(), Status> {
        self.hooks_check(served, asked.0, asked.2, object)?;
        self.admission(served, asked, object, admit::check)
    }

    fn admission(
        &self,
        served: &Served,
        (write, operation, old): Asked<'_>,
        object: &mut Value,
        step: fn(&crate::Api, &Review<'_>, &mut Value) -> Result<(), Status>,
    ) -> Result<(), Status> {
        let namespace = object::namespace(object).to_owned();
        let name = object::name(object).to_owned();
        let review = Review {
            resource: &served.storage,
            namespace: &namespace,
            name: &name,
            subresource: write.subresource,
            operation,
            old,
            dry_run: write.dry_run,
        };
        step(&self.api(), &review, object)
    }

    /// Refuses new objects in a namespace that is absent or ends.
    pub(crate) fn check_namespace_alive(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
    ) -> Result<(), Status> {
        if !served.namespaced {
            return Ok(());
        }
        let namespaces = self.served(&Resource::new("", "v1", "namespaces"))?;
        let stored = self.get(&namespaces, "", namespace)?;
        if !object::is_terminating(&stored.value()) {
            return Ok(());
        }
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let mut status =
            Status::forbidden(&served.resource.group, &served.resource.plural, name, &why);
        status.details["causes"] = serde_json::json!([{
            "reason": "NamespaceTerminating",
            "message": format!("namespace {namespace} is being terminated"),
            "field": "metadata.namespace",
        }]);
        Err(status)
    }

    /// Takes back what a write was given and did not keep; called when it has ended.
    pub(crate) fn settle(&self, served: &Served, namespace: &str, name: &str) {
        if served.is("", "services") {
            let stored = self.get(served, namespace, name).ok().map(|it| it.value());
            self.services.settle(namespace, name, stored.as_deref());
        }
    }

    /// Lets the server react to an object that was stored or removed.
    pub(crate) fn after(&self, served: &Served, stored: &Arc<Stored>, removed: bool) {
        if *served.resource.group == *crate::admission::GROUP {
            self.hooks.note_change();
        }
        if crd::is_definition(served) {
            self.definition_changed(stored, removed);
        } else if removed && let Some(custom) = &served.custom {
            self.instance_removed(custom);
        } else if removed {
            let value = stored.value();
            self.settle(served, object::namespace(&value), object::name(&value));
        }
    }
}

/// Checks an object against the rules of its kind.
pub(crate) fn validate(
    _cluster: &Cluster,
    served: &Served,
    subresource: &str,
    old: Option<&Value>,
    new: &Value,
) -> Result<(), Status> {
    let mut causes = crate::validate::check(served, subresource, old, new);
    if let Some(custom) = &served.custom {
        causes.extend(custom.structural.validate_change(new, old));
    } else if crd::is_definition(served) {
        causes.extend(crd::validate(new));
    }
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(&served.resource.group, &served.kind, object::name(new), &causes))
}

/// Judges what strict requests do not accept; returns warnings.
pub(crate) fn judge(
    served: &Served,
    findings: &[Finding],
    validation: Validation,
) -> Result<Vec<String>, Status> {
    match (strict_error(findings), validation) {
        (Some(error), Validation::Strict) => {
            let resource = &served.resource;
            let expected =
                Expected { group: &resource.group, version: &resource.version, kind: &served.kind };
            Err(Status::bad_request(cannot_handle(&served.kind, &expected, &error)))
        }
        (Some(_), Validation::Warn) => Ok(findings.iter().map(ToString::to_string).collect()),
        _ => Ok(Vec::new()),
    }
}

/// Brings an object that a patch made into the form in which it is kept; returns findings.
///
/// `sent` is the patch.
pub(crate) fn normalize_patched(
    served: &Served,
    kind: PatchKind,
    sent: &Value,
    object: &mut Value,
) -> Result<Vec<Finding>, Status> {
    if let Some(custom) = &served.custom {
        let unknown = custom.structural.clean(object).map_err(Status::bad_request)?;
        return Ok(unknown.into_iter().map(Finding::Unknown).collect());
    }
    let Some(info) = served.info else { return Ok(Vec::new()) };
    // A text about the object names it as it was sent.
    let place = format!("{}/{}", object::namespace(sent), object::name(object));
    let normalize = match kind {
        PatchKind::Apply => kusion_k8s_schema::normalize_applied,
        _ => kusion_k8s_schema::normalize,
    };
    let decoded = normalize(&kusion_k8s_schema::builtin().types, info.ty, object.take())
        .map_err(|why| not_of_its_kind(served, kind, &place, &why))?;
    *object = decoded.value;
    Ok(decoded.findings)
}

/// The answer when a patch made something that is no object of its kind.
fn not_of_its_kind(served: &Served, kind: PatchKind, place: &str, why: &str) -> Status {
    if kind != PatchKind::Apply {
        let cause = Cause::new("FieldValueInvalid", "patch", format!("Invalid value: {why}"));
        return Status::invalid("", "", "", &[cause]);
    }
    let resource = &served.resource;
    let type_ = format!("{}/{}, Kind={}", resource.group, resource.version, served.kind);
    Status::unnamed(format!(
        "failed to convert new object ({place}; {type_}) to proper version: unable to convert \
         unstructured object to {type_}: error decoding from json: {why}"
    ))
}
