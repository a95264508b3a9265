//! A backend in memory.

use super::{Backend, Expected, PutError, Version};
use crate::error::StoreError;
use async_trait::async_trait;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes in memory.
#[derive(Debug, Default)]
pub struct Memory {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    count: u64,
    values: BTreeMap<String, (Bytes, u64)>,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn insert(&mut self, key: &str, bytes: Bytes) -> Version {
        self.count += 1;
        self.values.insert(key.to_owned(), (bytes, self.count));
        Version(self.count.to_string())
    }
}

#[async_trait]
impl Backend for Memory {
    fn place(&self) -> &'static str {
        "memory"
    }

    async fn get(&self, key: &str) -> Result<Option<(Bytes, Version)>, StoreError> {
        let inner = self.lock();
        let found = inner.values.get(key);
        Ok(found.map(|(bytes, version)| (bytes.clone(), Version(version.to_string()))))
    }

    async fn put(&self, key: &str, bytes: Bytes, expected: Expected) -> Result<Version, PutError> {
        let mut inner = self.lock();
        let holds = match (inner.values.get(key), &expected) {
            (None, Expected::Absent) => true,
            (Some((_, version)), Expected::Is(wanted)) => version.to_string() == wanted.0,
            _ => false,
        };
        if !holds {
            return Err(PutError::Conflict);
        }
        Ok(inner.insert(key, bytes))
    }

    async fn put_after(&self, key: &str, bytes: Bytes, after: &str) -> Result<Version, PutError> {
        let mut inner = self.lock();
        if !inner.values.contains_key(after) || inner.values.contains_key(key) {
            return Err(PutError::Conflict);
        }
        Ok(inner.insert(key, bytes))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let inner = self.lock();
        let from_prefix = inner.values.range(prefix.to_owned()..);
        Ok(from_prefix
            .map(|(key, _)| key)
            .take_while(|key| key.starts_with(prefix))
            .cloned()
            .collect())
    }

    async fn delete(&self, keys: &[String]) -> Result<(), StoreError> {
        let mut inner = self.lock();
        for key in keys {
            inner.values.remove(key);
        }
        Ok(())
    }
}
