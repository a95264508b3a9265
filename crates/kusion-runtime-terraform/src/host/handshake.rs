//! The first line that a provider prints: `1|6|unix|/tmp/plugin1|grpc|<certificate>`.

use crate::wire::Protocol;
use data_encoding::BASE64_NOPAD;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The longest line; certificates have about 1 KiB.
pub(crate) const MAX_LINE: usize = 64 << 10;

/// What the line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Handshake {
    pub(crate) protocol: Protocol,
    pub(crate) address: Address,
    /// The certificate that the provider will show, DER.
    pub(crate) certificate: Vec<u8>,
}

/// Where the provider listens.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

impl Handshake {
    /// Reads the line.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let fields: Vec<&str> = line.trim_end().split('|').collect();
        let &[core, protocol, network, address, transport, ref rest @ ..] = fields.as_slice()
        else {
            return Err("it printed no handshake; is it a Terraform provider?".to_owned());
        };
        if core != "1" {
            return Err(format!("unknown handshake version `{}`", crate::error::printable(core)));
        }
        let protocol = match protocol {
            "5" => Protocol::V5,
            "6" => Protocol::V6,
            other => {
                let other = crate::error::printable(other);
                return Err(format!("it speaks protocol {other}; supported are 5 and 6"));
            }
        };
        if transport != "grpc" {
            return Err("it does not speak gRPC, as all providers since 2019 do".to_owned());
        }
        let certificate = rest.first().copied().unwrap_or_default();
        if certificate.is_empty() {
            return Err("it offers no certificate, so that the connection would not be encrypted"
                .to_owned());
        }
        // Some libraries write the padding, others do not.
        let certificate = BASE64_NOPAD
            .decode(certificate.trim_end_matches('=').as_bytes())
            .map_err(|_| "its certificate is not valid base64".to_owned())?;
        Ok(Self { protocol, address: Address::parse(network, address)?, certificate })
    }
}

impl Address {
    fn parse(network: &str, address: &str) -> Result<Self, String> {
        match network {
            "unix" if address.starts_with('/') => Ok(Self::Unix(address.into())),
            "unix" => Err("the path of its socket is not absolute".to_owned()),
            "tcp" => {
                let socket: SocketAddr =
                    address.parse().map_err(|_| "its network address is not valid".to_owned())?;
                if socket.ip().is_loopback() {
                    Ok(Self::Tcp(socket))
                } else {
                    Err("it listens on an address that is not of this machine alone".to_owned())
                }
            }
            _ => Err("it listens on an unknown kind of network".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_is_read() {
        let line = "1|6|unix|/tmp/plugin12|grpc|AQID\n";
        let unix = Handshake::parse(line).expect("a handshake");
        assert_eq!(unix.address, Address::Unix("/tmp/plugin12".into()));
        assert_eq!((unix.protocol, unix.certificate), (Protocol::V6, vec![1, 2, 3]));
        let tcp = Handshake::parse("1|5|tcp|127.0.0.1:1234|grpc|AQI=|true").expect("a handshake");
        assert_eq!(tcp.address, Address::Tcp("127.0.0.1:1234".parse().expect("an address")));
        assert_eq!((tcp.protocol, tcp.certificate), (Protocol::V5, vec![1, 2]));
    }

    #[test]
    fn a_bad_handshake_says_what_is_wrong() {
        for (line, message) in [
            ("", "no handshake"),
            ("hello\n", "no handshake"),
            ("2|6|unix|/tmp/x|grpc|AQID", "unknown handshake version `2`"),
            ("1|4|unix|/tmp/x|grpc|AQID", "speaks protocol 4"),
            ("1|6|unix|tmp/x|grpc|AQID", "not absolute"),
            ("1|6|tcp|10.0.0.1:80|grpc|AQID", "not of this machine"),
            ("1|6|tcp|localhost:80|grpc|AQID", "not valid"),
            ("1|6|udp|127.0.0.1:80|grpc|AQID", "unknown kind of network"),
            ("1|6|unix|/tmp/x|netrpc|AQID", "gRPC"),
            ("1|6|unix|/tmp/x|grpc", "no certificate"),
            ("1|6|unix|/tmp/x|grpc|", "no certificate"),
            ("1|6|unix|/tmp/x|grpc|!!", "base64"),
        ] {
            let error = Handshake::parse(line).expect_err(line);
            assert!(error.contains(message), "{line}: {error}");
        }
    }
}
