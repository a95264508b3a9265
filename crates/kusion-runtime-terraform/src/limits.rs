//! Limits of size and time.

use std::time::Duration;

/// How long a provider may take, and how much it may send.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time from the start of the program to its connection.
    pub start: Duration,
    /// Time of a call that changes nothing.
    pub call: Duration,
    /// Time of a call that makes a change. Clouds take long.
    pub apply: Duration,
    /// Time to end after it was asked to.
    pub stop: Duration,
    /// Bytes of one message.
    pub message: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_mins(1),
            call: Duration::from_mins(10),
            apply: Duration::from_hours(6),
            stop: Duration::from_secs(2),
            // Schemas of the largest providers have tens of megabytes.
            message: 256 << 20,
        }
    }
}
