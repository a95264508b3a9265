//! Why a stack cannot be opened.

use kusion_secret::KeyError;
use kusion_store::StoreError;

/// Why a stack cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The setting of a backend means nothing.
    #[error("stack `{stack}`: {why}")]
    Backend {
        /// The stack.
        stack: String,
        /// What is wrong.
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
    /// Returns a short name of the kind of error, for programs. Names stay.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Backend { .. } => "backend-setting",
            Self::Key(_) => "key",
            Self::Store(error) => error.code(),
        }
    }
}
