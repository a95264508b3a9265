//! Paths that are no resources: discovery, health, version, metrics.

use super::body::Body;
use super::negotiate::{Form, Shape, negotiate};
use super::present;
use super::read::Request;
use crate::Status;
use crate::cluster::Cluster;
use hyper::{Method, Response};
use kusion_k8s_schema::discovery;
use serde_json::{Value, json};

/// Answers a request for a path that names no resource.
pub(crate) fn handle(
    cluster: &Cluster,
    address: &str,
    request: &Request,
) -> Result<Response<Body>, Status> {
    let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
    if request.method != Method::GET {
        return match parts[..] {
            ["version"] => Err(Status::method_not_allowed()),
            _ => Ok(not_found()),
        };
    }
    match parts[..] {
        [] => Ok(present::document(200, &pretty(), &paths(cluster))),
        ["version"] => Ok(present::document(200, &pretty(), &version())),
        ["healthz" | "livez" | "readyz", ..] => Ok(health(parts[0], parts.get(1), request)),
        ["metrics"] => Ok(metrics(cluster)),
        ["api"] => documents(cluster, request, Some(address)),
        ["apis"] => documents(cluster, request, None),
        ["api", version] => list(cluster, request, "", version),
        ["apis", group] => found(request, discovery::group(group, &cluster.registry.custom())),
        ["apis", group, version] => list(cluster, request, group, version),
        ["openapi", ..] => Ok(super::openapi::answer(cluster, &parts[1..], request)),
        [".well-known", "openid-configuration"] => {
            Ok(present::document(200, &Form::json(), &openid(address)))
        }
        _ => Ok(not_found()),
    }
}

/// The answer for paths that nothing is behind.
pub(crate) fn not_found() -> Response<Body> {
    present::text(404, "404 page not found\n")
}

fn pretty() -> Form {
    Form { pretty: true, ..Form::json() }
}

fn found(request: &Request, document: Option<Value>) -> Result<Response<Body>, Status> {
    let form = request.form()?;
    Ok(document.map_or_else(not_found, |document| present::document(200, &form, &document)))
}

fn list(
    cluster: &Cluster,
    request: &Request,
    group: &str,
    version: &str,
) -> Result<Response<Body>, Status> {
    let custom = cluster.registry.custom();
    let document = discovery::resource_list(group, version, &custom);
    if document.is_none() && discovery::group(group, &custom).is_some() {
        return Err(Status::no_route());
    }
    found(request, document)
}

/// Answers `/api` (with an address) and `/apis`, aggregated when the client asks for it.
fn documents(
    cluster: &Cluster,
    request: &Request,
    core: Option<&str>,
) -> Result<Response<Body>, Status> {
    let form =
        negotiate(&request.headers, &request.query, true).map_or_else(|| request.form(), Ok)?;
    let custom = cluster.registry.custom();
    if let Shape::Discovery(version) = &form.shape {
        let mut document = match core {
            Some(_) => discovery::aggregated_core(),
            None => discovery::aggregated(&custom),
        };
        document["apiVersion"] = format!("apidiscovery.k8s.io/{version}").into();
        let mut response = present::document(200, &form, &document);
        let media =
            format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList");
        if let Ok(media) = media.parse() {
            response.headers_mut().insert(hyper::header::CONTENT_TYPE, media);
        }
        return Ok(response);
    }
    let document = match core {
        Some(address) => discovery::api_versions(address),
        None => discovery::group_list(&custom),
    };
    Ok(present::document(200, &form, &document))
}

fn version() -> Value {
    let version = kusion_k8s_schema::version();
    let mut numbers = version.trim_start_matches('v').split('.');
    let major = numbers.next().unwrap_or_default();
    let minor = numbers.next().unwrap_or_default();
    json!({
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": "35",
        "gitVersion": format!("{version}+kusion-sandbox"),
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, architecture()),
    })
}

fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn health(kind: &str, check: Option<&&str>, request: &Request) -> Response<Body> {
    const CHECKS: [&str; 3] = ["ping", "log", "store"];
    match check {
        Some(check) if !CHECKS.contains(check) => not_found(),
        None if request.query.has("verbose") => {
            let mut lines: Vec<String> =
                CHECKS.iter().map(|check| format!("[+]{check} ok")).collect();
            lines.push(format!("{kind} check passed\n"));
            present::text(200, lines.join("\n"))
        }
        _ => present::text(200, "ok"),
    }
}

fn metrics(cluster: &Cluster) -> Response<Body> {
    let mut text = String::from(
        "# HELP apiserver_storage_objects Number of stored objects at the time of last check split by kind.\n# TYPE apiserver_storage_objects gauge\n",
    );
    for served in cluster.registry.all() {
        if let Some(table) = served.table
            && served.is_storage()
        {
            let name = crate::status::qualified(&served.resource.group, &served.resource.plural);
            let count = cluster.store.len(table).to_string();
            for part in ["apiserver_storage_objects{resource=\"", &name, "\"} ", &count, "\n"] {
                text.push_str(part);
            }
        }
    }
    present::text(200, text)
}

fn paths(cluster: &Cluster) -> Value {
    let mut paths: Vec<String> =
        ["/.well-known/openid-configuration", "/api", "/api/v1", "/apis", "/apis/"]
            .map(str::to_owned)
            .to_vec();
    for served in cluster.registry.all() {
        let resource = &served.resource;
        if !resource.group.is_empty() {
            paths.push(format!("/apis/{}", resource.group));
            paths.push(format!("/apis/{}/{}", resource.group, resource.version));
        }
    }
    paths.extend(
        ["/healthz", "/livez", "/metrics", "/openapi/v3", "/readyz", "/version"].map(str::to_owned),
    );
    paths.sort();
    paths.dedup();
    json!({"paths": paths})
}

fn openid(address: &str) -> Value {
    json!({
        "issuer": "https://kubernetes.default.svc",
        "jwks_uri": format!("https://{address}/openid/v1/jwks"),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["none"],
    })
}
