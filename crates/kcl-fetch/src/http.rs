//! HTTP requests: which hosts may be reached, for how long, and how much is read.

use crate::error::FetchError;
use std::fmt::{self, Write as _};
use std::io::{self, Read};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use ureq::http::{Request, Response, StatusCode, Uri, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, Body};

/// How long one request may take, with its answer.
const TIMEOUT: Duration = Duration::from_mins(10);
/// How long a connection may take to be made, and an answer to start.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);
/// How many redirects are followed.
const MAX_REDIRECTS: usize = 5;

/// Makes requests. Certificates are read when the first one needs them.
#[derive(Default)]
pub(crate) struct Http {
    secure: OnceLock<Agent>,
    plain: OnceLock<Agent>,
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Http")
    }
}

/// One request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call<'c> {
    pub(crate) method: &'static str,
    pub(crate) url: String,
    pub(crate) accept: &'c [&'c str],
    /// The value of `Authorization`; not sent to other hosts.
    pub(crate) authorization: Option<String>,
    pub(crate) content_type: Option<&'c str>,
    pub(crate) body: Option<&'c [u8]>,
}

/// The answer to a request.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    response: Response<Body>,
    /// The URL that answered, after redirects.
    pub(crate) url: String,
}

impl Http {
    /// Sends a request and follows redirects.
    pub(crate) fn send(&self, call: &Call<'_>) -> Result<Answer, FetchError> {
        let mut url = call.url.clone();
        let mut authorization = call.authorization.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send_once(call, &url, authorization.as_deref())?;
            let status = response.status();
            let location = response.headers().get(header::LOCATION);
            let is_redirect = status.is_redirection() && call.method == "GET";
            let Some(location) = location.filter(|_| is_redirect) else {
                return Ok(Answer { status, response, url });
            };
            let location = location.to_str().map_err(|_| {
                FetchError::server(shown(&url), "the server sent an invalid redirect")
            })?;
            let next = resolve(&url, location)?;
            if host_of(&next) != host_of(&url) {
                authorization = None;
            }
            url = next;
        }
        Err(FetchError::server(shown(&call.url), format!("more than {MAX_REDIRECTS} redirects")))
    }

    fn send_once(
        &self,
        call: &Call<'_>,
        url: &str,
        authorization: Option<&str>,
    ) -> Result<Response<Body>, FetchError> {
        let agent = self.agent(url)?;
        let mut request = Request::builder().method(call.method).uri(url);
        if !call.accept.is_empty() {
            request = request.header(header::ACCEPT, call.accept.join(", "));
        }
        if let Some(value) = authorization {
            request = request.header(header::AUTHORIZATION, value);
        }
        if let Some(value) = call.content_type {
            request = request.header(header::CONTENT_TYPE, value);
        }
        let invalid = |_| FetchError::refused(shown(url), "the URL is not valid");
        let sent = match call.body {
            Some(body) => agent.run(request.body(body).map_err(invalid)?),
            None => agent.run(request.body(()).map_err(invalid)?),
        };
        sent.map_err(|error| FetchError::Server {
            what: shown(url),
            is_transient: is_transient(&error),
            why: error.to_string(),
        })
    }

    /// Returns the client for a URL; refuses plain HTTP to other machines.
    fn agent(&self, url: &str) -> Result<&Agent, FetchError> {
        let uri: Uri =
            url.parse().map_err(|_| FetchError::refused(shown(url), "the URL is not valid"))?;
        match (uri.scheme_str(), uri.host()) {
            (Some("https"), Some(_)) => Ok(self.secure.get_or_init(|| agent(Some(tls())))),
            (Some("http"), Some(host)) if is_loopback(host) => {
                Ok(self.plain.get_or_init(|| agent(None)))
            }
            (Some("http"), _) => {
                Err(FetchError::refused(shown(url), "plain HTTP is only used on this machine"))
            }
            _ => Err(FetchError::refused(shown(url), "expected a URL with https")),
        }
    }
}

impl Answer {
    /// Returns a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns all values of a header.
    pub(crate) fn headers(&self, name: &str) -> Vec<String> {
        let values = self.response.headers().get_all(name).iter();
        values.filter_map(|value| value.to_str().ok().map(str::to_owned)).collect()
    }

