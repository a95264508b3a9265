//! Errors of opening a stack.

use kusion_secret::KeyError;
use kusion_store::StoreError;

/// Errors of opening a stack.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The backend setting is invalid.
    #[error("stack `{stack}`: {why}")]
    Backend {
        /// The stack.
        stack: String,
        /// The problem.
        why: String,
    },
    /// There is no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AppError {
    /// Returns the error code, for programs. Codes are stable.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Backend { .. } => "backend-setting",
            Self::Key(_) => "key",
            Self::Store(error) => error.code(),
        }
    }
}
