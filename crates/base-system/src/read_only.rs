//! A system that changes nothing.

use crate::{Metadata, System};
use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A system that refuses all changes, and remembers that it did.
///
/// For work that may have to be done again.
pub struct ReadOnly<'s> {
    system: &'s dyn System,
    was_refused: Cell<bool>,
}

impl<'s> ReadOnly<'s> {
    /// Makes a view of a system.
    pub fn new(system: &'s dyn System) -> Self {
        Self { system, was_refused: Cell::new(false) }
    }

    /// Whether a change was refused.
    pub fn was_refused(&self) -> bool {
        self.was_refused.get()
    }

    fn refuse<T>(&self) -> io::Result<T> {
        self.was_refused.set(true);
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "nothing may be changed here"))
    }
}

impl System for ReadOnly<'_> {
    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        self.system.read_to_string(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.system.read(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.system.read_dir(path)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.system.metadata(path)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.system.canonicalize(path)
    }

    fn write_bytes(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        self.refuse()
    }

    fn append(&self, _path: &Path, _text: &str) -> io::Result<()> {
        self.refuse()
    }

    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        self.refuse()
    }

    fn remove(&self, _path: &Path) -> io::Result<()> {
        self.refuse()
    }

    fn copy(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        self.refuse()
    }

    fn rename(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        self.refuse()
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        self.system.current_dir()
    }

    fn env(&self, name: &str) -> Option<String> {
        self.system.env(name)
    }

    fn now(&self) -> Duration {
        self.system.now()
    }

    fn utc_offset_seconds(&self) -> i32 {
        self.system.utc_offset_seconds()
    }

    fn random(&self) -> u128 {
        self.system.random()
    }
}