    /// Reads all of an answer that may have so many bytes.
    pub(crate) fn read(self, limit: u64) -> Result<Vec<u8>, FetchError> {
        let url = shown(&self.url);
        let mut bytes = Vec::new();
        let mut reader = self.into_reader().take(limit + 1);
        reader.read_to_end(&mut bytes).map_err(|error| FetchError::Server {
            what: url.clone(),
            why: error.to_string(),
            is_transient: true,
        })?;
        if bytes.len() as u64 > limit {
            return Err(FetchError::refused(
                url,
                format!("the answer has more than {limit} bytes"),
            ));
        }
        Ok(bytes)
    }

    /// Returns the content as it arrives.
    pub(crate) fn into_reader(self) -> impl Read {
        self.response.into_body().into_with_config().limit(u64::MAX).reader()
    }
}

fn agent(tls: Option<TlsConfig>) -> Agent {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(TIMEOUT))
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(ANSWER_TIMEOUT))
        .user_agent(concat!("kcl/", env!("CARGO_PKG_VERSION")));
    match tls {
        Some(tls) => config = config.tls_config(tls),
        // This machine needs no proxy.
        None => config = config.proxy(None),
    }
    Agent::new_with_config(config.build())
}

/// TLS with the certificates of the system.
fn tls() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<Certificate<'static>> =
        found.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .build()
}

fn is_transient(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Io(error) => error.kind() != io::ErrorKind::PermissionDenied,
        ureq::Error::Timeout(_) | ureq::Error::ConnectionFailed => true,
        _ => false,
    }
}

/// Returns the scheme of a registry: plain HTTP on this machine.
pub(crate) fn scheme_of(registry: &str) -> &'static str {
    let host = match registry.strip_prefix('[').and_then(|it| it.split_once(']')) {
        Some((host, _)) => host,
        None => registry.split(':').next().unwrap_or(registry),
    };
    if is_loopback(host) { "http" } else { "https" }
}

/// Returns whether a host is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|it| it.is_loopback())
        || host.parse::<Ipv6Addr>().is_ok_and(|it| it.is_loopback())
}

/// Returns host and port of a URL.
fn host_of(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let port = uri.port_u16().map_or_else(String::new, |port| format!(":{port}"));
    Some(format!("{}://{}{port}", uri.scheme_str()?, uri.host()?))
}

/// Returns the URL that a redirect leads to.
pub(crate) fn resolve(base: &str, location: &str) -> Result<String, FetchError> {
    if location.starts_with("https://") || location.starts_with("http://") {
        let was_secure = base.starts_with("https://");
        if was_secure && location.starts_with("http://") {
            return Err(FetchError::refused(shown(location), "a redirect from https to http"));
        }
        return Ok(location.to_owned());
    }
    let host = host_of(base).filter(|_| location.starts_with('/') && !location.starts_with("//"));
    let host =
        host.ok_or_else(|| FetchError::refused(shown(base), "an unknown form of redirect"))?;
    Ok(format!("{host}{location}"))
}

/// Returns a URL without its query, which may hold a signature, and without a user.
pub(crate) fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit('@').next().unwrap_or(host);
            format!("{scheme}://{host}{path}")
        }
        None => url.to_owned(),
    }
}

/// Encodes a value for the query of a URL.
pub(crate) fn encode(value: &str) -> String {
    let mut encoded = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => {
                // Writing to a string does not fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_stays_on_this_machine() {
        let http = Http::default();
        for url in ["http://example.com/v2/", "http://127.0.0.1.evil.com/", "ftp://localhost/", "x"]
        {
            assert!(http.agent(url).is_err(), "{url}");
        }
        assert!(http.agent("http://127.0.0.1:5000/v2/").is_ok());
        assert!(http.agent("http://[::1]:5000/").is_ok());
        assert_eq!(scheme_of("localhost:5000"), "http");
        assert_eq!(scheme_of("ghcr.io"), "https");
    }

    #[test]
    fn redirects_and_shown_urls() {
        assert_eq!(resolve("https://a/x", "/y?z").unwrap(), "https://a/y?z");
        assert_eq!(resolve("http://localhost:1/x", "/y").unwrap(), "http://localhost:1/y");
        assert!(resolve("https://a/x", "http://b/").is_err());
        assert!(resolve("https://a/x", "//b/").is_err());
        assert_eq!(shown("https://u:p@a/b?sig=1"), "https://a/b");
        assert_eq!(encode("repository:a/b:pull,push"), "repository%3Aa%2Fb%3Apull%2Cpush");
    }
}
