//! The cluster as seen from inside the process: what HTTP handlers and reconcilers call.
//!
//! All calls are synchronous: the store is in memory and a call is short.

use crate::Status;
use crate::cluster::Cluster;
use crate::rbac::User;
use crate::store::{Change, Stored};
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A served resource (`apps/v1/deployments`); built-in or from a CRD.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: Arc<str>,
    /// Version in which objects are read and written.
    pub version: Arc<str>,
    /// Plural name (`deployments`).
    pub plural: Arc<str>,
}

impl Resource {
    /// Names a resource.
    pub fn new(group: &str, version: &str, plural: &str) -> Self {
        Self { group: group.into(), version: version.into(), plural: plural.into() }
    }

    /// Returns `apps/v1`, or `v1` for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

/// What a resource is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceFacts {
    /// The resource, in its storage version.
    pub resource: Resource,
    /// The kind of its objects (`Deployment`).
    pub kind: Arc<str>,
    /// Whether they live in namespaces.
    pub namespaced: bool,
}

/// Which part of the cluster a list or watch looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Everything: cluster-scoped objects, or all namespaces.
    All,
    /// One namespace.
    Namespace(&'a str),
}

/// Label and field selectors of a list, in the text form of the query parameters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    /// For example `app=web,tier!=db`.
    pub labels: &'a str,
    /// For example `metadata.name=web`.
    pub fields: &'a str,
}

/// How a create, update or patch is done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Write<'a> {
    /// Field manager.
    pub manager: &'a str,
    /// Subresource (`status`, `scale`, `ephemeralcontainers` …); empty for the object itself.
    pub subresource: &'a str,
    /// Go through the whole pipeline, store nothing.
    pub dry_run: bool,
    /// What happens to unknown and duplicate fields.
    pub validation: Validation,
    /// Take over fields of other managers (server-side apply).
    pub force: bool,
    /// Who writes.
    pub caller: Caller<'a>,
}

/// Who writes or deletes, as policies and webhooks are told; by default a part of the server.
#[derive(Debug, Clone, Copy, Default)]
pub struct Caller<'a> {
    /// The user; none for a part of the server, which its field manager names.
    pub(crate) user: Option<&'a User>,
    /// Where warnings of policies and webhooks are gathered.
    pub(crate) warnings: Option<&'a Mutex<Vec<String>>>,
    /// The query parameter `fieldManager`.
    pub(crate) field_manager: &'a str,
    /// The query parameter `fieldValidation`.
    pub(crate) field_validation: &'a str,
    /// Whether the request is a patch.
    pub(crate) patches: bool,
    /// Whether a whole collection is deleted.
    pub(crate) collection: bool,
    /// Whether policies and webhooks have been asked already.
    pub(crate) admitted: bool,
}

impl Caller<'_> {
    /// Tells the client something.
    pub(crate) fn warn(&self, text: String) {
        if let Some(list) = self.warnings {
            list.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }
    }
}

/// What happens to fields that the kind does not know, and to those given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// The writer is part of the server: nothing is looked for.
    #[default]
    Trusted,
    /// They are dropped.
    Ignore,
    /// They are dropped, and the client is told.
    Warn,
    /// They are an error.
    Strict,
}

/// How the body of a patch is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchKind {
    /// A list of operations (`application/json-patch+json`).
    Json,
    /// A partial object, null removes (`application/merge-patch+json`).
    Merge,
    /// A partial object, lists merge by key (`application/strategic-merge-patch+json`).
    Strategic,
    /// Server-side apply (`application/apply-patch+yaml`).
    Apply,
}

/// What happens to the dependents of a deleted object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Propagation {
    /// They are deleted afterwards.
    #[default]
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay.
    Orphan,
}

/// How an object is deleted.
#[derive(Debug, Clone, Default)]
pub struct Deletion {
    /// What happens to dependents; none means the default of the kind.
    pub propagation: Option<Propagation>,
    /// Seconds to end; none means the default of the kind.
    pub grace_seconds: Option<i64>,
    /// Only if the object has this uid.
    pub uid: Option<String>,
    /// Only if the object has this version.
    pub resource_version: Option<String>,
    /// Go through the whole pipeline, delete nothing.
    pub dry_run: bool,
}

/// What happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// It is new.
    Added,
    /// It changed.
    Modified,
    /// It is gone.
    Deleted,
}

impl EventKind {
    /// Returns the word that watches use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// One change of one object, in the order of the store.
#[derive(Debug, Clone)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The resource in its storage version.
    pub resource: Resource,
    /// The revision of the store at which it happened.
    pub revision: u64,
    change: Change,
}

impl Event {
    /// Makes the event of a change.
    pub(crate) fn new(resource: Resource, change: Change) -> Self {
        Self { kind: change.kind, resource, revision: change.object.revision, change }
    }

    /// Returns the object after the change (before it, when deleted).
    pub fn object(&self) -> Arc<Value> {
        self.change.object.value()
    }

    /// Returns the object before the change.
    pub fn previous(&self) -> Option<Arc<Value>> {
        self.change.previous.as_ref().map(|stored| stored.value())
    }

    /// Returns the stored object after the change.
    pub(crate) fn stored(&self) -> &Arc<Stored> {
        &self.change.object
    }
}

