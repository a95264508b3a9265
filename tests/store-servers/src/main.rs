//! An S3 server for tests, on a folder and on loopback only.
//!
//! `store-servers FOLDER ACCESS_KEY SECRET_KEY` makes the bucket `kusion`, prints the address and
//! serves until it is stopped. One lock lies around every request: conditional writes of the
//! library underneath check first and write then, so that several clients could win.

use anyhow::{Context as _, Result};
use http_body_util::BodyExt as _;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Mutex;

const BUCKET: &str = "kusion";

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().context("usage: store-servers FOLDER ACCESS_KEY SECRET_KEY");
    let (folder, access_key, secret_key) = (next()?, next()?, next()?);
    std::fs::create_dir_all(format!("{folder}/{BUCKET}"))?;
    let files = s3s_fs::FileSystem::new(&folder)
        .map_err(|error| anyhow::anyhow!("`{folder}` cannot be served: {error:?}"))?;
    let mut builder = S3ServiceBuilder::new(files);
    builder.set_auth(SimpleAuth::from_single(access_key, secret_key));
    let service = builder.build();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    announce(&format!("http://{}", listener.local_addr()?));
    let lock = Arc::new(Mutex::new(()));
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let (service, lock) = (service.clone(), Arc::clone(&lock));
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                one_at_a_time(service.clone(), Arc::clone(&lock), request)
            });
            let builder = Builder::new(TokioExecutor::new());
            // A client that goes away in the middle is its own affair.
            let _ = builder.serve_connection(TokioIo::new(socket), answer).await;
        });
    }
}

/// Answers a request when no other one is being answered. Its body is read before, so that a
/// client that stops sending holds up nobody.
async fn one_at_a_time(
    service: S3Service,
    lock: Arc<Mutex<()>>,
    request: http::Request<hyper::body::Incoming>,
) -> Result<s3s::HttpResponse, s3s::HttpError> {
    let (parts, body) = request.into_parts();
    let bytes = body.collect().await.map_err(|error| s3s::HttpError::new(error.into()))?.to_bytes();
    let request = http::Request::from_parts(parts, s3s::Body::from(bytes));
    let _only = lock.lock().await;
    service.call(request).await
}

#[expect(clippy::print_stdout, reason = "the caller reads the address")]
fn announce(address: &str) {
    println!("{address}");
}
