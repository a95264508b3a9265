//! All objects of a repository: loose ones and those of packs, also as differences.

use super::object::{hex, unhex};
use super::{Repository, read_below};
use base_system::System;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use std::path::PathBuf;

/// Maximum size of an object, in bytes, also before it is decompressed.
const MAX_OBJECT: usize = 64 << 20;
/// Maximum size of all packs together, in bytes.
const MAX_PACKS: u64 = 512 << 20;
/// Maximum number of differences behind each other.
const MAX_CHAIN: usize = 128;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Commit,
    Tree,
    Blob,
    Tag,
}

/// The objects of a repository. Packs are read once.
pub(super) struct Objects<'s> {
    system: &'s (dyn System + Sync),
    /// The folder with settings, references and objects.
    common: PathBuf,
    packs: Vec<Pack>,
}

struct Pack {
    index: Vec<u8>,
    data: Vec<u8>,
}

/// An object: what it is, and its content.
type Object = (Kind, Vec<u8>);

impl<'s> Objects<'s> {
    /// Reads the packs of a repository.
    ///
    /// # Errors
    ///
    /// If they are too large.
    pub(super) fn open(
        system: &'s (dyn System + Sync),
        repository: &Repository<'_>,
    ) -> Result<Self, String> {
        let common = repository.common.clone();
        let names = system.read_dir(&common.join("objects/pack")).unwrap_or_default();
        let names = names.iter().filter_map(|it| it.file_name()?.to_str()?.strip_suffix(".idx"));
        let mut packs = Vec::new();
        let mut room = MAX_PACKS;
        for name in names {
            let mut read = |end: &str| {
                let path = format!("objects/pack/{name}.{end}");
                let bytes = read_below(system, &common, &path, room);
                let bytes = bytes.ok_or_else(|| {
                    format!("cannot read {name}.{end}: packs may have {} MiB", MAX_PACKS >> 20)
                })?;
                room -= room.min(bytes.len() as u64);
                Ok::<_, String>(bytes)
            };
            packs.push(Pack { index: read("idx")?, data: read("pack")? });
        }
        Ok(Self { system, common, packs })
    }

    /// Reads an object; `None` if it is missing, damaged or too large.
    pub(super) fn read(&self, id: &str) -> Option<Object> {
        self.read_at_depth(id, 0)
    }

    /// Reads an object of one kind.
    pub(super) fn read_kind(&self, id: &str, kind: Kind) -> Option<Vec<u8>> {
        self.read(id).filter(|(found, _)| *found == kind).map(|(_, content)| content)
    }

    fn read_at_depth(&self, id: &str, depth: usize) -> Option<Object> {
        if id.len() != 40 || depth > MAX_CHAIN {
            return None;
        }
        let raw = unhex(id)?;
        for pack in &self.packs {
            if let Some(offset) = pack.offset(&raw) {
                return self.entry(pack, offset, depth);
            }
        }
        let (folder, name) = id.split_at(2);
        let path = format!("objects/{folder}/{name}");
        let bytes = read_below(self.system, &self.common, &path, MAX_OBJECT as u64)?;
        let object = inflate(&bytes)?;
        let end = object.iter().position(|it| *it == 0)?;
        let head = std::str::from_utf8(&object[..end]).ok()?;
        let kind = match head.split_once(' ')?.0 {
            "commit" => Kind::Commit,
            "tree" => Kind::Tree,
            "blob" => Kind::Blob,
            "tag" => Kind::Tag,
            _ => return None,
        };
        Some((kind, object[end + 1..].to_vec()))
    }

