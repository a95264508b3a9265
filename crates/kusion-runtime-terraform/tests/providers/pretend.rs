//! Programs that misbehave: this one, started with the variable `PRETEND`.

use bytes::Bytes;
use data_encoding::BASE64_NOPAD;
use http::{Request, Response};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::convert::Infallible;
use std::io::Write as _;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Misbehaves as the variable says.
pub(crate) fn run() -> Option<ExitCode> {
    let how = std::env::var("PRETEND").ok()?;
    match how.as_str() {
        "exit" => {
            let _ = std::io::stderr().write_all("cannot\u{1b}[31m load the library\n".as_bytes());
            return Some(ExitCode::from(7));
        }
        "silence" => std::thread::sleep(Duration::from_hours(1)),
        "greeting" => {
            say("hello world");
            std::thread::sleep(Duration::from_hours(1));
        }
        "endless line" => {
            let mut out = std::io::stdout().lock();
            while out.write_all(&[b'x'; 4_096]).is_ok() {}
        }
        "flood" => {
            let mut out = std::io::stderr().lock();
            while out.write_all(b"{\"@level\":\"info\",\"@message\":\"again\"}\n").is_ok() {}
        }
        "nobody" => {
            say("1|6|unix|/nonexistent/socket|grpc|AQID");
            std::thread::sleep(Duration::from_hours(1));
        }
        "killed host" => crate::run(crate::host::stay()),
        how => crate::run(serve(how)),
    }
    Some(ExitCode::SUCCESS)
}

/// Prints a line.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out
        .write_all(line.as_bytes())
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush());
}

/// Serves an encrypted connection and answers every call in the same way.
async fn serve(how: &str) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
    let shown = params.self_signed(&key).expect("a certificate");
    let other = KeyPair::generate().expect("a key");
    let announced = match how {
        "other certificate" => params.self_signed(&other).expect("a certificate"),
        _ => shown.clone(),
    };
    let key = match how {
        // The certificate is public: whoever knows it may show it.
        "other key" => other.serialize_der(),
        _ => key.serialize_der(),
    };
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
    let chain = vec![CertificateDer::from(shown.der().to_vec())];
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let signing = provider.key_provider.load_private_key(key).expect("a key");
    let certified = Arc::new(rustls::sign::CertifiedKey::new(chain, signing));
    let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(rustls::sign::SingleCertAndKey::from(certified)));
    config.alpn_protocols = vec![b"h2".to_vec()];
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    say(&format!("1|6|tcp|{address}|grpc|{}", BASE64_NOPAD.encode(announced.der())));
    let acceptor = TlsAcceptor::from(Arc::new(config));
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        let Ok(stream) = acceptor.accept(stream).await else { continue };
        let how: Arc<str> = how.into();
        let answer = move |_: Request<Incoming>| answer(how.clone());
        let service = hyper::service::service_fn(answer);
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let _ = server.serve_connection(TokioIo::new(stream), service).await;
    }
}

async fn answer(how: Arc<str>) -> Result<Response<Answer>, Infallible> {
    let bytes: Vec<u8> = match &*how {
        "no answer" => std::future::pending().await,
        "end" => std::process::exit(9),
        // A message of 7 bytes that is none.
        "garbage" => vec![0, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        // A message of 4 GiB, announced only.
        "huge" => vec![0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3],
        // A schema whose only resource has an attribute without a valid type.
        "bad schema" => {
            let attribute = [&[0x0a, 1, b'a', 0x12, 3][..], b"\"x\""].concat();
            let block = [&[0x12, attribute.len() as u8][..], &attribute].concat();
            let schema = [&[0x12, block.len() as u8][..], &block].concat();
            let entry = [&[0x0a, 1, b't', 0x12, schema.len() as u8][..], &schema].concat();
            let message = [&[0x12, entry.len() as u8][..], &entry].concat();
            [&[0, 0, 0, 0, message.len() as u8][..], &message].concat()
        }
        // A message without end.
        "endless" => {
            let body = Answer { data: None, is_endless: true, is_ended: false };
            return Ok(response(body));
        }
        // No message at all.
        _ => Vec::new(),
    };
    Ok(response(Answer { data: Some(bytes.into()), is_endless: false, is_ended: false }))
}

fn response(body: Answer) -> Response<Answer> {
    let response = Response::builder().header("content-type", "application/grpc");
    response.body(body).expect("a response")
}

/// A body with the trailer that says that all is well.
struct Answer {
    data: Option<Bytes>,
    is_endless: bool,
    is_ended: bool,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.is_endless {
            let part = Bytes::from_static(&[0, 0x0f, 0xff, 0xff, 0xff, 0, 0, 0]);
            return Poll::Ready(Some(Ok(Frame::data(part))));
        }
        if let Some(data) = self.data.take() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        if self.is_ended {
            return Poll::Ready(None);
        }
        self.is_ended = true;
        let mut trailers = http::HeaderMap::new();
        trailers.insert("grpc-status", http::HeaderValue::from_static("0"));
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
