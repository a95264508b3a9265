//! A backend in a bucket of S3 or a compatible service with conditional writes.

mod probe;

use super::deadline::{self, ANSWER, CONNECT, within};
use super::{Backend, BackendError, Expected, PutError, Version};
use crate::error::StoreError;
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, ObjectStore as _, ObjectStoreExt as _, PutMode, PutOptions,
    RetryConfig, UpdateVersion,
};
use std::time::Duration;

/// How long one request may take, with the transfer of a large value.
const REQUEST: Duration = Duration::from_mins(20);

/// Bytes in a bucket.
pub(crate) struct S3 {
    bucket: AmazonS3,
    prefix: String,
    place: String,
    /// The hash of endpoint and bucket: the service whose promises were checked.
    service: String,
    /// Why it can only be read.
    read_only: Option<String>,
}

impl S3 {
    /// Opens `s3://BUCKET/PREFIX?endpoint=URL&region=NAME&allow_http=true`. Keys and tokens come
    /// from the environment, as the tools of AWS read them.
    pub(crate) async fn open(url: &str) -> Result<Self, StoreError> {
        let mut store = Self::connect(url)?;
        store.read_only = store.prepare().await?;
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
            let source = store.path(key);
            let copy = async {
                let copied = store.bucket.copy(&source, &target).await;
                copied.map_err(|error| store.failure(&error))
            };
            within(&store.place, ANSWER, copy).await?;
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
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            .with_retry(retries());
        for option in options.split('&').filter(|it| !it.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, "true"));
            builder = match name {
                "endpoint" if is_server(value) => builder.with_endpoint(value),
                "endpoint" => return Err(wrong("`endpoint` is not `https://HOST`")),
                "region" => builder.with_region(value),
                "allow_http" => builder.with_allow_http(value == "true"),
                _ => {
                    let known = "`endpoint`, `region`, `allow_http`";
                    return Err(wrong(&format!("unknown option `{name}`; expected {known}")));
                }
            };
        }
        let seconds = |it: Duration| format!("{}s", it.as_secs());
        let (timeout, connect) = (ClientConfigKey::Timeout, ClientConfigKey::ConnectTimeout);
        let builder = builder
            .with_config(AmazonS3ConfigKey::Client(timeout), seconds(REQUEST))
            .with_config(AmazonS3ConfigKey::Client(connect), seconds(CONNECT));
        let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint).unwrap_or_default();
        let service = blake3::hash(format!("{endpoint} {bucket}").as_bytes());
        let service = format!("{service:.16}");
        let bucket_store = builder.build().map_err(|error| wrong(&error.to_string()))?;
        let prefix = prefix.trim_matches('/').to_owned();
        let place = format!("s3://{}", rest.trim_end_matches('/'));
        Ok(Self { bucket: bucket_store, prefix, place, service, read_only: None })
    }

    /// Returns the name of an object. `%` means something in URLs, `=` does not.
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
        let path = self.path(key);
        let begin = async {
            match self.bucket.get(&path).await {
                Ok(found) => Ok(Some(found)),
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(self.failure(&error)),
            }
        };
        let Some(found) = within(&self.place, ANSWER, begin).await? else { return Ok(None) };
        let size = usize::try_from(found.meta.size).unwrap_or(usize::MAX);
        deadline::check_size(&self.place, key, size)?;
        let version = self.version(found.meta.e_tag.clone())?;
        let mut bytes = Vec::with_capacity(size.min(1 << 20));
        let mut parts = found.into_stream();
        loop {
            let next = async { parts.try_next().await.map_err(|error| self.failure(&error)) };
            let Some(part) = within(&self.place, ANSWER, next).await? else { break };
            bytes.extend_from_slice(&part);
            deadline::check_size(&self.place, key, bytes.len())?;
        }
        Ok(Some((bytes.into(), version)))
    }

    async fn put(&self, key: &str, bytes: Bytes, expected: Expected) -> Result<Version, PutError> {
        let mode = match expected {
            Expected::Absent => PutMode::Create,
            Expected::Is(version) => {
                PutMode::Update(UpdateVersion { e_tag: Some(version.0), version: None })
            }
        };
        deadline::check_size(&self.place, key, bytes.len())?;
        let options = PutOptions { mode, ..PutOptions::default() };
        let (path, limit) = (self.path(key), deadline::limit(bytes.len()));
        let write = async {
            match self.bucket.put_opts(&path, bytes.into(), options).await {
                Ok(done) => Ok(self.version(done.e_tag)?),
                Err(
                    object_store::Error::AlreadyExists { .. }
                    | object_store::Error::Precondition { .. }
                    // The object to replace does not exist.
                    | object_store::Error::NotFound { .. },
                ) => Err(PutError::Conflict),
                Err(error) => Err(self.failure(&error).into()),
            }
        };
        within(&self.place, limit, write).await
    }

    fn read_only(&self) -> Option<StoreError> {
        let why = self.read_only.clone()?;
        Some(StoreError::ReadOnly { place: self.place.clone(), why })
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let folder = self.path(prefix.trim_end_matches('/'));
        let mut found = self.bucket.list(Some(&folder));
        let mut keys: Vec<String> = Vec::new();
        loop {
            let next = async { found.try_next().await.map_err(|error| self.failure(&error)) };
            let Some(object) = within(&self.place, ANSWER, next).await? else { break };
            keys.extend(self.key(&object.location).filter(|key| key.starts_with(prefix)));
            deadline::check_count(&self.place, keys.len())?;
        }
        keys.sort();
        Ok(keys)
    }

    async fn delete(&self, keys: &[String]) -> Result<(), StoreError> {
        let paths: Vec<Path> = keys.iter().map(|key| self.path(key)).collect();
        let mut deletions = stream::iter(paths)
            .map(|path| {
                within(&self.place, ANSWER, async move {
                    match self.bucket.delete(&path).await {
                        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                        Err(error) => Err(self.failure(&error)),
                    }
                })
            })
            .buffer_unordered(16);
        while let Some(done) = deletions.next().await {
            done?;
        }
        Ok(())
    }
}

/// Few retries: a call that takes long must fail before the lease of its caller expires.
fn retries() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(1),
        base: 2.0,
    };
    RetryConfig { backoff, max_retries: 3, retry_timeout: Duration::from_secs(6) }
}

/// Returns whether a text is the URL of a server; the client panics if it is not.
fn is_server(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.and_then(|it| it.split('/').next()).unwrap_or_default();
    let is_part = |it: char| it.is_ascii_alphanumeric() || ".-_:[]".contains(it);
    host.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '[')
        && host.chars().all(is_part)
}