/// The changes of all objects after the subscription, in order.
#[derive(Debug)]
pub struct Subscription {
    receiver: Receiver<Event>,
}

impl Subscription {
    /// Returns the next change if there is one already.
    pub fn try_next(&self) -> Option<Event> {
        self.receiver.try_recv().ok()
    }

    /// Waits for the next change, at most for a time.
    ///
    /// # Errors
    /// The time is over, or the cluster is gone.
    pub fn next_within(&self, time: Duration) -> Result<Event, RecvTimeoutError> {
        self.receiver.recv_timeout(time)
    }
}

/// A handle to the cluster; cheap to clone.
#[derive(Debug, Clone)]
pub struct Api {
    cluster: Arc<Cluster>,
}

impl Default for Api {
    fn default() -> Self {
        Self::new()
    }
}

impl Api {
    /// Makes an empty cluster: no namespaces, no nodes, no reconcilers.
    pub fn new() -> Self {
        Self { cluster: Cluster::new() }
    }

    /// Makes a cluster with the objects in a data folder, which is made if it is missing. Changes
    /// are written there before they are acknowledged.
    ///
    /// # Errors
    /// Another process uses the folder, or its content is damaged or of an unknown format.
    pub fn open(folder: &Path) -> io::Result<Self> {
        Cluster::open(folder).map(|cluster| Self { cluster })
    }

    /// Makes a handle to a cluster.
    pub(crate) fn of(cluster: Arc<Cluster>) -> Self {
        Self { cluster }
    }

    /// Returns the cluster behind the handle.
    pub(crate) fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// Reads an object. `namespace` is empty for cluster-scoped resources, here and below.
    pub fn get(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Arc<Value>, Status> {
        let served = self.cluster.served(resource)?;
        let stored = self.cluster.get(&served, namespace, name)?;
        self.cluster.view(&served, &stored)
    }

    /// Reads the selected objects in the order of namespace and name, and the revision at which
    /// they were seen.
    pub fn list(
        &self,
        resource: &Resource,
        scope: Scope<'_>,
        selection: Selection<'_>,
    ) -> Result<(Vec<Arc<Value>>, u64), Status> {
        let served = self.cluster.served(resource)?;
        let (stored, revision) = self.cluster.list(&served, scope, selection)?;
        let values: Result<Vec<_>, _> =
            stored.iter().map(|stored| self.cluster.view(&served, stored)).collect();
        Ok((values?, revision))
    }

    /// Creates an object.
    pub fn create(
        &self,
        resource: &Resource,
        namespace: &str,
        object: Value,
        write: &Write<'_>,
    ) -> Result<Arc<Value>, Status> {
        let served = self.cluster.served(resource)?;
        self.cluster.create(&served, namespace, object, write).map(|outcome| outcome.value)
    }

    /// Replaces an object, or a part of it (`write.subresource`). An object with a
    /// `resourceVersion` that is not the present one is a conflict.
    pub fn update(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        object: Value,
        write: &Write<'_>,
    ) -> Result<Arc<Value>, Status> {
        let served = self.cluster.served(resource)?;
        self.cluster.update(&served, namespace, name, object, write).map(|outcome| outcome.value)
    }

    /// Changes an object by a patch; server-side apply makes it when it is missing.
    pub fn patch(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        kind: PatchKind,
        patch: &Value,
        write: &Write<'_>,
    ) -> Result<Arc<Value>, Status> {
        let served = self.cluster.served(resource)?;
        self.cluster
            .patch(&served, namespace, name, kind, patch, write)
            .map(|outcome| outcome.value)
    }

    /// Deletes an object, or marks it when finalizers or a grace period keep it.
    pub fn delete(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        deletion: &Deletion,
    ) -> Result<Arc<Value>, Status> {
        let served = self.cluster.served(resource)?;
        self.cluster
            .delete(&served, namespace, name, deletion, Caller::default())
            .map(|outcome| outcome.value)
    }

    /// Returns all resources that hold objects, each once, in its storage version.
    pub fn resources(&self) -> Vec<ResourceFacts> {
        let mut facts = Vec::new();
        for served in self.cluster.registry.all() {
            if served.table.is_some() && served.is_storage() {
                facts.push(ResourceFacts {
                    resource: served.resource.clone(),
                    kind: Arc::clone(&served.kind),
                    namespaced: served.namespaced,
                });
            }
        }
        facts
    }

    /// Finds the resource of a kind (`apps/v1`, `Deployment`), as owner references name it.
    pub fn resource_of(&self, api_version: &str, kind: &str) -> Option<ResourceFacts> {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let served = self.cluster.registry.by_kind(group, version, kind)?;
        Some(ResourceFacts {
            resource: served.storage.clone(),
            kind: Arc::clone(&served.kind),
            namespaced: served.namespaced,
        })
    }

    /// Returns the revision of the last change.
    pub fn revision(&self) -> u64 {
        self.cluster.store.revision()
    }

    /// Returns all objects, as if they were new, and all later changes, in order.
    pub(crate) fn subscribe_from_start(&self) -> Subscription {
        Subscription { receiver: self.cluster.store.subscribe_from_start() }
    }

    /// Returns all later changes, in order.
    pub fn subscribe(&self) -> Subscription {
        Subscription { receiver: self.cluster.store.subscribe() }
    }
}
