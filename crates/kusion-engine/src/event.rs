//! What an operation tells its viewers.

use kusion_model::{Action, Health, Operation, OperationId, Phase, ResourceId, StackKey, Warning};
use serde::{Deserialize, Serialize};

/// The version of the written form of events.
pub const EVENT_VERSION: u32 = 2;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It was done.
    Done,
    /// It failed and changed nothing that is not recorded.
    Failed,
    /// It did not begin, because something it needs failed or the operation was stopped.
    Skipped,
    /// It is unknown whether the call had an effect; the next run finds out.
    Unknown,
}

/// An object that belongs to a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelatedObject {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// Its depth below the resource, from 1.
    pub depth: usize,
    /// Its health.
    pub health: Health,
    /// When it was made, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
}

/// Names an object that belongs to a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
}

/// Something that happened. Holds no secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "event")]
pub enum Event {
    /// The stack is locked: no other process changes it.
    Locked,
    /// A call of a process that ended without a word was looked into.
    Recovered {
        /// The resource.
        id: ResourceId,
        /// What was being done.
        action: Action,
        /// Whether the object exists.
        exists: bool,
    },
    /// A release began.
    ReleaseOpened {
        /// Its number.
        revision: u64,
        /// What it does.
        operation: Operation,
        /// How many steps change something.
        steps: usize,
    },
    /// A step began.
    StepStarted {
        /// The resource.
        id: ResourceId,
        /// What is done.
        action: Action,
    },
    /// A call failed and is made again.
    StepRetried {
        /// The resource.
        id: ResourceId,
        /// Why it failed.
        message: String,
        /// The pause before the next attempt.
        pause_ms: u64,
    },
    /// A step ended.
    StepEnded {
        /// The resource.
        id: ResourceId,
        /// What was done.
        action: Action,
        /// How it ended.
        outcome: Outcome,
        /// Why it failed or did not begin.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
        /// What the infrastructure warned of.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    },
    /// A resource is watched: its health now.
    Health {
        /// The resource.
        id: ResourceId,
        /// Its health.
        health: Health,
        /// What belongs to it.
        related: Vec<RelatedObject>,
    },
    /// The infrastructure warns of something about a watched resource that is not ready, or
    /// about an object that belongs to it. Told once.
    Warning {
        /// The resource.
        id: ResourceId,
        /// The object that belongs to it; none if it is the resource itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        object: Option<ObjectName>,
        /// What is warned of.
        #[serde(flatten)]
        warning: Warning,
    },
    /// A release ended.
    ReleaseClosed {
        /// Its number.
        revision: u64,
        /// How it ended.
        phase: Phase,
        /// What went wrong.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
}

/// An event with its place: which stack, which operation, which number, when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StampedEvent {
    /// The stack.
    pub stack: StackKey,
    /// The operation.
    pub operation_id: OperationId,
    /// The number in the operation, from 1, without gaps.
    pub seq: u64,
    /// The time, RFC 3339.
    pub time: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// Somebody who wants to know what happens. Serves any number of operations at a time.
pub trait EventSink: Send + Sync {
    /// Takes an event; must not block for long. Events of one operation come in their order.
    fn emit(&self, event: &StampedEvent);
}

/// A sink that lets everything pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl EventSink for Silent {
    fn emit(&self, _event: &StampedEvent) {}
}
