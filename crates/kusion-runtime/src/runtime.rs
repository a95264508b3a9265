//! The trait that every infrastructure implements.

use crate::RuntimeError;
use async_trait::async_trait;
use futures::stream::BoxStream;
use kusion_model::{
    Action, AttemptId, Attributes, Conflict, Description, FieldPath, Health, Identity,
    InfrastructureId, ListItems, Owner, Problem, Requirement, Resource, ResourceId, ResourceState,
    RuntimeData, StackOwner,
};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// A read request: a desired resource, a recorded resource, or both.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The resource.
    pub id: &'a ResourceId,
    /// The desired resource, with unresolved references where values are not known yet.
    pub desired: Option<&'a Resource>,
    /// The recorded state.
    pub prior: Option<&'a ResourceState>,
}

/// A live object.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Its identity.
    pub identity: Identity,
    /// All attributes, as returned by the infrastructure.
    pub attributes: Attributes,
    /// Private data of the runtime, passed back with the recorded state of the resource.
    pub runtime: Option<RuntimeData>,
    /// Its owner, by the marks on it; `None` if nothing names one.
    pub owner: Option<Owner>,
    /// What it waits for, if it is being deleted.
    pub terminating: Option<String>,
}

impl Live {
    /// Creates a live object without private data and owner, which is not being deleted.
    pub fn new(identity: Identity, attributes: impl Into<Attributes>) -> Self {
        let attributes = attributes.into();
        Self { identity, attributes, runtime: None, owner: None, terminating: None }
    }
}

/// Result of comparing a desired resource and a live object without a network call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Applying would change nothing, including ownership of the object and its fields.
    Same,
    /// Applying may change something: a dry run is needed to tell.
    Differs,
    /// The same; at least the mark of the owner is missing.
    Unmarked,
    /// These immutable fields differ.
    Immutable(Vec<FieldPath>),
}

/// A creation or update of a resource.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The desired resource, with resolved references and plain secrets.
    pub desired: &'a Resource,
    /// The object to update. It must still exist, with the same uid; otherwise the change fails
    /// with [`RuntimeError::Moved`]. `None` creates an object, or adopts the one that exists;
    /// missing and replaced objects are created with `None`.
    pub prior: Option<&'a ResourceState>,
    /// The object as it was read last, with private data of its runtime; `None` for an object that
    /// does not exist, is replaced, or was not read.
    pub live: Option<&'a Live>,
    /// Paths of attributes whose values are known only after other steps; empty when the change is
    /// made, and for runtimes that cannot plan with such values.
    pub unknown: &'a [FieldPath],
    /// The attempt, so that the created object can be found after a crash; `None` in a dry run.
    pub attempt: Option<AttemptId>,
    /// Whether to take over fields that other managers own. The object of another owner is not
    /// changed.
    pub force: bool,
    /// Whether to take over the object from another owner, with all its fields.
    pub take_over: bool,
}

impl<'a> Change<'a> {
    /// Creates the change that creates or adopts an object, without force.
    pub fn new(desired: &'a Resource) -> Self {
        let (prior, live, attempt, unknown) = (None, None, None, [].as_slice());
        Self { desired, prior, live, unknown, attempt, force: false, take_over: false }
    }
}

/// Result of a dry run.
#[derive(Clone, Debug, PartialEq)]
pub struct DryRunResult {
    /// The object as it would be afterwards, with the fields of `conflicts` taken over. Values that
    /// are known only afterwards are [`kusion_model::markers::unknown`].
    pub after: Value,
    /// Fields of other managers that the change would take over; without force it would fail.
    pub conflicts: Vec<Conflict>,
    /// Warnings from the infrastructure.
    pub warnings: Vec<String>,
}

/// Result of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The object now.
    pub live: Live,
    /// Warnings from the infrastructure.
    pub warnings: Vec<String>,
    /// Why the change failed halfway: the object exists and is recorded, but the step has failed.
    pub failure: Option<String>,
}

impl Applied {
    /// Creates the result of a change that succeeded without warnings.
    pub fn new(live: Live) -> Self {
        Self { live, warnings: Vec::new(), failure: None }
    }
}

