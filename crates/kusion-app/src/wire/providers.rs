//! Terraform providers.

use serde::Serialize;
use std::path::PathBuf;

/// A provider that stacks need.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "provider", rename_all = "camelCase")]
pub struct ProviderLine {
    /// The address.
    pub address: String,
    /// The constraints of its version, of all stacks of the lock file.
    pub constraints: String,
    /// The locked version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    /// The lock file.
    pub lock_file: String,
    /// The folder of the locked version, or of the newest one if none is locked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed: Option<PathBuf>,
    /// The folder of a development override.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden_by: Option<PathBuf>,
}
