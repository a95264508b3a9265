//! Programs of providers: start, handshake, encrypted connection, output, end.

pub(crate) mod connection;
pub(crate) mod guard;
pub(crate) mod handshake;
pub(crate) mod launch;
pub(crate) mod output;
pub(crate) mod process;
pub(crate) mod tls;
