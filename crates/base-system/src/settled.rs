//! A system whose folders stay where they are.

use crate::{FileKind, Metadata, System, View};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

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

    /// What is at a real path, as far as that is known.
    fn known(&self, path: &Path) -> Option<FileKind> {
        self.real.borrow().get(path.as_os_str()).copied()
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
        if self.known(path).is_some() {
            return Some(path.to_path_buf());
        }
        match path.components().next_back()? {
            Component::RootDir => Some(path.to_path_buf()),
            Component::Normal(name) => {
                let real = self.find(path.parent()?)?.join(name);
                if self.known(&real).is_none() {
                    let facts = self.system.link_metadata(&real).ok()??;
                    self.keep(&real, facts.kind);
                }
                Some(real)
            }
            Component::ParentDir => {
                let mut real = self.find(path.parent()?)?;
                let is_folder = self.known(&real) == Some(FileKind::Directory);
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

impl<'s> View for Settled<'s> {
    type Behind = dyn System + 's;

    fn behind(&self) -> &(dyn System + 's) {
        self.system
    }

    fn to_change(&self) -> io::Result<&(dyn System + 's)> {
        self.real.borrow_mut().clear();
        Ok(self.system)
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

    fn kind(&self, path: &Path) -> Option<FileKind> {
        if !ends_as_folder(path.as_os_str()) {
            if let Some(kind) = self.known(path) {
                return Some(kind);
            }
            // Nothing is below a file.
            if path.parent().and_then(|folder| self.known(folder)) == Some(FileKind::File) {
                return None;
            }
        }
        self.system.metadata(path).ok().map(|facts| facts.kind)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        let folder = self.system.current_dir()?;
        // The system gives the real path of the working folder.
        if cfg!(unix) && folder.is_absolute() {
            self.keep(&folder, FileKind::Directory);
        }
        Ok(folder)
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test makes links")]

    use super::Settled;
    use crate::{OsSystem, System};
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::{env, fs, io, process};

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
