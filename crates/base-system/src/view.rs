//! Systems that stand before others.

use crate::{FileAnswer, FileCall, FileKind, Metadata, System};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A system that stands before another one: it gives the answers of that one, but for those that
/// it has itself. Every view is a [`System`]; methods of the same name mean the same.
pub trait View {
    /// What stands behind.
    type Behind: System + ?Sized;

    /// The system behind.
    fn behind(&self) -> &Self::Behind;

    /// The system behind, in order to change it.
    ///
    /// # Errors
    ///
    /// If nothing may be changed.
    fn to_change(&self) -> io::Result<&Self::Behind> {
        Ok(self.behind())
    }

    /// The system behind, for what is never the same: time and random bits.
    fn volatile(&self) -> &Self::Behind {
        self.behind()
    }

    /// Reads a whole file as text.
    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        self.behind().read_to_string(path)
    }

    /// Reads a whole file as bytes.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.behind().read(path)
    }

    /// Lists a directory.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.behind().read_dir(path)
    }

    /// Facts about a path, following links.
    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.behind().metadata(path)
    }

    /// Facts about a path that is not itself a link; `None` for a link.
    fn link_metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        let facts = self.metadata(path)?;
        Ok((self.canonicalize(path)? == path).then_some(facts))
    }

    /// The real, absolute path.
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.behind().canonicalize(path)
    }

    /// Does an operation on a file below a folder.
    fn below(&self, root: &Path, path: &Path, call: FileCall<'_>) -> io::Result<FileAnswer> {
        let system = if call.is_change() { self.to_change()? } else { self.behind() };
        system.below(root, path, call)
    }

    /// What is at a path, following links, if anything.
    fn kind(&self, path: &Path) -> Option<FileKind> {
        self.metadata(path).ok().map(|facts| facts.kind)
    }

    /// The working directory.
    fn current_dir(&self) -> io::Result<PathBuf> {
        self.behind().current_dir()
    }

    /// An environment variable, if set and valid Unicode.
    fn env(&self, name: &str) -> Option<String> {
        self.behind().env(name)
    }
}

impl<V: View> System for V {
    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        View::read_to_string(self, path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        View::read(self, path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        View::read_dir(self, path)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        View::metadata(self, path)
    }

    fn link_metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        View::link_metadata(self, path)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        View::canonicalize(self, path)
    }

    fn below(&self, root: &Path, path: &Path, call: FileCall<'_>) -> io::Result<FileAnswer> {
        View::below(self, root, path, call)
    }

    fn exists(&self, path: &Path) -> bool {
        self.kind(path).is_some()
    }

    fn is_file(&self, path: &Path) -> bool {
        self.kind(path) == Some(FileKind::File)
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.kind(path) == Some(FileKind::Directory)
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        self.to_change()?.write(path, text)
    }

    fn write_bytes(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.to_change()?.write_bytes(path, bytes)
    }

    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        self.to_change()?.append(path, text)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.to_change()?.create_dir_all(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.to_change()?.remove(path)
    }

    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.to_change()?.copy(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.to_change()?.rename(from, to)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        View::current_dir(self)
    }

    fn env(&self, name: &str) -> Option<String> {
        View::env(self, name)
    }

    fn now(&self) -> Duration {
        self.volatile().now()
    }

    fn utc_offset_seconds(&self) -> i32 {
        self.volatile().utc_offset_seconds()
    }

    fn random(&self) -> u128 {
        self.volatile().random()
    }
}
