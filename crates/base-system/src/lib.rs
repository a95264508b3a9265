//! The one door to the outside: files, environment, clock.
//!
//! Core crates never touch `std::fs`, `std::env` or clocks; they get a [`System`].
//! [`OsSystem`] is the real one, [`MemorySystem`] lives in memory for tests and embedding.

mod below;
mod memory;
mod observed;
mod os;
mod overlay;
mod read_only;
mod settled;
mod view;

pub use below::{FileAnswer, FileCall, LEADS_OUT, root_of};
pub use memory::MemorySystem;
pub use observed::Observed;
pub use os::{OsSystem, address_space};
pub use overlay::Overlay;
pub use read_only::ReadOnly;
pub use settled::Settled;
pub use view::View;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
}

/// Facts about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// File or directory.
    pub kind: FileKind,
    /// Size in bytes.
    pub len: u64,
    /// Last change of the content, since the Unix epoch.
    pub modified: Duration,
    /// Last change of content or facts, since the Unix epoch; zero where it is not known.
    pub changed: Duration,
    /// The number of the file in its file system; zero where there is none.
    pub inode: u64,
}

/// Files, environment and clock, as the core sees them.
pub trait System {
    /// Reads a whole file as text.
    fn read_to_string(&self, path: &Path) -> io::Result<String>;
    /// Reads a whole file as bytes.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Lists a directory: paths of its entries, sorted by name.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>>;
    /// Facts about a path, following links.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;
    /// The real, absolute path.
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf>;
    /// Writes a file as a whole; readers never see half of it.
    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        self.write_bytes(path, text.as_bytes())
    }
    /// Writes a file of bytes as a whole; readers never see half of it.
    fn write_bytes(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Appends to a file, making it if needed.
    fn append(&self, path: &Path, text: &str) -> io::Result<()>;
    /// Makes a directory and what lies above it.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Removes a file or a whole directory.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Copies a file.
    fn copy(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Moves a file or directory.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// The working directory.
    fn current_dir(&self) -> io::Result<PathBuf>;
    /// An environment variable, if set and valid Unicode.
    fn env(&self, name: &str) -> Option<String>;
    /// The time since the Unix epoch.
    fn now(&self) -> Duration;
    /// The offset of local time from UTC, in seconds.
    fn utc_offset_seconds(&self) -> i32;
    /// Random bits that nobody can guess.
    fn random(&self) -> u128;

    /// Does an operation on a file that must lie below a folder, whatever links say, and not in a
    /// `.git` folder. The path starts with that of the folder.
    fn below(&self, root: &Path, path: &Path, call: FileCall<'_>) -> io::Result<FileAnswer> {
        below::plain_below(self, root, path, call)
    }
    /// Facts about a path that is not itself a link; `None` for a link.
    fn link_metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        let facts = self.metadata(path)?;
        Ok(if self.canonicalize(path)? == path { Some(facts) } else { None })
    }
    /// Whether something exists at `path`.
    fn exists(&self, path: &Path) -> bool {
        self.metadata(path).is_ok()
    }
    /// Whether `path` is a regular file.
    fn is_file(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|facts| facts.kind == FileKind::File)
    }
    /// Whether `path` is a directory.
    fn is_dir(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|facts| facts.kind == FileKind::Directory)
    }
}
