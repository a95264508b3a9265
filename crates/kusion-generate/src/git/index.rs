//! The index of a repository: the tracked files, as they were when Git last looked at them.

use super::Repository;
use base_system::{FileAnswer, FileCall, FileKind, Metadata};
use sha1::{Digest as _, Sha1};
use std::io::ErrorKind;
use std::time::Duration;

/// Maximum size of an index, in bytes.
const MAX_INDEX: u64 = 64 << 20;
/// Maximum length of a path, in bytes. Paths of one index share their beginnings, so a small index
/// could stand for very many bytes.
const MAX_PATH: usize = 4096;
/// Maximum length of all paths, in bytes.
const MAX_PATHS: usize = 256 << 20;
/// Maximum size of all contents that are compared, in bytes.
pub(super) const MAX_CONTENT: u64 = 64 << 20;

/// The index.
pub(super) struct Index {
    /// The tracked files, sorted by their paths.
    pub(super) entries: Vec<Entry>,
    /// Whether a merge has conflicts.
    pub(super) has_conflicts: bool,
    /// The id of the tree that a commit of the index would have, if the index has it.
    pub(super) tree: Option<String>,
    /// When the index was written.
    written: Duration,
}

/// A tracked file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The path from the root.
    path: String,
    modified: (u32, u32),
    size: u32,
    id: [u8; 20],
    kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryKind {
    /// A file that is in the work tree.
    File,
    /// Added without content.
    Intended,
    /// Not compared: a link, a submodule, or a file that is not checked out.
    Other,
}

impl Entry {
    /// Returns whether it is below a folder, by its path from the root.
    pub(super) fn is_below(&self, folder: &str) -> bool {
        let rest = self.path.strip_prefix(folder);
        folder.is_empty() || rest.is_some_and(|it| it.starts_with('/'))
    }
}

impl Index {
    /// Reads the index; `None` if it is missing, too large or of an unknown form.
    pub(super) fn read(repository: &Repository<'_>) -> Option<Self> {
        let bytes = repository.read(&repository.private, "index", MAX_INDEX)?;
        let facts = repository.system.metadata(&repository.private.join("index")).ok()?;
        let index = parse(&bytes)?;
        Some(Self { written: facts.modified, ..index })
    }

    /// Returns whether a path is tracked.
    pub(super) fn contains(&self, path: &str) -> bool {
        self.entries.binary_search_by(|it| it.path.as_str().cmp(path)).is_ok()
    }

    /// Returns whether a tracked file differs from the index; `None` if that cannot be told.
    pub(super) fn is_changed(
        &self,
        repository: &Repository<'_>,
        entry: &Entry,
        budget: &mut u64,
    ) -> Option<bool> {
        match entry.kind {
            EntryKind::File => {}
            EntryKind::Intended => return Some(true),
            EntryKind::Other => return Some(false),
        }
        let (system, root) = (repository.system, &repository.root);
        let path = root.join(&entry.path);
        let facts = match system.below(root, &path, FileCall::Facts) {
            Ok(FileAnswer::Facts(facts)) if facts.kind == FileKind::File => facts,
            Ok(_) => return Some(true),
            Err(error) if error.kind() == ErrorKind::NotFound => return Some(true),
            Err(_) => return None,
        };
        if self.is_as_written(entry, &facts) {
            return Some(false);
        }
        *budget = budget.checked_sub(facts.len)?;
        let content = system.below(root, &path, FileCall::Read(facts.len));
        let Ok(FileAnswer::Bytes(content)) = content else { return None };
        Some(id_of(&content) != entry.id)
    }

    /// Returns whether size and time are those of the index. A file that changed when the index was
    /// written may have changed once more.
    fn is_as_written(&self, entry: &Entry, facts: &Metadata) -> bool {
        let (seconds, nanos) = entry.modified;
        let modified = facts.modified;
        u64::from(entry.size) == facts.len
            && u64::from(seconds) == modified.as_secs()
            && nanos == modified.subsec_nanos()
            && modified < self.written
    }
}

/// Returns the id that Git gives to a content.
fn id_of(content: &[u8]) -> [u8; 20] {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", content.len()));
    hash.update(content);
    hash.finalize().into()
}

/// A place in the bytes of an index.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// Takes the bytes up to a byte, which is skipped.
    fn until(&mut self, end: u8) -> Option<&'b [u8]> {
        let length = self.bytes.get(self.at..)?.iter().position(|it| *it == end)?;
        let taken = self.take(length)?;
        self.at += 1;
        Some(taken)
    }

    /// Takes a number of variable length.
    fn varint(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 127);
        while byte & 128 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 127);
        }
        Some(value)
    }
}

fn parse(bytes: &[u8]) -> Option<Index> {
    let body = bytes.get(..bytes.len().checked_sub(20)?)?;
    let mut reader = Reader { bytes: body, at: 0 };
    if reader.take(4)? != b"DIRC" {
        return None;
    }
    let version = reader.number().filter(|it| (2..=4).contains(it))?;
    let count = reader.number()?;
    let (mut entries, mut has_conflicts) = (Vec::new(), false);
    let mut last = Vec::new();
    let mut left = MAX_PATHS;
    for _ in 0..count {
        let (entry, stage) = entry(&mut reader, version, &mut last)?;
        left = left.checked_sub(entry.path.len())?;
        has_conflicts |= stage != 0;
        entries.push(entry);
    }
    let mut tree = None;
    extensions(&mut reader, &mut tree)?;
    Some(Index { entries, has_conflicts, tree, written: Duration::ZERO })
}

