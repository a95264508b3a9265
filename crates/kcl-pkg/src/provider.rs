//! How packages that are not on disk are obtained.

use crate::lock_file::{Locked, Origin};
use crate::source::Repository;
use crate::sum::Sums;
use std::fmt;
use std::path::{Path, PathBuf};

/// Gets packages. The only implementation that uses the network is in `kcl-fetch`; a program that
/// gives none works with what is on disk.
pub trait Provider: fmt::Debug + Send + Sync {
    /// Returns the tags of a repository; the error is a message.
    fn versions(&self, repository: &Repository) -> Result<Vec<String>, String>;

    /// Returns the folder of a package, downloaded if needed; the error is a message.
    fn fetch(&self, wanted: &Wanted<'_>) -> Result<Fetched, String>;

    /// Whether the lock file must be complete, and stays as it is.
    fn is_locked(&self) -> bool;

    /// Whether the lock file of a module may be written.
    fn may_write(&self, root: &Path) -> bool;
}

/// A package to get.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'w> {
    /// The name in `kcl.mod`.
    pub name: &'w str,
    /// Where it comes from, at one version.
    pub origin: &'w Origin,
    /// What the lock file records of it.
    pub locked: Option<&'w Locked>,
    /// Whether the source is asked again although the package was downloaded before.
    pub renew: bool,
}

/// A package that was obtained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The folder of the package.
    pub folder: PathBuf,
    /// The folder of the whole download, which is larger if the package is a part of a repository.
    pub whole: PathBuf,
    /// The checksums: the sum is that of `folder`, the digest that of `whole`.
    pub sums: Sums,
    /// The commit of a Git repository.
    pub resolved: Option<String>,
}
