//! Deleting objects.

use super::{Failed, Outcome, prepare};
use crate::api::{Caller, Deletion, Propagation};
use crate::cluster::Cluster;
use crate::registry::Served;
use crate::store::Stored;
use crate::{Status, clock, crd, object};
use serde_json::Value;
use std::sync::Arc;

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";
/// The namespaces that are never deleted. A real server allows to delete `kube-node-lease`.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

impl Cluster {
    /// Deletes an object, or marks it when finalizers or a grace period keep it.
    pub(crate) fn delete(
        &self,
        served: &Served,
        namespace: &str,
        name: &str,
        deletion: &Deletion,
        caller: Caller<'_>,
    ) -> Result<Outcome, Status> {
        if served.is("", "namespaces") && IMMORTAL.contains(&name) {
            let why = "this namespace may not be deleted";
            return Err(Status::forbidden("", "namespaces", name, why));
        }
        loop {
            let old = self.get(served, namespace, name)?;
            match self.delete_seen(served, &old, deletion, caller) {
                Err(Failed::Race) => {}
                Err(Failed::Status(status)) => return Err(status),
                Ok(outcome) => return Ok(outcome),
            }
        }
    }

    fn delete_seen(
        &self,
        served: &Served,
        old: &Arc<Stored>,
        deletion: &Deletion,
        caller: Caller<'_>,
    ) -> Result<Outcome, Failed> {
        let old_value = old.value();
        check_preconditions(served, old, deletion)?;
        self.hooks_delete(served, &old_value, deletion.dry_run, caller)?;
        let mut new = (*old_value).clone();
        if crd::is_definition(served) {
            Self::mark_definition(&mut new);
        }
        set_finalizers(served, &mut new, deletion.propagation);
        let grace = grace(served, &old_value, deletion);
        let kept = object::finalizers(&new).next().is_some() || keeps_namespace(served, &new);
        if !kept && grace == 0 {
            if deletion.dry_run {
                let mut outcome = self.answer_dry(served, new, false)?;
                outcome.removed = true;
                return Ok(outcome);
            }
            let table = served.table()?;
            let stored = self.store.remove(table, old, new)?;
            self.after(served, &stored, true);
            let mut outcome = self.answer(served, stored, false)?;
            outcome.removed = true;
            return Ok(outcome);
        }
        mark(served, &mut new, grace);
        if new == *old_value {
            return Ok(self.answer(served, Arc::clone(old), false)?);
        }
        if deletion.dry_run {
            return Ok(self.answer_dry(served, new, false)?);
        }
        let definition = crd::is_definition(served).then(|| new.clone());
        let outcome = self.commit_update(served, old, new)?;
        if let Some(definition) = definition {
            self.delete_instances(&definition);
        }
        Ok(outcome)
    }
}

fn check_preconditions(served: &Served, old: &Stored, deletion: &Deletion) -> Result<(), Status> {
    let value = old.value();
    let group = &served.resource.group;
    let name = object::name(&value);
    if let Some(uid) = &deletion.uid
        && *uid != object::uid(&value)
    {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            object::uid(&value)
        );
        return Err(Status::conflict(group, &served.kind, name, &why));
    }
    if let Some(version) = &deletion.resource_version
        && *version != old.revision.to_string()
    {
        let why = format!(
            "Precondition failed: ResourceVersion in precondition: {version}, ResourceVersion in object meta: {}",
            old.revision
        );
        return Err(Status::conflict(group, &served.kind, name, &why));
    }
    Ok(())
}

fn keeps_namespace(served: &Served, object: &Value) -> bool {
    served.is("", "namespaces")
        && object::at(object, &["spec", "finalizers"])
            .as_array()
            .is_some_and(|list| !list.is_empty())
}

/// Returns the seconds that an object gets to end by itself.
fn grace(served: &Served, old: &Value, deletion: &Deletion) -> i64 {
    if !served.is("", "pods") {
        return 0;
    }
    let phase = object::text(old, &["status", "phase"]);
    if object::text(old, &["spec", "nodeName"]).is_empty()
        || phase == "Failed"
        || phase == "Succeeded"
    {
        return 0;
    }
    let own = object::at(old, &["spec", "terminationGracePeriodSeconds"]).as_i64().unwrap_or(30);
    let wanted = deletion.grace_seconds.unwrap_or(own);
    let wanted = if wanted < 0 { 1 } else { wanted };
    match object::at(old, &["metadata", "deletionGracePeriodSeconds"]).as_i64() {
        // A second deletion can only shorten the time.
        Some(before) if object::is_terminating(old) => {
            deletion.grace_seconds.map_or(before, |_| wanted.min(before))
        }
        _ => wanted,
    }
}

fn set_finalizers(served: &Served, object: &mut Value, propagation: Option<Propagation>) {
    let propagation = match propagation {
        Some(it) => it,
        None if object::has_finalizer(object, ORPHAN) => Propagation::Orphan,
        None if object::has_finalizer(object, FOREGROUND) => Propagation::Foreground,
        None if served.is("", "replicationcontrollers") || served.is("batch", "jobs") => {
            Propagation::Orphan
        }
        None => Propagation::Background,
    };
    let mut list: Vec<Value> = object::finalizers(object)
        .filter(|it| *it != FOREGROUND && *it != ORPHAN)
        .map(Value::from)
        .collect();
    match propagation {
        Propagation::Background => {}
        Propagation::Foreground => list.push(FOREGROUND.into()),
        Propagation::Orphan => list.push(ORPHAN.into()),
    }
    let meta = object::meta_mut(object);
    if list.is_empty() {
        meta.remove("finalizers");
    } else {
        meta.insert("finalizers".to_owned(), Value::Array(list));
    }
}

fn mark(served: &Served, object: &mut Value, grace: i64) {
    if object::is_terminating(object) {
        let meta = object::meta_mut(object);
        let before = meta.get("deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(0);
        if grace < before {
            meta.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
            meta.insert("deletionTimestamp".to_owned(), clock::after(grace).into());
        }
        return;
    }
    let meta = object::meta_mut(object);
    meta.insert("deletionTimestamp".to_owned(), clock::after(grace).into());
    meta.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
    if meta.contains_key("generation") {
        prepare::bump_generation(object);
    }
    if served.is("", "namespaces") {
        let meta = object::meta_mut(object);
        meta.remove("deletionGracePeriodSeconds");
        object::child_mut(object, "status").insert("phase".to_owned(), "Terminating".into());
    }
}
