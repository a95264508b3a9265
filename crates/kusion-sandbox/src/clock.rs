//! The time as Kubernetes writes it.

use jiff::Timestamp;

/// Returns the present time in whole seconds, as in `metadata.creationTimestamp`.
pub fn now() -> String {
    format(Timestamp::now())
}

/// Returns the time that lies a number of seconds after the present.
pub fn after(seconds: i64) -> String {
    let now = Timestamp::now();
    format(now.checked_add(jiff::SignedDuration::from_secs(seconds)).unwrap_or(now))
}

/// Returns the present time with microseconds, as in the times of leases and events.
pub fn now_micro() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// Returns a time in whole seconds.
pub fn format(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Reads a time; none when it is not one.
pub fn parse(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}
