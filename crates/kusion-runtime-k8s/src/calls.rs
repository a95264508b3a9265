//! Requests to the server: one place for limits, timeouts and answers.

use crate::connect::{Connection, Options, chain};
use crate::failure;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::client::Body;
use kusion_runtime::RuntimeError;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) accept: &'a str,
    /// The type of the body, and the body.
    pub(crate) body: Option<(&'a str, Vec<u8>)>,
    /// Maximum size of the response.
    pub(crate) max_response: usize,
}

/// Maximum size of a response; servers do not store objects of this size.
pub(crate) const MAX_RESPONSE: usize = 16 << 20;
/// Maximum size of one page of a list.
const MAX_PAGE: usize = 128 << 20;

impl<'a> Call<'a> {
    pub(crate) fn get(target: String) -> Self {
        Self {
            method: Method::GET,
            target,
            accept: "application/json",
            body: None,
            max_response: MAX_RESPONSE,
        }
    }

    /// Requests one page of a list, of all objects or of those that match a field selector;
    /// `next` is the continue token of the previous page, empty for the first.
    pub(crate) fn page(path: &str, limit: usize, fields: Option<&str>, next: &str) -> Self {
        let mut target = format!("{path}?limit={limit}");
        if let Some(fields) = fields {
            target.push_str("&fieldSelector=");
            push_escaped(&mut target, fields);
        }
        if !next.is_empty() {
            target.push_str("&continue=");
            push_escaped(&mut target, next);
        }
        Self { max_response: MAX_PAGE, ..Self::get(target) }
    }

    pub(crate) fn with_body(
        method: Method,
        target: String,
        content: &'a str,
        body: Vec<u8>,
    ) -> Self {
        Self { method, body: Some((content, body)), ..Self::get(target) }
    }

    /// Returns whether the call is read-only.
    fn is_safe(&self) -> bool {
        self.method == Method::GET || self.target.ends_with("&dryRun=All")
    }
}

/// The pauses before a read-only call is retried.
const PAUSES: &[Duration] = &[
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
    Duration::from_millis(800),
];
/// Maximum pause that a server may request.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Returns whether a retry may succeed soon.
fn is_busy(answer: &Answer) -> bool {
    let status = answer.status;
    let is_meant = status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    is_meant && failure::of_answer(answer).is_transient()
}

/// The response of the server.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) warnings: Vec<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
}

impl Answer {
    /// Returns the body of a success.
    pub(crate) fn success(self) -> Result<Self, RuntimeError> {
        if self.status.is_success() { Ok(self) } else { Err(failure::of_answer(&self)) }
    }

    /// Returns the body of a success; `None` if the object does not exist.
    pub(crate) fn found(self) -> Result<Option<Self>, RuntimeError> {
        if self.status == StatusCode::NOT_FOUND { Ok(None) } else { self.success().map(Some) }
    }
}

/// A connection to one server.
pub(crate) struct Calls {
    connection: Connection,
    timeout: Duration,
    /// The time between two calls, and when the next may begin.
    pace: Option<(Duration, Mutex<Instant>)>,
}

impl Calls {
    pub(crate) fn new(connection: Connection, options: &Options) -> Self {
        let pace = options
            .calls_per_second
            .filter(|count| *count > 0)
            .map(|count| (Duration::from_secs(1) / count, Mutex::new(Instant::now())));
        Self { connection, timeout: options.call_timeout, pace }
    }

    pub(crate) fn server(&self) -> &str {
        &self.connection.server
    }

    pub(crate) fn default_namespace(&self) -> &str {
        &self.connection.default_namespace
    }

    /// Sends a request and reads the complete response. Read-only calls are retried; for all
    /// others, the engine must first determine their result.
    pub(crate) async fn send(&self, call: Call<'_>) -> Result<Answer, RuntimeError> {
        let mut pauses = if call.is_safe() { PAUSES } else { &[] }.iter();
        loop {
            let answer = tokio::time::timeout(self.timeout, self.send_once(call.clone())).await;
            let Ok(answer) = answer else {
                return Err(self.lost(&format!("timed out after {} s", self.timeout.as_secs())));
            };
            let asked = match &answer {
                Err(error) if error.is_transient() => None,
                Ok(answer) if is_busy(answer) => answer.retry_after,
                _ => return answer,
            };
            let Some(pause) = pauses.next() else { return answer };
            let pause = asked.unwrap_or_else(|| pause.mul_f64(0.5 + fastrand::f64()));
            if pause > LONGEST_PAUSE {
                return answer;
            }
            tokio::time::sleep(pause).await;
        }
    }

