//! The OpenAPI documents.

use super::body::Body;
use super::plain::not_found;
use super::read::Request;
use crate::Status;
use crate::cluster::Cluster;
use hyper::Response;

/// Answers a request below `/openapi/v3`.
#[expect(clippy::unnecessary_wraps, reason = "documents are negotiated")]
pub(crate) fn answer(
    _cluster: &Cluster,
    _parts: &[&str],
    _request: &Request,
) -> Result<Response<Body>, Status> {
    Ok(not_found())
}
