//! A request, taken apart.

use super::negotiate::{Form, negotiate};
use super::query::Query;
use crate::registry::Served;
use crate::{Status, Validation};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method};
use kusion_k8s_schema::{Decoded, Expected, Format, PROTOBUF_TYPE, decode_protobuf, parse};
use serde_json::Value;

/// The largest body that is read.
const LARGEST: usize = 3 * 1024 * 1024;

/// A request whose body has been read.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    /// Reads a request to its end.
    pub(crate) async fn read(parts: Parts, body: Incoming) -> Result<Self, Status> {
        let body = if parts.method == Method::GET {
            Bytes::new()
        } else {
            Limited::new(body, LARGEST)
                .collect()
                .await
                .map_err(|_| Status {
                    code: 413,
                    reason: "RequestEntityTooLarge",
                    message: format!("Request entity too large: limit is {LARGEST}"),
                    details: Value::Null,
                })?
                .to_bytes()
        };
        Ok(Self {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query: Query::parse(parts.uri.query().unwrap_or_default()),
            headers: parts.headers,
            body,
        })
    }

    /// Returns a header as text; empty when there is none.
    pub(crate) fn header(&self, name: hyper::header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the media type of the body, without parameters.
    pub(crate) fn content_type(&self) -> &str {
        self.header(CONTENT_TYPE).split(';').next().unwrap_or_default().trim()
    }

    /// Picks the form of the answer.
    pub(crate) fn form(&self) -> Result<Form, Status> {
        self.picked(false)
    }

    /// Picks the form of an answer that has no rows and no metadata.
    pub(crate) fn plain_form(&self) -> Result<Form, Status> {
        self.picked(true)
    }

    fn picked(&self, plain: bool) -> Result<Form, Status> {
        negotiate(&self.headers, &self.query, plain).ok_or_else(|| {
            const SERVED: &str =
                "application/json, application/yaml, application/vnd.kubernetes.protobuf";
            let accept = self.header(hyper::header::ACCEPT);
            if accept.starts_with("application/json;") {
                let message = format!("only the following media types are accepted: {SERVED}");
                return Status::not_acceptable(message);
            }
            let mut status = Status::not_acceptable(format!(
                "406: Not Acceptable\n\nAvailable representations: {SERVED}"
            ));
            status.details = serde_json::json!({});
            status
        })
    }

    /// Returns the field manager: the named one, or the first word of the user agent.
    pub(crate) fn manager(&self) -> &str {
        match self.query.get("fieldManager") {
            "" => {
                let agent = self.header(USER_AGENT).split('/').next().unwrap_or_default();
                if agent.is_empty() { "unknown" } else { agent }
            }
            named => named,
        }
    }

    /// Returns whether nothing may be stored.
    pub(crate) fn dry_run(&self) -> Result<bool, Status> {
        let mut dry = false;
        for value in self.query.all("dryRun") {
            match value {
                "" => {}
                "All" => dry = true,
                other => {
                    let cause = crate::Cause::new(
                        "FieldValueNotSupported",
                        "dryRun",
                        format!("Unsupported value: [\"{other}\"]: supported values: \"All\""),
                    );
                    let kind = self.options_kind();
                    return Err(Status::invalid("meta.k8s.io", kind, "", &[cause]));
                }
            }
        }
        Ok(dry)
    }

    /// Returns what happens to unknown fields.
    pub(crate) fn validation(&self) -> Result<Validation, Status> {
        match self.query.get("fieldValidation") {
            "" | "Warn" => Ok(Validation::Warn),
            "Ignore" => Ok(Validation::Ignore),
            "Strict" => Ok(Validation::Strict),
            other => {
                let cause = crate::Cause::new(
                    "FieldValueNotSupported",
                    "fieldValidation",
                    format!(
                        "Unsupported value: \"{other}\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""
                    ),
                );
                Err(Status::invalid("meta.k8s.io", self.options_kind(), "", &[cause]))
            }
        }
    }

    fn options_kind(&self) -> &'static str {
        match self.method.as_str() {
            "POST" => "CreateOptions",
            "PUT" => "UpdateOptions",
            "DELETE" => "DeleteOptions",
            _ => "PatchOptions",
        }
    }

    /// Decodes a body that is no object of the cluster; `kind` is what it ought to be.
    pub(crate) fn decode(&self, kind: &str) -> Result<Value, Status> {
        if self.content_type() == PROTOBUF_TYPE {
            let (group, version) = match kind {
                "eviction" => ("policy", "v1"),
                "token" => ("authentication.k8s.io", "v1"),
                _ => ("", "v1"),
            };
            let expected = Expected { group, version, kind };
            let decoded = decode_protobuf(&expected, &self.body).map_err(Status::bad_request)?;
            return Ok(decoded.value);
        }
        let parsed = parse(&self.body, self.format()?);
        parsed.map(|decoded| decoded.value).map_err(|why| {
            Status::bad_request(format!(
                "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: {why}"
            ))
        })
    }

    /// Decodes a body of a resource; returns what strict requests do not accept about it.
    pub(crate) fn decode_object(&self, served: &Served) -> Result<Decoded, Status> {
        let resource = &served.resource;
        if self.content_type() == PROTOBUF_TYPE && served.is_builtin() {
            let expected =
                Expected { group: &resource.group, version: &resource.version, kind: &served.kind };
            return decode_protobuf(&expected, &self.body).map_err(Status::bad_request);
        }
        let format = self.format()?;
        let decoded = match &served.custom {
            Some(custom) => {
                custom.structural.decode(&served.kind, &resource.api_version(), &self.body, format)
            }
            None => {
                let expected = Expected {
                    group: &resource.group,
                    version: &resource.version,
                    kind: &served.kind,
                };
                kusion_k8s_schema::decode(&expected, &self.body, format)
            }
        };
        decoded.map_err(Status::bad_request)
    }

    fn format(&self) -> Result<Format, Status> {
        match self.content_type() {
            "" | "application/json" => Ok(Format::Json),
            "application/yaml" => Ok(Format::Yaml),
            _ => Err(Status::unsupported_media(
                "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
            )),
        }
    }
}
