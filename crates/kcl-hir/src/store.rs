//! Packages that several programs share.

use base_text::LineIndex;
use kcl_syntax::ast::Module;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What is known of imported packages from programs that were loaded before.
///
/// Shared by programs and threads. It takes files as they were when first read: one store is
/// for programs that see the files at one point in time.
#[derive(Debug, Default)]
pub struct PackageStore {
    files: Mutex<FxHashMap<PathBuf, StoredFile>>,
}

/// A file, parsed without findings.
#[derive(Clone, Debug)]
pub(crate) struct StoredFile {
    pub(crate) text: Arc<String>,
    pub(crate) module: Arc<Module>,
    pub(crate) lines: Arc<OnceLock<LineIndex>>,
}

impl PackageStore {
    /// A file of an imported package.
    pub(crate) fn file(&self, path: &Path) -> Option<StoredFile> {
        self.files().get(path).cloned()
    }

    /// Keeps a file of an imported package.
    pub(crate) fn keep_file(&self, path: &Path, file: &StoredFile) {
        self.files().insert(path.to_path_buf(), file.clone());
    }

    fn files(&self) -> MutexGuard<'_, FxHashMap<PathBuf, StoredFile>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
