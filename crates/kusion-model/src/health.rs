//! Health of live objects.

use serde::{Deserialize, Serialize};

/// Health state of a live object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HealthState {
    /// Works as desired.
    Ready,
    /// Not ready yet; expected to become ready.
    Progressing,
    /// Cannot become ready without intervention.
    Failed,
    /// Being deleted.
    Terminating,
}

/// A warning from the infrastructure, such as `FailedScheduling`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// Machine-readable reason.
    pub reason: String,
    /// Message for users.
    pub message: String,
    /// Time of the first occurrence, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// Health of a live object: state, reason and message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// The state.
    pub state: HealthState,
    /// What the object waits for or why it failed, for users: `1 of 3 pods available`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Machine-readable reason of a failure, such as `CrashLoopBackOff`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Warnings from the infrastructure while the object is not ready, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl Health {
    /// Creates the health of a ready object.
    pub fn ready(message: impl Into<String>) -> Self {
        Self::new(HealthState::Ready, None, message.into())
    }

    /// Creates the health of a progressing object.
    pub fn progressing(message: impl Into<String>) -> Self {
        Self::new(HealthState::Progressing, None, message.into())
    }

    /// Creates the health of a progressing object, with the reason of the delay if it is known.
    pub fn delayed(reason: Option<String>, message: impl Into<String>) -> Self {
        Self::new(HealthState::Progressing, reason, message.into())
    }

    /// Creates the health of a failed object.
    pub fn failed(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(HealthState::Failed, Some(reason.into()), message.into())
    }

    /// Creates the health of an object that is being deleted.
    pub fn terminating(message: impl Into<String>) -> Self {
        Self::new(HealthState::Terminating, None, message.into())
    }

    fn new(state: HealthState, reason: Option<String>, message: String) -> Self {
        Self { state, message, reason, warnings: Vec::new() }
    }

    /// Returns whether the object is ready.
    pub fn is_ready(&self) -> bool {
        self.state == HealthState::Ready
    }
}
