//! Files in memory.

use crate::{FileKind, Metadata, System};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Files, environment and clock that live in memory only.
///
/// Relative paths start at the current folder, `/` unless another one is set.
#[derive(Debug, Default)]
pub struct MemorySystem {
    state: Mutex<State>,
    current_dir: PathBuf,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, MemoryFile>,
    /// How many files were written.
    n_writes: u64,
    env: BTreeMap<String, String>,
    now: Duration,
    random: u128,
}

#[derive(Clone, Debug)]
struct MemoryFile {
    bytes: Vec<u8>,
    modified: Duration,
    /// Stands for the inode: each file that is written is a new one.
    number: u64,
}

impl State {
    fn write(&mut self, path: PathBuf, bytes: Vec<u8>) {
        self.n_writes += 1;
        let file = MemoryFile { bytes, modified: self.now, number: self.n_writes };
        self.files.insert(path, file);
    }
}

impl MemorySystem {
    /// Makes an empty system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the current folder and returns the system.
    #[must_use]
    pub fn with_current_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.current_dir = path.into();
        self
    }

    /// Adds a file and returns the system.
    #[must_use]
    pub fn with_file(self, path: impl AsRef<Path>, text: impl Into<String>) -> Self {
        let path = self.normalize(path.as_ref());
        self.state().write(path, text.into().into_bytes());
        self
    }

    /// Sets an environment variable and returns the system.
    #[must_use]
    pub fn with_env(self, name: &str, value: &str) -> Self {
        self.state().env.insert(name.into(), value.into());
        self
    }

    /// Sets the clock and returns the system.
    #[must_use]
    pub fn with_now(self, now: Duration) -> Self {
        self.state().now = now;
        self
    }

    /// Changes the text of a file without a trace in its facts, as a write within the tick of
    /// a file system's clock does.
    pub fn write_in_place(&self, path: &Path, text: &str) {
        let path = self.normalize(path);
        if let Some(file) = self.state().files.get_mut(&path) {
            file.bytes = text.as_bytes().to_vec();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn normalize(&self, path: &Path) -> PathBuf {
        let mut out = PathBuf::from("/");
        for part in self.current_dir.join(path).components() {
            match part {
                Component::Normal(name) => out.push(name),
                Component::ParentDir => {
                    out.pop();
                }
                Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            }
        }
        out
    }
}

/// What an operating system says.
fn not_found() -> io::Error {
    const ENOENT: i32 = 2;
    io::Error::from_raw_os_error(ENOENT)
}

impl System for MemorySystem {
    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        String::from_utf8(self.read(path)?)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let state = self.state();
        let file = state.files.get(&self.normalize(path)).ok_or_else(not_found)?;
        Ok(file.bytes.clone())
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let path = self.normalize(path);
        let entries: BTreeSet<PathBuf> = self
            .state()
            .files
            .keys()
            .filter_map(|file| file.strip_prefix(&path).ok()?.components().next())
            .map(|first| path.join(first))
            .collect();
        if entries.is_empty() {
            return Err(not_found());
        }
        Ok(entries.into_iter().collect())
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let path = self.normalize(path);
        let state = self.state();
        let facts =
            |kind, len, modified, inode| Metadata { kind, len, modified, changed: modified, inode };
        if let Some(MemoryFile { bytes, modified, number }) = state.files.get(&path) {
            return Ok(facts(FileKind::File, bytes.len() as u64, *modified, *number));
        }
        if state.files.keys().any(|file| file.starts_with(&path)) {
            return Ok(facts(FileKind::Directory, 0, Duration::ZERO, 0));
        }
        Err(not_found())
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.metadata(path).map(|_| self.normalize(path))
    }

    fn write_bytes(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let path = self.normalize(path);
        self.state().write(path, bytes.to_vec());
        Ok(())
    }

    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut bytes = self.read(path).unwrap_or_default();
        bytes.extend_from_slice(text.as_bytes());
        self.write_bytes(path, &bytes)
    }

    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.metadata(path)?;
        let path = self.normalize(path);
        self.state().files.retain(|file, _| !file.starts_with(&path));
        Ok(())
    }

    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        let bytes = self.read(from)?;
        self.write_bytes(to, &bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.copy(from, to)?;
        self.remove(from)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(Path::new("/").join(&self.current_dir))
    }

    fn env(&self, name: &str) -> Option<String> {
        self.state().env.get(name).cloned()
    }

    fn now(&self) -> Duration {
        self.state().now
    }

    fn utc_offset_seconds(&self) -> i32 {
        0
    }

    fn random(&self) -> u128 {
        let mut state = self.state();
        state.random += 1;
        state.random
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_start_at_the_current_folder() {
        let system = MemorySystem::new().with_current_dir("/a").with_file("b.k", "x = 1");
        assert!(system.is_file(Path::new("/a/b.k")));
        assert!(system.is_file(Path::new("../a/b.k")));
        assert_eq!(system.current_dir().unwrap(), Path::new("/a"));
    }

    #[test]
    fn directories_exist_by_their_files() {
        let system = MemorySystem::new().with_file("a/b/c.k", "x = 1").with_file("/a/d.k", "");
        assert!(system.is_dir(Path::new("/a/b")));
        assert!(system.is_file(Path::new("a/b/../b/c.k")));
        let entries = system.read_dir(Path::new("/a")).unwrap();
        assert_eq!(entries, [PathBuf::from("/a/b"), PathBuf::from("/a/d.k")]);
        assert!(system.read_dir(Path::new("/none")).is_err());
    }
}
