//! The folder of downloaded packages, shared by all processes of a user.
//!
//! - `packages/DIGEST`: a package, never changed after it is there.
//! - `sources/HASH`: which digest a source had when it was downloaded last.
//! - `locks/HASH`: locked while a source is downloaded, so that processes download it once.
//! - `tmp/…`: downloads that are not complete; a folder moves to `packages` when it is. Beside each is
//!   a file that its process locks: what a process that was killed has left is removed by the next.

use crate::error::FetchError;
use base_system::{OsSystem, System as _};
use data_encoding::HEXLOWER;
use kcl_pkg::{Sums, sums};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The folder of downloaded packages.
#[derive(Debug)]
pub(crate) struct Store {
    root: PathBuf,
}

/// What a source had when it was downloaded last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) digest: String,
    /// The commit of a Git repository; empty for others.
    pub(crate) resolved: String,
}

/// A folder that is removed at the end, unless it was moved away.
pub(crate) struct Temporary {
    pub(crate) path: PathBuf,
    /// Locked as long as the folder is used.
    _lock: File,
}

impl Temporary {
    /// Makes an empty folder in another one.
    pub(crate) fn new(parent: &Path) -> Result<Self, FetchError> {
        let path = parent.join(format!("{:032x}", OsSystem.random()));
        let lock = lock_of(&path);
        let file = File::options().create_new(true).write(true).open(&lock);
        let file = file.map_err(FetchError::file("create", &lock))?;
        file.lock().map_err(FetchError::file("lock", &lock))?;
        let made = Self { path, _lock: file };
        fs::create_dir(&made.path).map_err(FetchError::file("create", &made.path))?;
        Ok(made)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed now is removed by a later download.
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_file(lock_of(&self.path));
    }
}

fn lock_of(path: &Path) -> PathBuf {
    path.with_extension("lock")
}

impl Store {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the folder of a package with this digest.
    pub(crate) fn package(&self, digest: &str) -> PathBuf {
        self.root.join("packages").join(digest.strip_prefix("blake3:").unwrap_or(digest))
    }

    /// Waits until no other process downloads from this source. The lock ends with the file.
    pub(crate) fn lock(&self, source: &str) -> Result<File, FetchError> {
        let path = self.file("locks", source)?;
        let mut options = File::options();
        let file = options.create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(FetchError::file("open", &path))?;
        file.lock().map_err(FetchError::file("lock", &path))?;
        Ok(file)
    }

    /// Returns what a source had when it was downloaded last; `None` if it never was.
    pub(crate) fn record(&self, source: &str) -> Option<Record> {
        let text = fs::read_to_string(self.file("sources", source).ok()?).ok()?;
        let mut lines = text.lines();
        let is_same = lines.next() == Some(source);
        let digest = lines.next()?.to_owned();
        let resolved = lines.next().unwrap_or_default().to_owned();
        let is_kept = is_same && self.package(&digest).is_dir();
        is_kept.then_some(Record { digest, resolved })
    }

    /// Makes an empty folder for a download, and removes old ones.
    pub(crate) fn temporary(&self) -> Result<Temporary, FetchError> {
        let parent = self.root.join("tmp");
        fs::create_dir_all(&parent).map_err(FetchError::file("create", &parent))?;
        remove_abandoned(&parent);
        Temporary::new(&parent)
    }

    /// Moves a complete package to its place and records the source. Returns its folder and its
    /// checksums.
    pub(crate) fn keep(
        &self,
        complete: &Path,
        source: &str,
        resolved: &str,
    ) -> Result<(PathBuf, Sums), FetchError> {
        let found = sums(&OsSystem, complete)
            .map_err(|error| FetchError::refused(source, error.to_string()))?;
        let place = self.package(&found.digest);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(FetchError::file("create", parent))?;
        }
        match fs::rename(complete, &place) {
            Ok(()) => {}
            // The same content, from another source or by another process.
            Err(error) if is_taken(&error) => Self::check(&place, &found.digest).map(drop)?,
            Err(error) => return Err(FetchError::file("create", &place)(error)),
        }
        let path = self.file("sources", source)?;
        let text = format!("{source}\n{}\n{resolved}\n", found.digest);
        OsSystem.write(&path, &text).map_err(FetchError::file("write", &path))?;
        Ok((place, found))
    }

    /// Computes the checksums of a stored package, which must be those of its name.
    pub(crate) fn check(folder: &Path, digest: &str) -> Result<Sums, FetchError> {
        let found = sums(&OsSystem, folder).map_err(|error| {
            FetchError::refused(format!("`{}`", folder.display()), error.to_string())
        })?;
        if found.digest == digest {
            return Ok(found);
        }
        let (folder, recorded) = (folder.to_owned(), digest.to_owned());
        Err(FetchError::Tampered { folder, recorded, found: found.digest })
    }

    /// Returns the path of the file of a source, in a folder that exists.
    fn file(&self, folder: &str, source: &str) -> Result<PathBuf, FetchError> {
        let folder = self.root.join(folder);
        fs::create_dir_all(&folder).map_err(FetchError::file("create", &folder))?;
        Ok(folder.join(HEXLOWER.encode(&Sha256::digest(source.as_bytes()))))
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists)
}

/// Removes folders of downloads whose process has ended.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for lock in entries.flatten().map(|it| it.path()) {
        let is_lock = lock.extension().is_some_and(|it| it == "lock");
        let Ok(file) = File::options().write(true).open(&lock) else { continue };
        // Another process that removes the same does no harm.
        if is_lock && file.try_lock().is_ok() {
            let _ = fs::remove_dir_all(lock.with_extension(""));
            let _ = fs::remove_file(&lock);
        }
    }
}
