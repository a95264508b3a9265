//! The messages of `kusion-runtime/1`, as described in `docs/runtime-protocol.md`.

use crate::schema::TypeSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The protocol that both sides speak.
pub const PROTOCOL: &str = "kusion-runtime/1";

/// Codes of errors that mean something; all others mean [`code::INVALID`].
pub mod code {
    /// The request cannot succeed as it is.
    pub const INVALID: i64 = 1;
    /// A retry may succeed. The call may or may not have been applied.
    pub const TRANSIENT: i64 = 2;
    /// The object must be replaced.
    pub const IMMUTABLE: i64 = 3;
    /// The infrastructure cannot be reached; nothing was changed.
    pub const UNREACHABLE: i64 = 4;
    /// The method does not exist.
    pub const NO_METHOD: i64 = -32_601;
}

/// Result of `schema`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaResult {
    /// The types of resources, by name.
    pub types: BTreeMap<String, TypeSchema>,
}

/// Result of `identify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentifyResult {
    /// Identifies the infrastructure for ever, such as the number of an account.
    pub id: String,
    /// How users know it.
    pub name: String,
}

/// An object, as a program returns it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Identifies the object in the infrastructure.
    pub key: String,
    /// All attributes, with those that the infrastructure computes.
    pub attributes: Map<String, Value>,
    /// Data of the program that is stored with the object and passed back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Names an object in a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The name in the id of the resource.
    pub name: String,
    /// The recorded key; `None` for an object that is not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The recorded data of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Parameters of `read` and `health`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Targets {
    /// The objects.
    pub objects: Vec<Target>,
}

/// Result of `read` for one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ReadObject {
    /// It cannot be read.
    Failed {
        /// Why.
        error: String,
    },
    /// It exists.
    Found(Object),
    /// It does not exist.
    Missing,
}

/// Result of `read`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadResult {
    /// In the order of the request.
    pub objects: Vec<ReadObject>,
}

/// Parameters of `dryRun` and `apply`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeParams {
    /// The object.
    #[serde(flatten)]
    pub target: Target,
    /// The desired attributes.
    pub attributes: Map<String, Value>,
    /// The attributes as they were read last; `None` if the object is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Map<String, Value>>,
    /// A text that is different for each change, so that what it created can be found later; `None`
    /// in a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<String>,
}

/// Result of `dryRun`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DryRunResult {
    /// The attributes as they would be.
    pub attributes: Map<String, Value>,
    /// Warnings for users.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Result of `apply`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApplyResult {
    /// The object now.
    pub object: Object,
    /// Warnings for users.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Why the change failed halfway: the object exists and is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Parameters of `recover`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecoverParams {
    /// The object.
    #[serde(flatten)]
    pub target: Target,
    /// The attempt whose result is unknown.
    pub attempt: String,
}

/// Result of `recover`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecoverResult {
    /// The object, whether created by the attempt or before; `None` if it does not exist.
    pub object: Option<Object>,
}

/// The state of one object in the result of `health`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HealthState {
    /// Works.
    Ready,
    /// Expected to work later.
    Progressing,
    /// Needs intervention.
    Failed,
}

/// The health of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthObject {
    /// The state.
    pub state: HealthState,
    /// What it waits for, or why it failed.
    #[serde(default)]
    pub message: String,
}

/// Result of `health`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthResult {
    /// In the order of the request.
    pub objects: Vec<HealthObject>,
}
