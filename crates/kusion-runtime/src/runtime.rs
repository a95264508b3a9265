//! The trait that every infrastructure implements.

use crate::{Conflict, RuntimeError};
use async_trait::async_trait;
use futures::stream::BoxStream;
use kusion_model::{
    Action, AttemptId, Attributes, Description, FieldPath, Health, Identity, InfrastructureId,
    Resource, ResourceId, ResourceState, RuntimeData, StackKey,
};
use serde_json::Value;
use std::sync::Arc;

/// What is to be read: a desired resource, one of the state, or both.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The resource.
    pub id: &'a ResourceId,
    /// What is desired. References that are not known yet are still in it.
    pub desired: Option<&'a Resource>,
    /// What the state knows.
    pub prior: Option<&'a ResourceState>,
}

/// An object as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// What identifies it.
    pub identity: Identity,
    /// All of it, as the infrastructure shows it.
    pub attributes: Attributes,
    /// What the runtime must remember of it; handed back with the state of the resource.
    pub runtime: Option<RuntimeData>,
}

impl Live {
    /// Makes an object of which its runtime remembers nothing.
    pub fn new(identity: Identity, attributes: impl Into<Attributes>) -> Self {
        Self { identity, attributes: attributes.into(), runtime: None }
    }
}

/// What can be said about a desired resource and a live object without asking anyone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Applying would change nothing, not even who owns what.
    Same,
    /// Applying may change something: a dry run says what.
    Differs,
    /// These fields cannot change in place.
    Immutable(Vec<FieldPath>),
}

/// A resource that is to be made or changed.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// What is desired; all references are resolved, secrets are plain.
    pub desired: &'a Resource,
    /// The object that is to change. It must still exist, with the same uid; else the change
    /// fails as [`RuntimeError::Moved`]. None makes an object, or adopts the one that exists:
    /// what is missing or replaced is made with none.
    pub prior: Option<&'a ResourceState>,
    /// The attempt, so that what it made can be found after a crash; none in a dry run.
    pub attempt: Option<AttemptId>,
    /// Whether fields that others manage are taken over.
    pub force: bool,
}

/// What a change would do.
#[derive(Clone, Debug, PartialEq)]
pub struct DryRunResult {
    /// The object as it would be afterwards.
    pub after: Value,
    /// Fields that others manage and that the change would take over, if forced.
    pub conflicts: Vec<Conflict>,
    /// What the infrastructure warns of.
    pub warnings: Vec<String>,
}

/// What a change did.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The object now.
    pub live: Live,
    /// What the infrastructure warns of.
    pub warnings: Vec<String>,
}

/// How an object is deleted.
#[derive(Clone, Copy, Debug)]
pub struct Deletion<'a> {
    /// The resource, as the state knows it.
    pub prior: &'a ResourceState,
    /// The attempt.
    pub attempt: AttemptId,
}

/// A call of an earlier process that has no ending.
#[derive(Clone, Copy, Debug)]
pub struct Pending<'a> {
    /// The attempt.
    pub attempt: AttemptId,
    /// The resource.
    pub id: &'a ResourceId,
    /// What was being done.
    pub action: Action,
    /// What was desired.
    pub desired: Option<&'a Resource>,
    /// What the state knew before.
    pub prior: Option<&'a ResourceState>,
}

/// An object that belongs to a watched one: a pod of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The kind, `Pod`.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The uid of the object that owns it, or none right below the resource.
    pub owner: Option<String>,
    /// Its own uid.
    pub uid: String,
    /// Its health.
    pub health: Health,
    /// When it was made, RFC 3339.
    pub created: Option<String>,
}

/// An object inside another one, which is deleted with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its name for people: `Deployment web`.
    pub name: String,
    /// To whom it belongs, as its marks say; none if it has none.
    pub owner: Option<String>,
}

/// What became of a watched resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The resource.
    pub id: ResourceId,
    /// Its health: the worst of its own and of what belongs to it.
    pub health: Health,
    /// What belongs to it, in order of creation.
    pub related: Vec<Related>,
}

/// One kind of infrastructure.
#[async_trait]
pub trait Runtime: Send + Sync {
    /// Returns what tells this infrastructure from others: a state belongs to one.
    async fn identity(&self) -> Result<InfrastructureId, RuntimeError>;

    /// Gets ready to answer for resources without asking anyone: reads their schemas, say.
    async fn prepare(&self, _resources: &[&Resource]) -> Result<(), RuntimeError> {
        Ok(())
    }

    /// How many calls it takes at a time.
    fn parallel_calls(&self) -> usize;

    /// Says what is known of a resource without asking anyone. Pure.
    fn describe(&self, resource: &Resource) -> Description;

    /// Reads objects with as few requests as possible. The answers stand in the order of the
    /// targets; none means that there is no such object.
    async fn read(
        &self,
        targets: &[Target<'_>],
    ) -> Result<Vec<Result<Option<Live>, RuntimeError>>, RuntimeError>;

    /// Compares without asking anyone. Pure.
    fn compare(&self, desired: &Resource, live: &Live) -> Comparison;

    /// Reduces a live object to what can be compared: without status and what the
    /// infrastructure counts by itself. Pure.
    fn comparable(&self, live: &Value) -> Value;

    /// Returns the paths of secret values in the attributes of a resource or of its live object.
    /// Pure.
    fn secret_paths(&self, resource: &Resource, attributes: &Value) -> Vec<FieldPath>;

    /// Names what is wrong with a resource as far as that can be known without asking anyone:
    /// for those whose dry run must wait. Pure.
    fn check_offline(&self, _desired: &Resource) -> Vec<String> {
        Vec::new()
    }

    /// Lists what is inside an object and would be deleted with it.
    async fn contents(&self, _container: &ResourceState) -> Result<Vec<Content>, RuntimeError> {
        Ok(Vec::new())
    }

    /// Says what a change would do, without doing it.
    async fn dry_run(&self, change: Change<'_>) -> Result<DryRunResult, RuntimeError>;

    /// Makes or changes an object.
    async fn apply(&self, change: Change<'_>) -> Result<Applied, RuntimeError>;

    /// Deletes an object and waits until it no longer exists. An object that does not exist is no
    /// error; neither is another object with the same key, which stays.
    async fn delete(&self, deletion: Deletion<'_>) -> Result<(), RuntimeError>;

    /// Finds out what a call without an ending has done: the object that exists now for that
    /// resource, made by that attempt or known before.
    async fn recover(&self, pending: Pending<'_>) -> Result<Option<Live>, RuntimeError>;

    /// Watches resources until the stream is dropped: first the health of each now, then every
    /// change.
    async fn watch(
        &self,
        targets: Vec<(ResourceId, Live)>,
    ) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError>;
}

/// Starts a runtime when a stack needs it.
#[async_trait]
pub trait RuntimeSource: Send + Sync {
    /// Starts the runtime for a stack.
    async fn start(&self, stack: &StackKey) -> Result<Arc<dyn Runtime>, RuntimeError>;
}
