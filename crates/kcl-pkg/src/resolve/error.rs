//! Why the dependencies of a module cannot be resolved.

use super::Demand;
use crate::sum::SumError;
use crate::verify::VerifyError;
use std::fmt::Write as _;
use thiserror::Error;

/// Why the dependencies of a module cannot be resolved.
#[derive(Debug, Error)]
pub enum ResolveError {
    /// No version serves all modules.
    #[error("{}", conflict(name, demands))]
    Conflict {
        /// The package.
        name: String,
        /// What is asked for.
        demands: Vec<Demand>,
    },
    /// A version or URL is not valid.
    #[error("invalid dependency `{name}` of {by}: {reason}")]
    Invalid {
        /// The package.
        name: String,
        /// Who asks for it.
        by: String,
        /// What is wrong.
        reason: String,
    },
    /// The name cannot be that of a folder.
    #[error("invalid name `{0}` of a dependency: expected letters, digits, `-`, `_` and `.`")]
    Name(String),
    /// The path of a downloaded package leads out of it.
    #[error(
        "`{by}` was downloaded, and its dependency `{name}` has the path `{path}`, which leads out \
         of the download"
    )]
    PathLeadsOut {
        /// The downloaded package.
        by: String,
        /// Its dependency.
        name: String,
        /// The path.
        path: String,
    },
    /// The lock file cannot be read.
    #[error("{0}")]
    Lock(String),
    /// The lock file must be complete and is not.
    #[error(
        "kcl.mod.lock is not complete: `{0}` has to be added or changed\nrun `kcl mod update` to write \
         it, or leave out --locked"
    )]
    NotLocked(String),
    /// A package is not what the lock file records.
    #[error("{0}")]
    Verify(VerifyError),
    /// The checksum of a package cannot be computed.
    #[error("cannot compute the checksum of `{0}`: {1}")]
    Sum(String, SumError),
    /// A package cannot be obtained.
    #[error("{0}")]
    Fetch(String),
    /// Versions raise each other without end.
    #[error("the dependencies raise each other's versions without end")]
    TooManyRounds,
}

fn conflict(name: &str, demands: &[Demand]) -> String {
    let mut text = format!("no version of `{name}` serves all modules:");
    let width = demands.iter().map(|it| it.by.chars().count()).max().unwrap_or(0);
    for demand in demands {
        // Writing to a string does not fail.
        let _ = write!(text, "\n  {:width$}  asks for {}", demand.by, demand.source);
    }
    text.push_str("\nchange one of them, so that one version and one source serve all");
    text
}
