//! Records of a stack's journal.

use crate::{Action, FieldPath, Infrastructure, ReplaceOrder, Resource, ResourceId, StackKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The operation of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Operation {
    /// Applies the Spec of the stack.
    Apply,
    /// Deletes all resources of the stack.
    Destroy,
    /// Applies the Spec of an earlier release.
    Rollback {
        /// The revision of that release.
        to: u64,
    },
}

/// Globally unique id of one run of an operation. Ids sort by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OperationId(String);

impl OperationId {
    /// Creates an id from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Id of an attempt to change a resource, unique in its stack: revision and sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AttemptId {
    /// The revision of the release.
    pub revision: u64,
    /// Sequence number in the release, from 1.
    pub step: u64,
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.revision, self.step)
    }
}

/// Identifies a live object to its runtime.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// The key of the object, in the format of its runtime.
    pub key: String,
    /// Unique id that distinguishes it from an earlier object with the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

impl Identity {
    /// Creates the identity of an object.
    pub fn new(key: impl Into<String>, uid: Option<String>) -> Self {
        Self { key: key.into(), uid }
    }
}

/// Private data that a runtime stores with an object. Opaque to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeData {
    /// Schema version of the data, defined by the runtime.
    #[serde(default)]
    pub schema_version: u64,
    /// The data. Sealed as a whole in the state if it is secret.
    pub value: Value,
    /// Whether the data is secret.
    #[serde(default)]
    pub is_secret: bool,
}

/// An object that a replacement left behind and that must be deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Leftover {
    /// The object.
    pub identity: Identity,
    /// Private data of its runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeData>,
}

/// The recorded state of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceState {
    /// The resource as last applied, with resolved references and sealed secrets.
    pub resource: Resource,
    /// The live object.
    pub identity: Identity,
    /// Revision of the last release that changed it.
    pub revision: u64,
    /// Private data of its runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeData>,
    /// Paths of secret attributes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<FieldPath>,
    /// Objects that replacements left behind, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leftovers: Vec<Leftover>,
}

impl ResourceState {
    /// Creates the state of a resource without private data of its runtime.
    pub fn new(resource: Resource, identity: Identity, revision: u64) -> Self {
        let (secrets, leftovers) = (Vec::new(), Vec::new());
        Self { resource, identity, revision, runtime: None, secrets, leftovers }
    }
}

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "ending")]
pub enum Ending {
    /// The resource exists, in this state.
    Present(Box<ResourceState>),
    /// The resource does not exist.
    Absent,
    /// The attempt changed nothing: the recorded state is unchanged.
    Failed {
        /// The error message; contains no secrets.
        message: String,
    },
}

/// The phase of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// Running, or its process ended unexpectedly.
    Running,
    /// All steps succeeded.
    Succeeded,
    /// A step failed; completed steps are recorded.
    Failed,
    /// Stopped by the user.
    Stopped,
    /// Its process was killed; a later run has recovered the state.
    Interrupted,
}

/// Health of the resources of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReleaseHealth {
    /// All resources became ready.
    Ready,
    /// All became ready, but some no longer are.
    Degraded,
    /// Some failed.
    Failed,
    /// Unknown: not watched until the end.
    Unknown,
}

/// The commit of the sources of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GitRevision {
    /// The hash of the commit.
    pub commit: String,
    /// The branch; `None` for a detached head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether the working tree had uncommitted changes; `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_dirty: Option<bool>,
}

/// Origin of the files of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "from")]
pub enum StackSource {
    /// The project has an explicit id.
    Project {
        /// The id.
        id: String,
    },
    /// A folder of a Git repository.
    Git {
        /// Host and path of the repository.
        remote: String,
        /// The folder in it.
        folder: String,
    },
}

impl fmt::Display for StackSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project { id } => write!(f, "the project with the id `{id}`"),
            Self::Git { remote, folder } => write!(f, "the folder `{folder}` of {remote}"),
        }
    }
}

/// Metadata of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseHead {
    /// Revision: its number in the stack, from 1.
    pub revision: u64,
    /// The operation.
    pub operation: Operation,
    /// The user and machine that started it.
    pub operator: String,
    /// The version of the engine.
    pub engine: String,
    /// A fingerprint of the desired resources.
    pub spec_digest: String,
    /// A fingerprint of the plan.
    pub plan_digest: String,
    /// The fingerprint of the saved plan file, if one was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_plan: Option<String>,
    /// Message of its author.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The commit of its sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitRevision>,
}

/// One entry of a stack's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum Record {
    /// A process locked the stack; later writes of earlier lock holders are rejected.
    Locked {
        /// The lock holder: process, machine, user.
        holder: String,
    },
    /// The stack is now deployed to these infrastructures.
    Located {
        /// The infrastructures.
        infrastructure: Infrastructure,
        /// Whether recorded resources and releases are discarded because none of them exist there.
        #[serde(default)]
        is_new: bool,
    },
    /// Origin and owner of the stack.
    Described {
        /// Where its files come from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<StackSource>,
        /// The person or team that is responsible for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
    },
    /// A release started.
    ReleaseOpened(ReleaseHead),
    /// A call is about to be made. Durable before the call.
    StepBegan {
        /// The attempt.
        attempt: AttemptId,
        /// The resource.
        id: ResourceId,
        /// The action.
        action: Action,
        /// The desired resource, with resolved references and sealed secrets; `None` for deletions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        desired: Option<Box<Resource>>,
        /// Order of deletion and creation of a replacement.
        #[serde(default)]
        replace_order: ReplaceOrder,
    },
    /// A call has ended. Durable before dependents begin.
    StepEnded {
        /// The attempt.
        attempt: AttemptId,
        /// The resource.
        id: ResourceId,
        /// The result.
        ending: Ending,
    },
    /// A resource is added to or removed from the state without a call.
    Noted {
        /// The resource.
        id: ResourceId,
        /// The new recorded state; `None` if the resource is removed.
        ending: Ending,
    },
    /// A release ended.
    ReleaseClosed {
        /// Its revision.
        revision: u64,
        /// The result.
        phase: Phase,
        /// The error message; contains no secrets.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
    /// The health of the resources of a release was observed.
    HealthSeen {
        /// Its revision.
        revision: u64,
        /// The observed health.
        health: ReleaseHealth,
        /// Resources that are not ready, for users; contains no secrets.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
}

/// A record as stored: with its operation and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StampedRecord {
    /// The operation that wrote it.
    pub operation_id: OperationId,
    /// The time, RFC 3339.
    pub time: String,
    /// The record.
    pub record: Record,
}

/// A record with its place in the journal of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggedRecord {
    /// The stack.
    pub stack: StackKey,
    /// The number in the journal, from 1, without gaps.
    pub seq: u64,
    /// The operation that wrote it.
    pub operation_id: OperationId,
    /// The time, RFC 3339.
    pub time: String,
    /// The record.
    pub record: Record,
}
