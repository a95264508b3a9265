//! Whether what a batch relied on still holds.
//!
//! Most answers follow from few questions: a path that has no links is its own real path, and
//! while a folder's time of change stays, nothing new is in it.

use super::facts::{
    Fact, NO_ANSWER, Question, Stamp, hash_bytes, kind_hash, listing_hash, real_hash, variable_hash,
};
use base_system::{FileKind, Metadata, System};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::Path;

/// Asks the system again, each question once.
pub(super) struct Checker<'s, 't> {
    system: &'s dyn System,
    /// What is known of paths that are no links, and have none above them.
    plain: RefCell<FxHashMap<&'t OsStr, Option<Metadata>>>,
    /// What is known of others.
    others: RefCell<FxHashMap<&'t OsStr, Option<Metadata>>>,
}

impl<'s, 't> Checker<'s, 't> {
    pub(super) fn new(system: &'s dyn System) -> Self {
        let checker = Self { system, plain: RefCell::default(), others: RefCell::default() };
        checker.plain.borrow_mut().reserve(1 << 13);
        checker.others.borrow_mut().reserve(1 << 12);
        checker
    }

    /// Whether the answer is still the same.
    pub(super) fn holds(&self, fact: &Fact<&'t Path>) -> bool {
        let Fact { question, path, answer } = *fact;
        match question {
            Question::Text => {
                let now = || self.metadata(path).map(Stamp::from);
                answer.stamp.is_some() && now() == answer.stamp
                    || self
                        .system
                        .read(path)
                        .map_or(NO_ANSWER == answer.hash, |text| hash_bytes(&text) == answer.hash)
            }
            Question::Kind => {
                answer.hash == NO_ANSWER && self.is_nothing_new_beside(path, answer.stamp)
                    || kind_hash(self.metadata(path).as_ref()) == answer.hash
            }
            Question::Listing => listing_hash(&self.system.read_dir(path)) == answer.hash,
            Question::Real => {
                let hash = match self.find_plain(path) {
                    Some(_) => hash_bytes(path.as_os_str().as_encoded_bytes()),
                    None => real_hash(&self.system.canonicalize(path)),
                };
                hash == answer.hash
            }
            Question::Variable => {
                let name = path.to_str().unwrap_or_default();
                variable_hash(self.system.env(name).as_deref()) == answer.hash
            }
        }
    }

    /// Whether a path that was not there can't be there now, by what is known of its folder.
    fn is_nothing_new_beside(&self, path: &'t Path, stamp: Option<Stamp>) -> bool {
        let Some(folder) = folder_of(path).and_then(|folder| self.metadata(folder)) else {
            return false;
        };
        match folder.kind {
            FileKind::File => true,
            FileKind::Directory => stamp.is_some_and(|stamp| stamp.modified == folder.modified),
        }
    }

    fn metadata(&self, path: &'t Path) -> Option<Metadata> {
        let known = self.plain.borrow().get(path.as_os_str()).copied();
        if let Some(Some(facts)) = known {
            return Some(facts);
        }
        if let Some(known) = self.others.borrow().get(path.as_os_str()) {
            return *known;
        }
        let facts = self.system.metadata(path).ok();
        self.others.borrow_mut().insert(path.as_os_str(), facts);
        facts
    }

    /// What is at an absolute path without links and dots; `None` if it has some, or if nothing
    /// is there.
    fn find_plain(&self, path: &'t Path) -> Option<Metadata> {
        if let Some(known) = self.plain.borrow().get(path.as_os_str()) {
            return *known;
        }
        let facts = self.look_at(path);
        self.plain.borrow_mut().insert(path.as_os_str(), facts);
        facts
    }

    fn look_at(&self, path: &'t Path) -> Option<Metadata> {
        if path.as_os_str() == "/" {
            return self.system.metadata(path).ok();
        }
        self.find_plain(folder_of(path)?)?;
        self.system.link_metadata(path).ok()?
    }
}

/// The folder of an absolute path whose last part is a plain name. Quicker than to look at all
/// parts: those before it are looked at in their turn.
fn folder_of(path: &Path) -> Option<&Path> {
    let text = path.to_str()?;
    let (folder, name) = text.rsplit_once('/')?;
    let is_plain = !name.is_empty() && name != "." && name != "..";
    is_plain.then(|| Path::new(if folder.is_empty() { "/" } else { folder }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_plain_paths() {
        let folder = |path| folder_of(Path::new(path)).and_then(Path::to_str);
        assert_eq!(folder("/a/b/c.k"), Some("/a/b"));
        assert_eq!(folder("/a"), Some("/"));
        for odd in ["/", "a", "", "/a/", "/a/.", "/a/.."] {
            assert_eq!(folder(odd), None, "{odd}");
        }
    }
}
