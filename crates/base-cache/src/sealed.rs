//! Bytes that know whether they are whole.
//!
//! ```text
//! magic 8 | build 8 | key 32 | length of the body 8 | checksum of the head 16
//! checksums of the blocks of the body, 16 each | body
//! ```

use crate::key::Key;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

const MAGIC: &[u8; 8] = b"sealed\x001";

/// The size of a checksum.
const SUM: usize = 16;

/// The body is checked in blocks of this size, when they are first read.
const BLOCK: usize = 8 << 10;

/// Where the checksum of the head stands.
const HEAD_SUM: usize = 8 + 8 + 32 + 8;

/// Where the checksums of the blocks start.
const SUMS: usize = HEAD_SUM + SUM;

/// The bytes of an entry, each block checked before it is handed out.
#[derive(Debug)]
pub struct Sealed {
    bytes: Vec<u8>,
    /// Where the body starts.
    body: usize,
    is_checked: Box<[AtomicBool]>,
}

/// Makes the bytes of an entry from its body.
pub fn seal(build: u64, key: &Key, body: &[u8]) -> Vec<u8> {
    let n_blocks = body.len().div_ceil(BLOCK);
    let mut bytes = Vec::with_capacity(SUMS + n_blocks * SUM + body.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&build.to_le_bytes());
    bytes.extend_from_slice(&key.0);
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&[0; SUM]);
    for block in body.chunks(BLOCK) {
        bytes.extend_from_slice(&sum(block));
    }
    let head = head_sum(&bytes);
    bytes[HEAD_SUM..SUMS].copy_from_slice(&head);
    bytes.extend_from_slice(body);
    bytes
}

fn sum(block: &[u8]) -> [u8; SUM] {
    first(blake3::hash(block))
}

/// The checksum of all before the body, but for the place where it stands itself.
fn head_sum(head: &[u8]) -> [u8; SUM] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&head[..HEAD_SUM]).update(&head[SUMS..]);
    first(hasher.finalize())
}

fn first(hash: blake3::Hash) -> [u8; SUM] {
    let mut sum = [0; SUM];
    sum.copy_from_slice(&hash.as_bytes()[..SUM]);
    sum
}

impl Sealed {
    /// Opens the bytes of an entry; `None` if they are not what build and key say.
    pub fn open(build: u64, key: &Key, bytes: Vec<u8>) -> Option<Self> {
        let is_ours = bytes.get(..8)? == MAGIC
            && bytes.get(8..16)? == build.to_le_bytes()
            && bytes.get(16..48)? == key.0;
        if !is_ours {
            return None;
        }
        let len = u64::from_le_bytes(bytes.get(48..HEAD_SUM)?.try_into().ok()?);
        let len = usize::try_from(len).ok()?;
        let n_blocks = len.div_ceil(BLOCK);
        let body = n_blocks.checked_mul(SUM)?.checked_add(SUMS)?;
        if bytes.len() != body.checked_add(len)?
            || bytes[HEAD_SUM..SUMS] != head_sum(&bytes[..body])
        {
            return None;
        }
        let is_checked = (0..n_blocks).map(|_| AtomicBool::new(false)).collect();
        Some(Self { bytes, body, is_checked })
    }

    /// Takes a body that never was outside.
    pub fn trusted(body: Vec<u8>) -> Self {
        Self { bytes: body, body: 0, is_checked: Box::default() }
    }

    /// The length of the body.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.body
    }

    /// Whether there is no body.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of the body; `None` if it is damaged or not there.
    pub fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        let body = &self.bytes[self.body..];
        let part = body.get(range.clone())?;
        if !part.is_empty() && !self.is_checked.is_empty() {
            for block in range.start / BLOCK..=(range.end - 1) / BLOCK {
                let is_checked = &self.is_checked[block];
                if is_checked.load(Ordering::Relaxed) {
                    continue;
                }
                let start = block * BLOCK;
                let found = sum(&body[start..body.len().min(start + BLOCK)]);
                if found[..] != self.bytes[SUMS + block * SUM..][..SUM] {
                    return None;
                }
                is_checked.store(true, Ordering::Relaxed);
            }
        }
        Some(part)
    }

    /// The whole body; `None` if a part of it is damaged.
    pub fn all(&self) -> Option<&[u8]> {
        self.get(0..self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Key, Vec<u8>, Vec<u8>) {
        let key = crate::hash(b"key");
        let body: Vec<u8> = (0..20_000_u32).map(|i| (i % 251) as u8).collect();
        let bytes = seal(7, &key, &body);
        (key, body, bytes)
    }

    #[test]
    fn what_was_sealed_comes_back() {
        let (key, body, bytes) = sample();
        let sealed = Sealed::open(7, &key, bytes).unwrap();
        assert_eq!(sealed.all().unwrap(), body);
        assert_eq!(sealed.get(8000..9000).unwrap(), &body[8000..9000]);
        assert_eq!(sealed.get(19_999..20_001), None);
        let empty = Sealed::open(7, &key, seal(7, &key, b"")).unwrap();
        assert_eq!(empty.all().unwrap(), b"");
    }

    #[test]
    fn other_builds_and_keys_see_nothing() {
        let (key, _, bytes) = sample();
        assert!(Sealed::open(8, &key, bytes.clone()).is_none());
        assert!(Sealed::open(7, &crate::hash(b"other"), bytes).is_none());
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let (key, _, bytes) = sample();
        for at in (0..bytes.len()).step_by(13) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            let read = Sealed::open(7, &key, damaged).and_then(|s| s.all().map(<[u8]>::to_vec));
            assert_eq!(read, None, "byte {at}");
        }
    }

    #[test]
    fn every_cut_is_noticed() {
        let (key, _, bytes) = sample();
        for len in (0..bytes.len()).step_by(97) {
            assert!(Sealed::open(7, &key, bytes[..len].to_vec()).is_none(), "{len} bytes");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(Sealed::open(7, &key, longer).is_none());
    }
}
