//! Ids and times of operations.

use kusion_model::OperationId;

/// Returns the current time, RFC 3339 in UTC, to the millisecond.
pub fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// Creates the id of a new operation: the time, so that ids sort by it, and a random part.
pub fn new_id() -> OperationId {
    let time = jiff::Timestamp::now().as_millisecond().max(0) as u64;
    OperationId::new(format!("{time:012x}{:020x}", fastrand::u128(..) >> 48))
}
