//! The three kinds of patches that contain changes instead of a whole object.

mod json;
mod merge;
mod strategic;

pub use json::json_patch;
pub use merge::merge_patch;
pub use strategic::strategic_merge;

/// Why a patch cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The patch is malformed (400).
    #[error("{0}")]
    BadRequest(String),
    /// The patch is too large (413).
    #[error("{0}")]
    TooLarge(String),
    /// The patch does not fit the object (422); the server does not say why, the text does.
    #[error("the server rejected our request due to an error in our request")]
    Unprocessable(String),
    /// The server fails on it (500).
    #[error("{0}")]
    Internal(String),
}
