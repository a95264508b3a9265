//! The secrets of a server: the token of its clients, and its certificate for the loopback address.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Names that the certificate is valid for.
const NAMES: [&str; 5] =
    ["localhost", "127.0.0.1", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];

/// The token that clients of a server must send, and the certificate with which it proves its
/// identity. A server that is started again with the same credentials is reached with the same
/// kubeconfig.
#[derive(Clone)]
pub struct Credentials {
    token: String,
    /// Certificate of the authority, in PEM. Its key is not kept.
    authority: String,
    /// Certificate of the server, in PEM.
    certificate: String,
    /// Private key of the server, in PEM.
    key: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Credentials")
    }
}

impl Credentials {
    /// Creates random credentials.
    ///
    /// # Errors
    /// The system has no source of random numbers.
    pub fn generate() -> io::Result<Self> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "kusion-sandbox-ca");
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().map_err(|error| other(&error))?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(|error| other(&error))?;
        let mut params =
            CertificateParams::new(NAMES.map(str::to_owned)).map_err(|error| other(&error))?;
        params.distinguished_name.push(DnType::CommonName, "kusion-sandbox");
        let key = KeyPair::generate().map_err(|error| other(&error))?;
        let certificate = params.signed_by(&key, &issuer).map_err(|error| other(&error))?;
        Ok(Self {
            token: random_token()?,
            authority: issuer.pem(),
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }

    /// Returns the token that clients must send.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns the certificate of the authority that clients must trust, in PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the credentials as text, for a private file.
    pub fn to_text(&self) -> String {
        let Self { token, authority, certificate, key } = self;
        json!({"token": token, "authority": authority, "certificate": certificate, "key": key})
            .to_string()
    }

    /// Reads what [`Credentials::to_text`] wrote; `None` if the text is invalid.
    pub fn from_text(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let field = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        let read = Self {
            token: field("token").filter(|token| token.len() >= 32)?,
            authority: field("authority")?,
            certificate: field("certificate")?,
            key: field("key")?,
        };
        read.acceptor().is_ok().then_some(read)
    }

    /// Returns what accepts TLS connections with the certificate.
    pub(crate) fn acceptor(&self) -> io::Result<TlsAcceptor> {
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes())
            .map_err(|error| other(&error))?;
        let key =
            PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(|error| other(&error))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| other(&error))?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .map_err(|error| other(&error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// Returns 128 random bits as text.
///
/// # Errors
/// The system has no source of random numbers.
pub fn random_token() -> io::Result<String> {
    let mut bytes = [0; 16];
    default_provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| io::Error::other("no source of random numbers"))?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

fn other(error: &dyn std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_survive_a_file() {
        let made = Credentials::generate().expect("credentials");
        let read = Credentials::from_text(&made.to_text()).expect("the same credentials");
        assert_eq!(read.to_text(), made.to_text());
        assert_ne!(made.token(), Credentials::generate().expect("others").token());
        assert_eq!(made.token().len(), 32);
        assert!(Credentials::from_text("{}").is_none());
        let short = made.to_text().replace(made.token(), "abc");
        assert!(Credentials::from_text(&short).is_none(), "a short token can be guessed");
    }

    #[test]
    fn debug_output_has_no_secrets() {
        assert_eq!(format!("{:?}", Credentials::generate().expect("some")), "Credentials");
    }
}
