//! Storage backends: a key-value interface with compare-and-swap.

mod deadline;
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

/// The version of a value; never reused for a different value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub String);

/// The precondition of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The key must not exist.
    Absent,
    /// The value must have this version.
    Is(Version),
}

/// The error of a backend.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub struct BackendError {
    /// The file, table or bucket.
    pub place: String,
    /// The error message.
    pub message: String,
}

/// The error of a write.
#[derive(Clone, Debug)]
pub enum PutError {
    /// The precondition was not met.
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

/// A key-value store for bytes. Writes are atomic, and durable when they return; keys consist of
/// letters, digits and `-_.%/`.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Returns the location for messages; contains no passwords.
    fn place(&self) -> &str;

    /// Reads a key.
    async fn get(&self, key: &str) -> Result<Option<(Bytes, Version)>, StoreError>;

    /// Writes a key if the precondition is met.
    async fn put(&self, key: &str, bytes: Bytes, expected: Expected) -> Result<Version, PutError>;

    /// Writes a key that must not exist, if the key `after` exists. A backend that cannot check
    /// both in one step does not check `after`.
    async fn put_after(&self, key: &str, bytes: Bytes, after: &str) -> Result<Version, PutError> {
        let _ = after;
        self.put(key, bytes, Expected::Absent).await
    }

    /// Returns why the store can only be read; `None` if it can be written.
    fn read_only(&self) -> Option<StoreError> {
        None
    }

    /// Lists the keys that begin with a prefix, which ends with `/` or is empty; sorted.
    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError>;

    /// Removes keys; missing keys are ignored.
    async fn delete(&self, keys: &[String]) -> Result<(), StoreError>;

    /// Closes connections and finishes pending work.
    async fn close(&self) {}
}

/// Returns the upper bound of keys with a prefix.
fn end_of(prefix: &str) -> String {
    // `0` follows `/`.
    prefix.strip_suffix('/').map_or("\u{10ffff}".to_owned(), |folder| format!("{folder}0"))
}
