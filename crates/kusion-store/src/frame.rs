//! The binary format of values: a header, then frames, each with a checksum.
//!
//! ```text
//! head   magic `kusion` 0x00 · format u8 · kind u8 · flags u8 · zero u16 · frames u32 ·
//!        first number u64 · epoch u64 · writer [16] · fingerprint of the key [8] ·
//!        authentication code [32] · check sum u32 of the head, the name and the link
//! link   hash of the segment before this one [32], if flag 2 is set
//! frame  number u64 · length u32 · payload · check sum u32 of the frame and the writer
//! ```
//! Numbers are little-endian. The check sum of the head covers the name under which the value is
//! kept, so that a value in the wrong place is found; the count of frames shows missing ones. The
//! authentication code covers the name, the head before it, the link and all frames, and, if flag 4
//! is set, the id of the store: a value cannot be created, changed or copied from another store
//! without the key of the store. Links make the segments of a journal a chain.

use crate::auth::{Authenticated, Authority, FINGERPRINT, MAC};
use crate::error::StoreError;

/// The only format that this version reads and writes; the one before it was never released.
pub(crate) const FORMAT: u8 = 2;
const MAGIC: &[u8; 7] = b"kusion\0";
const PLAIN_HEAD: usize = 48;
const HEAD: usize = PLAIN_HEAD + FINGERPRINT + MAC;
const FRAME: usize = 12;
const SUM: usize = 4;
const LINK: usize = 32;
/// The place of the flags in the header.
const FLAGS: usize = 9;

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A segment of a journal.
    Segment = 1,
    /// A snapshot of the state at a record.
    Snapshot = 2,
    /// The lease of a stack.
    Lease = 3,
    /// The Spec of a release.
    Spec = 4,
    /// The events of a release.
    Events = 5,
    /// Metadata of the store.
    Store = 6,
}

/// Unique id of a writer.
pub(crate) type Writer = [u8; 16];

/// A flag of segments: this segment fences off an earlier lock holder that may still be running.
pub(crate) const FENCE: u8 = 1;
/// A flag of segments: a link follows the header.
const LINKED: u8 = 2;
/// A flag of values: the authentication code covers the id of the store.
const BOUND: u8 = 4;

/// The hash of a segment, which the next one contains.
pub(crate) type Link = [u8; 32];

/// Returns the hash of a segment.
pub(crate) fn link_of(segment: &[u8]) -> Link {
    *blake3::hash(segment).as_bytes()
}

/// The header of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    /// The number of the first frame.
    pub(crate) first: u64,
    /// Epoch: increases with every lock holder of the stack.
    pub(crate) epoch: u64,
    pub(crate) writer: Writer,
    /// The hash of the segment before this one, in segments.
    pub(crate) link: Option<Link>,
}

