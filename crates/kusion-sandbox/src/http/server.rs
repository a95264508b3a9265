//! Connections, and the way of a request to its response.

use super::access::Access;
use super::body::Body;
use super::flight::{Flights, Sent};
use super::limits::Limits;
use super::negotiate::Form;
use super::read::Request;
use super::{identity, objects, plain, present, route};
use crate::Status;
use crate::api::Api;
use crate::faults::Faults;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Requests at the same time on one HTTP/2 connection.
const STREAMS: u32 = 250;

/// What all connections of a server share.
pub(crate) struct Server {
    pub(crate) api: Api,
    pub(crate) access: Access,
    pub(crate) faults: Faults,
    /// Host and port, for documents.
    pub(crate) address: String,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) limits: Limits,
    /// Permits for requests with a body.
    pub(crate) bodies: Semaphore,
}

/// Serves connections until the runtime ends.
pub(crate) async fn serve(server: Server, listener: TcpListener) {
    let permits = Arc::new(Semaphore::new(server.limits.connections));
    let server = Arc::new(server);
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let flights = Flights::new(server.limits);
            tokio::select! {
                () = connect(&server, &flights, stream) => {}
                () = flights.expired() => {}
            }
            drop(permit);
        });
    }
}

async fn connect(server: &Arc<Server>, flights: &Arc<Flights>, stream: TcpStream) {
    match &server.tls {
        Some(acceptor) => {
            if let Ok(stream) = acceptor.accept(stream).await {
                connection(server, flights, TokioIo::new(stream)).await;
            }
        }
        None => connection(server, flights, TokioIo::new(stream)).await,
    }
}

async fn connection<I>(server: &Arc<Server>, flights: &Arc<Flights>, io: I)
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let service = service_fn(|request| {
        let server = Arc::clone(server);
        let flight = flights.begin();
        async move {
            let response = respond(&server, request).await;
            Ok::<Response<Sent>, Infallible>(response.map(|body| flight.send(body)))
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).keep_alive(true);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(STREAMS);
    // A connection that breaks off concerns its client only.
    let _ = builder.serve_connection(io, service).await;
}

async fn respond(server: &Server, request: hyper::Request<Incoming>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let read = async {
        server.access.check(&head)?;
        let _permit = match head.method {
            Method::GET | Method::HEAD => None,
            _ => server.bodies.acquire().await.ok(),
        };
        Request::read(head, body).await
    };
    match timeout(server.limits.request, read).await.unwrap_or_else(|_| Err(Status::timed_out())) {
        Ok(request) => {
            if server.faults.has_any()
                && let Some(route) = route::parse(&request.path)
            {
                let (pause, failure) = server.faults.of(&route.plural);
                // The shortest sleep takes a millisecond.
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                if let Some(status) = failure {
                    return present::failure(&Form::json(), &status);
                }
            }
            answer(&server.api, &server.address, &request)
        }
        Err(status) => present::failure(&Form::json(), &status),
    }
}

fn routed(api: &Api, address: &str, request: &Request) -> Result<Response<Body>, Status> {
    let route = route::parse(&request.path);
    let user = identity::impersonated(request)?;
    if let Some(user) = &user {
        identity::authorize(api.cluster(), user, request, route.as_ref())?;
    }
    match route {
        Some(route) => {
            if api.cluster().registry.has_version(&route.group, &route.version) {
                objects::handle(api, &route, request, user.as_ref())
            } else {
                Ok(plain::not_found())
            }
        }
        None => plain::handle(api.cluster(), address, request),
    }
}

/// Answers a request whose body has been read; `address` is host and port of the server.
pub(crate) fn answer(api: &Api, address: &str, request: &Request) -> Response<Body> {
    let result = routed(api, address, request);
    let response = result.unwrap_or_else(|status| {
        let form = request.form().unwrap_or(Form { pretty: true, ..Form::json() });
        let form = Form { shape: super::negotiate::Shape::Object, ..form };
        present::failure(&form, &status)
    });
    if request.method == Method::HEAD { response.map(|_| Body::from("")) } else { response }
}
