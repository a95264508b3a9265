//! A system whose folders stay where they are.

use crate::{FileKind, Metadata, System};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// A system that looks once only whether a folder is a link.
///
/// For the time of one program: the real paths of its files lie in few folders, and asking for
/// each part of each of them takes a good part of a short run. A change made through this view
/// makes it forget what it knows.
pub struct Settled<'s> {
    system: &'s dyn System,
    /// Paths that are their own real paths.
    real: RefCell<BTreeMap<OsString, FileKind>>,
}

impl<'s> Settled<'s> {
    /// Makes a view of a system.
    pub fn new(system: &'s dyn System) -> Self {
        Self { system, real: RefCell::default() }
    }

    /// The system, to change it.
    fn forget(&self) -> &'s dyn System {
        self.real.borrow_mut().clear();
        self.system
    }

    fn kind(&self, path: &Path) -> Option<FileKind> {
        self.real.borrow().get(path.as_os_str()).copied()
    }

    /// Whether something of that kind is at a path, if that is known.
    fn is(&self, path: &Path, is_wanted: impl Fn(FileKind) -> bool) -> Option<bool> {
        if ends_as_folder(path.as_os_str()) {
            return None;
        }
        match self.kind(path) {
            Some(kind) => Some(is_wanted(kind)),
            // Nothing is below a file.
            None => (self.kind(path.parent()?)? == FileKind::File).then_some(false),
        }
    }

    /// Keeps a real path, and so those of the folders above it.
    fn keep(&self, path: &Path, kind: FileKind) {
        let mut real = self.real.borrow_mut();
        real.insert(path.into(), kind);
        for folder in path.ancestors().skip(1) {
            if real.insert(folder.into(), FileKind::Directory).is_some() {
                break;
            }
        }
    }

    /// The real path, as far as no link is on the way.
    fn find(&self, path: &Path) -> Option<PathBuf> {
        if self.kind(path).is_some() {
            return Some(path.to_path_buf());
        }
        match path.components().next_back()? {
            Component::RootDir => Some(path.to_path_buf()),
            Component::Normal(name) => {
                let real = self.find(path.parent()?)?.join(name);
                if self.kind(&real).is_none() {
                    let facts = self.system.link_metadata(&real).ok()??;
                    self.keep(&real, facts.kind);
                }
                Some(real)
            }
            Component::ParentDir => {
                let mut real = self.find(path.parent()?)?;
                let is_folder = self.kind(&real) == Some(FileKind::Directory);
                (is_folder && real.pop()).then_some(real)
            }
            Component::CurDir | Component::Prefix(_) => None,
        }
    }
}

/// Whether a path says that it is a folder's, which must be checked.
fn ends_as_folder(path: &OsStr) -> bool {
    let bytes = path.as_encoded_bytes();
    bytes.ends_with(b"/") || bytes.ends_with(b"/.")
}

impl System for Settled<'_> {
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

    fn link_metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        self.system.link_metadata(path)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        let is_plain = cfg!(unix) && path.is_absolute() && !ends_as_folder(path.as_os_str());
        match is_plain.then(|| self.find(path)).flatten() {
            Some(real) => Ok(real),
            None => self.system.canonicalize(path),
        }
    }

    fn exists(&self, path: &Path) -> bool {
        self.is(path, |_| true).unwrap_or_else(|| self.system.exists(path))
    }

    fn is_file(&self, path: &Path) -> bool {
        let is_file = |kind| kind == FileKind::File;
        self.is(path, is_file).unwrap_or_else(|| self.system.is_file(path))
    }

    fn is_dir(&self, path: &Path) -> bool {
        let is_dir = |kind| kind == FileKind::Directory;
        self.is(path, is_dir).unwrap_or_else(|| self.system.is_dir(path))
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        self.forget().write(path, text)
    }

    fn write_bytes(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.forget().write_bytes(path, bytes)
    }

    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        self.forget().append(path, text)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.forget().create_dir_all(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.forget().remove(path)
    }

    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.forget().copy(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.forget().rename(from, to)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        let folder = self.system.current_dir()?;
        // The system gives the real path of the working folder.
        if cfg!(unix) && folder.is_absolute() {
            self.keep(&folder, FileKind::Directory);
        }
        Ok(folder)
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::OsSystem;
    use std::os::unix::fs::symlink;
    use std::{env, fs, process};

    #[test]
    fn real_paths_are_those_of_the_system() -> io::Result<()> {
        let base = OsSystem.canonicalize(&env::temp_dir())?;
        let base = base.join(format!("settled-{}", process::id()));
        fs::create_dir_all(base.join("a/b"))?;
        fs::write(base.join("a/b/f.k"), "")?;
        symlink(base.join("a/b"), base.join("l"))?;
        symlink("f.k", base.join("a/b/g.k"))?;
        let settled = Settled::new(&OsSystem);
        let ends = [
            "",
            "a",
            "a/",
            "a/b/f.k",
            "a/b/f.k/",
            "a/b/f.k/.",
            "a/b/f.k/..",
            "a/b/f.k/x",
            "a/b/../b/./f.k",
            "a/b/../../a",
            "l",
            "l/..",
            "l/f.k",
            "a/b/g.k",
            "a/x",
            "a/x/..",
            "..",
        ];
        for end in ends.iter().chain(&ends) {
            let path = base.join(end);
            let (ours, real) = (settled.canonicalize(&path), OsSystem.canonicalize(&path));
            assert_eq!(ours.as_ref().ok(), real.as_ref().ok(), "{end}");
            let kind = |answer: io::Result<PathBuf>| answer.err().map(|error| error.kind());
            assert_eq!(kind(ours), kind(real), "{end}");
            assert_eq!(settled.exists(&path), OsSystem.exists(&path), "{end}");
            assert_eq!(settled.is_file(&path), OsSystem.is_file(&path), "{end}");
            assert_eq!(settled.is_dir(&path), OsSystem.is_dir(&path), "{end}");
        }
        settled.rename(&base.join("a"), &base.join("c"))?;
        assert!(settled.canonicalize(&base.join("a/b/f.k")).is_err());
        fs::remove_dir_all(&base)
    }

    #[test]
    fn the_working_folder_is_real() -> io::Result<()> {
        let settled = Settled::new(&OsSystem);
        let folder = settled.current_dir()?;
        assert_eq!(settled.canonicalize(&folder)?, OsSystem.canonicalize(&folder)?);
        Ok(())
    }
}
