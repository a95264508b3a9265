//! The written form of every value: a head, then frames, each with its check sum.
//!
//! ```text
//! head   magic `kusion` 0x00 · format u8 · kind u8 · flags u8 · zero u16 · frames u32 ·
//!        first number u64 · writer [16] · check sum u32 of the head and the key
//! frame  number u64 · length u32 · payload · check sum u32 of the frame and the writer
//! ```
//! Numbers are little-endian. The check sum of the head covers the key under which the value is
//! kept, so that a value in the wrong place is found; the count of frames shows missing ones.

use crate::error::StoreError;

/// The newest format that this version reads, and the one that it writes.
const FORMAT: u8 = 1;
const MAGIC: &[u8; 7] = b"kusion\0";
const HEAD: usize = 40;
const FRAME: usize = 12;
const SUM: usize = 4;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A part of a journal.
    Segment = 1,
    /// The sum of a journal up to a record.
    Snapshot = 2,
    /// Who holds a stack.
    Lease = 3,
    /// The Spec of a release.
    Spec = 4,
}

/// What tells one writer's values from another's.
pub(crate) type Writer = [u8; 16];

/// A flag of segments: the number of this one fences an earlier holder that may still live.
pub(crate) const FENCE: u8 = 1;

/// The head of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    /// The number of the first frame.
    pub(crate) first: u64,
    pub(crate) writer: Writer,
}

/// Writes a value.
pub(crate) fn encode<P: AsRef<[u8]>>(key: &str, head: Head, payloads: &[P]) -> Vec<u8> {
    let length: usize = payloads.iter().map(|it| it.as_ref().len() + FRAME + SUM).sum();
    let mut bytes = Vec::with_capacity(HEAD + SUM + length);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[FORMAT, head.kind as u8, head.flags, 0, 0]);
    bytes.extend_from_slice(&(payloads.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&head.first.to_le_bytes());
    bytes.extend_from_slice(&head.writer);
    let sum = sum(&[&bytes, key.as_bytes()]);
    bytes.extend_from_slice(&sum.to_le_bytes());
    for (number, payload) in (head.first..).zip(payloads) {
        let payload = payload.as_ref();
        let start = bytes.len();
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        bytes.extend_from_slice(payload);
        let sum = self::sum(&[&bytes[start..], &head.writer]);
        bytes.extend_from_slice(&sum.to_le_bytes());
    }
    bytes
}

/// Reads a value and checks all of it.
pub(crate) fn decode<'a>(
    place: &str,
    key: &str,
    kind: Kind,
    bytes: &'a [u8],
) -> Result<(Head, Vec<&'a [u8]>), StoreError> {
    let damaged = |what: &str| StoreError::damaged(format!("{place}: `{key}`"), what);
    let mut rest = Reader { bytes };
    let start = rest.take(HEAD).ok_or_else(|| damaged("its head is cut off"))?;
    let mut head = Reader { bytes: start };
    if head.take(MAGIC.len()) != Some(MAGIC) {
        return Err(damaged("it does not begin as it must"));
    }
    let format = head.u8();
    if let Some(found) = format.filter(|it| *it > FORMAT) {
        // Only a head that is whole says so; else a flipped bit would.
        if rest.u32() == Some(sum(&[start, key.as_bytes()])) {
            let place = format!("{place}: `{key}`");
            return Err(StoreError::Newer { place, found: found.into(), known: FORMAT.into() });
        }
        return Err(damaged("the check sum of its head is wrong"));
    }
    if rest.u32() != Some(sum(&[start, key.as_bytes()])) {
        return Err(damaged("the check sum of its head is wrong"));
    }
    if head.u8() != Some(kind as u8) {
        return Err(damaged("it is of another kind"));
    }
    let parts = (head.u8(), head.take(2), head.u32(), head.u64(), head.take(16));
    let (Some(flags), Some(_), Some(count), Some(first), Some(id)) = parts else {
        return Err(damaged("its head is cut off"));
    };
    let mut writer = Writer::default();
    writer.copy_from_slice(id);
    let mut payloads = Vec::with_capacity((count as usize).min(bytes.len() / (FRAME + SUM)));
    for number in (first..).take(count as usize) {
        let payload = frame(&mut rest, number, &writer)
            .ok_or_else(|| damaged(&format!("record {number} is cut off or changed")))?;
        payloads.push(payload);
    }
    if !rest.bytes.is_empty() {
        return Err(damaged("there is more than was written"));
    }
    Ok((Head { kind, flags, first, writer }, payloads))
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

/// Computes the check sum of parts that follow each other.
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

    fn example() -> Vec<u8> {
        let head = Head { kind: Kind::Segment, flags: FENCE, first: 7, writer: [9; 16] };
        encode("a/log/7", head, &["one", "", "three"])
    }

    fn read(bytes: &[u8]) -> Result<(Head, Vec<&[u8]>), StoreError> {
        decode("test", "a/log/7", Kind::Segment, bytes)
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = example();
        let (head, payloads) = read(&bytes).expect("it is whole");
        assert_eq!((head.flags, head.first, head.writer), (FENCE, 7, [9; 16]));
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
        assert!(decode("test", "a/log/8", Kind::Segment, &bytes).is_err());
        assert!(decode("test", "a/log/7", Kind::Snapshot, &bytes).is_err());
    }

    #[test]
    fn a_newer_format_is_named() {
        let mut bytes = example();
        bytes[7] = 2;
        let sum = sum(&[&bytes[..HEAD], b"a/log/7"]);
        bytes[HEAD..HEAD + SUM].copy_from_slice(&sum.to_le_bytes());
        assert!(matches!(read(&bytes), Err(StoreError::Newer { found: 2, .. })));
    }
}
