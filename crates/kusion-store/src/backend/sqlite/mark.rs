//! The mark file: the number of writes of a store, in a separate file.

use crate::frame::sum;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const MAGIC: &[u8; 8] = b"kusionmk";
const LENGTH: usize = 20;

/// The mark file of a store.
pub(super) struct Mark {
    path: PathBuf,
    file: OnceLock<Option<File>>,
}

impl Mark {
    /// Returns the mark file of a store.
    pub(super) fn beside(store: &Path) -> Self {
        let mut name = store.as_os_str().to_owned();
        name.push(".mark");
        Self { path: name.into(), file: OnceLock::new() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Returns the minimum number of writes: 0 if the mark file is damaged, `None` if it does not
    /// exist.
    pub(super) fn read(&self) -> Option<u64> {
        let bytes = std::fs::read(&self.path).ok()?;
        Some(parse(&bytes).unwrap_or(0))
    }

    /// Writes the number of writes. Failures are ignored: the mark then lags behind.
    pub(super) fn write(&self, writes: u64) {
        let file = self.file.get_or_init(|| {
            OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(&self.path)
                .ok()
        });
        let Some(file) = file else { return };
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&writes.to_le_bytes());
        let sum = sum(&[&bytes[..16]]);
        bytes[16..].copy_from_slice(&sum.to_le_bytes());
        let _ = file.write_all_at(&bytes, 0);
    }
}

fn parse(bytes: &[u8]) -> Option<u64> {
    let (head, wanted) = bytes.split_at_checked(16)?;
    let whole = head.starts_with(MAGIC) && wanted == sum(&[head]).to_le_bytes();
    let number = head[8..].try_into().ok()?;
    whole.then(|| u64::from_le_bytes(number))
}
