//! Requests without a connection, for programs that have a cluster in their own process.

use super::body::Body;
use super::query::Query;
use super::read::Request;
use super::server;
use crate::api::Api;
use bytes::Bytes;
use hyper::Uri;

impl Api {
    /// Answers an HTTP request as the server does, without its checks of credentials; `target` is
    /// path and query. Returns the status code and the body, which is empty for watches. A
    /// request that is not valid HTTP gets code 400.
    ///
    /// # Panics
    /// A watch outside of a Tokio runtime.
    pub fn respond(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> (u16, Vec<u8>) {
        let Some(request) = request(method, target, headers, body) else {
            return (400, Vec::new());
        };
        let response = server::answer(self, "127.0.0.1:443", &request);
        let code = response.status().as_u16();
        let body = match response.into_body() {
            Body::Ready(bytes) => bytes.to_vec(),
            Body::List(mut list) => std::iter::from_fn(|| list.next()).flatten().collect(),
            Body::Stream { .. } => Vec::new(),
        };
        (code, body)
    }
}

fn request(method: &str, target: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Option<Request> {
    let uri: Uri = target.parse().ok()?;
    let mut parts = hyper::Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        parts = parts.header(*name, *value);
    }
    let (parts, ()) = parts.body(()).ok()?.into_parts();
    Some(Request {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: Query::parse(parts.uri.query().unwrap_or_default()),
        headers: parts.headers,
        body: Bytes::from(body),
    })
}
