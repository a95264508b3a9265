//! Who may use the server: bearer token, and the allow-lists for `Host` and `Origin`.

use crate::Status;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use hyper::http::request::Parts;
use serde_json::Value;

/// Host names under which clients may call the server. Any other name is one that somebody else
/// has made to point at the loopback address (DNS rebinding).
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Which clients are accepted.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// The bearer token of clients.
    pub(crate) token: String,
    /// Whether clients without credentials are accepted: without TLS, clients such as kubectl
    /// send none.
    pub(crate) guests: bool,
    /// `http` or `https`, the scheme of the server's own origin.
    pub(crate) scheme: &'static str,
}

impl Access {
    /// Checks the head of a request; nothing of its body is read before.
    pub(crate) fn check(&self, head: &Parts) -> Result<(), Status> {
        let host = head.uri.authority().map_or_else(|| text(&head.headers, HOST), |it| it.as_str());
        if !HOSTS.contains(&name_of(host)) {
            return Err(forbidden(format!(
                "host {host:?} is not allowed: use {}",
                HOSTS.join(", ")
            )));
        }
        if head.headers.contains_key(ORIGIN) {
            let origin = text(&head.headers, ORIGIN);
            if origin.strip_prefix(self.scheme).and_then(|it| it.strip_prefix("://")) != Some(host)
            {
                return Err(forbidden(format!("origin {origin:?} is not allowed")));
            }
        }
        if !matches!(text_of(&head.headers, "sec-fetch-site"), "" | "none" | "same-origin") {
            return Err(forbidden("requests of other sites are not allowed".to_owned()));
        }
        if is_public(head.uri.path()) || self.is_known(head) {
            return Ok(());
        }
        Err(Status::unauthorized())
    }

    /// Returns whether a request has the token, or needs none.
    fn is_known(&self, head: &Parts) -> bool {
        if !head.headers.contains_key(AUTHORIZATION) {
            return self.guests;
        }
        let given = text(&head.headers, AUTHORIZATION);
        let given = given.strip_prefix("Bearer ").unwrap_or_default().as_bytes();
        let wanted = self.token.as_bytes();
        // All bytes are compared, so that the time does not tell how many are right.
        given.len() == wanted.len()
            && given.iter().zip(wanted).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
    }
}

/// Paths that need no token: they contain nothing of the cluster.
fn is_public(path: &str) -> bool {
    path == "/version"
        || ["/healthz", "/livez", "/readyz"].iter().any(|prefix| path.starts_with(prefix))
}

/// Returns a host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn text(headers: &HeaderMap, name: hyper::header::HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn forbidden(message: String) -> Status {
    Status { code: 403, reason: "Forbidden", message, details: Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who is asked, the headers, and the code of the answer.
    type Case<'a> = (&'a Access, &'a [(&'a str, &'a str)], u16);

    fn code(access: &Access, heads: &[(&str, &str)]) -> u16 {
        let mut request = hyper::Request::builder().uri("/api/v1/pods");
        for (name, value) in heads {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        access.check(&head).err().map_or(200, |status| status.code)
    }

    #[test]
    fn hosts_origins_and_tokens_are_checked() {
        let secure = Access { token: "abc".to_owned(), guests: false, scheme: "https" };
        let plain = Access { guests: true, scheme: "http", ..secure.clone() };
        let host = ("host", "127.0.0.1:1");
        let token = ("authorization", "Bearer abc");
        let cases: [Case<'_>; 18] = [
            (&secure, &[host], 401),
            (&secure, &[host, token], 200),
            (&secure, &[host, ("authorization", "Bearer abd")], 401),
            (&secure, &[host, ("authorization", "Bearer abcd")], 401),
            (&secure, &[host, ("authorization", "Basic abc")], 401),
            (&secure, &[("host", "localhost:9"), token], 200),
            (&secure, &[("host", "[::1]:9"), token], 200),
            (&secure, &[("host", "kubernetes.default.svc"), token], 403),
            (&secure, &[("host", "evil.example:1"), token], 403),
            (&secure, &[token], 403),
            (&secure, &[host, token, ("origin", "https://127.0.0.1:1")], 200),
            (&secure, &[host, token, ("origin", "http://127.0.0.1:1")], 403),
            (&secure, &[host, token, ("origin", "null")], 403),
            (&secure, &[host, token, ("sec-fetch-site", "cross-site")], 403),
            (&plain, &[host], 200),
            (&plain, &[host, ("authorization", "Bearer x")], 401),
            (&plain, &[host, ("origin", "http://evil.example")], 403),
            (&plain, &[("host", "evil.example")], 403),
        ];
        for (access, heads, wanted) in cases {
            assert_eq!(code(access, heads), wanted, "{heads:?}");
        }
    }
}
