//! A backend in a bucket of S3 or a compatible service with conditional writes.

use super::{Backend, BackendError, Expected, PutError, Version};
use crate::error::StoreError;
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder, S3ConditionalPut};
use object_store::path::Path;
use object_store::{ObjectStore as _, ObjectStoreExt as _, PutMode, PutOptions, UpdateVersion};

/// The format of the store, and the object that names it.
const FORMAT: u32 = 2;
const MARK: &str = "kusion.format";

/// Bytes in a bucket.
pub(crate) struct S3 {
    bucket: AmazonS3,
    prefix: String,
    place: String,
}

impl S3 {
    /// Opens `s3://BUCKET/PREFIX?endpoint=URL&region=NAME&allow_http=true`. Keys and tokens come
    /// from the environment, as the tools of AWS read them.
    pub(crate) async fn open(url: &str) -> Result<Self, StoreError> {
        let store = Self::connect(url)?;
        store.prepare().await?;
        Ok(store)
    }

    /// Moves all objects to another prefix; returns that prefix.
    pub(crate) async fn set_aside(url: &str) -> Result<String, StoreError> {
        let store = Self::connect(url)?;
        let folder = format!("aside-{}", jiff::Timestamp::now().as_second());
        let keys = store.list("").await?;
        let keys: Vec<String> = keys.into_iter().filter(|it| !it.starts_with("aside-")).collect();
        for key in &keys {
            let target = store.path(&format!("{folder}/{key}"));
            let copied = store.bucket.copy(&store.path(key), &target).await;
            copied.map_err(|error| store.failure(&error))?;
        }
        store.delete(&keys).await?;
        Ok(format!("{}/{folder}", store.place))
    }

    fn connect(url: &str) -> Result<Self, StoreError> {
        let wrong = |what: &str| StoreError::Address(format!("invalid store URL: {what}"));
        let rest =
            url.strip_prefix("s3://").ok_or_else(|| wrong("expected `s3://BUCKET/PREFIX`"))?;
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() || bucket.contains('@') {
            return Err(wrong("no bucket after `s3://`"));
        }
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_conditional_put(S3ConditionalPut::ETagMatch);
        for option in options.split('&').filter(|it| !it.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, "true"));
            builder = match name {
                "endpoint" => builder.with_endpoint(value),
                "region" => builder.with_region(value),
                "allow_http" => builder.with_allow_http(value == "true"),
                _ => {
                    let known = "`endpoint`, `region`, `allow_http`";
                    return Err(wrong(&format!("unknown option `{name}`; expected {known}")));
                }
            };
        }
        let bucket_store = builder.build().map_err(|error| wrong(&error.to_string()))?;
        let prefix = prefix.trim_matches('/').to_owned();
        let place = format!("s3://{}", rest.trim_end_matches('/'));
        Ok(Self { bucket: bucket_store, prefix, place })
    }

    /// Checks the format of the store. In a new store, also checks that the service supports
    /// conditional writes; without them, two processes could lock the same stack.
    async fn prepare(&self) -> Result<(), StoreError> {
        let unclear =
            || StoreError::damaged(&self.place, format!("`{MARK}` is not a valid format number"));
        if let Some((bytes, _)) = self.get(MARK).await? {
            let text = std::str::from_utf8(&bytes).ok();
            let found: u32 = text.and_then(|it| it.trim().parse().ok()).ok_or_else(unclear)?;
            if found != FORMAT {
                return Err(StoreError::format(&self.place, found, FORMAT));
            }
            return Ok(());
        }
        let mut refused = 0;
        for _ in 0..2 {
            match self.put(MARK, Bytes::from(FORMAT.to_string()), Expected::Absent).await {
                Ok(_) => {}
                Err(PutError::Conflict) => refused += 1,
                Err(PutError::Failed(error)) => return Err(error),
            }
        }
        if refused == 0 {
            self.delete(&[MARK.to_owned()]).await?;
            let why = "this service does not support conditional writes (`If-None-Match`)";
            return Err(StoreError::Address(format!("{}: {why}", self.place)));
        }
        Ok(())
    }

    /// Returns the name of an object. `%` is special in URLs, `=` is not.
    fn path(&self, key: &str) -> Path {
        let key = key.replace('%', "=");
        Path::from(if self.prefix.is_empty() { key } else { format!("{}/{key}", self.prefix) })
    }

    fn key(&self, path: &Path) -> Option<String> {
        let rest = path.as_ref().strip_prefix(self.prefix.as_str())?;
        Some(rest.trim_start_matches('/').replace('=', "%"))
    }

    /// Returns the version of an object from the response of the service. Without a version, the
    /// next conditional write would not be possible.
    fn version(&self, e_tag: Option<String>) -> Result<Version, StoreError> {
        let missing = || BackendError {
            place: self.place.clone(),
            message: "the service sends no ETag, which conditional writes require".to_owned(),
        };
        Ok(Version(e_tag.filter(|it| !it.is_empty()).ok_or_else(missing)?))
    }

    fn failure(&self, error: &object_store::Error) -> StoreError {
        BackendError { place: self.place.clone(), message: error.to_string() }.into()
    }
}

#[async_trait]
impl Backend for S3 {
    fn place(&self) -> &str {
        &self.place
    }

    async fn get(&self, key: &str) -> Result<Option<(Bytes, Version)>, StoreError> {
        let found = match self.bucket.get(&self.path(key)).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failure(&error)),
        };
        let version = self.version(found.meta.e_tag.clone())?;
        let bytes = found.bytes().await.map_err(|error| self.failure(&error))?;
        Ok(Some((bytes, version)))
    }

    async fn put(&self, key: &str, bytes: Bytes, expected: Expected) -> Result<Version, PutError> {
        let mode = match expected {
            Expected::Absent => PutMode::Create,
            Expected::Is(version) => {
                PutMode::Update(UpdateVersion { e_tag: Some(version.0), version: None })
            }
        };
        let options = PutOptions { mode, ..PutOptions::default() };
        match self.bucket.put_opts(&self.path(key), bytes.into(), options).await {
            Ok(done) => Ok(self.version(done.e_tag)?),
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. }
                // The object to replace does not exist.
                | object_store::Error::NotFound { .. },
            ) => Err(PutError::Conflict),
            Err(error) => Err(self.failure(&error).into()),
        }
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let folder = self.path(prefix.trim_end_matches('/'));
        let found: Vec<_> = self
            .bucket
            .list(Some(&folder))
            .try_collect()
            .await
            .map_err(|error| self.failure(&error))?;
        let mut keys: Vec<String> = found.iter().filter_map(|it| self.key(&it.location)).collect();
        keys.retain(|key| key.starts_with(prefix));
        keys.sort();
        Ok(keys)
    }

    async fn delete(&self, keys: &[String]) -> Result<(), StoreError> {
        let paths: Vec<Path> = keys.iter().map(|key| self.path(key)).collect();
        let mut deletions = stream::iter(paths)
            .map(|path| async move { self.bucket.delete(&path).await })
            .buffer_unordered(16);
        while let Some(done) = deletions.next().await {
            match done {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(self.failure(&error)),
            }
        }
        Ok(())
    }
}
