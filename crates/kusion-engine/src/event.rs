//! What an operation tells its viewers.

use kusion_model::{Action, Health, Operation, Phase, ResourceId, StackKey, Warning};
use serde::Serialize;

/// The version of the written form of events.
pub const EVENT_VERSION: u32 = 1;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It was done.
    Done,
    /// It failed and changed nothing that is not recorded.
    Failed,
    /// It did not begin, because something it needs failed or the operation was stopped.
    Skipped,
    /// Nobody knows whether the call had an effect; the next run finds out.
    Unknown,
}

/// An object that belongs to a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RelatedObject {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// Its depth below the resource, from 1.
    pub depth: usize,
    /// How it fares.
    pub health: Health,
    /// When it was made, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
}

/// Names an object that belongs to a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
}

/// Something that happened. Holds no secrets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "event")]
pub enum Event {
    /// The stack is ours.
    Taken {
        /// The stack.
        stack: StackKey,
    },
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
    Opened {
        /// Its number.
        revision: u64,
        /// What it does.
        operation: Operation,
        /// How many steps change something.
        steps: usize,
    },
    /// A step began.
    Started {
        /// The resource.
        id: ResourceId,
        /// What is done.
        action: Action,
    },
    /// A call failed and is made again.
    Retried {
        /// The resource.
        id: ResourceId,
        /// Why it failed.
        message: String,
        /// The pause before the next attempt.
        pause_ms: u64,
    },
    /// A step ended.
    Ended {
        /// The resource.
        id: ResourceId,
        /// What was done.
        action: Action,
        /// How it ended.
        outcome: Outcome,
        /// Why it failed or did not begin.
        #[serde(skip_serializing_if = "String::is_empty")]
        message: String,
        /// What the infrastructure said beside it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    },
    /// A resource is watched: how it fares now.
    Progress {
        /// The resource.
        id: ResourceId,
        /// How it fares.
        health: Health,
        /// What belongs to it.
        related: Vec<RelatedObject>,
    },
    /// The infrastructure warns of something about a watched resource that is not ready, or
    /// about an object that belongs to it. Told once.
    Warned {
        /// The resource.
        id: ResourceId,
        /// The object that belongs to it; none if it is the resource itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        object: Option<ObjectName>,
        /// What is warned of.
        #[serde(flatten)]
        warning: Warning,
    },
    /// A release ended.
    Closed {
        /// Its number.
        revision: u64,
        /// How it ended.
        phase: Phase,
        /// What went wrong.
        #[serde(skip_serializing_if = "String::is_empty")]
        message: String,
    },
}

/// Somebody who wants to know what happens.
pub trait EventSink: Send + Sync {
    /// Takes an event; must not block for long.
    fn emit(&self, event: &Event);
}

/// A sink that lets everything pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl EventSink for Silent {
    fn emit(&self, _event: &Event) {}
}
