//! The time that reconcilers see.

use jiff::Timestamp;
use std::fmt::Debug;
#[cfg(test)]
use std::sync::atomic::{AtomicI64, Ordering};

/// A source of time; tests put their own in.
pub trait Clock: Debug + Send + Sync {
    /// Returns the present time.
    fn now(&self) -> Timestamp;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that moves only when told.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct ManualClock(AtomicI64);

#[cfg(test)]
impl ManualClock {
    /// Starts at a time given as RFC 3339 text.
    pub(crate) fn at(text: &str) -> Self {
        let start: Timestamp = text.parse().expect("a time in RFC 3339");
        Self(AtomicI64::new(start.as_millisecond()))
    }

    /// Moves it on.
    pub(crate) fn advance(&self, milliseconds: i64) {
        self.0.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

#[cfg(test)]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).expect("a time in range")
    }
}

/// Writes a time as Kubernetes does (whole seconds, UTC).
pub(crate) fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Writes a time with microseconds, as leases and new events have it.
pub(crate) fn rfc3339_micro(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// Reads a time of an object; none when the text is no time.
pub(crate) fn parse_time(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_server_writes_them() {
        let time = parse_time("2026-01-02T03:04:05.678901Z").unwrap();
        assert_eq!(rfc3339(time), "2026-01-02T03:04:05Z");
        assert_eq!(rfc3339_micro(time), "2026-01-02T03:04:05.678901Z");
    }
}
