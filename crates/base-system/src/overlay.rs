//! A system in which some files have another content.

use crate::{FileKind, Metadata, System, View};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// A system before another one, in which some files have another content or exist in addition. Tells
/// what a change of files would do, without changing them; nothing can be changed through it.
#[derive(Clone)]
pub struct Overlay<'s> {
    behind: &'s (dyn System + Sync),
    files: BTreeMap<PathBuf, String>,
}

impl<'s> Overlay<'s> {
    /// Creates a system in which no file is different.
    pub fn new(behind: &'s (dyn System + Sync)) -> Self {
        Self { behind, files: BTreeMap::new() }
    }

    /// Gives a file, by its real path, another content.
    #[must_use]
    pub fn with_file(mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.files.insert(path.into(), text.into());
        self
    }

    fn own(&self, path: &Path) -> Option<&String> {
        if self.files.is_empty() {
            return None;
        }
        self.files.get(path).or_else(|| self.files.get(&self.behind.canonicalize(path).ok()?))
    }
}

impl<'s> View for Overlay<'s> {
    type Behind = dyn System + Sync + 's;

    fn behind(&self) -> &Self::Behind {
        self.behind
    }

    fn to_change(&self) -> io::Result<&Self::Behind> {
        Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "nothing may be changed here"))
    }

    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        self.own(path).map_or_else(|| self.behind.read_to_string(path), |text| Ok(text.clone()))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let own = self.own(path).map(|text| text.clone().into_bytes());
        own.map_or_else(|| self.behind.read(path), Ok)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut entries = self.behind.read_dir(path)?;
        let real = self.behind.canonicalize(path)?;
        for file in self.files.keys().filter(|file| file.parent() == Some(&real)) {
            let name = file.file_name().unwrap_or_default();
            if !entries.iter().any(|entry| entry.file_name() == Some(name)) {
                entries.push(path.join(name));
            }
        }
        entries.sort();
        Ok(entries)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let Some(text) = self.own(path) else { return self.behind.metadata(path) };
        let now = self.behind.now();
        let len = text.len() as u64;
        Ok(Metadata { kind: FileKind::File, len, modified: now, changed: now, inode: 0 })
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        if self.files.contains_key(path) {
            Ok(path.to_owned())
        } else {
            self.behind.canonicalize(path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySystem;

    #[test]
    fn files_differ_and_exist_only_here() {
        let behind = MemorySystem::new().with_file("/a/x", "1").with_file("/a/y", "2");
        let system = Overlay::new(&behind).with_file("/a/x", "one").with_file("/a/b", "new");
        let names: Vec<PathBuf> = System::read_dir(&system, Path::new("/a")).expect("a folder");
        assert_eq!(names, ["/a/b", "/a/x", "/a/y"].map(PathBuf::from));
        let read = |path: &str| System::read_to_string(&system, Path::new(path)).expect("a file");
        assert_eq!([read("/a/b"), read("/a/x"), read("/a/y")], ["new", "one", "2"]);
        assert!(system.is_file(Path::new("/a/b")) && !behind.exists(Path::new("/a/b")));
        assert!(system.write(Path::new("/a/y"), "3").is_err());
        assert_eq!(read("/a/y"), "2");
    }
}
