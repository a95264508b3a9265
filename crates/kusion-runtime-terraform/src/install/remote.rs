//! Servers that have providers: a network mirror, or the registry of an address.
//!
//! Which servers are asked is the choice of the user. Answers are limited in size and time.

use super::platform;
use crate::address::{DEFAULT_REGISTRY, ProviderAddress};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use semver::Version;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

/// The most bytes of a list of versions, and of another document.
const MAX_DOCUMENT: usize = 16 << 20;

/// The most bytes of an archive.
const MAX_ARCHIVE: u64 = 1 << 30;

/// How long a server may take to accept a connection, and between two parts of an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a download may take.
const DOWNLOAD: Duration = Duration::from_mins(30);

/// The most redirections of a request.
const MAX_REDIRECTIONS: usize = 5;

/// Servers of providers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// The URL of a network mirror, which is asked instead of registries.
    pub mirror: Option<String>,
    /// Registries that may be asked beside the default one, with the URL of their API; an empty URL
    /// is looked up at the registry.
    pub registries: BTreeMap<String, String>,
}

/// A version of a provider on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The URL of the archive.
    url: Url,
    /// The checksums that the server says the archive or its folder has: `zh:…`, `h1:…`.
    pub hashes: Vec<String>,
}

impl Package {
    /// Returns the URL of the archive, without what may be a password.
    pub(super) fn place(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        // Fails only for URLs that have no host.
        let _ = url.set_password(None);
        url.to_string()
    }
}

impl Remote {
    /// Returns the versions of a provider that the server has.
    ///
    /// # Errors
    ///
    /// The server is not allowed, does not answer, or answers with something else.
    pub async fn versions(&self, address: &ProviderAddress) -> Result<Vec<Version>, String> {
        let (client, url) = (client()?, self.base(address).await?);
        let found: Vec<String> = match &self.mirror {
            Some(_) => {
                let document = document(&client, join(&url, "index.json")?).await?;
                let versions = document.get("versions").and_then(Value::as_object);
                versions.map(|it| it.keys().cloned().collect()).unwrap_or_default()
            }
            None => {
                let document = document(&client, join(&url, "versions")?).await?;
                let versions = document.get("versions").and_then(Value::as_array);
                let text = |it: &Value| Some(it.get("version")?.as_str()?.to_owned());
                versions.map(|it| it.iter().filter_map(text).collect()).unwrap_or_default()
            }
        };
        Ok(found.iter().filter_map(|it| super::parse_version(it)).collect())
    }

    /// Returns where the archive of a version is.
    ///
    /// # Errors
    ///
    /// The server does not have it for this platform.
    pub async fn package(
        &self,
        address: &ProviderAddress,
        version: &Version,
    ) -> Result<Package, String> {
        let (client, base) = (client()?, self.base(address).await?);
        let platform = platform();
        if self.mirror.is_some() {
            let url = join(&base, &format!("{version}.json"))?;
            let document = document(&client, url.clone()).await?;
            let archive = document.get("archives").and_then(|it| it.get(&platform));
            let archive = archive.ok_or_else(|| format!("{url} has no archive for {platform}"))?;
            let hashes = archive.get("hashes").and_then(Value::as_array);
            let hashes = hashes.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
            return Ok(Package { url: place(&url, archive, "url")?, hashes: hashes.collect() });
        }
        let (system, processor) = platform.split_once('_').unwrap_or((&platform, ""));
        let url = join(&base, &format!("{version}/download/{system}/{processor}"))?;
        let document = document(&client, url.clone()).await?;
        let sum = document.get("shasum").and_then(Value::as_str).unwrap_or_default();
        let is_sum = sum.len() == 64 && sum.bytes().all(|it| it.is_ascii_hexdigit());
        if !is_sum {
            return Err(format!("{url} has no valid `shasum`"));
        }
        let hashes = vec![format!("zh:{}", sum.to_lowercase())];
        Ok(Package { url: place(&url, &document, "download_url")?, hashes })
    }

