//! Connections and the first look at a request.

use super::body::Body;
use super::negotiate::Form;
use super::read::Request;
use super::{objects, plain, present, route};
use crate::Status;
use crate::api::Api;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HOST, ORIGIN};
use hyper::service::service_fn;
use hyper::{Method, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// What all connections of a server share.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) api: Api,
    /// The bearer token that clients must show.
    pub(crate) token: Arc<str>,
    /// Host and port, for documents.
    pub(crate) address: Arc<str>,
    pub(crate) tls: Option<TlsAcceptor>,
}

/// Serves connections until the runtime ends.
pub(crate) async fn serve(server: Server, listener: TcpListener) {
    let server = Arc::new(server);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            match &server.tls {
                Some(acceptor) => {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        connection(&server, TokioIo::new(stream)).await;
                    }
                }
                None => connection::<TokioIo<TcpStream>>(&server, TokioIo::new(stream)).await,
            }
        });
    }
}

async fn connection<I>(server: &Arc<Server>, io: I)
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let service = service_fn(|request| {
        let server = Arc::clone(server);
        async move { Ok::<_, Infallible>(respond(&server, request).await) }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).keep_alive(true);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(1000);
    // A connection that breaks off concerns its client only.
    let _ = builder.serve_connection(io, service).await;
}

async fn respond(server: &Server, request: hyper::Request<Incoming>) -> Response<Body> {
    if !is_public(request.uri().path()) && !is_known(server, &request) {
        return present::failure(&Form::json(), &Status::unauthorized());
    }
    let request = match Request::read(request).await {
        Ok(request) => request,
        Err(status) => return present::failure(&Form::json(), &status),
    };
    let head = request.method == Method::HEAD;
    let result = match route::parse(&request.path) {
        Some(route) => {
            if server.api.cluster().registry.has_version(&route.group, &route.version) {
                objects::handle(&server.api, &route, &request)
            } else {
                Ok(plain::not_found())
            }
        }
        None => plain::handle(server.api.cluster(), &server.address, &request),
    };
    let response = result.unwrap_or_else(|status| {
        let form = request.form().unwrap_or(Form { pretty: true, ..Form::json() });
        let form = Form { shape: super::negotiate::Shape::Object, ..form };
        present::failure(&form, &status)
    });
    if head { response.map(|_| Body::from("")) } else { response }
}

/// Paths that need no token: they tell nothing of the cluster.
fn is_public(path: &str) -> bool {
    path == "/version"
        || ["/healthz", "/livez", "/readyz"].iter().any(|prefix| path.starts_with(prefix))
}

/// Returns whether a request may pass.
///
/// Over TLS every request must carry the token. Clients do not send credentials over plain
/// connections, so there a request without any passes, unless a browser sends it for a page
/// from elsewhere.
fn is_known(server: &Server, request: &hyper::Request<Incoming>) -> bool {
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let Some(given) = header(AUTHORIZATION) else {
        return server.tls.is_none()
            && header(ORIGIN).is_none()
            && is_loopback(request.uri().host().or_else(|| header(HOST)).unwrap_or_default());
    };
    let given = given.strip_prefix("Bearer ").unwrap_or_default().as_bytes();
    let wanted = server.token.as_bytes();
    given.len() == wanted.len()
        && given.iter().zip(wanted).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "127.0.0.1" | "localhost" | "kubernetes.default.svc")
}
