//! Why an infrastructure did not do what it was asked.

use kusion_model::{FieldPath, Requirement};

/// Fields that somebody else manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Who manages them, as the infrastructure names it.
    pub manager: String,
    /// The fields, as the infrastructure writes them.
    pub fields: Vec<String>,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuntimeError {
    /// It is unknown whether the call had an effect, or it had none and may work later: the
    /// network, a busy server. Safe to try again.
    #[error("{message}")]
    Transient {
        /// What happened.
        message: String,
        /// When to try again, in milliseconds, if the server said so.
        retry_after_ms: Option<u64>,
    },
    /// Others manage fields that are to change.
    #[error("{}", conflict_text(.0))]
    Conflict(Vec<Conflict>),
    /// A field cannot change in place.
    #[error("{message}")]
    Immutable {
        /// The fields, where they are known.
        fields: Vec<FieldPath>,
        /// What the server said.
        message: String,
    },
    /// Something that the resource requires does not exist (yet).
    #[error("there is no {0}")]
    Missing(Requirement),
    /// The object changed since it was read.
    #[error("{0}")]
    Moved(String),
    /// The resource is wrong; another attempt ends the same way.
    #[error("{0}")]
    Invalid(String),
    /// The infrastructure cannot be reached at all, or does not let us in.
    #[error("{0}")]
    Unavailable(String),
}

impl RuntimeError {
    /// Whether another attempt may succeed without a change from outside.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Transient { .. })
    }
}

fn conflict_text(conflicts: &[Conflict]) -> String {
    let parts: Vec<String> = conflicts
        .iter()
        .map(|it| format!("`{}` manages {}", it.manager, it.fields.join(", ")))
        .collect();
    format!("conflict: {}", parts.join("; "))
}
