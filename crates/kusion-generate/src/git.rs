//! What is read of a Git repository: bounded, only below its own `.git`, and without running git.

mod committed;
mod index;
mod object;
mod objects;
mod revision;

pub(crate) use committed::Committed;
pub use revision::git_revision;

use base_system::System;
use std::path::{Path, PathBuf};

/// Maximum size of a setting, a reference or a list of references, in bytes.
const MAX_TEXT: u64 = 16 << 20;

/// A Git repository, or one of its work trees.
pub(crate) struct Repository<'s> {
    system: &'s dyn System,
    /// The folder of the files.
    pub(crate) root: PathBuf,
    /// The folder with `HEAD` and the index.
    private: PathBuf,
    /// The folder with settings, references and objects.
    common: PathBuf,
}

impl<'s> Repository<'s> {
    /// Finds the repository that a folder is in. Work trees and submodules have a file that leads to
    /// it: it must lead to a `.git` folder that knows them, or that is around them.
    pub(crate) fn find(system: &'s dyn System, folder: &Path) -> Option<Self> {
        let folder = system.canonicalize(folder).ok()?;
        let root = folder.ancestors().find(|it| system.exists(&it.join(".git")))?.to_owned();
        let entry = root.join(".git");
        let (private, common) = if system.is_dir(&entry) {
            let folder = real_git_folder(system, &entry)?;
            (folder.clone(), folder)
        } else {
            linked(system, &root, &entry)?
        };
        Some(Self { system, root, private, common })
    }

    /// Reads a text that all work trees share.
    pub(crate) fn common_text(&self, name: &str) -> Option<String> {
        String::from_utf8(self.read(&self.common, name, MAX_TEXT)?).ok()
    }

    fn private_text(&self, name: &str) -> Option<String> {
        String::from_utf8(self.read(&self.private, name, MAX_TEXT)?).ok()
    }

    /// Reads a file below a folder, whatever links say, if it is not too large.
    fn read(&self, base: &Path, name: &str, limit: u64) -> Option<Vec<u8>> {
        read_below(self.system, base, name, limit)
    }
}

/// Reads a file below a folder, whatever links say, if it is not too large.
fn read_below(system: &dyn System, base: &Path, name: &str, limit: u64) -> Option<Vec<u8>> {
    let path = system.canonicalize(&base.join(name)).ok()?;
    let is_small = system.metadata(&path).is_ok_and(|it| it.len <= limit);
    if is_small && path.starts_with(base) { system.read(&path).ok() } else { None }
}

/// Returns the real path of a folder, if it is a `.git` folder or below one.
fn real_git_folder(system: &dyn System, path: &Path) -> Option<PathBuf> {
    let path = system.canonicalize(path).ok()?;
    path.iter().any(|it| it == ".git").then_some(path)
}

/// Returns the own and the common folder of a work tree or submodule.
fn linked(system: &dyn System, root: &Path, entry: &Path) -> Option<(PathBuf, PathBuf)> {
    let text = |path: &Path| {
        let is_small = system.metadata(path).is_ok_and(|it| it.len <= 4096);
        if is_small { system.read_to_string(path).ok() } else { None }
    };
    let target = text(entry)?;
    let private = real_git_folder(system, &root.join(target.strip_prefix("gitdir:")?.trim()))?;
    match text(&private.join("commondir")) {
        // Of a submodule: the repository around it.
        None => {
            let above = root.ancestors().skip(1).map(|it| it.join(".git"));
            let is_inside = above.into_iter().any(|it| private.starts_with(it));
            is_inside.then(|| (private.clone(), private.clone()))
        }
        Some(common) if common.trim() == "../.." => {
            let back = private.join(text(&private.join("gitdir"))?.trim());
            let is_known = system.canonicalize(&back).is_ok_and(|it| it == entry);
            let common = real_git_folder(system, &private.join("../.."))?;
            is_known.then_some((private, common))
        }
        Some(_) => None,
    }
}

/// Returns whether a text is the id of an object.
fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|it| it.is_ascii_hexdigit())
}
