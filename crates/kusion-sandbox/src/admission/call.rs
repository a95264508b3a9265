//! HTTP calls to webhooks: loopback addresses only, with limits of time and size.

use bytes::Bytes;
use data_encoding::BASE64;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

/// The most bytes of a response.
const LARGEST_RESPONSE: usize = 3 * 1024 * 1024;

/// Where a webhook listens.
#[derive(Debug)]
pub(super) struct Endpoint {
    address: SocketAddr,
    host: String,
    /// Path, without a query.
    path: String,
    authorities: Vec<CertificateDer<'static>>,
}

impl Endpoint {
    /// Reads a `clientConfig`.
    ///
    /// # Errors
    /// It does not lead to a loopback address; the reason.
    pub(super) fn read(client: &Value) -> Result<Self, String> {
        const ONLY: &str = "the sandbox calls webhooks only at loopback addresses, such as \
                            https://127.0.0.1:8443/path; set clientConfig.url, or \
                            failurePolicy to Ignore";
        let Some(url) = client.get("url").and_then(Value::as_str) else {
            let part = |key: &str| client.pointer(key).and_then(Value::as_str).unwrap_or_default();
            let (namespace, name) = (part("/service/namespace"), part("/service/name"));
            return Err(format!("service {namespace}/{name} has no process behind it: {ONLY}"));
        };
        let rest = url.strip_prefix("https://").unwrap_or_default();
        let (authority, path) = rest.split_once('/').map_or((rest, ""), |it| it);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
            _ => (authority, Some(443)),
        };
        let ip = match host {
            "localhost" | "127.0.0.1" => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            "[::1]" => Some(IpAddr::V6(Ipv6Addr::LOCALHOST)),
            _ => None,
        };
        let (Some(ip), Some(port)) = (ip, port) else {
            return Err(format!("{url:?} is not such an address: {ONLY}"));
        };
        let bundle = client.get("caBundle").and_then(Value::as_str).unwrap_or_default();
        let pem = BASE64.decode(bundle.as_bytes()).unwrap_or_default();
        let authorities = CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).collect();
        Ok(Self {
            address: SocketAddr::new(ip, port),
            host: host.trim_matches(['[', ']']).to_owned(),
            path: format!("/{path}"),
            authorities,
        })
    }

    fn connector(&self) -> Result<TlsConnector, String> {
        if self.authorities.is_empty() {
            return Err("tls: failed to verify certificate: clientConfig.caBundle contains no \
                        certificate"
                .to_owned());
        }
        let mut roots = RootCertStore::empty();
        for authority in &self.authorities {
            // A certificate that is not that of an authority can be trusted itself.
            let _ = roots.add(authority.clone());
        }
        let provider = Arc::new(default_provider());
        let inner =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .map_err(|error| format!("tls: {error}"))?;
        let verifier = Verifier { trusted: self.authorities.clone(), inner };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("tls: {error}"))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

/// Accepts the certificates of authorities, and those that are in the bundle themselves.
#[derive(Debug)]
struct Verifier {
    trusted: Vec<CertificateDer<'static>>,
    inner: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.trusted.iter().any(|it| **it == **end_entity) {
            let parsed = ParsedCertificate::try_from(end_entity)?;
            tokio_rustls::rustls::client::verify_server_name(&parsed, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.inner.verify_server_cert(end_entity, intermediates, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Sends a body and returns that of the response, in the time given.
///
/// # Errors
/// There was no response with code 200 in time; the reason, in the words of a server.
pub(super) fn post(endpoint: &Endpoint, body: String, time: Duration) -> Result<Vec<u8>, String> {
    let call = || {
        // The caller may be a thread without a runtime, such as that of the controllers.
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("no runtime: {error}"))?;
        let target = format!("{}?timeout={}s", endpoint.path, time.as_secs());
        let url = format!("https://{}{target}", endpoint.address);
        let sending = send(endpoint, &target, body);
        let result = runtime.block_on(async { tokio::time::timeout(time, sending).await });
        match result {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(Failed::Network(why))) => Err(format!("Post \"{url}\": {why}")),
            Ok(Err(Failed::Answer(why))) => Err(why),
            Err(_) => Err(format!("Post \"{url}\": context deadline exceeded")),
        }
    };
    match Handle::try_current() {
        // Others of this runtime, perhaps the webhook's own requests, must go on meanwhile.
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(call)
        }
        Ok(_) => std::thread::scope(|scope| {
            scope.spawn(call).join().unwrap_or_else(|_| Err("the call failed".to_owned()))
        }),
        Err(_) => call(),
    }
}

enum Failed {
    Network(String),
    Answer(String),
}

async fn send(endpoint: &Endpoint, target: &str, body: String) -> Result<Vec<u8>, Failed> {
    let network = |error: String| Failed::Network(error);
    let connector = endpoint.connector().map_err(Failed::Network)?;
    let stream = tokio::net::TcpStream::connect(endpoint.address).await.map_err(|error| {
        let why = match error.kind() {
            ErrorKind::ConnectionRefused => "connection refused".to_owned(),
            _ => error.to_string(),
        };
        Failed::Network(format!("dial tcp {}: connect: {why}", endpoint.address))
    })?;
    let name =
        ServerName::try_from(endpoint.host.clone()).map_err(|error| network(error.to_string()))?;
    let stream = connector
        .connect(name, stream)
        .await
        .map_err(|error| network(format!("tls: failed to verify certificate: {error}")))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| network(error.to_string()))?;
    let request = hyper::Request::post(target)
        .header("Host", endpoint.address.to_string())
        .header("User-Agent", "kube-apiserver-admission")
        .header("Accept", "application/json, */*")
        .header("Content-Type", "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| network(error.to_string()))?;
    // It ends with the runtime of this call.
    tokio::spawn(connection);
    let response =
        sender.send_request(request).await.map_err(|error| network(error.to_string()))?;
    if response.status() != 200 {
        return Err(Failed::Answer(
            "an error on the server (\"unknown\") has prevented the request from succeeding"
                .to_owned(),
        ));
    }
    let body = Limited::new(response.into_body(), LARGEST_RESPONSE).collect().await;
    let body = body.map_err(|error| network(error.to_string()))?;
    Ok(body.to_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_loopback_addresses_are_called() {
        for url in ["https://127.0.0.1:1/x", "https://localhost/x", "https://[::1]:8443/a/b"] {
            assert!(Endpoint::read(&json!({"url": url})).is_ok(), "{url}");
        }
        for url in [
            "https://10.0.0.1/x",
            "https://example.com/x",
            "https://127.0.0.1.example.com/x",
            "https://localhost:x/",
            "https://a@127.0.0.1/x",
            "http://127.0.0.1/x",
        ] {
            assert!(Endpoint::read(&json!({"url": url})).is_err(), "{url}");
        }
        let service = json!({"service": {"namespace": "n", "name": "s"}});
        let why = Endpoint::read(&service).err().unwrap();
        assert!(why.starts_with("service n/s has no process behind it"), "{why}");
    }
}
