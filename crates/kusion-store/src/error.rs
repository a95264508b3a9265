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
    #[error("{stack} is locked by {holder} since {since}")]
    Held {
        /// The stack.
        stack: String,
        /// Who.
        holder: Box<Holder>,
        /// Since when, RFC 3339, by the holder's clock.
        since: String,
    },
    /// Another process has taken the stack from this one; nothing was written.
    #[error("{stack} was locked by {holder}: this process did not renew its lock in time")]
    Fenced {
        /// The stack.
        stack: String,
        /// Who.
        holder: String,
    },
    /// The lease could not be renewed for so long that another process may have the stack.
    #[error("the lock of {stack} could not be renewed for {seconds} s: {cause}")]
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
    /// An older version wrote it, in a format that this one does not read.
    #[error(
        "{place} was written by an earlier version of kusion (format {found}), which this version \
         (format {known}) cannot read"
    )]
    Older {
        /// The file or key.
        place: String,
        /// Its format.
        found: u32,
        /// The format that this version knows.
        known: u32,
    },
    /// It is not of an older format.
    #[error("{place} has the format of this version; there is nothing to set aside")]
    NotOlder {
        /// The store.
        place: String,
    },
    /// The store belongs to another key.
    #[error("{place} was set up with the key {wanted}, and the key here is {found}")]
    OtherKey {
        /// The store.
        place: String,
        /// The name of the key of the store.
        wanted: String,
        /// The name of the key that was used.
        found: String,
    },
    /// A newer version wrote it.
    #[error(
        "{place} was written by a newer version of kusion (format {found}); this version knows \
         format {known}"
    )]
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
    /// Makes the error of a format that is not known.
    pub(crate) fn format(place: &str, found: u32, known: u32) -> Self {
        let place = place.to_owned();
        if found > known {
            Self::Newer { place, found, known }
        } else {
            Self::Older { place, found, known }
        }
    }

    /// Returns a short name of the kind of error, for programs. Names stay.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address(_) => "store-address",
            Self::Held { .. } => "locked",
            Self::Fenced { .. } | Self::Stale { .. } => "lock-lost",
            Self::Damaged { .. } => "store-damaged",
            Self::Older { .. } => "older-format",
            Self::NotOlder { .. } => "not-older",
            Self::Newer { .. } => "newer-format",
            Self::OtherKey { .. } => "other-key",
            Self::Backend(_) => "store-failed",
            Self::Ended(_) => "session-ended",
        }
    }

    /// Makes the error of a damaged value.
    pub(crate) fn damaged(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Damaged { place: place.into(), what: what.into() }
    }
}
