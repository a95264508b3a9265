//! A system that remembers what was looked at.

use crate::{FileAnswer, FileCall, FileKind, Metadata, System, View};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A system that remembers which files and folders were looked at, and how they were then.
///
/// For work that is done again when one of them changes. What was changed through this view is
/// not remembered: the work would be done again because of itself.
pub struct Observed<'s, S: System + ?Sized> {
    system: &'s S,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// The facts of files, and of whatever is missing.
    facts: BTreeMap<PathBuf, Option<Metadata>>,
    /// The entries of folders that were listed.
    entries: BTreeMap<PathBuf, Vec<PathBuf>>,
    /// What was changed.
    changed: BTreeSet<PathBuf>,
}

impl<'s, S: System + ?Sized> Observed<'s, S> {
    /// Makes a view of a system.
    pub fn new(system: &'s S) -> Self {
        Self { system, seen: Mutex::default() }
    }

    /// Returns how many files were read or looked for.
    pub fn len(&self) -> usize {
        self.seen().facts.len()
    }

    /// Whether nothing was looked at.
    pub fn is_empty(&self) -> bool {
        let seen = self.seen();
        seen.facts.is_empty() && seen.entries.is_empty()
    }

    /// Returns a file or folder that is no longer as it was when it was looked at.
    pub fn find_change(&self) -> Option<PathBuf> {
        let seen = self.seen();
        let is_other = |(path, facts): &(&PathBuf, &Option<Metadata>)| {
            !seen.changed.contains(*path) && self.facts(path) != **facts
        };
        if let Some((path, _)) = seen.facts.iter().find(is_other) {
            return Some(path.clone());
        }
        for (folder, entries) in &seen.entries {
            let now = self.entries(folder);
            let differs = |path: &&PathBuf| entries.contains(path) != now.contains(path);
            if let Some(path) = entries.iter().chain(&now).find(differs) {
                return Some(path.clone());
            }
        }
        None
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Facts that are those of the content: of a folder, only that it is one.
    fn facts(&self, path: &Path) -> Option<Metadata> {
        let facts = self.system.metadata(path).ok()?;
        Some(match facts.kind {
            FileKind::File => facts,
            kind @ FileKind::Directory => {
                let zero = std::time::Duration::ZERO;
                Metadata { kind, len: 0, modified: zero, changed: zero, inode: 0 }
            }
        })
    }

    /// The entries of a folder, without the temporary files of editors.
    fn entries(&self, folder: &Path) -> Vec<PathBuf> {
        let mut entries = self.system.read_dir(folder).unwrap_or_default();
        entries.retain(|path| {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            !name.starts_with(b".") && !name.ends_with(b"~")
        });
        entries
    }

    fn note(&self, path: &Path) {
        if self.seen().facts.contains_key(path) {
            return;
        }
        // Before it is read: a change in between is one.
        let facts = self.facts(path);
        self.seen().facts.entry(path.to_path_buf()).or_insert(facts);
    }
}

impl<S: System + ?Sized> View for Observed<'_, S> {
    type Behind = S;

    fn behind(&self) -> &S {
        self.system
    }

    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        self.note(path);
        self.system.read_to_string(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.note(path);
        self.system.read(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = self.entries(path);
        self.seen().entries.entry(path.to_path_buf()).or_insert(entries);
        self.system.read_dir(path)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.note(path);
        self.system.metadata(path)
    }

    fn link_metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        self.note(path);
        self.system.link_metadata(path)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.note(path);
        self.system.canonicalize(path)
    }

    fn below(&self, root: &Path, path: &Path, call: FileCall<'_>) -> io::Result<FileAnswer> {
        if call.is_change() {
            self.seen().changed.insert(path.to_path_buf());
        } else {
            self.note(path);
        }
        self.system.below(root, path, call)
    }
}

#[cfg(test)]
mod tests {
    use super::Observed;
    use crate::{MemorySystem, System};
    use std::io;
    use std::path::{Path, PathBuf};

    #[test]
    fn only_what_was_looked_at_counts() -> io::Result<()> {
        let system = MemorySystem::new().with_file("/a/b.k", "x = 1\n").with_file("/a/c.k", "");
        let view = Observed::new(&system);
        view.read_to_string(Path::new("/a/b.k"))?;
        assert!(!view.exists(Path::new("/a/kcl.mod")));
        assert_eq!(view.find_change(), None);
        system.write(Path::new("/a/c.k"), "y = 2\n")?;
        system.write(Path::new("/a/d.k"), "")?;
        assert_eq!(view.find_change(), None);
        system.write(Path::new("/a/kcl.mod"), "")?;
        assert_eq!(view.find_change(), Some(PathBuf::from("/a/kcl.mod")));
        Ok(())
    }

    #[test]
    fn a_new_entry_of_a_listed_folder_counts() -> io::Result<()> {
        let system = MemorySystem::new().with_file("/a/b.k", "x = 1\n");
        let view = Observed::new(&system);
        view.read_dir(Path::new("/a"))?;
        system.write(Path::new("/a/.b.k.swp"), "")?;
        system.write(Path::new("/a/b.k"), "x = 2\n")?;
        assert_eq!(view.find_change(), None);
        system.write(Path::new("/a/c.k"), "")?;
        assert_eq!(view.find_change(), Some(PathBuf::from("/a/c.k")));
        Ok(())
    }
}
