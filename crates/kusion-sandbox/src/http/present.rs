//! Answers, put together.

use super::body::{Body, Joined};
use super::negotiate::{Form, Format, Shape};
use crate::Status;
use crate::cluster::Cluster;
use crate::registry::Served;
use crate::store::Stored;
use crate::write::Outcome;
use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WARNING};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

/// Makes an answer of one document.
pub(crate) fn document(code: u16, form: &Form, value: &Value) -> Response<Body> {
    let (bytes, media) = encode(form, value);
    response(code, media, Body::from(bytes))
}

/// Makes an answer of text.
pub(crate) fn text(code: u16, text: impl Into<Bytes>) -> Response<Body> {
    response(code, "text/plain; charset=utf-8", Body::from(text))
}

/// Makes an answer.
pub(crate) fn response(code: u16, media: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

fn encode(form: &Form, value: &Value) -> (Vec<u8>, &'static str) {
    match form.format {
        Format::Yaml => {
            (yaml_serde::to_string(value).unwrap_or_default().into_bytes(), "application/yaml")
        }
        Format::Json if form.pretty => {
            (serde_json::to_vec_pretty(value).unwrap_or_default(), "application/json")
        }
        Format::Json => {
            let mut bytes = serde_json::to_vec(value).unwrap_or_default();
            bytes.push(b'\n');
            (bytes, "application/json")
        }
    }
}

/// Makes the answer to a request that failed.
pub(crate) fn failure(form: &Form, status: &Status) -> Response<Body> {
    let mut response = document(status.code, form, &status.to_value());
    if let Some(seconds) = status.details.get("retryAfterSeconds").and_then(Value::as_u64)
        && let Ok(value) = seconds.to_string().parse()
    {
        response.headers_mut().insert(RETRY_AFTER, value);
    }
    response
}

/// Adds warnings, each once.
pub(crate) fn warn(mut response: Response<Body>, warnings: &[String]) -> Response<Body> {
    for warning in warnings {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\""))
            && !response.headers().get_all(WARNING).iter().any(|known| known == value)
        {
            response.headers_mut().append(WARNING, value);
        }
    }
    response
}

/// Makes the answer to a write.
pub(crate) fn outcome(
    cluster: &Cluster,
    served: &Served,
    form: &Form,
    outcome: &Outcome,
) -> Response<Body> {
    let code = if outcome.created { 201 } else { 200 };
    let response = match &outcome.stored {
        Some(stored) if *form == Form::json() => {
            response(code, "application/json", Body::from(stored.json()))
        }
        _ => document(code, form, &shaped(cluster, served, form, &outcome.value)),
    };
    warn(response, &outcome.warnings)
}

/// Makes the answer to a read of one object.
pub(crate) fn object(
    cluster: &Cluster,
    served: &Served,
    form: &Form,
    stored: &Stored,
) -> Result<Response<Body>, Status> {
    if served.is_plain(stored) && *form == Form::json() {
        return Ok(response(200, "application/json", Body::from(stored.json())));
    }
    let value = cluster.view(served, stored)?;
    Ok(document(200, form, &shaped(cluster, served, form, &value)))
}

/// Returns an object in the shape that the client asked for.
pub(crate) fn shaped(cluster: &Cluster, served: &Served, form: &Form, value: &Value) -> Value {
    match &form.shape {
        Shape::Table(version) if value["kind"] != "Status" => {
            let rows: Vec<&Value> = vec![value];
            let mut table = crate::table::table(cluster, served, version, form.rows, &rows);
            table["metadata"] = json!({"resourceVersion": value["metadata"]["resourceVersion"]});
            table
        }
        Shape::Metadata(version) if value["kind"] != "Status" => metadata_of(version, value),
        _ => value.clone(),
    }
}

/// Returns only the metadata of an object.
pub(crate) fn metadata_of(version: &str, value: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": value["metadata"],
    })
}

/// Makes the answer to a list.
pub(crate) fn list(
    cluster: &Cluster,
    served: &Served,
    form: &Form,
    items: &[std::sync::Arc<Stored>],
    meta: &Value,
) -> Result<Response<Body>, Status> {
    if *form == Form::json() && items.iter().all(|stored| served.is_plain(stored)) {
        return Ok(response(200, "application/json", joined(served, items, meta)));
    }
    let values: Result<Vec<_>, Status> =
        items.iter().map(|stored| cluster.view(served, stored)).collect();
    let values = values?;
    let document_value = match &form.shape {
        Shape::Table(version) => {
            let rows: Vec<&Value> = values.iter().map(|value| &**value).collect();
            let mut table = crate::table::table(cluster, served, version, form.rows, &rows);
            table["metadata"] = meta.clone();
            table
        }
        Shape::Metadata(version) => {
            let items: Vec<Value> =
                values.iter().map(|value| metadata_of(version, value)).collect();
            json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": format!("meta.k8s.io/{version}"),
                "metadata": meta,
                "items": items,
            })
        }
        _ => json!({
            "kind": &*served.list_kind,
            "apiVersion": served.api_version(),
            "metadata": meta,
            "items": values.iter().map(|value| item_of(served, value)).collect::<Vec<_>>(),
        }),
    };
    Ok(document(200, form, &document_value))
}

/// Returns an object as an item of a list; only items of custom kinds say what they are.
fn item_of(served: &Served, value: &Value) -> Value {
    let mut item = value.clone();
    if served.is_builtin()
        && let Some(map) = item.as_object_mut()
    {
        map.remove("apiVersion");
        map.remove("kind");
    }
    item
}

/// Returns a list as the texts of its objects, joined while it is sent.
fn joined(served: &Served, items: &[std::sync::Arc<Stored>], meta: &Value) -> Body {
    let head = format!(
        "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{meta},\"items\":[",
        served.list_kind,
        served.api_version()
    );
    let item = |stored: &std::sync::Arc<Stored>| {
        // Only items of custom kinds say what they are.
        if served.is_builtin() { stored.item() } else { (stored.json(), Bytes::new()) }
    };
    Body::List(Joined::new(head, items.iter().map(item).collect(), "]}\n"))
}
