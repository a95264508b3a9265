//! What is known of a store itself: its name and its key.

use crate::auth::{self, Authority, StoreKey};
use crate::backend::{Backend, Expected, PutError, Version};
use crate::error::StoreError;
use crate::frame::{self, Kind};
use crate::journal::{parse, to_json};
use crate::operation;
use serde::{Deserialize, Serialize};

/// The name of the value.
const NAME: &str = "store";

/// The written form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Meta {
    /// What tells this store from others.
    pub(crate) id: String,
    /// The fingerprint of its key.
    pub(crate) key: String,
    /// The fingerprints of keys that it had before and that are lost, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replaced: Vec<String>,
    /// When it was made, RFC 3339.
    pub(crate) created: String,
}

impl Meta {
    /// Returns who may have written what is in the store.
    pub(crate) fn authority(&self, key: &StoreKey) -> Authority {
        let replaced = self.replaced.iter().filter_map(|it| auth::parse(it)).collect();
        Authority::new(key.clone()).with_replaced(replaced)
    }

    /// Reads it; none in a new store. Another key is refused.
    pub(crate) async fn read(
        backend: &dyn Backend,
        key: &StoreKey,
    ) -> Result<Option<Self>, StoreError> {
        let Some((meta, _)) = Self::read_unchecked(backend, key).await? else { return Ok(None) };
        if meta.key != key.fingerprint() {
            return Err(StoreError::OtherKey {
                place: backend.place().to_owned(),
                wanted: meta.key,
                found: key.fingerprint(),
            });
        }
        Ok(Some(meta))
    }

    /// Reads it whatever its key is.
    async fn read_unchecked(
        backend: &dyn Backend,
        key: &StoreKey,
    ) -> Result<Option<(Self, Version)>, StoreError> {
        let Some((bytes, version)) = backend.get(NAME).await? else { return Ok(None) };
        let place = backend.place();
        // What another key wrote cannot be checked, but says which key that is.
        let any = Authority::new(key.clone())
            .with_replaced(frame::fingerprint(&bytes).into_iter().collect());
        let (_, payloads) = frame::decode(&any, place, NAME, Kind::Store, &bytes)?;
        let payload = payloads.first().copied().unwrap_or_default();
        Ok(Some((parse(backend, NAME, payload)?, version)))
    }

    /// Writes it into a new store, unless somebody was quicker; returns what is there then.
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

    /// Makes a key the one of the store; what was written with the old key is read from now on
    /// without a check. Returns the name of the old key; none if the key is the same.
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
        let head = frame::Head { kind: Kind::Store, flags: 0, first: 1, epoch: 0, writer };
        let authority = Authority::new(key.clone());
        let bytes = frame::encode(&authority, NAME, head, &[to_json(self)]);
        backend.put(NAME, bytes.into(), expected).await
    }
}
