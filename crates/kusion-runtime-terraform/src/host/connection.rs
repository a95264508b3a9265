//! The connection to a provider: gRPC over HTTP/2 over TLS over a socket of this machine.

use super::handshake::Address;
use futures::future::BoxFuture;
use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tonic::body::Body;

/// How much may be under way before it is read: schemas are large, and the peer is this machine.
const WINDOW: u32 = 16 << 20;

/// A connection, which calls share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connection(SendRequest<Body>);

impl Connection {
    /// Connects to a provider.
    pub(crate) async fn open(address: &Address, config: ClientConfig) -> io::Result<Self> {
        match address {
            Address::Unix(path) => Self::over(UnixStream::connect(path).await?, config).await,
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                Self::over(stream, config).await
            }
        }
    }

    async fn over(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        config: ClientConfig,
    ) -> io::Result<Self> {
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
        let (sender, connection) = Builder::new(TokioExecutor::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_frame_size(1 << 20)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(io::Error::other)?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("the connection to a provider ended: {error}");
            }
        });
        Ok(Self(sender))
    }

    /// Returns the client of calls, with a limit of the size of messages.
    pub(crate) fn client(&self, limit: usize) -> tonic::client::Grpc<Self> {
        tonic::client::Grpc::with_origin(self.clone(), Uri::from_static("https://localhost"))
            .max_decoding_message_size(limit)
            .max_encoding_message_size(limit)
    }
}

impl tonic::client::GrpcService<Body> for Connection {
    type ResponseBody = Incoming;
    type Error = hyper::Error;
    type Future = BoxFuture<'static, Result<Response<Incoming>, hyper::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}