/// A deletion of an object.
#[derive(Clone, Copy, Debug)]
pub struct Deletion<'a> {
    /// The recorded resource.
    pub prior: &'a ResourceState,
    /// The live object, as its owner was checked: the deletion fails with [`RuntimeError::Owned`]
    /// if it has another owner by now. `None` if it was not read.
    pub live: Option<&'a Live>,
    /// The attempt.
    pub attempt: AttemptId,
    /// Whether to delete the object of another owner.
    pub take_over: bool,
    /// Is told what the deletion waits for.
    pub waits: WaitSink<'a>,
}

/// Receives what a call waits for, as a text for users; the same text may be repeated.
#[derive(Clone, Copy)]
pub struct WaitSink<'a>(pub &'a (dyn Fn(&str) + Send + Sync));

impl WaitSink<'_> {
    /// Creates a sink that ignores everything.
    pub fn none() -> Self {
        Self(&|_| {})
    }

    /// Says what the call waits for.
    pub fn tell(&self, text: &str) {
        (self.0)(text);
    }
}

impl fmt::Debug for WaitSink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WaitSink")
    }
}

impl<'a> Deletion<'a> {
    /// Creates the deletion of an object that was not read.
    pub fn new(prior: &'a ResourceState, attempt: AttemptId) -> Self {
        Self { prior, live: None, attempt, take_over: false, waits: WaitSink::none() }
    }
}

/// An interrupted call of an earlier process.
#[derive(Clone, Copy, Debug)]
pub struct Pending<'a> {
    /// The attempt.
    pub attempt: AttemptId,
    /// The resource.
    pub id: &'a ResourceId,
    /// The action.
    pub action: Action,
    /// The desired resource.
    pub desired: Option<&'a Resource>,
    /// The recorded state before the call.
    pub prior: Option<&'a ResourceState>,
}

/// An object that belongs to a watched one: a pod of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The kind, `Pod`.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The uid of its owner; `None` for direct children of the resource.
    pub owner: Option<String>,
    /// Its own uid.
    pub uid: String,
    /// Its health.
    pub health: Health,
    /// Time of its creation, RFC 3339.
    pub created: Option<String>,
}

/// An object inside another one, which would be deleted with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Display name: `Deployment web`.
    pub name: String,
    /// Its identity; `None` for a group of objects that this user may not list.
    pub identity: Option<Identity>,
    /// Its owner, by the marks on it; `None` if nothing names one.
    pub owner: Option<Owner>,
}

/// An observation of a watched resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The resource.
    pub id: ResourceId,
    /// Its health: the worst of its own health and that of its related objects.
    pub health: Health,
    /// Related objects, ordered by creation.
    pub related: Vec<Related>,
    /// Since when a ready resource runs that may not be stable yet: one without a readiness check,
    /// or after a restart. `None` if ready needs no proof.
    pub settling_since: Option<Instant>,
}

/// Access to one kind of infrastructure.
#[async_trait]
pub trait Runtime: Send + Sync {
    /// Returns the identity of the infrastructure, which is recorded in states.
    async fn identity(&self) -> Result<InfrastructureId, RuntimeError>;

    /// Prepares for resources, for example by reading their schemas, so that later calls need no
    /// network.
    async fn prepare(&self, _resources: &[&Resource]) -> Result<(), RuntimeError> {
        Ok(())
    }

    /// Returns the number of concurrent calls that it accepts.
    fn parallel_calls(&self) -> usize;

    /// Returns the static properties of a resource. Pure function.
    fn describe(&self, resource: &Resource) -> Description;

