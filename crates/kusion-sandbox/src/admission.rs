//! Policies and webhooks: who is asked before an object is stored or deleted.
//!
//! [`Hooks`] keeps what is configured, ready for use; without any policy or webhook a write costs
//! one look at a flag. [`Cluster::hooks_mutate`] and [`Cluster::hooks_check`] are called by the one
//! write path, [`Cluster::hooks_delete`] by deletions.

mod authorize;
mod call;
mod index;
mod mutate;
mod params;
mod policies;
mod request;
mod webhooks;

pub(crate) use index::{GROUP, Hooks};

use crate::api::{Caller, Write};
use crate::cluster::Cluster;
use crate::registry::Served;
use crate::{Status, object};
use request::Asked;
use serde_json::Value;

impl Cluster {
    /// Lets policies and webhooks change an object in its storage version.
    pub(crate) fn hooks_mutate(
        &self,
        served: &Served,
        write: &Write<'_>,
        old: Option<&Value>,
        object: &mut Value,
    ) -> Result<(), Status> {
        let Some(index) = self.hooks_of(served, &write.caller) else { return Ok(()) };
        if !index.changes() {
            return Ok(());
        }
        let (view, before) = (self.to_served(served, object.clone()), self.old(served, old));
        let mut asked = Asked::new(self, served, write, before, view.clone());
        mutate::run(&index, &mut asked)?;
        if asked.object != view {
            let mut made = std::mem::take(&mut asked.object);
            crate::convert::to_storage(served, &mut made);
            // What only the server sets stays, and so does the half that is not written.
            crate::write::keep_server_fields(object, &mut made);
            if write.subresource.is_empty() && served.has("status") {
                crate::write::keep_field(object, &mut made, "status");
            }
            *object = made;
        }
        Ok(())
    }

    /// Asks policies and webhooks whether an object may be stored.
    pub(crate) fn hooks_check(
        &self,
        served: &Served,
        write: &Write<'_>,
        old: Option<&Value>,
        object: &Value,
    ) -> Result<(), Status> {
        let Some(index) = self.hooks_of(served, &write.caller) else { return Ok(()) };
        if !index.checks() {
            return Ok(());
        }
        let (view, before) = (self.to_served(served, object.clone()), self.old(served, old));
        let mut asked = Asked::new(self, served, write, before, view);
        policies::check(&index, &asked)?;
        webhooks::check(&index, &mut asked)
    }

    /// Asks policies and webhooks whether an object may be deleted.
    pub(crate) fn hooks_delete(
        &self,
        served: &Served,
        old: &Value,
        dry_run: bool,
        caller: Caller<'_>,
    ) -> Result<(), Status> {
        let Some(index) = self.hooks_of(served, &caller) else { return Ok(()) };
        let write = Write { dry_run, caller, ..Write::default() };
        let mut asked = Asked::new(self, served, &write, self.old(served, Some(old)), Value::Null);
        mutate::run(&index, &mut asked)?;
        policies::check(&index, &asked)?;
        webhooks::check(&index, &mut asked)
    }

    /// Asks policies and webhooks about a subresource with a kind of its own, such as a `Scale`.
    pub(crate) fn hooks_subresource(
        &self,
        served: &Served,
        write: &Write<'_>,
        kind: (&'static str, &'static str, &'static str),
        before: Value,
        object: Value,
    ) -> Result<Value, Status> {
        let Some(index) = self.hooks_of(served, &write.caller) else { return Ok(object) };
        let mut asked = Asked::new(self, served, write, before, object);
        asked.kind = Some(kind);
        mutate::run(&index, &mut asked)?;
        policies::check(&index, &asked)?;
        webhooks::check(&index, &mut asked)?;
        Ok(asked.object)
    }

    fn old(&self, served: &Served, old: Option<&Value>) -> Value {
        old.map_or(Value::Null, |old| self.to_served(served, old.clone()))
    }

    /// Returns the policies and webhooks; `None` if nobody is to be asked.
    fn hooks_of(
        &self,
        served: &Served,
        caller: &Caller<'_>,
    ) -> Option<std::sync::Arc<index::Index>> {
        if caller.admitted || !self.hooks.has_any() || is_exempt(served) {
            return None;
        }
        let index = self.hooks.index(self);
        (!index.is_empty()).then_some(index)
    }
}

/// Nobody is asked about those who are asked, so that a bad one can be removed.
fn is_exempt(served: &Served) -> bool {
    *served.resource.group == *GROUP && served.is_builtin()
}

/// A refusal that names the object of a request.
fn forbid(asked: &Asked<'_>, why: &str) -> Status {
    let resource = &asked.served.resource;
    let name = match object::name(&asked.object) {
        "" => asked.name(),
        name => name,
    };
    let name = if name.is_empty() { "Unknown" } else { name };
    Status::forbidden(&resource.group, &resource.plural, name, why)
}
