//! What was done: the records of a stack's journal.

use crate::{Action, Resource, ResourceId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a release does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Operation {
    /// Brings a stack to what it compiles to.
    Apply,
    /// Deletes everything of a stack.
    Destroy,
    /// Brings a stack to what an earlier release wanted.
    Rollback {
        /// The revision of that release.
        to: u64,
    },
}

/// The number of an attempt to change a resource, unique in its stack: revision and count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OperationId {
    /// The revision of the release.
    pub revision: u64,
    /// The count in the release, from 1.
    pub step: u64,
}

impl std::fmt::Display for OperationId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
    /// The time of its start, RFC 3339.
    pub started: String,
    /// A fingerprint of the wanted resources.
    pub spec_digest: String,
    /// A fingerprint of the plan.
    pub plan_digest: String,
}

/// One entry of a stack's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "record")]
pub enum Record {
    /// A process took the stack; what an earlier holder writes after this is refused.
    Taken {
        /// Who: process, machine, user.
        holder: String,
    },
    /// A release began.
    Opened(ReleaseHead),
    /// A call is about to be made. Durable before the call.
    Began {
        /// The attempt.
        operation: OperationId,
        /// The resource.
        id: ResourceId,
        /// What is done.
        action: Action,
        /// What is wanted, references resolved, secrets sealed; none for deletions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        desired: Option<Box<Resource>>,
    },
    /// A call has ended. Durable before dependents begin.
    Ended {
        /// The attempt.
        operation: OperationId,
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
    Closed {
        /// Its revision.
        revision: u64,
        /// How.
        phase: Phase,
        /// The time, RFC 3339.
        ended: String,
        /// What went wrong, for people; no secrets.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
}

/// A record with its number in the journal, from 1, without gaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedRecord {
    /// The number.
    pub seq: u64,
    /// The record.
    pub record: Record,
}

impl Identity {
    /// Makes the identity of an object.
    pub fn new(key: impl Into<String>, uid: Option<String>) -> Self {
        Self { key: key.into(), uid }
    }

    /// Reads the uid of a Kubernetes object.
    pub fn uid_of(object: &Value) -> Option<String> {
        object.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned)
    }
}