/// Encodes a value.
pub(crate) fn encode<P: AsRef<[u8]>>(
    authority: &Authority,
    key: &str,
    head: Head,
    payloads: &[P],
) -> Vec<u8> {
    let length: usize = payloads.iter().map(|it| it.as_ref().len() + FRAME + SUM).sum();
    let link = head.link.as_ref().map_or(&[][..], |it| it.as_slice());
    let mut bytes = Vec::with_capacity(HEAD + SUM + link.len() + length);
    let linked = if head.link.is_some() { LINKED } else { 0 };
    let bound = if authority.binds() { BOUND } else { 0 };
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[FORMAT, head.kind as u8, head.flags | linked | bound, 0, 0]);
    bytes.extend_from_slice(&(payloads.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&head.first.to_le_bytes());
    bytes.extend_from_slice(&head.epoch.to_le_bytes());
    bytes.extend_from_slice(&head.writer);
    bytes.extend_from_slice(&authority.fingerprint());
    // Filled in after the frames were written.
    bytes.extend_from_slice(&[0; MAC + SUM]);
    bytes.extend_from_slice(link);
    for (number, payload) in (head.first..).zip(payloads) {
        let payload = payload.as_ref();
        let start = bytes.len();
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        bytes.extend_from_slice(payload);
        let sum = sum(&[&bytes[start..], &head.writer]);
        bytes.extend_from_slice(&sum.to_le_bytes());
    }
    let (head, rest) = bytes.split_at_mut(HEAD);
    let value = Authenticated {
        name: key,
        head: &head[..PLAIN_HEAD],
        rest: &rest[SUM..],
        is_bound: authority.binds(),
    };
    let code = authority.code(&value);
    head[HEAD - MAC..].copy_from_slice(&code);
    let sum = sum(&[head, key.as_bytes(), link]);
    rest[..SUM].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Decodes a value and verifies all of it.
pub(crate) fn decode<'a>(
    authority: &Authority,
    place: &str,
    key: &str,
    kind: Kind,
    bytes: &'a [u8],
) -> Result<(Head, Vec<&'a [u8]>), StoreError> {
    let damaged = |what: &str| StoreError::damaged(format!("{place}: `{key}`"), what);
    let mut rest = Reader { bytes };
    let start = rest.take(HEAD).ok_or_else(|| damaged("truncated header"))?;
    let mut head = Reader { bytes: start };
    if head.take(MAGIC.len()) != Some(MAGIC) {
        return Err(damaged("unknown file signature"));
    }
    let format = head.u8();
    let expected_sum = rest.u32();
    let covered = rest.bytes;
    let is_linked = start[FLAGS] & LINKED != 0;
    let link = if is_linked { rest.take(LINK) } else { Some(&[][..]) };
    let link = link.ok_or_else(|| damaged("truncated header"))?;
    if expected_sum != Some(sum(&[start, key.as_bytes(), link])) {
        return Err(damaged("wrong checksum of the header"));
    }
    // Checked after the checksum, so that a flipped bit is reported as damage.
    if let Some(found) = format.filter(|it| *it != FORMAT) {
        return Err(StoreError::format(&format!("{place}: `{key}`"), found.into(), FORMAT.into()));
    }
    if head.u8() != Some(kind as u8) {
        return Err(damaged("unexpected record kind"));
    }
    let parts = (head.u8(), head.take(2), head.u32(), head.u64(), head.u64(), head.take(16));
    let (Some(flags), Some(_), Some(count), Some(first), Some(epoch), Some(id)) = parts else {
        return Err(damaged("truncated header"));
    };
    let mut writer = Writer::default();
    writer.copy_from_slice(id);
    let mut payloads = Vec::with_capacity((count as usize).min(bytes.len() / (FRAME + SUM)));
    for number in (first..).take(count as usize) {
        let payload = frame(&mut rest, number, &writer)
            .ok_or_else(|| damaged(&format!("record {number} is truncated or modified")))?;
        payloads.push(payload);
    }
    if !rest.bytes.is_empty() {
        return Err(damaged("unexpected data at the end"));
    }
    let (plain, signed) = start.split_at(PLAIN_HEAD);
    let (fingerprint, code) = signed.split_at(FINGERPRINT);
    let is_bound = flags & BOUND != 0;
    let value = Authenticated { name: key, head: plain, rest: covered, is_bound };
    authority.check(&value, fingerprint, code).map_err(|what| damaged(&what))?;
    let (flags, link) = (flags & !(LINKED | BOUND), link.try_into().ok());
    Ok((Head { kind, flags, first, epoch, writer, link }, payloads))
}

fn frame<'a>(rest: &mut Reader<'a>, number: u64, writer: &Writer) -> Option<&'a [u8]> {
    let whole = rest.bytes;
    let found = rest.u64()?;
    let length = rest.u32()? as usize;
    let payload = rest.take(length)?;
    let wanted = rest.u32()?;
    let summed = sum(&[&whole[..FRAME + length], writer]);
    (found == number && summed == wanted).then_some(payload)
}

/// Returns the fingerprint of the key that a value was written with, unchecked.
pub(crate) fn fingerprint(bytes: &[u8]) -> Option<[u8; FINGERPRINT]> {
    bytes.get(PLAIN_HEAD..PLAIN_HEAD + FINGERPRINT)?.try_into().ok()
}

