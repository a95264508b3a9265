//! Files in memory.

use crate::{FileKind, Metadata, System};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Files, environment and clock that live in memory only.
///
/// Paths are absolute; relative ones start at `/`.
#[derive(Debug, Default)]
pub struct MemorySystem {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, String>,
    env: BTreeMap<String, String>,
    now: Duration,
    random: u128,
}

impl MemorySystem {
    /// Makes an empty system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and returns the system.
    #[must_use]
    pub fn with_file(self, path: impl AsRef<Path>, text: impl Into<String>) -> Self {
        self.state().files.insert(normalize(path.as_ref()), text.into());
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for part in path.components() {
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

fn not_found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("no such file: {}", path.display()))
}

impl System for MemorySystem {
    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        self.state().files.get(&normalize(path)).cloned().ok_or_else(|| not_found(path))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.read_to_string(path).map(String::into_bytes)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let path = normalize(path);
        let entries: BTreeSet<PathBuf> = self
            .state()
            .files
            .keys()
            .filter_map(|file| file.strip_prefix(&path).ok()?.components().next())
            .map(|first| path.join(first))
            .collect();
        if entries.is_empty() {
            return Err(not_found(&path));
        }
        Ok(entries.into_iter().collect())
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let path = normalize(path);
        let state = self.state();
        if let Some(text) = state.files.get(&path) {
            let len = text.len() as u64;
            return Ok(Metadata { kind: FileKind::File, len, modified: Duration::ZERO });
        }
        if state.files.keys().any(|file| file.starts_with(&path)) {
            return Ok(Metadata { kind: FileKind::Directory, len: 0, modified: Duration::ZERO });
        }
        Err(not_found(&path))
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.metadata(path).map(|_| normalize(path))
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        self.state().files.insert(normalize(path), text.into());
        Ok(())
    }

    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        self.state().files.entry(normalize(path)).or_default().push_str(text);
        Ok(())
    }

    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.metadata(path)?;
        let path = normalize(path);
        self.state().files.retain(|file, _| !file.starts_with(&path));
        Ok(())
    }

    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        let text = self.read_to_string(from)?;
        self.write(to, &text)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.copy(from, to)?;
        self.remove(from)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(PathBuf::from("/"))
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
    fn directories_exist_by_their_files() {
        let system = MemorySystem::new().with_file("a/b/c.k", "x = 1").with_file("/a/d.k", "");
        assert!(system.is_dir(Path::new("/a/b")));
        assert!(system.is_file(Path::new("a/b/../b/c.k")));
        let entries = system.read_dir(Path::new("/a")).unwrap();
        assert_eq!(entries, [PathBuf::from("/a/b"), PathBuf::from("/a/d.k")]);
        assert!(system.read_dir(Path::new("/none")).is_err());
    }
}