    /// Reads objects with as few requests as possible. The results are in the order of the targets;
    /// `None` means that the object does not exist.
    async fn read(
        &self,
        targets: &[Target<'_>],
    ) -> Result<Vec<Result<Option<Live>, RuntimeError>>, RuntimeError>;

    /// Compares a desired resource with a live object. Pure function.
    fn compare(&self, desired: &Resource, live: &Live) -> Comparison;

    /// Reduces a live object to comparable attributes: without status and server-managed fields.
    /// Pure function.
    fn comparable(&self, live: &Value) -> Value;

    /// Returns whether dry runs accept attributes whose values are known only after other steps.
    /// Pure.
    fn plans_unknown(&self) -> bool {
        false
    }

    /// Returns the paths of secret values in the attributes of a resource or of its live object.
    /// Pure.
    fn secret_paths(&self, resource: &Resource, attributes: &Value) -> Vec<FieldPath>;

    /// Returns whether the value at a path of a resource, or of its live object, is secret or
    /// contains a secret. Pure.
    fn is_secret_path(&self, resource: &Resource, path: &FieldPath) -> bool {
        let paths = self.secret_paths(resource, &resource.attributes);
        paths.iter().any(|it| it.is_prefix_of(path) || path.is_prefix_of(it))
    }

    /// Returns the recorded state of an object under another id.
    ///
    /// # Errors
    ///
    /// If that id is the one of another object; the message follows the old id. Pure function.
    fn renamed(&self, prior: &ResourceState, to: &ResourceId) -> Result<ResourceState, String> {
        let mut state = prior.clone();
        state.resource.id = to.clone();
        Ok(state)
    }

    /// Returns how the items of a list in a resource, or in its live object, are identified. Pure
    /// function.
    fn list_items(&self, _resource: &Resource, _path: &FieldPath) -> ListItems {
        ListItems::Unknown
    }

    /// Returns what is unavailable while a live object is deleted and created again, as a text for
    /// users; empty if nothing is. Pure function.
    fn replace_interruption(&self, _live: &Live) -> String {
        String::new()
    }

    /// Returns the problem of a resource whose requirement does not exist. Pure function.
    fn missing_problem(&self, missing: &Requirement) -> Problem {
        Problem::new(FieldPath::default(), format!("{missing} does not exist"))
    }

    /// Returns the problems of a resource that can be found without a network call, for resources
    /// whose dry run is deferred. The infrastructure may decide differently. Pure function.
    fn check_offline(&self, _desired: &Resource) -> Vec<Problem> {
        Vec::new()
    }

    /// Checks a resource whose dry run is deferred because a container of it does not exist yet, by
    /// a dry run in another container. Succeeds if that is not possible.
    ///
    /// # Errors
    /// The infrastructure would reject the resource in any container, or lacks a requirement of it
    /// that is not a container.
    async fn dry_run_elsewhere(&self, _desired: &Resource) -> Result<(), RuntimeError> {
        Ok(())
    }

    /// Lists the objects that are inside an object and would be deleted with it, except those
    /// that the infrastructure itself creates and those that belong to another object in the list.
    async fn contents(&self, _container: &ResourceState) -> Result<Vec<Content>, RuntimeError> {
        Ok(Vec::new())
    }

    /// Makes a dry run of a change. Fields of other managers are no error: they are part of the
    /// result.
    async fn dry_run(&self, change: Change<'_>) -> Result<DryRunResult, RuntimeError>;

    /// Creates or updates an object.
    async fn apply(&self, change: Change<'_>) -> Result<Applied, RuntimeError>;

    /// Deletes an object and waits until it no longer exists. Succeeds if the object does not
    /// exist, or if another object has the same key, which is kept.
    async fn delete(&self, deletion: Deletion<'_>) -> Result<(), RuntimeError>;

    /// Determines the result of an interrupted call: the live object of the resource, whether
    /// created by that attempt or recorded before.
    async fn recover(&self, pending: Pending<'_>) -> Result<Option<Live>, RuntimeError>;

    /// Watches resources until the stream is dropped: first yields the current health of each, then
    /// every change. `since` is the start of the operation that changed them (RFC 3339), if there
    /// was one: failures from before it count only if they last.
    async fn watch(
        &self,
        targets: Vec<(ResourceId, Live)>,
        since: Option<&str>,
    ) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError>;

    /// Ends what the runtime has started, such as programs. No call is made afterwards.
    async fn close(&self) {}
}

/// Starts runtimes for stacks on first use.
#[async_trait]
pub trait RuntimeSource: Send + Sync {
    /// Starts the runtime for a stack. It marks the objects of the stack as owned by it, except
    /// shared ones.
    async fn start(&self, owner: &StackOwner) -> Result<Arc<dyn Runtime>, RuntimeError>;
}
