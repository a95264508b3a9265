//! Packages that were loaded and checked before, by this process or by others.
//!
//! A package is known by its [index](crate::index), which follows from the content of its
//! files, and by the keys under which it was checked, which follow from its content and that
//! of all it imports. On disk these are entries of a [`Cache`]; a third one holds what the
//! files of a package looked like to the file system, so that they need not be read.

mod keep;
mod record;

use crate::index::Index;
use base_cache::{Cache, CacheMode, Key, KeyBuilder, hash};
use base_system::{Metadata, System};
use base_text::LineIndex;
use kcl_syntax::ast::{Module, StmtId};
use record::Record;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The kinds of entries on disk.
const FILES: &str = "files";
const INDEX: &str = "index";
const CHECKED: &str = "checked";

/// Packages with less text are parsed each time.
const MIN_ON_DISK: u64 = 32 << 10;
const MIN_IN_MEMORY: u64 = 4 << 10;

/// How many choices of statements of one package are kept in memory.
const MAX_PARTS: usize = 64;

/// How many main files are kept in memory.
const N_RECENT: usize = 16;

/// What is known of imported packages from programs that were loaded before.
///
/// Shared by programs and threads. It takes files as they were when first seen: one store is
/// for programs that see the files at one point in time.
#[derive(Debug, Default)]
pub struct PackageStore {
    cache: Option<Cache>,
    /// Whether other programs follow.
    is_shared: bool,
    /// When the store was made. What changed since is not known for sure.
    began: Duration,
    files: Mutex<FxHashMap<PathBuf, StoredFile>>,
    /// The main files that were parsed last: neighbouring programs often share some.
    recent: Mutex<VecDeque<(PathBuf, StoredFile)>>,
    seen: Mutex<FxHashMap<PathBuf, Seen>>,
    packages: Mutex<FxHashMap<Key, Arc<StoredPackage>>>,
    checked: Mutex<FxHashSet<Key>>,
}

/// A file, parsed without findings.
#[derive(Clone, Debug)]
pub(crate) struct StoredFile {
    pub(crate) text: Arc<String>,
    pub(crate) module: Arc<Module>,
    pub(crate) lines: Arc<OnceLock<LineIndex>>,
}

/// What the file system says of a file, and what was found in it afterwards.
#[derive(Clone, Debug)]
struct Seen {
    facts: Metadata,
    hash: Option<Key>,
    text: Option<String>,
}

/// A package that was parsed before.
#[derive(Debug)]
pub(crate) struct StoredPackage {
    pub(crate) index: Index,
    /// Stands for the content of all its files.
    pub(crate) content: Key,
    /// Stand for the content of each file.
    hashes: Vec<Key>,
    texts: Mutex<FxHashMap<u32, Arc<String>>>,
    /// The trees of some of its statements.
    parts: Mutex<PartsByStmts>,
}

type PartsByStmts = FxHashMap<Box<[u32]>, Arc<[Part]>>;

