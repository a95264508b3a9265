//! Installed providers: folders that hold their programs, and the lock file that says which ones may
//! run.
//!
//! Nothing is downloaded here. Which folders are searched is the choice of the user; a repository has
//! only the lock file, which can forbid programs but not name any.

mod hash;
mod lock;
mod mirror;

pub use hash::folder_hash;
pub use lock::{Lock, LockError, Locked};
pub use mirror::{Installed, Mirror, platform};

use crate::address::ProviderAddress;
use crate::runtime::ProviderSource;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Finds installed providers that the lock file allows.
#[derive(Clone, Debug, Default)]
pub struct LockedProviders {
    /// Folders with providers, searched in order.
    pub mirrors: Vec<Mirror>,
    /// Folders with programs under development, which are neither versioned nor locked.
    pub overrides: BTreeMap<ProviderAddress, PathBuf>,
    /// The lock file.
    pub lock: Lock,
}

#[async_trait]
impl ProviderSource for LockedProviders {
    async fn program(&self, address: &ProviderAddress, version: &str) -> Result<PathBuf, String> {
        let (all, address, version) = (self.clone(), address.clone(), version.to_owned());
        let found = tokio::task::spawn_blocking(move || all.find(&address, &version)).await;
        found.map_err(|error| error.to_string())?
    }
}

impl LockedProviders {
    fn find(&self, address: &ProviderAddress, version: &str) -> Result<PathBuf, String> {
        if let Some(folder) = self.overrides.get(address) {
            return mirror::program_in(folder, &address.name)
                .map_err(|it| format!("in the development override {}: {it}", folder.display()));
        }
        let Some(locked) = self.lock.get(address) else {
            return Err(format!("`{address}` is not in the lock file"));
        };
        if locked.version != version {
            let locked = &locked.version;
            return Err(format!("version {version} is requested, but the lock file says {locked}"));
        }
        let mut found = None;
        for mirror in &self.mirrors {
            found = mirror.find(address, version)?;
            if found.is_some() {
                break;
            }
        }
        let Some(Installed { folder, program }) = found else {
            let folders: Vec<String> =
                self.mirrors.iter().map(|it| it.0.display().to_string()).collect();
            return Err(format!("it is not installed (looked in {})", folders.join(", ")));
        };
        let hash = folder_hash(&folder)
            .map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
        if locked.allows(&hash) {
            return Ok(program);
        }
        Err(format!(
            "{} has the checksum {hash}, which is not in the lock file; it was changed, or comes from elsewhere",
            folder.display()
        ))
    }
}
