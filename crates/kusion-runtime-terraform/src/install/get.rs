//! Installs providers: from archives in folders, or from a server.

use super::{
    Lock, LockPolicy, Mirror, ProviderRequirement, Remote, Verified, archive_hash, find_installed,
    lock_installed, newest, parse_version, unpack,
};
use crate::address::ProviderAddress;
use semver::Version;
use std::path::{Path, PathBuf};

/// Where providers come from and go to.
#[derive(Clone, Copy, Debug)]
pub struct Installer<'a> {
    /// Folders with providers and archives of them, searched in order.
    pub mirrors: &'a [Mirror],
    /// Servers; `None` to stay offline.
    pub remote: Option<&'a Remote>,
    /// The folder for what is unpacked; it is one of the folders above.
    pub target: &'a Mirror,
    /// Checksums of the folders that were read.
    pub verified: &'a Verified,
}

/// What was installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledVersion {
    /// The version.
    pub version: String,
    /// Where its archive came from; `None` if it was installed before.
    pub source: Option<String>,
}

impl Installer<'_> {
    /// Installs a provider and locks it: the version that is locked already if it is still allowed,
    /// otherwise the newest one.
    ///
    /// # Errors
    ///
    /// No version fits, it cannot be downloaded or unpacked, or has another checksum than the server
    /// or the lock file says. Nothing is installed then.
    pub async fn install(
        &self,
        lock: &mut Lock,
        requirement: &ProviderRequirement,
        policy: LockPolicy,
    ) -> Result<InstalledVersion, String> {
        let address = &requirement.address;
        let version = self.choose(lock, requirement, policy).await?;
        let text = version.to_string();
        if find_installed(self.mirrors, address, &text)?.is_some() {
            lock_installed(lock, requirement, self.mirrors, self.verified, policy)?;
            return Ok(InstalledVersion { version: text, source: None });
        }
        let folder = self.target.folder_for(address, &text);
        let above = folder.parent().unwrap_or(&folder);
        std::fs::create_dir_all(above)
            .map_err(|error| format!("cannot create {}: {error}", above.display()))?;
        let archive = self.mirrors.iter().find_map(|it| it.archive(address, &text));
        let (archive, source, said) = match archive {
            Some(path) => (path.clone(), path.display().to_string(), Vec::new()),
            None => self.download(address, &version, above).await?,
        };
        let is_download = !said.is_empty() || archive.starts_with(above);
        let done = self.unpack(lock, requirement, policy, (&archive, &said), &folder);
        if is_download {
            // The error of the installation counts.
            let _ = std::fs::remove_file(&archive);
        }
        if done.is_err() {
            let _ = std::fs::remove_dir_all(&folder);
        }
        done?;
        Ok(InstalledVersion { version: text, source: Some(source) })
    }

    /// Chooses a version: of the lock file, of folders, or of a server.
    async fn choose(
        &self,
        lock: &Lock,
        requirement: &ProviderRequirement,
        policy: LockPolicy,
    ) -> Result<Version, String> {
        let ProviderRequirement { address, constraints } = requirement;
        let locked = lock.get(address).and_then(|it| parse_version(&it.version));
        if let Some(version) = locked.filter(|it| !policy.upgrade && constraints.allow(it)) {
            return Ok(version);
        }
        let archives = self.mirrors.iter().flat_map(|it| it.archive_versions(address));
        let archives =
            archives.filter_map(|it| parse_version(&it)).filter(|it| constraints.allow(it));
        let local = newest(self.mirrors, requirement).into_iter().chain(archives).max();
        let remote = match self.remote {
            Some(remote) if policy.upgrade || local.is_none() => remote.versions(address).await?,
            _ => Vec::new(),
        };
        let remote = remote.into_iter().filter(|it| constraints.allow(it)).max();
        local.into_iter().chain(remote).max().ok_or_else(|| {
            let folders: Vec<String> =
                self.mirrors.iter().map(|it| it.0.display().to_string()).collect();
            let folders = folders.join(", ");
            let server = if self.remote.is_some() { " and the server" } else { "" };
            format!("no version of `{address}` is `{constraints}` (looked in {folders}{server})")
        })
    }

    /// Downloads the archive of a version. Returns its file, its URL and its checksums.
    async fn download(
        &self,
        address: &ProviderAddress,
        version: &Version,
        folder: &Path,
    ) -> Result<(PathBuf, String, Vec<String>), String> {
        let Some(remote) = self.remote else {
            return Err(format!("`{address}` {version} is in no folder, and no server is asked"));
        };
        let package = remote.package(address, version).await?;
        let file = folder.join(format!(".download-{}.zip", std::process::id()));
        let _ = std::fs::remove_file(&file);
        remote.download(&package, &file).await?;
        Ok((file, package.place(), package.hashes))
    }

    /// Unpacks an archive whose checksum is the one of the server, and locks it.
    fn unpack(
        &self,
        lock: &mut Lock,
        requirement: &ProviderRequirement,
        policy: LockPolicy,
        (archive, said): (&Path, &[String]),
        folder: &Path,
    ) -> Result<(), String> {
        let address = &requirement.address;
        let hash = archive_hash(archive)
            .map_err(|error| format!("cannot read {}: {error}", archive.display()))?;
        let has = |hashes: &[String], start: &str| hashes.iter().any(|it| it.starts_with(start));
        if has(said, "zh:") && !said.contains(&hash) {
            return Err(format!(
                "the archive of `{address}` has the checksum {hash}, which the server does not name"
            ));
        }
        unpack(archive, folder)?;
        let folder_hash = self.verified.hash(folder)?;
        if has(said, "h1:") && !has(said, "zh:") && !said.contains(&folder_hash) {
            return Err(format!(
                "`{address}` has the checksum {folder_hash}, which the server does not name"
            ));
        }
        // A locked archive may not have been unpacked before.
        let is_locked = lock.get(address).is_some_and(|it| it.allows(&hash));
        let policy = LockPolicy { accept: policy.accept || is_locked, ..policy };
        let mirrors = std::slice::from_ref(self.target);
        lock_installed(lock, requirement, mirrors, self.verified, policy)?;
        if let Some(mut locked) = lock.get(address).cloned() {
            locked.hashes.push(hash);
            lock.insert(address.clone(), locked);
        }
        Ok(())
    }
}
