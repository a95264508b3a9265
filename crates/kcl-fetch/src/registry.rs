//! OCI registries: tags, downloads and uploads of packages.

use crate::archive::MAX_SIZE;
use crate::auth::{Challenge, answer};
use crate::credentials::{Credential, Credentials};
use crate::error::FetchError;
use crate::http::{Answer, Call, Http, resolve, scheme_of};
use crate::manifest::{ACCEPTED, Blob, EMPTY, MANIFEST, Manifest, package_manifest};
use crate::pack::PackedPackage;
use crate::progress::Progress;
use data_encoding::HEXLOWER;
use kcl_pkg::Repository;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use ureq::http::StatusCode;

/// The largest manifest and the largest list of tags, in bytes.
const MAX_MANIFEST: u64 = 4 << 20;
/// How many pages of tags are read.
const MAX_PAGES: usize = 200;
/// How many tags are read.
const MAX_TAGS: usize = 100_000;
/// How often a request is made if it fails with a transient error, and the pause between.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(300);

/// Speaks to OCI registries.
#[derive(Debug)]
pub struct Registry {
    http: Http,
    credentials: Credentials,
    progress: Arc<dyn Progress>,
    /// Answers to challenges, by repository and scope.
    tokens: Mutex<BTreeMap<String, String>>,
}

/// What is done in a repository.
#[derive(Clone, Copy)]
struct Access<'a> {
    repository: &'a Repository,
    actions: &'static str,
}

impl Access<'_> {
    fn scope(self) -> String {
        format!("repository:{}:{}", self.repository.path, self.actions)
    }

    fn url(self, rest: &str) -> String {
        let Repository { registry, path } = self.repository;
        format!("{}://{}/v2/{path}/{rest}", scheme_of(registry), host(registry))
    }
}

/// Returns the host that serves a registry.
fn host(registry: &str) -> &str {
    if registry == "docker.io" { "registry-1.docker.io" } else { registry }
}

impl Registry {
    /// Makes a client.
    pub fn new(credentials: Credentials, progress: Arc<dyn Progress>) -> Self {
        Self { http: Http::default(), credentials, progress, tokens: Mutex::default() }
    }

    /// Returns all tags of a repository.
    pub fn tags(&self, repository: &Repository) -> Result<Vec<String>, FetchError> {
        let access = Access { repository, actions: "pull" };
        let what = repository.to_string();
        let mut url = access.url("tags/list?n=1000");
        let mut tags = Vec::new();
        for _ in 0..MAX_PAGES {
            let found = attempt(|| {
                let call = Call { method: "GET", url: url.clone(), ..Call::default() };
                self.expect(access, &call, &[StatusCode::OK], &what)
            })?;
            let next = found.header("link").and_then(next_page).map(str::to_owned);
            let text = found.read(MAX_MANIFEST)?;
            let value: Value = serde_json::from_slice(&text).unwrap_or_default();
            let list = value.get("tags").and_then(Value::as_array);
            let list = list.into_iter().flatten().filter_map(Value::as_str);
            tags.extend(list.filter(|tag| is_tag(tag)).map(str::to_owned));
            match next {
                _ if tags.len() > MAX_TAGS => break,
                Some(next) => url = resolve(&url, &next)?,
                None => return Ok(tags),
            }
        }
        Err(FetchError::refused(what, "it has too many tags"))
    }

    /// Downloads the archive of a package to a file.
    pub(crate) fn pull(
        &self,
        repository: &Repository,
        tag: &str,
        file: &Path,
    ) -> Result<(), FetchError> {
        let what = format!("{repository}:{tag}");
        if !is_tag(tag) {
            return Err(FetchError::refused(what, "the tag is not valid"));
        }
        let access = Access { repository, actions: "pull" };
        let blob = match self.manifest(access, tag, &what)? {
            Manifest::Package(blob) => blob,
            Manifest::Index(digest) => match self.manifest(access, &digest, &what)? {
                Manifest::Package(blob) => blob,
                Manifest::Index(_) => {
                    return Err(FetchError::refused(what, "its manifest is a list of lists"));
                }
            },
        };
        if blob.size > MAX_SIZE {
            let why = format!("it has {} bytes, more than {MAX_SIZE}", blob.size);
            return Err(FetchError::refused(what, why));
        }
        self.progress.start(&what);
        let result = attempt(|| self.download(access, &blob, file, &what));
        self.progress.end();
        result
    }

