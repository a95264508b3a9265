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
}

impl Health {
    /// Says that an object does its work.
    pub fn ready(message: impl Into<String>) -> Self {
        Self { state: HealthState::Ready, message: message.into(), reason: None }
    }

    /// Says that an object is on its way.
    pub fn progressing(message: impl Into<String>) -> Self {
        Self { state: HealthState::Progressing, message: message.into(), reason: None }
    }

    /// Says that an object cannot get ready.
    pub fn failed(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { state: HealthState::Failed, message: message.into(), reason: Some(reason.into()) }
    }

    /// Says that an object is going away.
    pub fn terminating(message: impl Into<String>) -> Self {
        Self { state: HealthState::Terminating, message: message.into(), reason: None }
    }

    /// Whether the object does its work.
    pub fn is_ready(&self) -> bool {
        self.state == HealthState::Ready
    }
}
