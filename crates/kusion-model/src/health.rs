//! How a live object fares.

use serde::{Deserialize, Serialize};

/// Whether a live object does its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HealthState {
    /// It does what it is for.
    Ready,
    /// It is on its way.
    Progressing,
    /// It cannot get ready without a change from outside.
    Failed,
    /// It is being deleted.
    Terminating,
}

/// Something that the infrastructure warns of: `FailedScheduling`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// The short cause.
    pub reason: String,
    /// The same for people.
    pub message: String,
    /// When it was warned of first, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// The state of a live object, with the words for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// The state.
    pub state: HealthState,
    /// What is awaited or what went wrong, for people: `1 of 3 new pods are available`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The short cause of a failure, `CrashLoopBackOff`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the infrastructure warns of, the newest first, while the object is not ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl Health {
    /// Says that an object does its work.
    pub fn ready(message: impl Into<String>) -> Self {
        Self::new(HealthState::Ready, None, message.into())
    }

    /// Says that an object is on its way.
    pub fn progressing(message: impl Into<String>) -> Self {
        Self::new(HealthState::Progressing, None, message.into())
    }

    /// Says that an object is on its way, with the cause of the delay where one is known.
    pub fn delayed(reason: Option<String>, message: impl Into<String>) -> Self {
        Self::new(HealthState::Progressing, reason, message.into())
    }

    /// Says that an object cannot get ready.
    pub fn failed(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(HealthState::Failed, Some(reason.into()), message.into())
    }

    /// Says that an object is going away.
    pub fn terminating(message: impl Into<String>) -> Self {
        Self::new(HealthState::Terminating, None, message.into())
    }

    fn new(state: HealthState, reason: Option<String>, message: String) -> Self {
        Self { state, message, reason, warnings: Vec::new() }
    }

    /// Whether the object does its work.
    pub fn is_ready(&self) -> bool {
        self.state == HealthState::Ready
    }
}
