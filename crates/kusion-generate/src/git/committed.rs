//! The files of a commit, as a system.

use super::objects::{Kind, Objects};
use super::revision::{is_reference, packed};
use super::{Repository, is_id};
use base_system::{FileAnswer, FileCall, FileKind, Metadata, System, View};
use sha1::{Digest as _, Sha1};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum number of files and folders of a commit.
const MAX_ENTRIES: usize = 1_000_000;
/// Maximum depth of folders of a commit.
const MAX_DEPTH: usize = 64;
/// Maximum number of parents that a revision may go back.
const MAX_BACK: usize = 10_000;

/// A system in which the work tree has the files of a commit. They are read from the objects of the
/// repository, without running git; nothing can be changed. Links of the commit are left out.
pub(crate) struct Committed<'s> {
    behind: &'s (dyn System + Sync),
    objects: Objects<'s>,
    /// The root of the work tree.
    root: PathBuf,
    /// Files by their paths from the root.
    files: BTreeMap<PathBuf, String>,
    /// Folders by their paths from the root, with the paths of what is in them.
    folders: BTreeMap<PathBuf, Vec<PathBuf>>,
}

impl<'s> Committed<'s> {
    /// Opens the commit that a revision of the repository around a folder names.
    ///
    /// # Errors
    ///
    /// If there is no repository, or the revision is unknown or cannot be read.
    pub(crate) fn open(
        system: &'s (dyn System + Sync),
        folder: &Path,
        revision: &str,
    ) -> Result<Self, String> {
        let repository = Repository::find(system, folder)
            .ok_or_else(|| format!("{} is not in a Git repository", folder.display()))?;
        let root = repository.root.clone();
        let objects = Objects::open(system, &repository)?;
        let commit = resolve(&objects, &repository, revision).ok_or_else(|| {
            format!(
                "unknown revision `{revision}`: expected a branch, a tag, the whole id of a commit, \
                 or one of these with `~N`, such as `HEAD~1`"
            )
        })?;
        let damaged = || format!("cannot read the commit {commit} of `{revision}`");
        let tree = tree_of(&objects, &commit).ok_or_else(damaged)?;
        let (files, folders) = (BTreeMap::new(), BTreeMap::new());
        let mut committed = Self { behind: system, objects, root, files, folders };
        committed.add_tree(&tree, Path::new(""), 0).ok_or_else(damaged)?;
        Ok(committed)
    }

    /// Returns the root of the work tree.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the files, by their paths from the root.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// Whether a content is that of a file of the commit.
    pub(crate) fn has_content(&self, path: &Path, content: &[u8]) -> bool {
        let mut hash = Sha1::new();
        hash.update(format!("blob {}\0", content.len()));
        hash.update(content);
        let id = super::object::hex(&hash.finalize());
        self.files.get(path).is_some_and(|known| *known == id)
    }

    /// Adds a tree; `None` if it cannot be read.
    fn add_tree(&mut self, id: &str, folder: &Path, depth: usize) -> Option<()> {
        let content = self.objects.read_kind(id, Kind::Tree)?;
        if depth > MAX_DEPTH {
            return None;
        }
        self.folders.entry(folder.to_owned()).or_default();
        let mut rest = content.as_slice();
        while !rest.is_empty() {
            let end = rest.iter().position(|it| *it == 0)?;
            let (mode, name) = std::str::from_utf8(&rest[..end]).ok()?.split_once(' ')?;
            let id = super::object::hex(rest.get(end + 1..end + 21)?);
            let is_plain = !name.contains('/') && !matches!(name, "" | "." | ".." | ".git");
            let path = folder.join(name);
            rest = &rest[end + 21..];
            if !is_plain || self.files.len() + self.folders.len() > MAX_ENTRIES {
                return None;
            }
            match mode {
                "40000" => {
                    self.add_tree(&id, &path, depth + 1)?;
                    self.folders.entry(folder.to_owned()).or_default().push(path);
                }
                "100644" | "100755" => {
                    self.folders.entry(folder.to_owned()).or_default().push(path.clone());
                    self.files.insert(path, id);
                }
                // Links and submodules.
                _ => {}
            }
        }
        Some(())
    }

    /// Returns the path from the root; `None` for a path outside of the work tree.
    fn inner(&self, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::new();
        for part in path.components() {
            match part {
                std::path::Component::ParentDir => {
                    real.pop();
                }
                std::path::Component::CurDir => {}
                other => real.push(other),
            }
        }
        real.strip_prefix(&self.root).ok().map(Path::to_path_buf)
    }

    fn blob(&self, inner: &Path) -> io::Result<Vec<u8>> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let id = self.files.get(inner).ok_or_else(missing)?;
        let content = self.objects.read_kind(id, Kind::Blob);
        content.ok_or_else(|| io::Error::other(format!("the object {id} cannot be read")))
    }
}

