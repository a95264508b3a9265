//! Errors of stores.

use crate::backend::BackendError;
use crate::holder::Holder;

/// The error of a call to a store.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The store URL is invalid.
    #[error("{0}")]
    Address(String),
    /// The stack is locked by another process.
    #[error("{stack} is locked by {holder} since {since}")]
    Held {
        /// The stack.
        stack: String,
        /// The lock holder.
        holder: Box<Holder>,
        /// Start of the lock, RFC 3339, by the clock of the lock holder.
        since: String,
    },
    /// Another process has acquired the lock; nothing was written.
    #[error("{stack} was locked by {holder}: this process did not renew its lock in time")]
    Fenced {
        /// The stack.
        stack: String,
        /// The lock holder.
        holder: String,
    },
    /// The lease may have expired because it could not be renewed.
    #[error("the lock of {stack} could not be renewed for {seconds} s: {cause}")]
    Stale {
        /// The stack.
        stack: String,
        /// Seconds since the last renewal.
        seconds: u64,
        /// The cause, if it is known.
        cause: String,
    },
    /// The store no longer contains what it had confirmed to this process.
    #[error(
        "{place} lost writes that it had confirmed ({what}): it was restored from a copy, or failed \
         over to a server that lagged behind; nothing more was written"
    )]
    SetBack {
        /// The store.
        place: String,
        /// The missing value.
        what: String,
    },
    /// The store can be read, but not written.
    #[error("{place} can only be read: {why}")]
    ReadOnly {
        /// The store.
        place: String,
        /// The reason.
        why: String,
    },
    /// Stored data is damaged.
    #[error("{place} is damaged: {what}")]
    Damaged {
        /// The file or key.
        place: String,
        /// The problem, and how to repair it.
        what: String,
    },
    /// Written by an older version, in an unsupported format.
    #[error(
        "{place} was written by an earlier version of kusion (format {found}), which this version \
         (format {known}) cannot read"
    )]
    Older {
        /// The file or key.
        place: String,
        /// Its format.
        found: u32,
        /// The format that this version supports.
        known: u32,
    },
    /// The data has the current format.
    #[error("{place} already has the format of this version; nothing was moved")]
    NotOlder {
        /// The store.
        place: String,
    },
    /// The store uses another key.
    #[error("{place} uses the key {expected}, but the current key is {found}")]
    OtherKey {
        /// The store.
        place: String,
        /// The fingerprint of the key of the store.
        expected: String,
        /// The fingerprint of the current key.
        found: String,
    },
    /// Written by a newer version.
    #[error(
        "{place} was written by a newer version of kusion (format {found}); this version supports \
         format {known}"
    )]
    Newer {
        /// The file or key.
        place: String,
        /// Its format.
        found: u32,
        /// The newest format that this version supports.
        known: u32,
    },
    /// The backend failed: disk, network, server.
    #[error("{0}")]
    Backend(#[from] BackendError),
    /// The session was closed.
    #[error("the lock of {0} was already released")]
    Ended(String),
}

impl StoreError {
    /// Creates the error for an unsupported format.
    pub(crate) fn format(place: &str, found: u32, known: u32) -> Self {
        let place = place.to_owned();
        if found > known {
            Self::Newer { place, found, known }
        } else {
            Self::Older { place, found, known }
        }
    }

    /// Returns the error code, for programs. Codes are stable.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address(_) => "store-address",
            Self::Held { .. } => "locked",
            Self::Fenced { .. } | Self::Stale { .. } => "lock-lost",
            Self::SetBack { .. } => "store-set-back",
            Self::ReadOnly { .. } => "store-read-only",
            Self::Damaged { .. } => "store-damaged",
            Self::Older { .. } => "older-format",
            Self::NotOlder { .. } => "not-older",
            Self::Newer { .. } => "newer-format",
            Self::OtherKey { .. } => "other-key",
            Self::Backend(_) => "store-failed",
            Self::Ended(_) => "session-ended",
        }
    }

    /// Creates the error for damaged data.
    pub(crate) fn damaged(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Damaged { place: place.into(), what: what.into() }
    }
}
