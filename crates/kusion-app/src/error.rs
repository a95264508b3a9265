//! Errors of opening a stack.

use crate::trust::RiskySetting;
use kusion_secret::KeyError;
use kusion_store::StoreError;
use std::path::PathBuf;

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
    /// The kubeconfig of the stack cannot be used.
    #[error("stack `{stack}`: {why}")]
    Kubeconfig {
        /// The stack.
        stack: String,
        /// The problem.
        why: String,
    },
    /// The hosts of the stack are invalid.
    #[error("cannot read {}: {why}", file.display())]
    Hosts {
        /// The file of the stack.
        file: PathBuf,
        /// The problems.
        why: String,
    },
    /// The request names another context than the only one of the stack.
    #[error(
        "stack {stack} is only for the context `{pinned}` (`cluster` in stack.yaml), not for \
         `{asked}`"
    )]
    Pinned {
        /// The stack.
        stack: String,
        /// The only context.
        pinned: String,
        /// The requested context.
        asked: String,
    },
    /// Two cells of a stack have the same object on one cluster.
    #[error(
        "the cells `{first}` and `{second}` of {stack} both have {id} on {cluster}; give each cell \
         its own cluster (`clusters` in stack.yaml), namespace or name"
    )]
    SameObject {
        /// The stack.
        stack: String,
        /// A cell.
        first: String,
        /// Another cell.
        second: String,
        /// The object.
        id: String,
        /// The cluster.
        cluster: String,
    },
    /// The user does not trust settings of the repository.
    #[error("stack `{stack}` has {}", untrusted(*.is_changed))]
    Untrusted {
        /// The stack.
        stack: String,
        /// The settings.
        settings: Vec<RiskySetting>,
        /// Whether the user trusted an earlier content.
        is_changed: bool,
    },
    /// It cannot be said what a plugin of the repository would start.
    #[error("{why}")]
    Plugin {
        /// What is wrong.
        why: String,
    },
    /// The file with the trusted settings cannot be used.
    #[error("cannot use {}: {why}", file.display())]
    Trust {
        /// The file.
        file: PathBuf,
        /// The problem.
        why: String,
    },
    /// The file with the settings of the user cannot be used.
    #[error("cannot use {}: {why}", file.display())]
    Config {
        /// The file.
        file: PathBuf,
        /// The problem.
        why: String,
    },
    /// The policies of a stack cannot be read.
    #[error("cannot read policies: {0}")]
    Policies(String),
    /// There is no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn untrusted(is_changed: bool) -> &'static str {
    if is_changed { "settings that changed since you trusted them" } else { "untrusted settings" }
}

impl AppError {
    /// Returns the error code, for programs. Codes are stable.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Backend { .. } => "backend-setting",
            Self::Kubeconfig { .. } => "kubeconfig",
            Self::Hosts { .. } => "hosts",
            Self::Pinned { .. } => "pinned",
            Self::SameObject { .. } => "same-object",
            Self::Untrusted { .. } => "untrusted",
            Self::Trust { .. } | Self::Config { .. } | Self::Plugin { .. } => "file",
            Self::Policies(_) => "invalid-policies",
            Self::Key(_) => "key",
            Self::Store(error) => error.code(),
        }
    }
}