impl<'s> View for Committed<'s> {
    type Behind = dyn System + Sync + 's;

    fn behind(&self) -> &Self::Behind {
        self.behind
    }

    fn to_change(&self) -> io::Result<&Self::Behind> {
        Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "nothing may be changed here"))
    }

    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        match self.inner(path) {
            Some(inner) => String::from_utf8(self.blob(&inner)?).map_err(io::Error::other),
            None => self.behind.read_to_string(path),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.inner(path).map_or_else(|| self.behind.read(path), |inner| self.blob(&inner))
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let Some(inner) = self.inner(path) else { return self.behind.read_dir(path) };
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let entries = self.folders.get(&inner).ok_or_else(missing)?;
        let mut entries: Vec<PathBuf> = entries.iter().map(|it| self.root.join(it)).collect();
        entries.sort();
        Ok(entries)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let Some(inner) = self.inner(path) else { return self.behind.metadata(path) };
        let zero = Duration::ZERO;
        if let Some(id) = self.files.get(&inner) {
            let len = self.blob(&inner)?.len() as u64;
            // Files with another content look different.
            let inode = u64::from_str_radix(&id[..16], 16).unwrap_or_default() | 1;
            return Ok(Metadata {
                kind: FileKind::File,
                len,
                modified: zero,
                changed: zero,
                inode,
            });
        }
        match self.kind(path) {
            Some(kind) => Ok(Metadata { kind, len: 0, modified: zero, changed: zero, inode: 0 }),
            None => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        match self.inner(path) {
            Some(inner) if self.kind(path).is_some() => Ok(self.root.join(inner)),
            Some(_) => Err(io::Error::from(io::ErrorKind::NotFound)),
            None => self.behind.canonicalize(path),
        }
    }

    fn below(&self, root: &Path, path: &Path, call: FileCall<'_>) -> io::Result<FileAnswer> {
        if call.is_change() {
            self.to_change()?;
        }
        match self.inner(path) {
            Some(_) if path.starts_with(root) => call.run(self, path),
            _ => self.behind.below(root, path, call),
        }
    }

    fn kind(&self, path: &Path) -> Option<FileKind> {
        let Some(inner) = self.inner(path) else {
            return self.behind.metadata(path).ok().map(|facts| facts.kind);
        };
        // The mark of the work tree.
        if inner == Path::new(".git") || self.folders.contains_key(&inner) {
            return Some(FileKind::Directory);
        }
        self.files.contains_key(&inner).then_some(FileKind::File)
    }
}

/// Returns the id of the commit that a revision names.
fn resolve(objects: &Objects<'_>, repository: &Repository<'_>, revision: &str) -> Option<String> {
    let (name, back) = match revision.split_once('~') {
        Some((name, "")) => (name, 1),
        Some((name, count)) => (name, count.parse::<usize>().ok().filter(|it| *it <= MAX_BACK)?),
        None => (revision, 0),
    };
    let mut id = named(repository, name)?;
    // A tag names another object.
    for _ in 0..8 {
        match objects.read(&id)? {
            (Kind::Tag, content) => id = line_of(&content, "object ")?,
            (Kind::Commit, _) => break,
            _ => return None,
        }
    }
    for _ in 0..back {
        id = line_of(&objects.read_kind(&id, Kind::Commit)?, "parent ")?;
    }
    objects.read_kind(&id, Kind::Commit).map(|_| id)
}

/// Returns the id that a name stands for.
fn named(repository: &Repository<'_>, name: &str) -> Option<String> {
    if is_id(name) {
        return Some(name.to_ascii_lowercase());
    }
    if name == "HEAD" {
        return super::revision::head(repository).map(|(commit, _)| commit);
    }
    let list = repository.common_text("packed-refs").unwrap_or_default();
    for prefix in ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"] {
        let full = format!("{prefix}{name}");
        if !is_reference(&full) {
            continue;
        }
        let loose = repository.common_text(&full).map(|text| text.trim().to_owned());
        let found = loose.or_else(|| packed(&list, &full).map(str::to_owned));
        if let Some(id) = found.filter(|id| is_id(id)) {
            return Some(id);
        }
    }
    None
}

fn tree_of(objects: &Objects<'_>, commit: &str) -> Option<String> {
    line_of(&objects.read_kind(commit, Kind::Commit)?, "tree ")
}

/// Returns the id of the first line in the head of a commit or tag that begins with a key.
fn line_of(content: &[u8], key: &str) -> Option<String> {
    let lines = content.split(|it| *it == b'\n').take_while(|line| !line.is_empty());
    let mut texts = lines.filter_map(|line| std::str::from_utf8(line).ok());
    let id = texts.find_map(|line| line.strip_prefix(key))?;
    is_id(id).then(|| id.to_owned())
}
