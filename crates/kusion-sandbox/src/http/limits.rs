//! Limits of time and number for connections and requests.

use std::time::Duration;

/// Limits of a server. The times are those of a real server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Number of connections at the same time; more wait until one ends.
    pub(crate) connections: usize,
    /// Number of requests with a body at the same time; more wait until one ends.
    pub(crate) bodies: usize,
    /// Time from the start of a connection to the end of its first request head, handshake
    /// included.
    pub(crate) first: Duration,
    /// Time without a request after which a connection is closed.
    pub(crate) idle: Duration,
    /// Time in which a request body must arrive, and in which a response must be read.
    pub(crate) request: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Less than the usual limit of open files, 1024.
            connections: 1000,
            bodies: 200,
            first: Duration::from_secs(32),
            idle: Duration::from_secs(90),
            request: Duration::from_mins(1),
        }
    }
}
