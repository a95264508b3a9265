//! Opens the runtime of Terraform resources for stacks.

use crate::address::ProviderAddress;
use crate::host::guard::Guard;
use crate::install::{Lock, LockedProviders, Mirror, Remote, Verified};
use crate::limits::Limits;
use crate::pool::Pool;
use crate::runtime::{Consent, TerraformRuntime, TerraformSettings};
use async_trait::async_trait;
use kusion_model::StackOwner;
use kusion_runtime::{Runtime, RuntimeError, RuntimeSource};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The type of resources that Terraform providers manage.
pub const RESOURCE_TYPE: &str = "Terraform";

/// The name of lock files.
pub const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The most bytes of a lock file that are read.
const MAX_LOCK: u64 = 4 << 20;

/// What a user says about providers, for all stacks of a command. Nothing of it comes from a
/// repository.
#[derive(Clone, Default)]
pub struct Providers {
    /// Folders with installed providers, searched in order.
    pub mirrors: Vec<Mirror>,
    /// Folders with programs under development, which are neither versioned nor locked.
    pub overrides: BTreeMap<ProviderAddress, PathBuf>,
    /// Configuration by provider, such as credentials.
    pub configs: BTreeMap<ProviderAddress, Map<String, Value>>,
    /// Servers that have providers.
    pub remote: Remote,
    /// The environment of providers: credentials come from it.
    pub environment: Vec<(OsString, OsString)>,
    /// What ends providers with this process.
    pub guard: Option<Guard>,
    /// The limits of providers.
    pub limits: Limits,
    /// Those that run.
    pub pool: Arc<Pool>,
    /// Checksums of the folders that were read.
    pub verified: Verified,
}

/// Opens the runtime of one stack.
pub struct TerraformSource {
    providers: Arc<Providers>,
    /// Folders that may hold the lock file; the first one that does counts.
    folders: Vec<PathBuf>,
    consent: Option<Arc<dyn Consent>>,
}

impl TerraformSource {
    /// Creates the source of a stack, whose lock file is in one of these folders; `consent` is asked
    /// before a provider is configured as the stack says. Reads nothing yet.
    pub fn new(
        providers: Arc<Providers>,
        folders: Vec<PathBuf>,
        consent: Option<Arc<dyn Consent>>,
    ) -> Self {
        Self { providers, folders, consent }
    }
}

#[async_trait]
impl RuntimeSource for TerraformSource {
    async fn start(&self, _owner: &StackOwner) -> Result<Arc<dyn Runtime>, RuntimeError> {
        let folders = self.folders.clone();
        let read = tokio::task::spawn_blocking(move || read_lock(&folders)).await;
        let unusable = |message| RuntimeError::Unusable { message, command: None };
        let lock = read.map_err(|error| unusable(error.to_string()))?.map_err(unusable)?;
        let Providers {
            mirrors,
            overrides,
            configs,
            environment,
            guard,
            limits,
            pool,
            verified,
            ..
        } = (*self.providers).clone();
        let lock = lock.map(|(_, lock)| lock).unwrap_or_default();
        let source = LockedProviders { mirrors, overrides, lock, verified };
        let (source, consent) = (Arc::new(source), self.consent.clone());
        let settings =
            TerraformSettings { source, environment, guard, limits, configs, consent, pool };
        Ok(Arc::new(TerraformRuntime::new(settings)))
    }
}

/// Reads the lock file in the first folder that has one. Returns its path, too.
///
/// # Errors
///
/// It cannot be read, or is not a lock file; the message names the file and the line.
pub fn read_lock(folders: &[PathBuf]) -> Result<Option<(PathBuf, Lock)>, String> {
    for folder in folders {
        let path = folder.join(LOCK_FILE);
        let text = match read_text(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            read => read.map_err(|error| format!("cannot read {}: {error}", path.display()))?,
        };
        let lock = Lock::parse(&text)
            .map_err(|error| format!("{}:{}: {}", path.display(), error.line, error.message))?;
        return Ok(Some((path, lock)));
    }
    Ok(None)
}

/// Reads a file of a repository, which may be anything.
fn read_text(path: &Path) -> std::io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_LOCK + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_LOCK {
        return Err(std::io::Error::other(format!("it has more than {MAX_LOCK} bytes")));
    }
    Ok(text)
}