    fn manifest(&self, access: Access<'_>, tag: &str, what: &str) -> Result<Manifest, FetchError> {
        let url = access.url(&format!("manifests/{tag}"));
        let text = attempt(|| {
            let call =
                Call { method: "GET", url: url.clone(), accept: ACCEPTED, ..Call::default() };
            self.expect(access, &call, &[StatusCode::OK], what)?.read(MAX_MANIFEST)
        })?;
        if tag.starts_with("sha256:") {
            check_digest(tag, Sha256::digest(&text).as_slice(), what)?;
        }
        Manifest::parse(&text, what)
    }

    fn download(
        &self,
        access: Access<'_>,
        blob: &Blob,
        file: &Path,
        what: &str,
    ) -> Result<(), FetchError> {
        let url = access.url(&format!("blobs/{}", blob.digest));
        let call = Call { method: "GET", url, ..Call::default() };
        let found = self.expect(access, &call, &[StatusCode::OK], what)?;
        let mut reader = found.into_reader().take(blob.size + 1);
        let mut target = File::create(file).map_err(FetchError::file("create", file))?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 64 << 10];
        let mut received = 0;
        loop {
            // A connection that breaks counts as an early end.
            let n = reader.read(&mut buffer).unwrap_or(0);
            if n == 0 {
                break;
            }
            received += n as u64;
            hash.update(&buffer[..n]);
            target.write_all(&buffer[..n]).map_err(FetchError::file("write", file))?;
            self.progress.advance(received, Some(blob.size));
        }
        if received < blob.size {
            let (what, expected) = (what.to_owned(), blob.size);
            return Err(FetchError::Truncated { what, received, expected });
        }
        check_digest(&blob.digest, hash.finalize().as_slice(), what)
    }

    /// Uploads a package under a tag; returns the digest of its manifest.
    pub fn push(
        &self,
        repository: &Repository,
        tag: &str,
        package: &PackedPackage,
    ) -> Result<String, FetchError> {
        let what = format!("{repository}:{tag}");
        if !is_tag(tag) {
            return Err(FetchError::refused(what, "the tag is not valid"));
        }
        let access = Access { repository, actions: "pull,push" };
        let layer = self.upload(access, &package.bytes, &what)?;
        let config = self.upload(access, EMPTY, &what)?;
        let manifest = package_manifest(&layer, &config, &package.file_name, &package.annotations);
        let call = Call {
            method: "PUT",
            url: access.url(&format!("manifests/{tag}")),
            content_type: Some(MANIFEST),
            body: Some(manifest.as_bytes()),
            ..Call::default()
        };
        self.expect(access, &call, &[StatusCode::CREATED, StatusCode::OK], &what)?;
        Ok(blob_of(manifest.as_bytes()).digest)
    }

    fn upload(&self, access: Access<'_>, bytes: &[u8], what: &str) -> Result<Blob, FetchError> {
        let blob = blob_of(bytes);
        let url = access.url(&format!("blobs/{}", blob.digest));
        let known = self.call(access, &Call { method: "HEAD", url, ..Call::default() })?;
        if known.status.is_success() {
            return Ok(blob);
        }
        let start = access.url("blobs/uploads/");
        let call = Call { method: "POST", url: start, body: Some(b""), ..Call::default() };
        let begun = self.expect(access, &call, &[StatusCode::ACCEPTED], what)?;
        let place = begun.header("location").unwrap_or_default().to_owned();
        let place = resolve(&begun.url, &place)?;
        let separator = if place.contains('?') { '&' } else { '?' };
        let call = Call {
            method: "PUT",
            url: format!("{place}{separator}digest={}", crate::http::encode(&blob.digest)),
            content_type: Some("application/octet-stream"),
            body: Some(bytes),
            ..Call::default()
        };
        self.expect(access, &call, &[StatusCode::CREATED, StatusCode::OK], what)?;
        Ok(blob)
    }

    /// Checks that a registry accepts a credential.
    pub fn check(&self, registry: &str, credential: &Credential) -> Result<(), FetchError> {
        let url = format!("{}://{}/v2/", scheme_of(registry), host(registry));
        let call = Call { method: "GET", url, ..Call::default() };
        let first = self.http.send(&call)?;
        if first.status.is_success() {
            return Ok(());
        }
        let challenge = Challenge::parse(&first.headers("www-authenticate"));
        let challenge = challenge.filter(|_| first.status == StatusCode::UNAUTHORIZED);
        let Some(challenge) = challenge else {
            return Err(FetchError::server(registry, format!("it answered {}", first.status)));
        };
        let authorization = answer(&self.http, &challenge, "", Some(credential))?;
        let accepted = match authorization {
            Some(value) => {
                let call = Call { authorization: Some(value), ..call };
                self.http.send(&call)?.status.is_success()
            }
            None => false,
        };
        if accepted {
            return Ok(());
        }
        Err(FetchError::refused(format!("the login to {registry}"), "user or password is wrong"))
    }

    /// Makes a request that must be answered with one of some codes.
    fn expect(
        &self,
        access: Access<'_>,
        call: &Call<'_>,
        codes: &[StatusCode],
        what: &str,
    ) -> Result<Answer, FetchError> {
        let found = self.call(access, call).map_err(|error| error.about(what))?;
        if codes.contains(&found.status) {
            return Ok(found);
        }
        let registry = &access.repository.registry;
        let why = match found.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => format!(
                "{registry} denies access ({})\nrun `kcl registry login {registry}` to log in",
                found.status.as_u16()
            ),
            StatusCode::NOT_FOUND => format!("{registry} does not have it (404)"),
            status => format!("{registry} answered {status}"),
        };
        let is_transient =
            found.status.is_server_error() || found.status == StatusCode::TOO_MANY_REQUESTS;
        Err(FetchError::Server { what: what.to_owned(), why, is_transient })
    }

    /// Makes a request, and again with a token if the registry asks for one.
    fn call(&self, access: Access<'_>, call: &Call<'_>) -> Result<Answer, FetchError> {
        let key = format!("{} {}", access.repository.registry, access.scope());
        let tokens = || self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let authorization = tokens().get(&key).cloned();
        let found = self.http.send(&Call { authorization, ..call.clone() })?;
        if found.status != StatusCode::UNAUTHORIZED {
            return Ok(found);
        }
        let Some(challenge) = Challenge::parse(&found.headers("www-authenticate")) else {
            return Ok(found);
        };
        let credential = self.credentials.find(access.repository);
        let granted = answer(&self.http, &challenge, &access.scope(), credential.as_ref())?;
        let Some(granted) = granted else { return Ok(found) };
        tokens().insert(key, granted.clone());
        self.http.send(&Call { authorization: Some(granted), ..call.clone() })
    }
}

/// Does something again if it fails with a transient error.
fn attempt<T>(mut run: impl FnMut() -> Result<T, FetchError>) -> Result<T, FetchError> {
    for n in 1..ATTEMPTS {
        match run() {
            Err(error) if error.is_transient() => thread::sleep(PAUSE * n),
            result => return result,
        }
    }
    run()
}

fn blob_of(bytes: &[u8]) -> Blob {
    let digest = format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(bytes)));
    Blob { digest, size: bytes.len() as u64 }
}

fn check_digest(expected: &str, found: &[u8], what: &str) -> Result<(), FetchError> {
    let found = format!("sha256:{}", HEXLOWER.encode(found));
    if found.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    let (what, expected) = (what.to_owned(), expected.to_owned());
    Err(FetchError::Digest { what, found, expected })
}

/// Returns whether a text is a valid tag.
fn is_tag(tag: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    tag.len() <= 128
        && tag.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && tag.chars().all(fits)
}

/// Reads the URL of the next page from `Link: <url>; rel="next"`.
fn next_page(link: &str) -> Option<&str> {
    let (url, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
    rest.contains("next").then_some(url)
}
