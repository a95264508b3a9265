//! The time of a watch.

use jiff::{SignedDuration, Timestamp};
use std::time::{Duration, Instant};

/// A clock that starts at a time and then runs with the timers of the process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: Timestamp,
    begun: tokio::time::Instant,
}

impl Clock {
    /// Creates a clock that shows the time of this machine.
    pub(super) fn system() -> Self {
        Self::starting(Timestamp::now())
    }

    /// Creates a clock that shows a time now.
    pub(super) fn starting(start: Timestamp) -> Self {
        Self { start, begun: tokio::time::Instant::now() }
    }

    /// Returns the present time.
    pub(super) fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.begun.elapsed()).unwrap_or(SignedDuration::MAX);
        self.start.saturating_add(passed).unwrap_or(Timestamp::MAX)
    }

    /// Returns a time as an instant; `None` if it is too long ago.
    pub(super) fn instant(&self, time: Timestamp) -> Option<Instant> {
        let begun = self.begun.into_std();
        let distance = time.duration_since(self.start);
        match Duration::try_from(distance) {
            Ok(later) => begun.checked_add(later),
            Err(_) => begun.checked_sub(distance.unsigned_abs()),
        }
    }
}
