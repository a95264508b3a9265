//! The documents that describe the API.

use super::body::Body;
use super::plain::not_found;
use super::present;
use super::read::Request;
use crate::cluster::Cluster;
use hyper::Response;
use hyper::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH};
use kusion_k8s_schema::openapi::{self, CustomKind, Document};

/// What clients call the binary form of `/openapi/v2`.
const V2_BINARY: &str = "com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// Answers a request below `/openapi/v3`, or for `/openapi/v2`.
pub(crate) fn answer(cluster: &Cluster, parts: &[&str], request: &Request) -> Response<Body> {
    let all = cluster.registry.all();
    let customs: Vec<CustomKind<'_>> = all
        .iter()
        .filter_map(|served| {
            let custom = served.custom.as_ref()?;
            Some(CustomKind {
                resource: &custom.info,
                list_kind: &served.list_kind,
                schema: &custom.schema,
                selectable_fields: custom.selectable.iter().map(String::as_str).collect(),
            })
        })
        .collect();
    match parts {
        ["v2"] if request.header(ACCEPT).contains(V2_BINARY) => {
            let found = openapi::v2_binary(&customs);
            let mut response = document(&found, request);
            let media = HeaderValue::from_static(openapi::V2_BINARY_TYPE);
            response.headers_mut().insert(CONTENT_TYPE, media);
            response
        }
        ["v2"] => document(&openapi::v2(&customs), request),
        ["v3"] => {
            // The real server names no type here, and clients have learnt to live with it.
            present::text(200, openapi::index(&customs).to_string())
        }
        ["v3", rest @ ..] => match openapi::document(&rest.join("/"), &customs) {
            Some(found) => document(&found, request),
            None => not_found(),
        },
        _ => not_found(),
    }
}

fn document(document: &Document, request: &Request) -> Response<Body> {
    let tag = format!("\"{}\"", document.hash);
    let mut response = if request.header(IF_NONE_MATCH) == tag {
        present::response(304, "application/json", Body::from(""))
    } else {
        present::response(200, "application/json", Body::from(document.body.to_vec()))
    };
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    let hash = request.query.get("hash");
    if !hash.is_empty() && hash == document.hash {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
    }
    response
}
