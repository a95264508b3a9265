//! The time of day, for people and records; nothing is decided by it.

/// Returns the time now, RFC 3339 in UTC, to the millisecond.
pub(crate) fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
