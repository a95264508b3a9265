//! The folder.

use crate::key::Key;
use crate::sealed::{Sealed, seal};
use base_system::{Metadata, System};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Set to `off`, there is no cache; to `always`, it holds even what is quick to find out.
const MODE_VARIABLE: &str = "KCL_CACHE";

/// The folder, if it is not that of the platform.
const FOLDER_VARIABLE: &str = "KCL_CACHE_DIR";

/// The bound of the folder in MiB.
const SIZE_VARIABLE: &str = "KCL_CACHE_SIZE";

const DEFAULT_SIZE: u64 = 256;

/// How many entries there may be.
const MAX_ENTRIES: usize = 4096;

/// What a writer that died has left is removed after this time.
const STALE: Duration = Duration::from_hours(1);

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheMode {
    /// What takes time.
    Normal,
    /// Everything.
    Always,
}

/// A folder of entries.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// What wrote the entries that count.
    build: u64,
    mode: CacheMode,
    /// The bound of the folder in bytes.
    max_bytes: u64,
}

impl Cache {
    /// Makes a cache in a folder, for entries that `build` writes.
    pub fn new(folder: PathBuf, build: u64, mode: CacheMode) -> Self {
        Self { folder, build, mode, max_bytes: DEFAULT_SIZE << 20 }
    }

    /// Sets the bound of the folder in bytes and returns the cache.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// The cache that the environment asks for, if any.
    pub fn from_env(system: &dyn System, build: u64) -> Option<Self> {
        let mode = match system.env(MODE_VARIABLE).as_deref() {
            Some("off" | "0" | "no" | "false") => return None,
            Some("always") => CacheMode::Always,
            _ => CacheMode::Normal,
        };
        let size = system.env(SIZE_VARIABLE).and_then(|size| size.parse::<u64>().ok());
        let size = size.unwrap_or(DEFAULT_SIZE).min(1 << 40);
        let cache = Self::new(platform_folder(system)?, build, mode);
        Some(cache.with_max_bytes(size << 20))
    }

    /// What is kept.
    pub fn mode(&self) -> CacheMode {
        self.mode
    }

    fn path(&self, kind: &str, key: &Key) -> PathBuf {
        self.folder.join(format!("{key}.{kind}"))
    }

    /// Reads an entry; `None` if there is none that can be trusted.
    pub fn get(&self, system: &dyn System, kind: &str, key: &Key) -> Option<Sealed> {
        let bytes = system.read(&self.path(kind, key)).ok()?;
        Sealed::open(self.build, key, bytes)
    }

    /// Writes an entry. A cache that can't be written is left alone.
    pub fn put(&self, system: &dyn System, kind: &str, key: &Key, body: &[u8]) {
        let path = self.path(kind, key);
        let bytes = seal(self.build, key, body);
        if bytes.len() as u64 > self.max_bytes {
            return;
        }
        if system.write_bytes(&path, &bytes).is_err() && system.create_dir_all(&self.folder).is_ok()
        {
            // Nobody waits for the cache: what can't be written is found out again.
            let _ = system.write_bytes(&path, &bytes);
        }
    }

    /// Removes the oldest entries until the folder is well below its bounds, if it is above.
    pub fn trim(&self, system: &dyn System) {
        let Ok(paths) = system.read_dir(&self.folder) else { return };
        let now = system.now();
        let mut entries: Vec<(Metadata, PathBuf)> = Vec::with_capacity(paths.len());
        for path in paths {
            let Ok(facts) = system.metadata(&path) else { continue };
            if is_entry(&path) {
                entries.push((facts, path));
            } else if is_temporary(&path) && facts.modified + STALE < now {
                let _ = system.remove(&path);
            }
        }
        let mut bytes: u64 = entries.iter().map(|(facts, _)| facts.len).sum();
        if bytes <= self.max_bytes && entries.len() <= MAX_ENTRIES {
            return;
        }
        entries.sort_by_key(|(facts, _)| facts.modified);
        let mut n_left = entries.len();
        for (facts, path) in &entries {
            if bytes <= self.max_bytes / 4 * 3 && n_left <= MAX_ENTRIES / 4 * 3 {
                break;
            }
            // Another process may have removed it.
            let _ = system.remove(path);
            bytes -= facts.len;
            n_left -= 1;
        }
    }
}

