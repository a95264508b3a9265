//! Errors of runtimes.

use kusion_model::{Conflict, FieldPath, Owner, Problem, Requirement};

/// The error of a call to the infrastructure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuntimeError {
    /// A transient error, such as a network failure or a busy server. The call may or may not have
    /// been applied. Safe to retry.
    #[error("{message}")]
    Transient {
        /// The error message.
        message: String,
        /// When to retry, in milliseconds, if the server said so.
        retry_after_ms: Option<u64>,
    },
    /// The call may have created an object, and nothing can tell whether it did. It is never
    /// retried, so that no object is created twice.
    #[error("{0}")]
    Ambiguous(String),
    /// Other managers own fields that would change.
    #[error("{}", conflict_text(.0))]
    Conflict(Vec<Conflict>),
    /// A field is immutable.
    #[error("{message}")]
    Immutable {
        /// The fields, where they are known.
        fields: Vec<FieldPath>,
        /// The message of the server.
        message: String,
    },
    /// The object has another owner.
    #[error("it belongs to {0}")]
    Owned(Box<Owner>),
    /// A requirement of the resource does not exist (yet).
    #[error("{0} does not exist")]
    Missing(Requirement),
    /// The object changed since it was read.
    #[error("{0}")]
    Moved(String),
    /// The resource is invalid; a retry would fail in the same way.
    #[error("{0}")]
    Invalid(String),
    /// Fields of the resource are invalid; a retry would fail in the same way.
    #[error("{}", problems_text(.0))]
    Rejected(Vec<Problem>),
    /// The infrastructure cannot be reached, or denies access.
    #[error("{0}")]
    Unavailable(String),
    /// One part of the infrastructure, such as a host, cannot be reached; other parts may be. The
    /// call changed nothing.
    #[error("{0}")]
    Unreachable(String),
    /// The runtime itself cannot be used: a program that it needs is not installed, not allowed, or
    /// does not work.
    #[error("{message}")]
    Unusable {
        /// What cannot be used, and why.
        message: String,
        /// The command on the stack that solves it, if there is one: `provider lock`.
        command: Option<&'static str>,
    },
}

impl RuntimeError {
    /// Returns whether a retry may succeed without intervention.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Transient { .. })
    }
}

fn conflict_text(conflicts: &[Conflict]) -> String {
    let parts: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
    format!("conflict: {}", parts.join("; "))
}

fn problems_text(problems: &[Problem]) -> String {
    let parts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    parts.join("; ")
}
