//! Metadata of a store: its id and its key.

use crate::auth::{self, Authority, StoreKey};
use crate::backend::{Backend, Expected, PutError, Version};
use crate::error::StoreError;
use crate::frame::{self, Kind};
use crate::journal::{STACKS, parse, to_json};
use crate::operation;
use serde::{Deserialize, Serialize};

/// The key of the value.
const NAME: &str = "store";

/// The stored form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Meta {
    /// The unique id of the store.
    pub(crate) id: String,
    /// The fingerprint of its key.
    pub(crate) key: String,
    /// The fingerprints of earlier, lost keys, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replaced: Vec<String>,
    /// Time of its creation, RFC 3339.
    pub(crate) created: String,
}

impl Meta {
    /// Returns the authority that verifies the values of the store.
    pub(crate) fn authority(&self, key: &StoreKey) -> Authority {
        let replaced = self.replaced.iter().filter_map(|it| auth::parse(it)).collect();
        Authority::new(key.clone()).with_store(&self.id).with_replaced(replaced)
    }

    /// Reads the metadata; `None` in a new store. Fails if the store uses another key.
    pub(crate) async fn read(
        backend: &dyn Backend,
        key: &StoreKey,
    ) -> Result<Option<Self>, StoreError> {
        let Some((meta, _)) = Self::read_unchecked(backend, key).await? else { return Ok(None) };
        if meta.key != key.fingerprint() {
            return Err(StoreError::OtherKey {
                place: backend.place().to_owned(),
                expected: meta.key,
                found: key.fingerprint(),
            });
        }
        Ok(Some(meta))
    }

    /// Fails if the metadata is missing although there are stacks.
    pub(crate) async fn check_missing(backend: &dyn Backend) -> Result<(), StoreError> {
        if backend.list(STACKS).await?.is_empty() {
            return Ok(());
        }
        // Another process may have created the store meanwhile.
        if backend.get(NAME).await?.is_some() {
            return Ok(());
        }
        let what = format!("`{NAME}` is missing, but stacks exist; restore it from a backup");
        Err(StoreError::damaged(backend.place(), what))
    }

    /// Reads the metadata regardless of the key.
    async fn read_unchecked(
        backend: &dyn Backend,
        key: &StoreKey,
    ) -> Result<Option<(Self, Version)>, StoreError> {
        let Some((bytes, version)) = backend.get(NAME).await? else { return Ok(None) };
        let place = backend.place();
        // Metadata of another key cannot be verified, but contains the fingerprint of that key.
        let any = Authority::new(key.clone())
            .with_replaced(frame::fingerprint(&bytes).into_iter().collect());
        let (_, payloads) = frame::decode(&any, place, NAME, Kind::Store, &bytes)?;
        let payload = payloads.first().copied().unwrap_or_default();
        let meta: Self = parse(backend, NAME, payload)?;
        // Only the holder of a key can say that the store uses it.
        if frame::fingerprint(&bytes) != auth::parse(&meta.key) {
            let what = format!("`{NAME}` was written with another key than the one it names");
            return Err(StoreError::damaged(place, what));
        }
        Ok(Some((meta, version)))
    }

    /// Writes the metadata of a new store, unless another process was faster; returns the stored
    /// metadata.
    pub(crate) async fn make(backend: &dyn Backend, key: &StoreKey) -> Result<Self, StoreError> {
        let meta = Self {
            id: operation::new_id().as_str().to_owned(),
            key: key.fingerprint(),
            replaced: Vec::new(),
            created: operation::now(),
        };
        match meta.write(backend, key, Expected::Absent).await {
            Ok(_) => Ok(meta),
            Err(PutError::Conflict) => Ok(Self::read(backend, key).await?.unwrap_or(meta)),
            Err(PutError::Failed(error)) => Err(error),
        }
    }

    /// Replaces the key of the store; values of the old key are read without a check from now on.
    /// Returns the fingerprint of the old key; `None` if the key is the same.
    pub(crate) async fn replace_key(
        backend: &dyn Backend,
        key: &StoreKey,
    ) -> Result<Option<String>, StoreError> {
        loop {
            let Some((mut meta, version)) = Self::read_unchecked(backend, key).await? else {
                Self::make(backend, key).await?;
                return Ok(None);
            };
            if meta.key == key.fingerprint() {
                return Ok(None);
            }
            let old = std::mem::replace(&mut meta.key, key.fingerprint());
            meta.replaced.retain(|it| *it != meta.key);
            meta.replaced.push(old.clone());
            match meta.write(backend, key, Expected::Is(version)).await {
                Ok(_) => return Ok(Some(old)),
                Err(PutError::Conflict) => {}
                Err(PutError::Failed(error)) => return Err(error),
            }
        }
    }

    async fn write(
        &self,
        backend: &dyn Backend,
        key: &StoreKey,
        expected: Expected,
    ) -> Result<Version, PutError> {
        let writer = fastrand::u128(..).to_le_bytes();
        let head =
            frame::Head { kind: Kind::Store, flags: 0, first: 1, epoch: 0, writer, link: None };
        let authority = Authority::new(key.clone());
        let bytes = frame::encode(&authority, NAME, head, &[to_json(self)]);
        backend.put(NAME, bytes.into(), expected).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Memory;

    #[tokio::test]
    async fn only_the_holder_of_a_key_says_that_a_store_uses_it() {
        let ours = StoreKey::new("0123456789abcdef", [1; 32]);
        let theirs = StoreKey::new("fedcba9876543210", [2; 32]);
        let backend = Memory::default();
        let forged = Meta {
            id: "a".into(),
            key: ours.fingerprint(),
            replaced: vec![theirs.fingerprint()],
            created: String::new(),
        };
        assert!(forged.write(&backend, &theirs, Expected::Absent).await.is_ok());
        let refused = Meta::read(&backend, &ours).await;
        assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
        let refused = Meta::replace_key(&backend, &ours).await;
        assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
    }
}
