//! What the files of a package look like to the file system.

use base_cache::Key;
use base_system::Metadata;
use std::time::Duration;

/// A file that changed so short before it was read may have changed after that, too, without
/// a trace: clocks of file systems are coarse.
const RACY: Duration = Duration::from_secs(2);

/// The size of a file's part.
const FILE: usize = 4 * 8 + 32;

/// The files of a package as they were when their content was hashed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// When the first of them was looked at.
    began: u64,
    files: Vec<(Fingerprint, Key)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fingerprint {
    len: u64,
    modified: u64,
    changed: u64,
    inode: u64,
}

impl Fingerprint {
    fn new(facts: &Metadata) -> Self {
        Self {
            len: facts.len,
            modified: nanos(facts.modified),
            changed: nanos(facts.changed),
            inode: facts.inode,
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Record {
    pub(super) fn new(began: Duration, facts: &[Metadata], hashes: &[Key]) -> Self {
        let files = facts.iter().map(Fingerprint::new).zip(hashes.iter().copied()).collect();
        Self { began: nanos(began), files }
    }

    /// The hash of a file, if the file looks as it did then and that can be relied on.
    pub(super) fn hash(&self, at: usize, facts: &Metadata) -> Option<Key> {
        let (fingerprint, hash) = self.files.get(at)?;
        let newest = fingerprint.modified.max(fingerprint.changed);
        let is_racy = newest.saturating_add(nanos(RACY)) >= self.began;
        (!is_racy && *fingerprint == Fingerprint::new(facts)).then_some(*hash)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + self.files.len() * FILE);
        bytes.extend_from_slice(&self.began.to_le_bytes());
        for (fingerprint, hash) in &self.files {
            let Fingerprint { len, modified, changed, inode } = fingerprint;
            for number in [len, modified, changed, inode] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            bytes.extend_from_slice(&hash.0);
        }
        bytes
    }

    /// Reads the record of a package with so many files.
    pub(super) fn decode(bytes: &[u8], n_files: usize) -> Option<Self> {
        let (began, files) = bytes.split_at_checked(8)?;
        let began = u64::from_le_bytes(began.try_into().ok()?);
        if files.len() != n_files.checked_mul(FILE)? {
            return None;
        }
        let file = |bytes: &[u8]| {
            let number =
                |at: usize| bytes[at * 8..at * 8 + 8].try_into().map(u64::from_le_bytes).ok();
            let fingerprint = Fingerprint {
                len: number(0)?,
                modified: number(1)?,
                changed: number(2)?,
                inode: number(3)?,
            };
            Some((fingerprint, Key(bytes[32..].try_into().ok()?)))
        };
        let files: Option<Vec<_>> = files.chunks_exact(FILE).map(file).collect();
        Some(Self { began, files: files? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::FileKind;

    fn facts(seconds: u64, inode: u64) -> Metadata {
        let modified = Duration::from_secs(seconds);
        Metadata { kind: FileKind::File, len: 9, modified, changed: modified, inode }
    }

    #[test]
    fn records_come_back() {
        let hashes = [base_cache::hash(b"a"), base_cache::hash(b"b")];
        let record = Record::new(Duration::from_secs(9), &[facts(1, 2), facts(3, 4)], &hashes);
        let bytes = record.encode();
        assert_eq!(Record::decode(&bytes, 2).as_ref(), Some(&record));
        assert_eq!(Record::decode(&bytes, 3), None);
        assert_eq!(record.hash(1, &facts(3, 4)), Some(hashes[1]));
        assert_eq!(record.hash(1, &facts(3, 5)), None);
        assert_eq!(record.hash(1, &facts(2, 4)), None);
    }

    #[test]
    fn what_changed_just_before_is_read_again() {
        let hashes = [base_cache::hash(b"a")];
        let began = Duration::from_secs(10);
        let is_known = |changed| {
            Record::new(began, &[facts(changed, 1)], &hashes).hash(0, &facts(changed, 1)).is_some()
        };
        assert_eq!([7, 8, 10, 12].map(is_known), [true, false, false, false]);
    }
}
