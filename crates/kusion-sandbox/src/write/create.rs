//! Creating objects.

use super::update::Origin;
use super::{Outcome, managed, names, prepare};
use crate::api::Write;
use crate::cluster::Cluster;
use crate::lifecycle::admit::Operation;
use crate::registry::Served;
use crate::store::{Refused, Stored};
use crate::{Status, convert, object};
use serde_json::Value;
use std::sync::Arc;

/// Attempts to find a free name for `generateName`.
const ATTEMPTS: usize = 8;

impl Cluster {
    /// Creates an object.
    pub(crate) fn create(
        &self,
        served: &Served,
        namespace: &str,
        mut object: Value,
        write: &Write<'_>,
    ) -> Result<Outcome, Status> {
        check_type(served, &mut object)?;
        check_namespace(served, namespace, &mut object)?;
        self.create_object(served, namespace, object, write, Origin::Written)
    }

    /// Creates an object whose type and fields have been checked.
    pub(crate) fn create_object(
        &self,
        served: &Served,
        namespace: &str,
        object: Value,
        write: &Write<'_>,
        origin: Origin,
    ) -> Result<Outcome, Status> {
        let prefix = object::meta_text(&object, "generateName").to_owned();
        if !object::name(&object).is_empty() || prefix.is_empty() {
            return self.create_named(served, namespace, object, write, origin);
        }
        for attempt in 1.. {
            let mut named = object.clone();
            object::meta_mut(&mut named).insert("name".to_owned(), names::generate(&prefix).into());
            match self.create_named(served, namespace, named, write, origin) {
                Err(status) if status.is_already_exists() && attempt < ATTEMPTS => {}
                result => return result,
            }
        }
        Err(Status::internal("no free name"))
    }

    fn create_named(
        &self,
        served: &Served,
        namespace: &str,
        object: Value,
        write: &Write<'_>,
        origin: Origin,
    ) -> Result<Outcome, Status> {
        let name = object::name(&object).to_owned();
        let result = self.create_new(served, namespace, object, write, origin);
        self.settle(served, namespace, &name);
        result
    }

    fn create_new(
        &self,
        served: &Served,
        namespace: &str,
        mut object: Value,
        write: &Write<'_>,
        origin: Origin,
    ) -> Result<Outcome, Status> {
        let table = served.table()?;
        let name = object::name(&object).to_owned();
        if !object::meta_text(&object, "resourceVersion").is_empty() {
            return Err(Status::unnamed(
                "resourceVersion should not be set on objects to be created",
            ));
        }
        self.check_namespace_alive(served, namespace, &name)?;
        self.check_definition_alive(served)?;
        forget_deletion(&mut object);
        match origin {
            Origin::Applied => crate::defaults::apply_merged(served, &mut object),
            Origin::Written => crate::defaults::apply(served, &mut object),
        }
        if origin == Origin::Written {
            object::meta_mut(&mut object).remove("managedFields");
            managed::update(self, served, write, None, &mut object);
        }
        convert::to_storage(served, &mut object);
        let review = (write, Operation::Create, None);
        prepare::for_create(served, &mut object);
        self.mutate(served, review, &mut object)?;
        let name = object::name(&object).to_owned();
        if name.is_empty() {
            let cause = crate::Cause::new(
                "FieldValueRequired",
                "metadata.name",
                "Required value: name or generateName is required",
            );
            return Err(Status::invalid(&served.resource.group, &served.kind, "", &[cause]));
        }
        super::check::validate(self, served, "", None, &object)?;
        self.check(served, review, &mut object)?;
        let key = served.key(namespace, &name);
        let exists =
            || Status::already_exists(&served.resource.group, &served.resource.plural, &name);
        let warnings = crate::warnings::of(served, None, &object);
        if write.dry_run {
            if self.store.get(table, &key).is_some() {
                return Err(exists());
            }
            return self.answer_dry(served, object, true).map(|it| it.with(warnings));
        }
        let stored = self.store.insert(table, &key, object).map_err(|refused| match refused {
            Refused::Race => exists(),
            Refused::TooLarge => Status::too_large_to_store(),
            Refused::Full => Status::store_is_full(),
            Refused::NotWritten(why) => Status::not_written(why),
        })?;
        self.after(served, &stored, false);
        self.answer(served, stored, true).map(|it| it.with(warnings))
    }

    /// Makes the answer to a write that was stored.
    pub(crate) fn answer(
        &self,
        served: &Served,
        stored: Arc<Stored>,
        created: bool,
    ) -> Result<Outcome, Status> {
        let value = self.view(served, &stored)?;
        let stored = served.is_storage().then_some(stored);
        Ok(Outcome { value, stored, created, removed: false, warnings: Vec::new() })
    }

    /// Makes the answer to a write that was not stored.
    #[expect(clippy::unnecessary_wraps, reason = "same shape as `answer`")]
    pub(crate) fn answer_dry(
        &self,
        served: &Served,
        object: Value,
        created: bool,
    ) -> Result<Outcome, Status> {
        let value = Arc::new(self.to_served(served, object));
        Ok(Outcome { value, stored: None, created, removed: false, warnings: Vec::new() })
    }
}

/// An object cannot be born deleted.
fn forget_deletion(object: &mut Value) {
    let meta = object::meta_mut(object);
    meta.remove("deletionTimestamp");
    meta.remove("deletionGracePeriodSeconds");
}

/// Checks that a body is of the served version and kind; sets them when they are missing.
pub(crate) fn check_type(served: &Served, object: &mut Value) -> Result<(), Status> {
    let wanted = served.api_version();
    let Some(map) = object.as_object_mut() else {
        return Err(Status::bad_request("the body of the request must be an object"));
    };
    let given = map.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    if given.is_empty() {
        map.insert("apiVersion".to_owned(), wanted.into());
    } else if given != wanted {
        return Err(Status::bad_request(format!(
            "the API version in the data ({given}) does not match the expected API version ({wanted})"
        )));
    }
    let kind = map.get("kind").and_then(Value::as_str).unwrap_or_default();
    if kind.is_empty() {
        map.insert("kind".to_owned(), (*served.kind).into());
    } else if kind != &*served.kind {
        let version = &served.resource.version;
        return Err(Status::bad_request(format!(
            "{kind} in version \"{version}\" cannot be handled as a {}: converting (v1.{kind}) to (v1.{}): unknown conversion",
            served.kind, served.kind
        )));
    }
    Ok(())
}

/// Checks that a body lies in the namespace of the request; sets it when it is missing.
pub(crate) fn check_namespace(
    served: &Served,
    namespace: &str,
    object: &mut Value,
) -> Result<(), Status> {
    let meta = object::meta_mut(object);
    if !served.namespaced {
        meta.remove("namespace");
        return Ok(());
    }
    let given = meta.get("namespace").and_then(Value::as_str).unwrap_or_default();
    if given.is_empty() {
        meta.insert("namespace".to_owned(), namespace.into());
    } else if given != namespace {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}
