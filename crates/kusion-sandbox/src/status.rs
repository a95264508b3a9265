//! The answer when a request cannot be served.

use serde_json::Value;

/// A failure as Kubernetes reports it; becomes a `Status` object on the wire.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// HTTP status code.
    pub code: u16,
    /// One word for programs (`NotFound`, `Conflict`, `Invalid` …).
    pub reason: &'static str,
    /// A sentence for people.
    pub message: String,
    /// The `details` object (name, group, kind, uid, causes, retryAfterSeconds); null when none.
    pub details: Value,
}
