//! Installed providers: folders that hold their programs, the lock file that says which ones may run,
//! and servers that have more of them.
//!
//! Which folders and servers are searched is the choice of the user; a repository has only the lock
//! file, which can forbid programs but not name any. Nothing is downloaded unless [`Installer`] is
//! asked to.

mod archive;
mod get;
mod hash;
mod lock;
mod mirror;
mod remote;
mod require;
mod version;

pub use archive::{archive_hash, unpack};
pub use get::{InstalledVersion, Installer};
pub use hash::folder_hash;
pub use lock::{Lock, LockError, Locked};
pub(crate) use mirror::program_in;
pub use mirror::{Installed, Mirror, platform};
pub use remote::{Package, Remote};
pub use require::{
    LockPolicy, ProviderRequirement, find_installed, lock_installed, newest, requirements,
};
pub use version::{Constraints, parse_version};

use crate::address::ProviderAddress;
use crate::runtime::{NotFound, ProviderSource};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The command that writes the lock file of a stack.
const LOCK_COMMAND: Option<&str> = Some("provider lock");

/// Finds installed providers that the lock file allows.
#[derive(Clone, Debug, Default)]
pub struct LockedProviders {
    /// Folders with providers, searched in order.
    pub mirrors: Vec<Mirror>,
    /// Folders with programs under development, which are neither versioned nor locked.
    pub overrides: BTreeMap<ProviderAddress, PathBuf>,
    /// The lock file.
    pub lock: Lock,
    /// Checksums of the folders that were read.
    pub verified: Verified,
}

/// Checksums of folders, each read once by a process: programs are large.
#[derive(Clone, Debug, Default)]
pub struct Verified(Arc<Mutex<BTreeMap<PathBuf, String>>>);

impl Verified {
    /// Returns the checksum of a folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be read; the message names it.
    pub fn hash(&self, folder: &Path) -> Result<String, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hash) = known.get(folder) {
            return Ok(hash.clone());
        }
        let hash = folder_hash(folder)
            .map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
        known.insert(folder.to_owned(), hash.clone());
        Ok(hash)
    }
}

#[async_trait]
impl ProviderSource for LockedProviders {
    async fn program(
        &self,
        address: &ProviderAddress,
        constraints: &str,
    ) -> Result<PathBuf, NotFound> {
        let (all, address, requested) = (self.clone(), address.clone(), constraints.to_owned());
        let found = tokio::task::spawn_blocking(move || all.find(&address, &requested)).await;
        found.map_err(|error| error.to_string())?
    }
}

impl LockedProviders {
    fn find(&self, address: &ProviderAddress, requested: &str) -> Result<PathBuf, NotFound> {
        if let Some(folder) = self.overrides.get(address) {
            let program = program_in(folder, &address.name);
            let fail = |it| format!("in the development override {}: {it}", folder.display());
            return Ok(program.map_err(fail)?);
        }
        let stale = |message| NotFound { message, command: LOCK_COMMAND };
        let Some(locked) = self.lock.get(address) else {
            return Err(stale(format!("`{address}` is not in the lock file")));
        };
        let constraints = Constraints::parse(requested)?;
        let version = &locked.version;
        if !parse_version(version).is_some_and(|it| constraints.allow(&it)) {
            let message =
                format!("the lock file has version {version}, which is not `{requested}`");
            return Err(stale(message));
        }
        let found = find_installed(&self.mirrors, address, version)?;
        let Some(Installed { folder, program }) = found else {
            let message = self.missing(version);
            return Err(NotFound { message, command: Some("provider install") });
        };
        let hash = self.verified.hash(&folder)?;
        if locked.allows(&hash) {
            return Ok(program);
        }
        let folder = folder.display();
        Err(NotFound::from(format!(
            "{folder} has the checksum {hash}, which is not in the lock file; it was changed, or \
             comes from elsewhere"
        )))
    }

    fn missing(&self, version: &str) -> String {
        let folders = self.mirrors.iter().map(|it| it.0.display().to_string());
        let folders = folders.collect::<Vec<_>>().join(", ");
        let platform = platform();
        format!("version {version} for {platform} is not installed (looked in {folders})")
    }
}
