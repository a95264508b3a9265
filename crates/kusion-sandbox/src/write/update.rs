//! Replacing objects.

use super::create::{check_namespace, check_type};
use super::{Failed, Outcome, managed, prepare};
use crate::api::Write;
use crate::cluster::Cluster;
use crate::lifecycle::admit::Operation;
use crate::registry::Served;
use crate::store::Stored;
use crate::{Status, convert, object};
use serde_json::Value;
use std::sync::Arc;

/// How an object was made that replaces another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The writer gave it; the records of managers must be brought up to date.
    Written,
    /// Server-side apply merged it, with the records of managers.
    Applied,
}

impl Cluster {
    /// Replaces an object, or the part of it that a subresource names.
    pub(crate) fn update(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
        mut object: Value,
        write: &Write<'_>,
    ) -> Result<Outcome, Status> {
        if write.subresource == "scale" {
            return self.update_scale(served, namespace, name, &object, write);
        }
        check_type(served, &mut object)?;
        check_namespace(served, namespace, &mut object)?;
        check_name(name, &mut object)?;
        if write.subresource.is_empty()
            && creates_on_update(served)
            && self.get(served, namespace, name).is_err()
        {
            return self.create(served, namespace, object, write);
        }
        loop {
            let old = self.get(served, namespace, name)?;
            needs_version(served, &object)?;
            check_preconditions(served, &old, &object)?;
            match self.replace(served, &old, object.clone(), write, Origin::Written) {
                // Whoever names a version fails the check above in the next round.
                Err(Failed::Race) => {}
                Err(Failed::Status(status)) => return Err(status),
                Ok(outcome) => return Ok(outcome),
            }
        }
    }

    /// Puts an object in the place of one that was read, in the version of the request.
    pub(crate) fn replace(
        &self,
        served: &Served,
        old: &Arc<Stored>,
        new: Value,
        write: &Write<'_>,
        origin: Origin,
    ) -> Result<Outcome, Failed> {
        let result = self.replace_settled(served, old, new, write, origin);
        let value = old.value();
        self.settle(served, object::namespace(&value), object::name(&value));
        result
    }

    fn replace_settled(
        &self,
        served: &Served,
        old: &Arc<Stored>,
        mut new: Value,
        write: &Write<'_>,
        origin: Origin,
    ) -> Result<Outcome, Failed> {
        let old_value = old.value();
        match origin {
            Origin::Applied => crate::defaults::apply_merged(served, &mut new),
            Origin::Written => crate::defaults::apply(served, &mut new),
        }
        // Who binds a pod to a node manages none of its fields.
        if origin == Origin::Written && write.subresource != "binding" {
            let live = self.view(served, old)?;
            managed::update(self, served, write, Some(&live), &mut new);
        }
        convert::to_storage(served, &mut new);
        match write.subresource {
            "" => prepare::for_update(served, &old_value, &mut new),
            _ => new = super::subresource::prepare(served, write.subresource, &old_value, new)?,
        }
        let review = (write, Operation::Update, Some(&*old_value));
        self.mutate(served, review, &mut new)?;
        if write.subresource.is_empty() {
            prepare::count_generation(served, &old_value, &mut new);
        }
        let warnings = match write.subresource {
            "" => crate::warnings::of(served, Some(&old_value), &new),
            _ => Vec::new(),
        };
        if kusion_k8s_merge::keep_times(&old_value, &mut new) {
            return Ok(self.answer(served, Arc::clone(old), false)?.with(warnings));
        }
        super::check::validate(self, served, write.subresource, Some(&old_value), &new)?;
        self.check(served, review, &mut new)?;
        if write.dry_run {
            return Ok(self.answer_dry(served, new, false)?.with(warnings));
        }
        self.commit_update(served, old, new).map(|it| it.with(warnings))
    }

    /// Stores a changed object, or removes it when nothing keeps it any more.
    pub(crate) fn commit_update(
        &self,
        served: &Served,
        old: &Arc<Stored>,
        new: Value,
    ) -> Result<Outcome, Failed> {
        let table = served.table()?;
        if is_finished(served, &new) {
            let stored = self.store.remove(table, old, new)?;
            self.after(served, &stored, true);
            let mut outcome = self.answer(served, stored, false)?;
            outcome.removed = true;
            return Ok(outcome);
        }
        let stored = self.store.replace(table, old, new)?;
        self.after(served, &stored, false);
        Ok(self.answer(served, stored, false)?)
    }
}

/// Returns whether an update of a missing object makes it.
fn creates_on_update(served: &Served) -> bool {
    served.is_builtin()
        && matches!(
            &*served.kind,
            "RuntimeClass"
                | "Role"
                | "RoleBinding"
                | "ClusterRole"
                | "ClusterRoleBinding"
                | "Lease"
                | "LimitRange"
                | "Event"
                | "Service"
                | "Endpoints"
        )
}

/// Returns whether an object that is being deleted has nothing left to wait for.
fn is_finished(served: &Served, object: &Value) -> bool {
    object::is_terminating(object)
        && object::finalizers(object).next().is_none()
        && object::at(object, &["metadata", "deletionGracePeriodSeconds"]).as_i64().unwrap_or(0)
            == 0
        && !(served.is("", "namespaces")
            && object::at(object, &["spec", "finalizers"])
                .as_array()
                .is_some_and(|list| !list.is_empty()))
}

pub(crate) fn check_name(name: &str, object: &mut Value) -> Result<(), Status> {
    let given = object::name(object);
    if given.is_empty() {
        object::meta_mut(object).insert("name".to_owned(), name.into());
    } else if given != name {
        return Err(Status::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        )));
    }
    Ok(())
}

/// Custom objects are updated only by those who know what they replace.
fn needs_version(served: &Served, object: &Value) -> Result<(), Status> {
    if served.is_builtin() || !object::meta_text(object, "resourceVersion").is_empty() {
        return Ok(());
    }
    let cause = crate::Cause::new(
        "FieldValueInvalid",
        "metadata.resourceVersion",
        "Invalid value: 0: must be specified for an update",
    );
    let resource = &served.resource;
    Err(Status::invalid(&resource.group, &resource.plural, object::name(object), &[cause]))
}

/// Checks the version and the uid that the writer believes the object to have.
pub(crate) fn check_preconditions(
    served: &Served,
    old: &Stored,
    object: &Value,
) -> Result<(), Status> {
    let old_value = old.value();
    let name = object::name(&old_value);
    let (group, plural) = (&served.resource.group, &served.resource.plural);
    let version = object::meta_text(object, "resourceVersion");
    if !version.is_empty() && version.parse::<u64>().is_err() {
        let why = format!("strconv.ParseUint: parsing \"{version}\": invalid syntax");
        return Err(Status::unnamed(why));
    }
    if !version.is_empty() && version != "0" && version != old.revision.to_string() {
        return Err(Status::modified(group, plural, name));
    }
    let (uid, old_uid) = (object::uid(object), object::uid(&old_value));
    if !uid.is_empty() && uid != old_uid {
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry/{plural}/{}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {old_uid}",
            old.key
        );
        return Err(Status::conflict(group, plural, name, &why));
    }
    Ok(())
}
