//! Bytes by key, with compare and swap.

mod memory;
mod postgres;
mod s3;
mod sqlite;

pub use memory::Memory;
pub(crate) use postgres::Postgres;
pub(crate) use s3::S3;
pub(crate) use sqlite::{Sqlite, set_aside as set_aside_file};

use crate::error::StoreError;
use async_trait::async_trait;
use bytes::Bytes;

/// What tells one content of a key from another; never used twice for different contents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub String);

/// What a key must hold for a write to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Absent,
    /// This version.
    Is(Version),
}

/// What went wrong in a backend.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub struct BackendError {
    /// The file, table or bucket.
    pub place: String,
    /// What happened.
    pub message: String,
}

/// Why a write did not happen.
#[derive(Clone, Debug)]
pub enum PutError {
    /// The key held something else than expected.
    Conflict,
    /// The backend failed; the write may or may not have happened.
    Failed(StoreError),
}

impl From<StoreError> for PutError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl From<BackendError> for PutError {
    fn from(error: BackendError) -> Self {
        Self::Failed(error.into())
    }
}

/// A place for bytes by key. Writes are durable and whole when they return; keys are made of
/// letters, digits and `-_.%/`.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Returns the name of the place, for messages; no passwords.
    fn place(&self) -> &str;

    /// Reads a key.
    async fn get(&self, key: &str) -> Result<Option<(Bytes, Version)>, StoreError>;

    /// Writes a key if it holds what is expected.
    async fn put(&self, key: &str, bytes: Bytes, expected: Expected) -> Result<Version, PutError>;

    /// Lists the keys that begin with a prefix, which ends with `/` or is empty; sorted.
    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError>;

    /// Removes keys; absent ones count as removed.
    async fn delete(&self, keys: &[String]) -> Result<(), StoreError>;

    /// Gives back connections and tidies up, so that nothing is left to do by the next process.
    async fn close(&self) {}
}

/// Returns what follows all keys that begin with a prefix; an empty one means everything.
fn end_of(prefix: &str) -> String {
    // `0` follows `/`.
    prefix.strip_suffix('/').map_or("\u{10ffff}".to_owned(), |folder| format!("{folder}0"))
}