/// Computes the checksum of consecutive parts.
pub(crate) fn sum(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|it| it[0])
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::auth::StoreKey;

    fn authority(byte: u8) -> Authority {
        Authority::new(StoreKey::new(&format!("{byte:016x}"), [byte; 32]))
    }

    fn example() -> Vec<u8> {
        let head = Head {
            kind: Kind::Segment,
            flags: FENCE,
            first: 7,
            epoch: 3,
            writer: [9; 16],
            link: None,
        };
        encode(&authority(1), "a/log/7", head, &["one", "", "three"])
    }

    fn read(bytes: &[u8]) -> Result<(Head, Vec<&[u8]>), StoreError> {
        decode(&authority(1), "test", "a/log/7", Kind::Segment, bytes)
    }

    /// Writes a check sum that fits a changed head, as somebody without the key would.
    fn with_sum(mut bytes: Vec<u8>) -> Vec<u8> {
        let sum = sum(&[&bytes[..HEAD], b"a/log/7"]);
        bytes[HEAD..HEAD + SUM].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = example();
        let (head, payloads) = read(&bytes).expect("it is whole");
        assert_eq!((head.flags, head.first, head.epoch), (FENCE, 7, 3));
        assert_eq!(head.writer, [9; 16]);
        assert_eq!(payloads, [b"one".as_slice(), b"", b"three"]);
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let bytes = example();
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&changed).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn every_other_length_is_found() {
        let bytes = example();
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "length {length}");
        }
        assert!(read(&[bytes.as_slice(), b"x"].concat()).is_err());
    }

    #[test]
    fn a_value_in_another_place_or_of_another_kind_is_found() {
        let bytes = example();
        assert!(decode(&authority(1), "test", "a/log/8", Kind::Segment, &bytes).is_err());
        assert!(decode(&authority(1), "test", "a/log/7", Kind::Snapshot, &bytes).is_err());
    }

    #[test]
    fn what_was_written_without_the_key_is_found() {
        let head =
            Head { kind: Kind::Segment, flags: 0, first: 7, epoch: 3, writer: [9; 16], link: None };
        let forged = encode(&authority(2), "a/log/7", head, &["one"]);
        let text = read(&forged).expect_err("another key").to_string();
        assert!(text.contains("another key"), "{text}");
        for byte in 0..HEAD {
            let mut changed = example();
            changed[byte] ^= 1;
            assert!(read(&with_sum(changed)).is_err(), "byte {byte}");
        }
        let mut unsigned = example();
        unsigned[PLAIN_HEAD..HEAD].fill(0);
        assert!(read(&with_sum(unsigned)).is_err(), "no key at all");
        let replaced = authority(1).with_replaced(vec![authority(2).fingerprint()]);
        let known = decode(&replaced, "test", "a/log/7", Kind::Segment, &forged);
        assert_eq!(known.expect("an earlier key of the store").1, [b"one".as_slice()]);
    }

    #[test]
    fn links_and_stores_are_part_of_a_value() {
        let here = authority(1).with_store("here");
        let (kind, flags, first, epoch, writer) = (Kind::Segment, FENCE, 7, 3, [9; 16]);
        let head = Head { kind, flags, first, epoch, writer, link: Some([5; 32]) };
        let bytes = encode(&here, "a/log/7", head, &["one", "two"]);
        let read = |authority: &Authority, bytes: &[u8]| {
            decode(authority, "test", "a/log/7", Kind::Segment, bytes).map(|it| it.0)
        };
        assert_eq!(read(&here, &bytes).expect("it is whole"), head);
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&here, &changed).is_err(), "bit {bit}");
        }
        assert!(read(&authority(1).with_store("there"), &bytes).is_err());
        assert!(read(&authority(1), &bytes).is_err());
        assert!(read(&here, &example()).is_ok(), "written before values were bound");
    }

    #[test]
    fn another_format_is_named() {
        let mut bytes = example();
        bytes[7] = 3;
        let newer = with_sum(bytes.clone());
        assert!(matches!(read(&newer), Err(StoreError::Newer { found: 3, .. })));
        bytes[7] = 1;
        let older = with_sum(bytes);
        assert!(matches!(read(&older), Err(StoreError::Older { found: 1, .. })));
    }
}
