//! Why a store did not do what it was asked.

use crate::backend::BackendError;
use crate::holder::Holder;

/// Why a call to a store failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The address of the store cannot be used.
    #[error("{0}")]
    Address(String),
    /// Another process holds the stack.
    #[error("{stack} is held by {holder} since {since}")]
    Held {
        /// The stack.
        stack: String,
        /// Who.
        holder: Box<Holder>,
        /// Since when, RFC 3339, by the holder's clock.
        since: String,
    },
    /// Another process has taken the stack from this one; nothing was written.
    #[error("{stack} was taken by {holder}: this process did not renew its lease in time")]
    Fenced {
        /// The stack.
        stack: String,
        /// Who.
        holder: String,
    },
    /// The lease could not be renewed for so long that another process may have the stack.
    #[error("the lease of {stack} could not be renewed for {seconds} s: {cause}")]
    Stale {
        /// The stack.
        stack: String,
        /// Seconds since the last renewal.
        seconds: u64,
        /// Why it could not be renewed, where that is known.
        cause: String,
    },
    /// What is stored is not what was written.
    #[error("{place} is damaged: {what}")]
    Damaged {
        /// The file or key.
        place: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// A newer version wrote it.
    #[error("{place} was written by a newer version (format {found}, known {known})")]
    Newer {
        /// The file or key.
        place: String,
        /// Its format.
        found: u32,
        /// The newest format that this version knows.
        known: u32,
    },
    /// The backend failed: disk, network, server.
    #[error("{0}")]
    Backend(#[from] BackendError),
    /// The session was closed.
    #[error("the session of {0} has ended")]
    Ended(String),
}

impl StoreError {
    /// Makes the error of a damaged value.
    pub(crate) fn damaged(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Damaged { place: place.into(), what: what.into() }
    }
}