    async fn send_once(&self, call: Call<'_>) -> Result<Answer, RuntimeError> {
        let begun = Instant::now();
        let (method, target) = (call.method.clone(), call.target.clone());
        let answer = self.send_untraced(call).await;
        let took_ms = begun.elapsed().as_millis() as u64;
        match &answer {
            Ok(answer) => {
                let status = answer.status.as_u16();
                tracing::debug!(%method, target, status, took_ms, "call");
            }
            // Messages of servers may contain anything: only the missing answer is logged.
            Err(_) => tracing::warn!(%method, target, took_ms, "call"),
        }
        answer
    }

    async fn send_untraced(&self, call: Call<'_>) -> Result<Answer, RuntimeError> {
        let max_response = call.max_response;
        let response = self.begin(call).await?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, max_response).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() {
                let mib = max_response >> 20;
                let server = self.server();
                return RuntimeError::Invalid(format!(
                    "`{server}` sent a response of more than {mib} MiB"
                ));
            }
            self.lost(&chain(&*error))
        })?;
        let body = body.to_bytes();
        Ok(Answer {
            status: parts.status,
            warnings: warnings(&parts.headers),
            retry_after: retry_after(&parts.headers),
            body,
        })
    }

    /// Sends a request whose response is streamed. The timeout applies only until the headers
    /// arrive.
    pub(crate) async fn open(&self, call: Call<'_>) -> Result<Response<Body>, RuntimeError> {
        match tokio::time::timeout(self.timeout, self.begin(call)).await {
            Ok(response) => response,
            Err(_) => Err(self.lost(&format!("timed out after {} s", self.timeout.as_secs()))),
        }
    }

    async fn begin(&self, call: Call<'_>) -> Result<Response<Body>, RuntimeError> {
        self.wait_for_turn().await;
        let mut request = Request::builder()
            .method(call.method)
            .uri(call.target)
            .header(header::ACCEPT, call.accept);
        let body = match call.body {
            Some((content, bytes)) => {
                request = request.header(header::CONTENT_TYPE, content);
                Body::from(bytes)
            }
            None => Body::empty(),
        };
        let request = request
            .body(body)
            .map_err(|error| RuntimeError::Invalid(format!("invalid address: {error}")))?;
        self.connection.client.send(request).await.map_err(|error| match &error {
            kube::Error::Auth(_) => {
                RuntimeError::Unavailable(format!("`{}`: {}", self.server(), chain(&error)))
            }
            _ => self.lost(&chain(&error)),
        })
    }

    async fn wait_for_turn(&self) {
        let Some((step, next)) = &self.pace else { return };
        let at = {
            let mut next = next.lock().await;
            let at = (*next).max(Instant::now());
            *next = at + *step;
            at
        };
        tokio::time::sleep_until(at).await;
    }

    /// Returns the error of a call that may or may not have been applied.
    pub(crate) fn lost(&self, what: &str) -> RuntimeError {
        RuntimeError::Transient {
            message: format!("`{}`: {what}", self.server()),
            retry_after_ms: None,
        }
    }
}

/// Reads `Warning: 299 - "text"` headers.
fn warnings(headers: &http::HeaderMap) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for value in headers.get_all(header::WARNING) {
        let Ok(text) = std::str::from_utf8(value.as_bytes()) else { continue };
        let text = match (text.find('"'), text.rfind('"')) {
            (Some(start), Some(end)) if start < end => &text[start + 1..end],
            _ => text,
        };
        let text = text.replace("\\\"", "\"").replace("\\\\", "\\");
        if !out.contains(&text) {
            out.push(text);
        }
    }
    out
}

fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

/// Appends a value to a path or query, with all but plain characters escaped.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b':') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_lose_their_quotes_and_repetitions() {
        let mut headers = http::HeaderMap::new();
        for text in [r#"299 - "unknown field \"spec.x\"""#, r#"299 - "unknown field \"spec.x\"""#] {
            headers.append(header::WARNING, text.parse().expect("a header"));
        }
        assert_eq!(warnings(&headers), [r#"unknown field "spec.x""#]);
    }

    #[test]
    fn names_are_escaped_in_paths() {
        let mut out = String::new();
        push_escaped(&mut out, "system:node a/b%");
        assert_eq!(out, "system:node%20a%2Fb%25");
    }
}
