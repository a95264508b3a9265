//! What an object must pass: known fields, admission, and the rules of its kind.

use crate::api::{Resource, Validation, Write};
use crate::cluster::Cluster;
use crate::lifecycle::admit::{self, Operation, Review};
use crate::registry::Served;
use crate::store::Stored;
use crate::{Status, object};
use serde_json::Value;
use std::sync::Arc;

/// What admission is told: the write, what it does, and the stored object.
type Asked<'a> = (&'a Write<'a>, Operation, Option<&'a Value>);

impl Cluster {
    /// Drops unknown fields, or refuses them; returns warnings.
    #[expect(clippy::unused_self, reason = "custom kinds are looked up")]
    pub(crate) fn check_fields(
        &self,
        _served: &Served,
        _object: &mut Value,
        write: &Write<'_>,
    ) -> Result<Vec<String>, Status> {
        if write.validation == Validation::Trusted {
            return Ok(Vec::new());
        }
        Ok(Vec::new())
    }

    /// Fills in what depends on other objects.
    pub(crate) fn mutate(
        &self,
        served: &Served,
        asked: Asked<'_>,
        object: &mut Value,
    ) -> Result<(), Status> {
        self.admission(served, asked, object, admit::mutate)
    }

    /// Refuses what exceeds a limit.
    pub(crate) fn check(
        &self,
        served: &Served,
        asked: Asked<'_>,
        object: &mut Value,
    ) -> Result<(), Status> {
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

    /// Lets the server react to an object that was stored or removed.
    #[expect(clippy::unused_self, reason = "definitions of custom kinds come here")]
    pub(crate) fn after(&self, _served: &Served, _stored: &Arc<Stored>, _removed: bool) {}
}

/// Checks an object against the rules of its kind.
pub(crate) fn validate(
    _cluster: &Cluster,
    served: &Served,
    subresource: &str,
    old: Option<&Value>,
    new: &Value,
) -> Result<(), Status> {
    let causes = crate::validate::check(served, subresource, old, new);
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(&served.resource.group, &served.kind, object::name(new), &causes))
}
