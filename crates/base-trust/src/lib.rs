//! What users trust repositories with: settings that could start programs or reach servers.
//!
//! [`TrustFile`] remembers settings by folder, name and a fingerprint of what they do.
//! [`inspect_command`] reads a command of a repository, and makes that fingerprint of it. Whether a
//! setting is used is the matter of those who know what it means.

mod command;
mod file;
mod places;

pub use command::{CommandError, RepositoryCommand, inspect_command};
pub use file::{Standing, TrustError, TrustFile, TrustedSetting};
pub use places::{config_file, data_folder, trust_file};
