//! Events of operations.

use crate::secrets::{hide, hide_health};
use kusion_model::{Action, Health, Operation, OperationId, Phase, ResourceId, StackKey, Warning};
use kusion_secret::Redactor;
use serde::{Deserialize, Serialize};

/// Version of the event format.
pub const EVENT_VERSION: u32 = 2;

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Succeeded.
    Done,
    /// Failed; all changes that it made are recorded.
    Failed,
    /// Not started, because a dependency failed or the operation was stopped.
    Skipped,
    /// Unknown: the change may or may not have been applied; the next run checks it.
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
    /// Time of its creation, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
}

/// Identifies an object that belongs to a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
}

/// An event. Contains no secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "event")]
pub enum Event {
    /// The stack is locked: no other process changes it.
    Locked,
    /// The result of an interrupted call was checked.
    Recovered {
        /// The resource.
        id: ResourceId,
        /// The action of the interrupted step.
        action: Action,
        /// Whether the object exists.
        exists: bool,
    },
    /// A release started.
    ReleaseOpened {
        /// Its revision.
        revision: u64,
        /// Its operation.
        operation: Operation,
        /// Number of steps that change something.
        steps: usize,
    },
    /// A step started.
    StepStarted {
        /// The resource.
        id: ResourceId,
        /// Its action.
        action: Action,
    },
    /// A call failed and is retried.
    StepRetried {
        /// The resource.
        id: ResourceId,
        /// The error message.
        message: String,
        /// Pause before the next attempt, in milliseconds.
        pause_ms: u64,
    },
    /// A step waits for the infrastructure. Emitted when the reason changes.
    StepWaiting {
        /// The resource.
        id: ResourceId,
        /// Its action.
        action: Action,
        /// What it waits for.
        message: String,
    },
    /// A step ended.
    StepEnded {
        /// The resource.
        id: ResourceId,
        /// Its action.
        action: Action,
        /// Its outcome.
        outcome: Outcome,
        /// The reason if it failed or was skipped.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
        /// Warnings from the infrastructure.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    },
    /// The health of a watched resource changed.
    Health {
        /// The resource.
        id: ResourceId,
        /// Its health.
        health: Health,
        /// Objects that belong to it.
        related: Vec<RelatedObject>,
    },
    /// A warning from the infrastructure about a watched resource that is not ready, or about an
    /// object that belongs to it. Emitted once per warning.
    Warning {
        /// The resource.
        id: ResourceId,
        /// The object that belongs to it; `None` for the resource itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        object: Option<ObjectName>,
        /// The warning.
        #[serde(flatten)]
        warning: Warning,
    },
    /// A release ended.
    ReleaseClosed {
        /// Its revision.
        revision: u64,
        /// Its outcome.
        phase: Phase,
        /// The error message.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
}

impl Event {
    /// Hides secrets in the texts that come from infrastructures.
    pub(crate) fn hide_secrets(&mut self, redactor: &Redactor) {
        let hide = |text: &mut String| hide(redactor, text);
        let hide_health = |health: &mut Health| hide_health(redactor, health);
        match self {
            Self::StepRetried { message, .. }
            | Self::StepWaiting { message, .. }
            | Self::ReleaseClosed { message, .. } => {
                hide(message);
            }
            Self::StepEnded { message, warnings, .. } => {
                hide(message);
                warnings.iter_mut().for_each(hide);
            }
            Self::Health { health, related, .. } => {
                hide_health(health);
                for object in related {
                    hide_health(&mut object.health);
                }
            }
            Self::Warning { warning, .. } => hide(&mut warning.message),
            Self::Locked
            | Self::Recovered { .. }
            | Self::ReleaseOpened { .. }
            | Self::StepStarted { .. } => {}
        }
    }
}

/// An event with its stack, operation, sequence number and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StampedEvent {
    /// The stack.
    pub stack: StackKey,
    /// The operation.
    pub operation_id: OperationId,
    /// Sequence number in the operation, from 1, without gaps.
    pub seq: u64,
    /// The time, RFC 3339.
    pub time: String,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// A receiver of events. Serves any number of operations concurrently.
pub trait EventSink: Send + Sync {
    /// Receives an event; must not block for long. Events of one operation arrive in order.
    fn emit(&self, event: &StampedEvent);
}

/// A sink that discards all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl EventSink for Silent {
    fn emit(&self, _event: &StampedEvent) {}
}
