//! What was done: the records of a stack's journal.

use crate::{Action, FieldPath, Infrastructure, ReplaceOrder, Resource, ResourceId, StackKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// What a release does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Operation {
    /// Brings a stack to what it compiles to.
    Apply,
    /// Deletes everything of a stack.
    Destroy,
    /// Brings a stack to the Spec of an earlier release.
    Rollback {
        /// The revision of that release.
        to: u64,
    },
}

/// The name of one run of an operation, unique everywhere. Later ones sort after earlier ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OperationId(String);

impl OperationId {
    /// Makes an id of its text.
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

/// The number of an attempt to change a resource, unique in its stack: revision and count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AttemptId {
    /// The revision of the release.
    pub revision: u64,
    /// The count in the release, from 1.
    pub step: u64,
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.revision, self.step)
    }
}

/// What identifies a live object to its runtime.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// What the runtime finds it by, in the runtime's own words.
    pub key: String,
    /// What tells it from an earlier object with the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

impl Identity {
    /// Makes the identity of an object.
    pub fn new(key: impl Into<String>, uid: Option<String>) -> Self {
        Self { key: key.into(), uid }
    }
}

/// What a runtime must remember of an object until it sees it again. Opaque to everyone else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeData {
    /// The version of the schema that the data follows, in the runtime's own count.
    #[serde(default)]
    pub schema_version: u64,
    /// The data. Where it is secret, the whole of it is sealed in states.
    pub value: Value,
    /// Whether it is secret.
    #[serde(default)]
    pub is_secret: bool,
}

/// An object that a replacement has left behind and that is to be deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Leftover {
    /// The object.
    pub identity: Identity,
    /// What its runtime remembers of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeData>,
}

/// What the state knows of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceState {
    /// The resource as it was applied last, references resolved, secrets sealed.
    pub resource: Resource,
    /// The live object.
    pub identity: Identity,
    /// The release that changed it last.
    pub revision: u64,
    /// What its runtime remembers of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeData>,
    /// The paths of the attributes that are secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<FieldPath>,
    /// Objects that replacements have left behind, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leftovers: Vec<Leftover>,
}

impl ResourceState {
    /// Makes the state of a resource whose runtime remembers nothing of it.
    pub fn new(resource: Resource, identity: Identity, revision: u64) -> Self {
        let (secrets, leftovers) = (Vec::new(), Vec::new());
        Self { resource, identity, revision, runtime: None, secrets, leftovers }
    }
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "ending")]
pub enum Ending {
    /// The resource exists, like this.
    Present(Box<ResourceState>),
    /// The resource does not exist.
    Absent,
    /// The attempt changed nothing: what the state knew before still holds.
    Failed {
        /// Why, for people; no secrets.
        message: String,
    },
}

/// The state of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// It runs, or its process ended without a word.
    Running,
    /// Everything was done.
    Succeeded,
    /// Something failed; what was done is recorded.
    Failed,
    /// It was stopped by its user.
    Stopped,
    /// Its process was killed; a later run found out what it had done.
    Interrupted,
}

/// Whether the resources of a release became ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReleaseHealth {
    /// All were ready.
    Ready,
    /// They were ready, and some no longer are.
    Degraded,
    /// Some cannot get ready.
    Failed,
    /// Nobody has looked to the end.
    Unknown,
}

/// The commit of the sources of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GitRevision {
    /// The hash of the commit.
    pub commit: String,
    /// The branch; none if the commit was checked out by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether files were changed since.
    #[serde(default)]
    pub is_dirty: bool,
}

/// Where the files of a stack come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "from")]
pub enum StackSource {
    /// The project has an id of its own.
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

/// The head of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseHead {
    /// Its number in the stack, from 1.
    pub revision: u64,
    /// What it does.
    pub operation: Operation,
    /// Who started it: user and machine.
    pub operator: String,
    /// The version of the engine.
    pub engine: String,
    /// A fingerprint of the desired resources.
    pub spec_digest: String,
    /// A fingerprint of the plan.
    pub plan_digest: String,
    /// The fingerprint of the file of a saved plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_plan: Option<String>,
    /// What its author says about it.
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
    /// A process locked the stack; what an earlier holder writes after this is refused.
    Locked {
        /// Who: process, machine, user.
        holder: String,
    },
    /// The stack is on these infrastructures from now on.
    Located {
        /// The infrastructures.
        infrastructure: Infrastructure,
        /// Whether nothing of what was known before is there: resources and releases are
        /// forgotten.
        #[serde(default)]
        is_new: bool,
    },
    /// Where the stack comes from, and to whom it belongs.
    Described {
        /// Where its files come from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<StackSource>,
        /// The person or team that answers for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
    },
    /// A release began.
    ReleaseOpened(ReleaseHead),
    /// A call is about to be made. Durable before the call.
    StepBegan {
        /// The attempt.
        attempt: AttemptId,
        /// The resource.
        id: ResourceId,
        /// What is done.
        action: Action,
        /// What is desired, references resolved, secrets sealed; none for deletions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        desired: Option<Box<Resource>>,
        /// In which order a replacement is done.
        #[serde(default)]
        replace_order: ReplaceOrder,
    },
    /// A call has ended. Durable before dependents begin.
    StepEnded {
        /// The attempt.
        attempt: AttemptId,
        /// The resource.
        id: ResourceId,
        /// How.
        ending: Ending,
    },
    /// The state forgets or learns of a resource without a call.
    Noted {
        /// The resource.
        id: ResourceId,
        /// What is known now.
        ending: Ending,
    },
    /// A release ended.
    ReleaseClosed {
        /// Its revision.
        revision: u64,
        /// How.
        phase: Phase,
        /// What went wrong, for people; no secrets.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
    /// Somebody saw how the resources of a release are.
    HealthSeen {
        /// Its revision.
        revision: u64,
        /// How they are.
        health: ReleaseHealth,
        /// What is not ready, for people; no secrets.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
}

/// A record as it is kept: with the operation that made it and the time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StampedRecord {
    /// The operation that made it.
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
    /// The operation that made it.
    pub operation_id: OperationId,
    /// The time, RFC 3339.
    pub time: String,
    /// The record.
    pub record: Record,
}
