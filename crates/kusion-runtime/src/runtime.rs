//! The trait that every infrastructure implements.

use crate::{Conflict, RuntimeError};
use async_trait::async_trait;
use futures::stream::BoxStream;
use kusion_model::{
    Action, Attributes, FieldPath, Health, Identity, OperationId, Resource, ResourceId,
    ResourceState,
};
use serde_json::Value;

/// What is to be read: a wanted resource, one of the state, or both.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The resource.
    pub id: &'a ResourceId,
    /// What is wanted. References that are not known yet are still in it.
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
}

/// What can be said about a wanted resource and a live object without asking anyone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Applying would change nothing, not even who owns what.
    Same,
    /// Applying may change something: rehearse it.
    Differs,
    /// These fields cannot change in place.
    Immutable(Vec<FieldPath>),
}

/// A resource that is to be made or changed.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// What is wanted; all references are resolved, secrets are plain.
    pub desired: &'a Resource,
    /// The object that is to change. It must still be there, with the same uid; else the change
    /// fails as [`RuntimeError::Moved`]. None makes an object, or adopts the one that there is:
    /// what is gone or replaced is made with none.
    pub prior: Option<&'a ResourceState>,
    /// The attempt, so that what it made can be found after a crash; none when rehearsing.
    pub operation: Option<OperationId>,
    /// Whether fields of other owners are taken over.
    pub force: bool,
}

/// What a change would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// The object as it would be afterwards.
    pub after: Value,
    /// Fields of others that the change would take, if forced.
    pub conflicts: Vec<Conflict>,
    /// What the infrastructure wants to say about it.
    pub warnings: Vec<String>,
}

/// What a change did.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The object now.
    pub live: Live,
    /// What the infrastructure wants to say about it.
    pub warnings: Vec<String>,
}

/// How an object is deleted.
#[derive(Clone, Copy, Debug)]
pub struct Deletion<'a> {
    /// The resource, as the state knows it.
    pub prior: &'a ResourceState,
    /// The attempt.
    pub operation: OperationId,
}

/// A call of an earlier process that has no ending.
#[derive(Clone, Copy, Debug)]
pub struct Pending<'a> {
    /// The attempt.
    pub operation: OperationId,
    /// The resource.
    pub id: &'a ResourceId,
    /// What was being done.
    pub action: Action,
    /// What was wanted.
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
    /// How it fares.
    pub health: Health,
    /// When it was made, RFC 3339.
    pub created: Option<String>,
}

/// What became of a watched resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The resource.
    pub id: ResourceId,
    /// How it fares; the worst of it and of what belongs to it.
    pub health: Health,
    /// What belongs to it, in order of creation.
    pub related: Vec<Related>,
}

/// One kind of infrastructure.
#[async_trait]
pub trait Runtime: Send + Sync {
    /// Returns what stays the same as long as it is the same infrastructure: the uid of the
    /// namespace `kube-system`. Part of the key of a state.
    async fn cluster_identity(&self) -> Result<String, RuntimeError>;

    /// How many calls it takes at a time.
    fn parallel_calls(&self) -> usize;

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

    /// Returns the paths of secret values in attributes. Pure.
    fn secret_paths(&self, attributes: &Value) -> Vec<FieldPath>;

    /// Names what is wrong with a resource as far as that can be known without asking anyone:
    /// for objects whose namespace or kind is itself new. Pure.
    fn check_offline(&self, _desired: &Resource) -> Vec<String> {
        Vec::new()
    }

    /// Says what a change would do, without doing it.
    async fn rehearse(&self, change: Change<'_>) -> Result<Rehearsal, RuntimeError>;

    /// Makes or changes an object.
    async fn apply(&self, change: Change<'_>) -> Result<Applied, RuntimeError>;

    /// Deletes an object and waits until it is gone. An object that is not there is no error;
    /// neither is another object with the same key, which stays.
    async fn delete(&self, deletion: Deletion<'_>) -> Result<(), RuntimeError>;

    /// Finds out what a call without an ending has done: the object that there is now for that
    /// resource, made by that attempt or known before.
    async fn recover(&self, pending: Pending<'_>) -> Result<Option<Live>, RuntimeError>;

    /// Watches resources until the stream is dropped: first how each fares now, then every
    /// change.
    async fn watch(
        &self,
        targets: Vec<(ResourceId, Live)>,
    ) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError>;
}
