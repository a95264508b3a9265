//! Edits of the bytes of a value, by somebody who knows the format.

/// The length of the header without its checksum.
pub(super) const HEAD: usize = 88;
const SUM: usize = 4;
const LINK: usize = 32;
const FLAGS: usize = 9;
pub(super) const LINKED: u8 = 2;
pub(super) const BOUND: u8 = 4;

fn crc(parts: &[&[u8]]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().to_le_bytes()
}

/// Flips a bit.
pub(super) fn flip(rng: &mut fastrand::Rng, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = rng.usize(0..bytes.len());
    bytes[at] ^= 1 << rng.u8(0..8);
    bytes
}

/// Overwrites a range.
pub(super) fn noise(rng: &mut fastrand::Rng, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let from = rng.usize(0..bytes.len());
    let to = bytes.len().min(from + rng.usize(1..40));
    bytes[from..to].fill_with(|| rng.u8(..));
    bytes
}

/// The parts of a value.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) head: Vec<u8>,
    pub(super) link: Vec<u8>,
    /// Number and payload.
    pub(super) frames: Vec<(u64, Vec<u8>)>,
}

/// Takes a value apart; `None` if it does not follow the format.
pub(super) fn parts(bytes: &[u8]) -> Option<Parts> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let rest = rest.get(SUM..)?;
    let link = if head[FLAGS] & LINKED == 0 { 0 } else { LINK };
    let (link, mut rest) = rest.split_at_checked(link)?;
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let number = u64::from_le_bytes(rest.get(..8)?.try_into().ok()?);
        let length = u32::from_le_bytes(rest.get(8..12)?.try_into().ok()?) as usize;
        frames.push((number, rest.get(12..12 + length)?.to_vec()));
        rest = rest.get(12 + length + SUM..)?;
    }
    Some(Parts { head: head.to_vec(), link: link.to_vec(), frames })
}

impl Parts {
    /// Puts a value together, with right checksums and count.
    pub(super) fn join(mut self, name: &str) -> Vec<u8> {
        self.head[12..16].copy_from_slice(&(self.frames.len() as u32).to_le_bytes());
        let writer = self.head[32..48].to_vec();
        let mut bytes = self.head.clone();
        bytes.extend(crc(&[&self.head, name.as_bytes(), &self.link]));
        bytes.extend(&self.link);
        for (number, payload) in &self.frames {
            let mut frame = number.to_le_bytes().to_vec();
            frame.extend((payload.len() as u32).to_le_bytes());
            frame.extend(payload);
            let sum = crc(&[&frame, &writer]);
            bytes.extend(frame);
            bytes.extend(sum);
        }
        bytes
    }

    /// Sets flags, or clears them.
    pub(super) fn with_flags(mut self, change: impl FnOnce(u8) -> u8) -> Self {
        self.head[FLAGS] = change(self.head[FLAGS]);
        self
    }
}

/// Corrects the checksums of a value, as far as it follows the format.
pub(super) fn resum(name: &str, bytes: &[u8]) -> Vec<u8> {
    parts(bytes).map_or_else(|| bytes.to_vec(), |it| it.join(name))
}