/// Reads an entry; returns its stage, too. `last` is the path before it, as bytes.
fn entry(reader: &mut Reader<'_>, version: u32, last: &mut Vec<u8>) -> Option<(Entry, u16)> {
    let start = reader.at;
    reader.take(8)?;
    let modified = (reader.number()?, reader.number()?);
    reader.take(8)?;
    let mode = reader.number()?;
    reader.take(8)?;
    let size = reader.number()?;
    let id = reader.take(20)?.try_into().ok()?;
    let flags = reader.short()?;
    let is_extended = flags & 0x4000 != 0;
    let more = if is_extended { reader.short()? } else { 0 };
    if version == 4 {
        let kept = last.len().checked_sub(reader.varint()?)?;
        last.truncate(kept);
        last.extend_from_slice(reader.until(0)?);
    } else {
        last.clear();
        last.extend_from_slice(reader.until(0)?);
        // Entries are padded to a multiple of 8.
        let length = (reader.at - start).next_multiple_of(8);
        reader.at = start.checked_add(length)?;
    }
    if last.len() > MAX_PATH {
        return None;
    }
    let path = std::str::from_utf8(last).ok().filter(|it| is_path(it))?.to_owned();
    let is_skipped = flags & 0x8000 != 0 || more & 0x4000 != 0;
    let kind = match mode & 0o170_000 {
        // A folder of a sparse index.
        0o040_000 => return None,
        0o100_000 if is_skipped => EntryKind::Other,
        0o100_000 if more & 0x2000 != 0 => EntryKind::Intended,
        0o100_000 => EntryKind::File,
        _ => EntryKind::Other,
    };
    Some((Entry { path, modified, size, id, kind }, (flags >> 12) & 3))
}

/// Returns whether a path of the index stays below the root, and is not in a `.git` folder.
fn is_path(path: &str) -> bool {
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
    !path.contains('\\') && path.split('/').all(is_plain)
}

/// Reads the extensions, and the id of the tree of the index if it is there. `None` for an
/// extension that must be understood.
fn extensions(reader: &mut Reader<'_>, tree: &mut Option<String>) -> Option<()> {
    while reader.at < reader.bytes.len() {
        let name = reader.take(4)?;
        let length = reader.number()? as usize;
        let content = reader.take(length)?;
        match name {
            b"TREE" => *tree = root_tree(content),
            [first, ..] if first.is_ascii_uppercase() => {}
            _ => return None,
        }
    }
    Some(())
}

/// Returns the id of the first tree of the extension, which is that of the root; `None` if it is
/// not valid any more.
fn root_tree(content: &[u8]) -> Option<String> {
    let mut reader = Reader { bytes: content, at: 0 };
    let path = reader.until(0)?;
    let count = std::str::from_utf8(reader.until(b' ')?).ok()?;
    reader.until(b'\n')?;
    let is_valid = path.is_empty() && !count.starts_with('-');
    is_valid.then(|| reader.take(20)).flatten().map(super::object::hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_have_the_ids_of_git() {
        // As `git hash-object` says.
        assert_eq!(
            super::super::object::hex(&id_of(b"")),
            "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
        );
        assert_eq!(
            super::super::object::hex(&id_of(b"hello\n")),
            "ce013625030ba8dba906f756967f9e9ca394464a"
        );
    }

    #[test]
    fn paths_stay_below_the_root() {
        for path in ["a", "a/b.k", ".gitignore"] {
            assert!(is_path(path), "{path}");
        }
        for path in ["", "/etc/x", "../x", "a/../b", "a//b", ".git/config", "a/.GIT/x", "a\\b"] {
            assert!(!is_path(path), "{path}");
        }
    }

    #[test]
    fn damaged_indexes_are_unknown() {
        let empty = [b"DIRC\0\0\0\x02\0\0\0\0".as_slice(), &[0; 20]].concat();
        assert!(parse(&empty).is_some_and(|it| it.entries.is_empty() && it.tree.is_none()));
        for cut in 0..empty.len() {
            assert!(parse(&empty[..cut]).is_none(), "{cut}");
        }
        let many = [b"DIRC\0\0\0\x02\xff\xff\xff\xff".as_slice(), &[0; 20]].concat();
        assert!(parse(&many).is_none());
        // An entry of the version with shared beginnings.
        let entry = |path: &[u8]| [[0; 63].as_slice(), path, &[0]].concat();
        let long = |length: usize| {
            let path = vec![b'a'; length];
            [b"DIRC\0\0\0\x04\0\0\0\x01".as_slice(), &entry(&path), &[0; 20]].concat()
        };
        assert!(parse(&long(MAX_PATH)).is_some_and(|it| it.entries.len() == 1));
        assert!(parse(&long(MAX_PATH + 1)).is_none());
        let split = [b"DIRC\0\0\0\x02\0\0\0\0link\0\0\0\0".as_slice(), &[0; 20]].concat();
        assert!(parse(&split).is_none());
    }
}