/// Returns the entries in the folder of the environment's cache, whoever wrote them.
pub fn entries_from_env(system: &dyn System) -> Vec<PathBuf> {
    let paths = platform_folder(system).and_then(|folder| system.read_dir(&folder).ok());
    let mut paths = paths.unwrap_or_default();
    paths.retain(|path| is_entry(path) || is_temporary(path));
    paths
}

/// Whether a file has the name of an entry.
fn is_entry(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
    path.extension().is_some()
        && stem.len() == 64
        && stem.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a file is an entry that is being written.
fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    name.starts_with('.') && path.extension().is_some_and(|extension| extension == "tmp")
}

fn platform_folder(system: &dyn System) -> Option<PathBuf> {
    let variable = |name| system.env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = variable(FOLDER_VARIABLE) {
        return Some(folder);
    }
    let parent = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Caches"))
    } else {
        let home = || variable("HOME").map(|home| home.join(".cache"));
        variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute()).or_else(home)
    };
    parent.map(|parent| parent.join("kcl"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;

    fn cache() -> Cache {
        Cache::new("/cache".into(), 1, CacheMode::Normal)
    }

    #[test]
    fn entries_are_found_by_kind_and_key() {
        let system = MemorySystem::new();
        let key = crate::hash(b"a");
        cache().put(&system, "index", &key, b"body");
        assert_eq!(cache().get(&system, "index", &key).unwrap().all().unwrap(), b"body");
        assert!(cache().get(&system, "other", &key).is_none());
        assert!(cache().get(&system, "index", &crate::hash(b"b")).is_none());
    }

    #[test]
    fn an_entry_under_the_name_of_another_is_nothing() {
        let system = MemorySystem::new();
        let (a, b) = (crate::hash(b"a"), crate::hash(b"b"));
        cache().put(&system, "index", &a, b"body");
        system.copy(&cache().path("index", &a), &cache().path("index", &b)).unwrap();
        assert!(cache().get(&system, "index", &b).is_none());
    }

    #[test]
    fn the_oldest_go_first_and_foreign_files_stay() {
        let mut system = MemorySystem::new().with_file("/cache/notes.txt", "x".repeat(5000));
        let cache = cache().with_max_bytes(4000);
        let keys: Vec<Key> = (0..8_u8).map(|n| crate::hash(&[n])).collect();
        for (n, key) in keys.iter().enumerate() {
            system = system.with_now(Duration::from_secs(n as u64));
            cache.put(&system, "index", key, &[0; 600]);
            cache.trim(&system);
        }
        let kept: Vec<bool> =
            keys.iter().map(|key| cache.get(&system, "index", key).is_some()).collect();
        assert_eq!(kept, [false, false, false, false, true, true, true, true]);
        assert!(system.exists(Path::new("/cache/notes.txt")));
    }

    #[test]
    fn the_environment_chooses() {
        let from = |system: &MemorySystem| Cache::from_env(system, 1);
        assert!(from(&MemorySystem::new()).is_none());
        let home = || MemorySystem::new().with_env("HOME", "/home/me");
        assert!(from(&home()).is_some());
        assert!(from(&home().with_env("KCL_CACHE", "off")).is_none());
        let chosen = home().with_env("KCL_CACHE", "always").with_env("KCL_CACHE_DIR", "/c");
        let cache = from(&chosen).unwrap();
        assert_eq!((cache.mode(), cache.folder), (CacheMode::Always, PathBuf::from("/c")));
    }
}
