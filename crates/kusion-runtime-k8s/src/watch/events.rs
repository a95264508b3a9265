//! The changes of a collection, as the server sends them.

use crate::calls::{Call, Calls, MAX_RESPONSE, push_escaped};
use crate::discovery::Served;
use crate::failure;
use bytes::{Buf as _, Bytes, BytesMut};
use http::StatusCode;
use http_body_util::{BodyExt as _, Limited};
use kube::client::Body;
use kusion_runtime::RuntimeError;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// Seconds after which the server ends a watch; the watch is restarted then.
const SECONDS: u32 = 290;
/// After which silence a connection counts as dead.
const SILENCE: Duration = Duration::from_secs(SECONDS as u64 + 20);

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum EventKind {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

/// One change.
#[derive(Debug, Deserialize)]
pub(crate) struct Event {
    #[serde(rename = "type")]
    pub(crate) kind: EventKind,
    pub(crate) object: Value,
}

/// A running watch.
pub(crate) struct Events {
    body: Body,
    rest: BytesMut,
    /// Number of bytes of the rest that contain no line end.
    seen: usize,
}

impl Events {
    /// Starts to watch a collection; an empty namespace means all.
    pub(crate) async fn open(
        calls: &Calls,
        served: &Served,
        namespace: &str,
        version: &str,
        fields: Option<&str>,
    ) -> Result<Self, RuntimeError> {
        let mut target = served.collection(namespace);
        target.push_str("?watch=true&allowWatchBookmarks=true&resourceVersion=");
        push_escaped(&mut target, version);
        target.push_str("&timeoutSeconds=");
        target.push_str(&SECONDS.to_string());
        if let Some(fields) = fields {
            target.push_str("&fieldSelector=");
            push_escaped(&mut target, fields);
        }
        let response = calls.open(Call::get(target)).await?;
        let (parts, body) = response.into_parts();
        if parts.status.is_success() {
            return Ok(Self { body, rest: BytesMut::new(), seen: 0 });
        }
        let body = match Limited::new(body, MAX_RESPONSE).collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => Bytes::new(),
        };
        let mut status: failure::Status = serde_json::from_slice(&body).unwrap_or_default();
        status.code = parts.status.as_u16();
        if status.message.is_empty() {
            status.message = format!("the server rejected the watch with status {}", status.code);
        }
        // The version is too old, which another list puts right.
        if parts.status == StatusCode::GONE {
            return Err(RuntimeError::Transient { message: status.message, retry_after_ms: None });
        }
        Err(failure::of_status(&status, None))
    }

    /// Returns the next change; none at the end of the watch.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, RuntimeError> {
        let lost = |message: String| RuntimeError::Transient { message, retry_after_ms: None };
        loop {
            if let Some(at) = self.rest[self.seen..].iter().position(|byte| *byte == b'\n') {
                let line = self.rest.split_to(self.seen + at);
                self.rest.advance(1);
                self.seen = 0;
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                return serde_json::from_slice(&line)
                    .map(Some)
                    .map_err(|error| lost(format!("cannot parse a watch event: {error}")));
            }
            self.seen = self.rest.len();
            if self.seen > MAX_RESPONSE {
                let mib = MAX_RESPONSE >> 20;
                let message = format!("the server sent a watch event of more than {mib} MiB");
                return Err(RuntimeError::Invalid(message));
            }
            let frame = tokio::time::timeout(SILENCE, self.body.frame()).await;
            match frame.map_err(|_| lost("the watch timed out: no events".to_owned()))? {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.rest.extend_from_slice(&data);
                    }
                }
                Some(Err(error)) => {
                    return Err(lost(format!("the watch was interrupted: {error}")));
                }
            }
        }
    }
}