/// The tree of some statements of a file.
#[derive(Debug)]
pub(crate) struct Part {
    /// Which file of the package.
    pub(crate) file: u32,
    pub(crate) source: StoredFile,
    /// The import statements in order.
    pub(crate) imports: Vec<StmtId>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PackageStore {
    /// Makes a store for many programs.
    pub fn shared() -> Self {
        Self { is_shared: true, ..Self::default() }
    }

    /// Takes in what a cache on disk holds, and puts there what is found out.
    #[must_use]
    pub fn with_cache(mut self, system: &dyn System, cache: Option<Cache>) -> Self {
        self.began = system.now();
        self.cache = cache;
        self
    }

    /// Whether anything is kept for other programs.
    pub fn keeps(&self) -> bool {
        self.is_shared || self.cache.is_some()
    }

    /// A file of an imported package that was parsed before.
    pub(crate) fn file(&self, path: &Path) -> Option<StoredFile> {
        if self.is_shared { lock(&self.files).get(path).cloned() } else { None }
    }

    /// Keeps a file of an imported package.
    pub(crate) fn keep_file(&self, path: &Path, file: &StoredFile) {
        if self.is_shared {
            lock(&self.files).insert(path.to_path_buf(), file.clone());
        }
    }

    /// A file of a main package that was parsed not long ago.
    pub(crate) fn recent_file(&self, path: &Path) -> Option<StoredFile> {
        if !self.is_shared {
            return None;
        }
        let recent = lock(&self.recent);
        recent
            .iter()
            .find(|(known, _)| known.as_os_str() == path.as_os_str())
            .map(|(_, file)| file.clone())
    }

    /// Keeps a file of a main package for a while.
    pub(crate) fn keep_recent_file(&self, path: &Path, file: &StoredFile) {
        if self.is_shared {
            let mut recent = lock(&self.recent);
            recent.truncate(N_RECENT - 1);
            recent.push_front((path.to_path_buf(), file.clone()));
        }
    }

    /// Reads a file of an imported package.
    pub(crate) fn read(&self, system: &dyn System, path: &Path) -> std::io::Result<String> {
        if self.cache.is_none() {
            return system.read_to_string(path);
        }
        if let Some(seen) = lock(&self.seen).get_mut(path) {
            if let Some(text) = seen.text.take() {
                return Ok(text);
            }
        } else {
            // First the facts, then the text: if it changes between, the facts are out of date,
            // not the text.
            let facts = system.metadata(path)?;
            lock(&self.seen).insert(path.to_path_buf(), Seen { facts, hash: None, text: None });
        }
        system.read_to_string(path)
    }

    /// The package with these files, if it was parsed before and is as it was.
    pub(crate) fn package(
        &self,
        system: &dyn System,
        files: &[PathBuf],
    ) -> Option<Arc<StoredPackage>> {
        if files.is_empty() || !self.keeps() {
            return None;
        }
        let key = place_key(files)?;
        if let Some(package) = lock(&self.packages).get(&key) {
            return Some(Arc::clone(package));
        }
        let package = Arc::new(self.read_package(system, files, &key)?);
        lock(&self.packages).insert(key, Arc::clone(&package));
        Some(package)
    }

    fn read_package(
        &self,
        system: &dyn System,
        files: &[PathBuf],
        key: &Key,
    ) -> Option<StoredPackage> {
        let cache = self.cache.as_ref()?;
        let facts: Option<Vec<Metadata>> =
            files.iter().map(|file| system.metadata(file).ok()).collect();
        let facts = facts?;
        if facts.iter().map(|facts| facts.len).sum::<u64>() < min_on_disk(cache) {
            return None;
        }
        let record = cache.get(system, FILES, key);
        let record = record.as_ref().and_then(|record| Record::decode(record.all()?, files.len()));
        let mut hashes = Vec::with_capacity(files.len());
        let mut is_news = record.is_none();
        for (at, (path, facts)) in files.iter().zip(&facts).enumerate() {
            if let Some(known) = record.as_ref().and_then(|record| record.hash(at, facts)) {
                hashes.push(known);
                continue;
            }
            is_news = true;
            let text = system.read_to_string(path).ok()?;
            let found = hash(text.as_bytes());
            hashes.push(found);
            let seen = Seen { facts: *facts, hash: Some(found), text: Some(text) };
            lock(&self.seen).insert(path.clone(), seen);
        }
        let content = content_key(files, &hashes)?;
        let index = Index::open(cache.get(system, INDEX, &content)?)?;
        if index.n_files() != files.len() {
            return None;
        }
        if is_news {
            let record = Record::new(self.began, &facts, &hashes);
            cache.put(system, FILES, key, &record.encode());
        }
        Some(StoredPackage::new(index, content, hashes))
    }

    /// Whether a package was checked with success.
    pub(crate) fn is_checked(&self, system: &dyn System, key: &Key) -> bool {
        if lock(&self.checked).contains(key) {
            return true;
        }
        let cached = self.cache.as_ref().and_then(|cache| cache.get(system, CHECKED, key));
        let is_checked = cached.is_some_and(|entry| entry.all() == Some(key.0.as_slice()));
        if is_checked {
            lock(&self.checked).insert(*key);
        }
        is_checked
    }
}

fn min_on_disk(cache: &Cache) -> u64 {
    match cache.mode() {
        CacheMode::Normal => MIN_ON_DISK,
        CacheMode::Always => 0,
    }
}

/// Stands for where the files of a package lie.
fn place_key(files: &[PathBuf]) -> Option<Key> {
    let mut builder = KeyBuilder::new("files");
    for file in files {
        builder.text(file.to_str()?);
    }
    Some(builder.finish())
}

/// Stands for what the files of a package are called and hold.
pub(crate) fn content_key(files: &[PathBuf], hashes: &[Key]) -> Option<Key> {
    let mut builder = KeyBuilder::new("content");
    for (file, hash) in files.iter().zip(hashes) {
        builder.text(file.file_name()?.to_str()?).key(hash);
    }
    Some(builder.finish())
}

impl StoredPackage {
    fn new(index: Index, content: Key, hashes: Vec<Key>) -> Self {
        let (texts, parts) = (Mutex::default(), Mutex::default());
        Self { index, content, hashes, texts, parts }
    }

    /// The text of a file; `None` if it is not what it was.
    pub(crate) fn text(&self, system: &dyn System, at: u32, path: &Path) -> Option<Arc<String>> {
        if let Some(text) = lock(&self.texts).get(&at) {
            return Some(Arc::clone(text));
        }
        let text = system.read_to_string(path).ok()?;
        if hash(text.as_bytes()) != *self.hashes.get(at as usize)? {
            return None;
        }
        let text = Arc::new(text);
        lock(&self.texts).insert(at, Arc::clone(&text));
        Some(text)
    }

    /// The trees of some statements, if they were made before.
    pub(crate) fn parts(&self, stmts: &[u32]) -> Option<Arc<[Part]>> {
        lock(&self.parts).get(stmts).cloned()
    }

    /// Keeps the trees of some statements.
    pub(crate) fn keep_parts(&self, stmts: &[u32], made: &Arc<[Part]>) {
        let mut parts = lock(&self.parts);
        if parts.len() < MAX_PARTS {
            parts.insert(stmts.into(), Arc::clone(made));
        }
    }
}

#[cfg(test)]
mod tests;