    /// Downloads an archive into a file.
    ///
    /// # Errors
    ///
    /// The server does not send it, or it is too large.
    pub async fn download(&self, package: &Package, file: &Path) -> Result<(), String> {
        let url = package.url.clone();
        let download = async {
            let mut response = get(&client()?, url.clone()).await?;
            let fail = |error: &dyn std::fmt::Display| format!("cannot download {url}: {error}");
            let mut out = std::fs::File::create_new(file).map_err(|error| fail(&error))?;
            let mut size = 0;
            while let Some(part) = response.chunk().await.map_err(|error| fail(&plain(error)))? {
                size += part.len() as u64;
                if size > MAX_ARCHIVE {
                    return Err(fail(&format!("it has more than {MAX_ARCHIVE} bytes")));
                }
                out.write_all(&part).map_err(|error| fail(&error))?;
            }
            out.flush().map_err(|error| fail(&error))
        };
        let done = tokio::time::timeout(DOWNLOAD, download).await;
        done.map_err(|_| format!("{url} timed out after {} s", DOWNLOAD.as_secs()))?
    }

    /// Returns the URL of a provider.
    async fn base(&self, address: &ProviderAddress) -> Result<Url, String> {
        let ProviderAddress { registry, namespace, name } = address;
        if let Some(mirror) = &self.mirror {
            return join(&folder(mirror)?, &format!("{registry}/{namespace}/{name}/"));
        }
        let known = match self.registries.get(registry) {
            Some(url) => url.as_str(),
            None if registry == DEFAULT_REGISTRY => "",
            None => {
                return Err(format!(
                    "the registry `{registry}` is not allowed: add it to `providers.registries` in \
                     your config.yaml"
                ));
            }
        };
        let api = if known.is_empty() {
            let url = folder(&format!("https://{registry}/"))?;
            let url = join(&url, ".well-known/terraform.json")?;
            let services = document(&client()?, url.clone()).await?;
            place(&url, &services, "providers.v1")?
        } else {
            folder(known)?
        };
        join(&folder(api.as_str())?, &format!("{namespace}/{name}/"))
    }
}

fn client() -> Result<Client, String> {
    let redirect = Policy::custom(|attempt| {
        if attempt.previous().len() > MAX_REDIRECTIONS {
            return attempt.error("too many redirections");
        }
        if is_safe(attempt.url()) { attempt.follow() } else { attempt.error("it is not encrypted") }
    });
    let builder = Client::builder().redirect(redirect).connect_timeout(PATIENCE);
    let client =
        builder.read_timeout(PATIENCE).user_agent(concat!("kusion/", env!("CARGO_PKG_VERSION")));
    client.build().map_err(plain)
}

/// Whether a connection is encrypted, or stays on this machine.
fn is_safe(url: &Url) -> bool {
    let is_local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    url.scheme() == "https" || url.scheme() == "http" && is_local
}

fn folder(text: &str) -> Result<Url, String> {
    let text = if text.ends_with('/') { text.to_owned() } else { format!("{text}/") };
    let url = Url::parse(&text).map_err(|error| format!("invalid URL `{text}`: {error}"))?;
    checked(url)
}

fn join(base: &Url, path: &str) -> Result<Url, String> {
    let url = base.join(path).map_err(|error| format!("invalid URL `{path}`: {error}"))?;
    checked(url)
}

fn checked(url: Url) -> Result<Url, String> {
    if is_safe(&url) { Ok(url) } else { Err(format!("{url} is not encrypted; use `https`")) }
}

/// Returns the URL in a field of a document, which may be relative to the document.
fn place(base: &Url, document: &Value, key: &str) -> Result<Url, String> {
    let text = document.get(key).and_then(Value::as_str);
    let text = text.ok_or_else(|| format!("{base} has no `{key}`"))?;
    join(base, text)
}

async fn get(client: &Client, url: Url) -> Result<Response, String> {
    let response = client.get(url.clone()).send().await;
    let response = response.map_err(|error| format!("cannot reach {url}: {}", plain(error)))?;
    match response.status() {
        status if status.is_success() => Ok(response),
        status if status.as_u16() == 404 => Err(format!("{url} does not exist")),
        status => Err(format!("{url} failed: {status}")),
    }
}

async fn document(client: &Client, url: Url) -> Result<Value, String> {
    let mut response = get(client, url.clone()).await?;
    let mut bytes = Vec::new();
    while let Some(part) =
        response.chunk().await.map_err(|error| format!("cannot read {url}: {}", plain(error)))?
    {
        bytes.extend_from_slice(&part);
        if bytes.len() > MAX_DOCUMENT {
            return Err(format!("{url} has more than {MAX_DOCUMENT} bytes"));
        }
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("{url} is not valid JSON: {error}"))
}

/// Returns the text of an error with its causes, without the URL, which may be long.
fn plain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(it) = cause {
        text = format!("{text}: {it}");
        cause = it.source();
    }
    crate::error::printable(&text)
}