    /// Reads an object of a pack.
    fn entry(&self, pack: &Pack, offset: usize, depth: usize) -> Option<Object> {
        if depth > MAX_CHAIN {
            return None;
        }
        let rest = pack.data.get(offset..)?;
        let head = rest.iter().position(|it| it & 128 == 0)? + 1;
        let rest_of = |skip: usize| rest.get(head + skip..);
        let kind = match (rest.first()? >> 4) & 7 {
            1 => Kind::Commit,
            2 => Kind::Tree,
            3 => Kind::Blob,
            4 => Kind::Tag,
            // A difference to an earlier object of the pack.
            6 => {
                let (back, len) = negative_offset(rest_of(0)?)?;
                let base = self.entry(pack, offset.checked_sub(back)?, depth + 1)?;
                return patched(base, &inflate(rest_of(len)?)?);
            }
            // A difference to an object with an id.
            7 => {
                let id = hex(rest_of(0)?.get(..20)?);
                let base = self.read_at_depth(&id, depth + 1)?;
                return patched(base, &inflate(rest_of(20)?)?);
            }
            _ => return None,
        };
        Some((kind, inflate(rest_of(0)?)?))
    }
}

impl Pack {
    /// Returns the place of an object, by the index of the pack (version 2).
    fn offset(&self, id: &[u8]) -> Option<usize> {
        let index = &self.index;
        let number = |at: usize| {
            let bytes = index.get(at..at.checked_add(4)?)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
        };
        if !index.starts_with(b"\xfftOc\0\0\0\x02") {
            return None;
        }
        let (fanout, first) = (8, usize::from(*id.first()?));
        let all = number(fanout + 255 * 4)?;
        let mut high = number(fanout + first * 4)?.min(all);
        let mut low = if first == 0 { 0 } else { number(fanout + (first - 1) * 4)? };
        let ids = fanout + 256 * 4;
        while low < high {
            let middle = low + (high - low) / 2;
            match index.get(ids + middle * 20..ids + middle * 20 + 20)?.cmp(id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    let offset = number(ids + all * 24 + middle * 4)?;
                    if offset < 1 << 31 {
                        return Some(offset);
                    }
                    let large = ids + all * 28 + (offset - (1 << 31)) * 8;
                    let bytes = index.get(large..large.checked_add(8)?)?;
                    return usize::try_from(u64::from_be_bytes(bytes.try_into().ok()?)).ok();
                }
            }
        }
        None
    }
}

/// Reads how far back the base of a difference is, and the length of that number.
fn negative_offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = usize::from(bytes.first()? & 127);
    let mut at = 0;
    while bytes.get(at)? & 128 != 0 {
        at += 1;
        value = value.checked_add(1)?.checked_mul(128)? | usize::from(bytes.get(at)? & 127);
    }
    Some((value, at + 1))
}

/// Applies a difference to an object.
fn patched((kind, base): Object, delta: &[u8]) -> Option<Object> {
    let mut at = 0;
    let mut next = || {
        let byte = delta.get(at).copied();
        at += 1;
        byte
    };
    let mut size = || {
        let (mut value, mut shift) = (0_usize, 0);
        loop {
            let byte = next()?;
            value |= usize::from(byte & 127).checked_shl(shift)?;
            shift += 7;
            if byte & 128 == 0 {
                return Some(value);
            }
        }
    };
    let (before, after) = (size()?, size()?);
    if before != base.len() || after > MAX_OBJECT {
        return None;
    }
    let mut content = Vec::with_capacity(after);
    while at < delta.len() {
        let op = delta[at];
        at += 1;
        if op & 128 == 0 {
            // Bytes that follow.
            let len = usize::from(op);
            content.extend_from_slice(delta.get(at..at + len).filter(|_| len > 0)?);
            at += len;
        } else {
            // A part of the base.
            let mut numbers = [0_usize; 7];
            for (bit, number) in numbers.iter_mut().enumerate() {
                if op & (1 << bit) != 0 {
                    *number = usize::from(*delta.get(at)?);
                    at += 1;
                }
            }
            let start = numbers[0] | numbers[1] << 8 | numbers[2] << 16 | numbers[3] << 24;
            let len = numbers[4] | numbers[5] << 8 | numbers[6] << 16;
            let len = if len == 0 { 0x1_0000 } else { len };
            content.extend_from_slice(base.get(start..start.checked_add(len)?)?);
        }
        if content.len() > after {
            return None;
        }
    }
    (content.len() == after).then_some((kind, content))
}

fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let bytes = bytes.get(..bytes.len().min(MAX_OBJECT))?;
    decompress_to_vec_zlib_with_limit(bytes, MAX_OBJECT).ok()
}
