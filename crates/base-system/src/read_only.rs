//! A system that changes nothing.

use crate::{Metadata, System};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A system that refuses all changes, and remembers that it did.
///
/// For work that may have to be done again.
pub struct ReadOnly<'s, S: System + ?Sized = dyn System> {
    system: &'s S,
    was_refused: AtomicBool,
}

impl<'s, S: System + ?Sized> ReadOnly<'s, S> {
    /// Makes a view of a system.
    pub fn new(system: &'s S) -> Self {
        Self { system, was_refused: AtomicBool::new(false) }
    }

    /// Whether a change was refused.
    pub fn was_refused(&self) -> bool {
        self.was_refused.load(Ordering::Relaxed)
    }

    fn refuse<T>(&self) -> io::Result<T> {
        self.was_refused.store(true, Ordering::Relaxed);
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "nothing may be changed here"))
    }
}

impl<S: System + ?Sized> System for ReadOnly<'_, S> {
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
