//! Certificates for the loopback address.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use std::io;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// The authority that pods are told of when the server speaks no TLS. Nobody has its key.
pub(crate) const PLACEHOLDER: &str = include_str!("../data/placeholder-ca.pem");

/// What a server needs to speak TLS, and what its clients need to trust it.
pub(crate) struct Tls {
    /// The certificate of the authority, in PEM.
    pub(crate) authority: String,
    pub(crate) acceptor: TlsAcceptor,
}

/// Makes an authority and a certificate for the loopback address.
pub(crate) fn make() -> io::Result<Tls> {
    let other = |error: &dyn std::fmt::Display| io::Error::other(error.to_string());
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "kusion-sandbox-ca");
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate().map_err(|error| other(&error))?;
    let issuer = CertifiedIssuer::self_signed(params, key).map_err(|error| other(&error))?;
    let names = ["localhost", "127.0.0.1", "kubernetes", "kubernetes.default.svc"];
    let mut params =
        CertificateParams::new(names.map(str::to_owned)).map_err(|error| other(&error))?;
    params.distinguished_name.push(DnType::CommonName, "kusion-sandbox");
    let key = KeyPair::generate().map_err(|error| other(&error))?;
    let certificate = params.signed_by(&key, &issuer).map_err(|error| other(&error))?;
    let private = PrivateKeyDer::try_from(key.serialize_der()).map_err(|error| other(&error))?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .map_err(|error| other(&error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Tls { authority: issuer.pem(), acceptor: TlsAcceptor::from(Arc::new(config)) })
}
