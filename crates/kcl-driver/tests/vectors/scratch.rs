//! The real system as seen from another working folder.

use base_system::{Metadata, OsSystem, System};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The real system, but relative paths start at a folder. The working folder of the process does
/// not change: other tests may run at the same time.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    fn at(&self, path: &Path) -> PathBuf {
        self.0.join(path)
    }
}

impl System for Scratch {
    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        OsSystem.read_to_string(&self.at(path))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        OsSystem.read(&self.at(path))
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        OsSystem.read_dir(&self.at(path))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        OsSystem.metadata(&self.at(path))
    }

    fn link_metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        OsSystem.link_metadata(&self.at(path))
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        OsSystem.canonicalize(&self.at(path))
    }

    fn write_bytes(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        OsSystem.write_bytes(&self.at(path), bytes)
    }

    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        OsSystem.append(&self.at(path), text)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        OsSystem.create_dir_all(&self.at(path))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        OsSystem.remove(&self.at(path))
    }

    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsSystem.copy(&self.at(from), &self.at(to))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsSystem.rename(&self.at(from), &self.at(to))
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.0.clone())
    }

    fn env(&self, name: &str) -> Option<String> {
        OsSystem.env(name)
    }

    fn now(&self) -> Duration {
        OsSystem.now()
    }

    fn utc_offset_seconds(&self) -> i32 {
        OsSystem.utc_offset_seconds()
    }

    fn random(&self) -> u128 {
        OsSystem.random()
    }
}
