//! Ids and times of operations.

use kusion_model::OperationId;

/// Returns the current time, RFC 3339 in UTC, to the millisecond.
pub fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// Returns the current time, in milliseconds since the Unix epoch.
pub fn now_millis() -> u64 {
    jiff::Timestamp::now().as_millisecond().max(0) as u64
}

/// Returns a time in RFC 3339 as milliseconds since the Unix epoch; `None` if it is not valid.
pub fn millis_of(time: &str) -> Option<u64> {
    let time: jiff::Timestamp = time.parse().ok()?;
    u64::try_from(time.as_millisecond()).ok()
}

/// Creates the id of a new operation: the time, so that ids sort by it, and a random part.
pub fn new_id() -> OperationId {
    let time = now_millis();
    OperationId::new(format!("{time:012x}{:020x}", fastrand::u128(..) >> 48))
}
