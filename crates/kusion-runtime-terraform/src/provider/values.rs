//! Inputs and results of calls.

use crate::Diagnostic;
use crate::schema::Schema;
use bytes::Bytes;
use kusion_cty::{Path, Value};

/// The result of reading a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadResult {
    /// Its state now; null if it does not exist.
    pub state: Value,
    /// Data of the provider, to be passed back.
    pub private: Bytes,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// A change to plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanInput<'a> {
    /// The type of the resource.
    pub type_name: &'a str,
    /// Its schema.
    pub schema: &'a Schema,
    /// Its state; null to create it.
    pub prior: &'a Value,
    /// The state that the configuration asks for; null to delete it.
    pub proposed: &'a Value,
    /// The configuration; null to delete the resource.
    pub config: &'a Value,
    /// Data of the provider.
    pub private: &'a Bytes,
}

/// A planned change.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The state afterwards, with unknown parts.
    pub state: Value,
    /// The attributes whose changes need a new object.
    pub requires_replace: Vec<Path>,
    /// Data of the provider, to be passed on to the change.
    pub private: Bytes,
    /// Whether the provider cannot follow the rules of plans, because its library is older than
    /// they are.
    pub is_legacy: bool,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// A planned change to make.
#[derive(Clone, Copy, Debug)]
pub struct ApplyInput<'a> {
    /// The type of the resource.
    pub type_name: &'a str,
    /// Its schema.
    pub schema: &'a Schema,
    /// Its state; null to create it.
    pub prior: &'a Value,
    /// The planned state; null to delete it.
    pub planned: &'a Value,
    /// The configuration; null to delete the resource.
    pub config: &'a Value,
    /// Data of the provider from the plan.
    pub private: &'a Bytes,
}

/// The result of a change. A change may fail halfway: then there are both a state and errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The state afterwards; null if the resource does not exist.
    pub state: Value,
    /// Data of the provider, to be passed back.
    pub private: Bytes,
    /// Whether the provider cannot follow the rules of plans.
    pub is_legacy: bool,
    /// Errors and warnings.
    pub findings: Vec<Diagnostic>,
}

/// A resource that was found by its id.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// Its type.
    pub type_name: String,
    /// Its state, as far as an import knows it: it must be read next.
    pub state: Value,
    /// Data of the provider.
    pub private: Bytes,
}

/// A state of another type to take over.
#[derive(Clone, Copy, Debug)]
pub struct MoveInput<'a> {
    /// The address of the provider that made the state.
    pub source_provider: &'a str,
    /// The type of its resource.
    pub source_type: &'a str,
    /// The version of its schema.
    pub source_version: i64,
    /// The state, as JSON.
    pub source_state: &'a str,
    /// Data of that provider.
    pub source_private: &'a Bytes,
    /// The type to become.
    pub type_name: &'a str,
}
