//! Why a package could not be obtained.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a package could not be obtained.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The network may not be used.
    #[error("{what} was not downloaded yet\nrun the command once without --offline to download it")]
    Offline {
        /// The package.
        what: String,
    },
    /// The source has another content than when the lock file was written.
    #[error(
        "{what} has changed since kcl.mod.lock was written\n  found     {found}\n  recorded  \
         {recorded}\nrun `kcl mod update {name}` if you expect this change"
    )]
    Changed {
        /// The source.
        what: String,
        /// The package.
        name: String,
        /// What the lock file records.
        recorded: String,
        /// What was downloaded.
        found: String,
    },
    /// A downloaded package was changed on disk.
    #[error(
        "a package was changed after its download\n  folder    {}\n  found     {found}\n  recorded  \
         {recorded}\ndelete the folder and run the command again to download it anew",
        folder.display()
    )]
    Tampered {
        /// Its folder.
        folder: PathBuf,
        /// The checksum that was recorded.
        recorded: String,
        /// The checksum now.
        found: String,
    },
    /// A download ended early.
    #[error(
        "the download of {what} is not complete:\n{received} of {expected} bytes were received"
    )]
    Truncated {
        /// What was downloaded.
        what: String,
        /// Bytes that arrived.
        received: u64,
        /// Bytes that were announced.
        expected: u64,
    },
    /// The content is not what its digest says.
    #[error("the download of {what} is damaged\n  digest    {found}\n  expected  {expected}")]
    Digest {
        /// What was downloaded.
        what: String,
        /// The digest of what arrived.
        found: String,
        /// The digest that was announced.
        expected: String,
    },
    /// An archive has an entry that is not allowed.
    #[error("the archive of {what} is refused:\nthe entry `{entry}` {why}")]
    Archive {
        /// The package.
        what: String,
        /// The entry.
        entry: String,
        /// What is wrong with it.
        why: String,
    },
    /// A limit was reached.
    #[error("{what} is refused: {why}")]
    Refused {
        /// The package or URL.
        what: String,
        /// Which limit or rule.
        why: String,
    },
    /// A server cannot be reached, or answered with an error.
    #[error("the request for {what} failed: {why}")]
    Server {
        /// What was requested.
        what: String,
        /// What happened.
        why: String,
        /// Whether another attempt may help.
        is_transient: bool,
    },
    /// Git failed.
    #[error("cannot fetch {what} with git: {why}")]
    Git {
        /// The repository.
        what: String,
        /// The last lines that git printed.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {task} `{}`: {reason}", path.display())]
    File {
        /// What failed.
        task: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
}

impl FetchError {
    /// Makes the error of a file.
    pub(crate) fn file(task: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |reason| Self::File { task, path, reason }
    }

    /// Makes the error of a source that breaks a rule.
    pub(crate) fn refused(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), why: why.into() }
    }

    /// Makes the error of a server that another attempt does not help.
    pub(crate) fn server(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Server { what: what.into(), why: why.into(), is_transient: false }
    }

    /// Says of the failure of a request which package it was for.
    pub(crate) fn about(self, package: &str) -> Self {
        match self {
            Self::Server { what, why, is_transient } => Self::Server {
                what: package.to_owned(),
                why: format!("{what}: {why}"),
                is_transient,
            },
            other => other,
        }
    }

    /// Whether another attempt may help.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Server { is_transient, .. } => *is_transient,
            Self::Truncated { .. } | Self::Digest { .. } => true,
            _ => false,
        }
    }
}
