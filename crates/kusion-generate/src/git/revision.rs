//! The commit that the files of a stack come from, and whether they differ from it.

use super::index::Index;
use super::{Repository, is_id, object};
use crate::find::Stack;
use base_system::System;
use kusion_model::GitRevision;
use std::path::Path;

/// Maximum number of tracked files that are compared with the index.
const MAX_FILES: usize = 20_000;
/// Files of a stack by the ends of their names: one that is not tracked is a change.
const SOURCES: &[&str] = &["k", "yaml", "yml", "mod"];

/// Returns the commit of the repository that a stack is in; `None` without one.
///
/// Tracked files are compared by size and time with the index, and by content where these differ;
/// the index is compared with the commit by the id of its tree. Files that are not tracked count in
/// the folder of the stack only.
pub fn git_revision(system: &dyn System, stack: &Stack) -> Option<GitRevision> {
    let repository = Repository::find(system, &stack.folder)?;
    let (commit, branch) = head(&repository)?;
    let is_dirty = is_dirty(&repository, &commit, &stack.folder);
    Some(GitRevision { commit, branch, is_dirty })
}

/// Returns the current commit and branch.
pub(super) fn head(repository: &Repository<'_>) -> Option<(String, Option<String>)> {
    let head = repository.private_text("HEAD")?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else {
        return is_id(head).then(|| (head.to_owned(), None));
    };
    if !is_reference(name) {
        return None;
    }
    let loose = repository.common_text(name);
    let commit = match loose.as_deref().map(str::trim) {
        Some(id) => id.to_owned(),
        None => packed(&repository.common_text("packed-refs")?, name)?.to_owned(),
    };
    let branch = name.strip_prefix("refs/heads/").map(str::to_owned);
    is_id(&commit).then_some((commit, branch))
}

/// Returns whether a name is that of a reference, and not a path to something else.
pub(super) fn is_reference(name: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !part.chars().any(char::is_control)
    };
    name.len() < 1024
        && name.starts_with("refs/")
        && !name.contains('\\')
        && name.split('/').all(is_plain)
}

pub(super) fn packed<'t>(list: &'t str, name: &str) -> Option<&'t str> {
    let of_line = |line: &'t str| line.split_once(' ').filter(|(_, it)| *it == name);
    list.lines().find_map(of_line).map(|(id, _)| id)
}

/// Returns whether the work tree differs from a commit; `None` if that cannot be told.
fn is_dirty(repository: &Repository<'_>, commit: &str, folder: &Path) -> Option<bool> {
    let index = Index::read(repository)?;
    if index.has_conflicts || has_untracked(repository, &index, folder) {
        return Some(true);
    }
    let inside = folder.strip_prefix(&repository.root).ok()?.to_str()?.to_owned();
    let is_large = index.entries.len() > MAX_FILES;
    let mut is_certain = !is_large;
    let mut budget = super::index::MAX_CONTENT;
    for entry in &index.entries {
        // Of a large repository, only the files of the stack are compared.
        if is_large && !entry.is_below(&inside) {
            continue;
        }
        match index.is_changed(repository, entry, &mut budget) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => is_certain = false,
        }
    }
    match (&index.tree, object::tree_of(repository, commit)) {
        (Some(index), Some(committed)) if *index != committed => Some(true),
        (Some(_), Some(_)) if is_certain => Some(false),
        _ => None,
    }
}

/// Returns whether the folder of a stack has a source file that is not tracked.
fn has_untracked(repository: &Repository<'_>, index: &Index, folder: &Path) -> bool {
    let entries = repository.system.read_dir(folder).unwrap_or_default();
    let is_source = |path: &&std::path::PathBuf| {
        let end = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        SOURCES.contains(&end) && repository.system.is_file(path)
    };
    entries.iter().filter(is_source).any(|path| {
        let name = path.strip_prefix(&repository.root).ok().and_then(Path::to_str);
        name.is_none_or(|name| !index.contains(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_references_are_not_paths() {
        for name in ["refs/heads/main", "refs/heads/a/b-c", "refs/remotes/origin/x"] {
            assert!(is_reference(name), "{name}");
        }
        for name in
            ["main", "refs/../config", "refs/heads/.x", "/refs/x", "refs//x", "refs/a\\b", "refs/"]
        {
            assert!(!is_reference(name), "{name}");
        }
    }

    #[test]
    fn packed_references_are_found() {
        let list = "# pack-refs with: peeled\naa refs/heads/main\nbb refs/heads/main2\n^cc\n";
        assert_eq!(packed(list, "refs/heads/main2"), Some("bb"));
        assert_eq!(packed(list, "refs/heads/mai"), None);
    }
}
