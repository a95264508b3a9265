//! Commits in the object store of a repository.

use super::Repository;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use std::fmt::Write as _;

/// Maximum size of a commit, in bytes, also before it is decompressed.
const MAX_COMMIT: usize = 1 << 20;
/// Maximum size of a pack and of its index, in bytes.
const MAX_PACK: u64 = 32 << 20;
/// Maximum number of packs.
const MAX_PACKS: usize = 100;

/// Returns the id of the tree of a commit; `None` if the commit cannot be read.
pub(super) fn tree_of(repository: &Repository<'_>, commit: &str) -> Option<String> {
    // Ids of the other length are those of another hash.
    if commit.len() != 40 {
        return None;
    }
    let (folder, name) = commit.split_at(2);
    let path = format!("objects/{folder}/{name}");
    let content = match repository.read(&repository.common, &path, MAX_COMMIT as u64) {
        Some(bytes) => {
            let object = inflate(&bytes)?;
            let end = object.iter().position(|it| *it == 0)?;
            object.starts_with(b"commit ").then(|| object[end + 1..].to_vec())?
        }
        None => packed(repository, commit)?,
    };
    let line = content.split(|it| *it == b'\n').next()?;
    let tree = std::str::from_utf8(line).ok()?.strip_prefix("tree ")?;
    super::is_id(tree).then(|| tree.to_owned())
}

/// Finds a commit in the packs.
fn packed(repository: &Repository<'_>, commit: &str) -> Option<Vec<u8>> {
    let folder = repository.common.join("objects/pack");
    let names = repository.system.read_dir(&folder).ok()?;
    let names = names.iter().filter_map(|it| it.file_name()?.to_str()?.strip_suffix(".idx"));
    for name in names.take(MAX_PACKS) {
        let read = |end: &str| {
            let path = format!("objects/pack/{name}.{end}");
            repository.read(&repository.common, &path, MAX_PACK)
        };
        // A pack that is too large may contain it.
        let offset = offset(&read("idx")?, &unhex(commit)?);
        if let Some(offset) = offset {
            return entry(&read("pack")?, offset);
        }
    }
    None
}

/// Returns the place of an object in a pack, by the index of the pack (version 2).
fn offset(index: &[u8], id: &[u8]) -> Option<usize> {
    let number = |at: usize| {
        let bytes = index.get(at..at.checked_add(4)?)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
    };
    if !index.starts_with(b"\xfftOc\0\0\0\x02") {
        return None;
    }
    let (fanout, first) = (8, usize::from(*id.first()?));
    let all = number(fanout + 255 * 4)?;
    let high = number(fanout + first * 4)?;
    let low = if first == 0 { 0 } else { number(fanout + (first - 1) * 4)? };
    let ids = fanout + 256 * 4;
    let found =
        (low..high.min(all)).find(|it| index.get(ids + it * 20..ids + it * 20 + 20) == Some(id))?;
    let offset = number(ids + all * 24 + found * 4)?;
    // Others are in a table for large packs, which are not read.
    (offset < 1 << 31).then_some(offset)
}

/// Reads an object of a pack; `None` for one that is stored as a difference.
fn entry(pack: &[u8], offset: usize) -> Option<Vec<u8>> {
    const COMMIT: u8 = 1;
    let rest = pack.get(offset..)?;
    let head = rest.iter().position(|it| it & 128 == 0)? + 1;
    let is_commit = (rest.first()? >> 4) & 7 == COMMIT;
    if !is_commit {
        return None;
    }
    let data = rest.get(head..)?;
    inflate(data.get(..data.len().min(MAX_COMMIT))?)
}

fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    decompress_to_vec_zlib_with_limit(bytes, MAX_COMMIT).ok()
}

/// Writes an id in hexadecimal.
pub(super) fn hex(id: &[u8]) -> String {
    id.iter().fold(String::with_capacity(id.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn unhex(id: &str) -> Option<Vec<u8>> {
    (0..id.len()).step_by(2).map(|at| u8::from_str_radix(id.get(at..at + 2)?, 16).ok()).collect()
}
