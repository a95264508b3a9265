//! Time and size limits of calls to servers.

use super::BackendError;
use crate::error::StoreError;
use std::time::Duration;

/// How long a server may take to accept a connection.
pub(super) const CONNECT: Duration = Duration::from_secs(3);
/// How long a server may take to agree on a session: encryption, password, settings.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(5);
/// How long a server may take to answer a call, without the time to transfer large values.
pub(super) const ANSWER: Duration = Duration::from_secs(10);
/// Maximum size of a value, in bytes.
pub(super) const MAX_VALUE: usize = 256 << 20;
/// Maximum number of keys in a list.
pub(super) const MAX_KEYS: usize = 1 << 20;
/// The lowest transfer rate that is waited for, in bytes per second.
const SLOWEST: usize = 256 << 10;

/// Returns the time limit of a call that transfers a value.
pub(super) fn limit(bytes: usize) -> Duration {
    ANSWER + Duration::from_secs((bytes / SLOWEST) as u64)
}

/// Waits for the result of a call to a server, up to a limit.
pub(super) async fn within<T, E: From<StoreError>>(
    place: &str,
    limit: Duration,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    match tokio::time::timeout(limit, call).await {
        Ok(done) => done,
        Err(_) => Err(silent(place, limit).into()),
    }
}

/// Creates the error for a server that does not answer.
pub(super) fn silent(place: &str, limit: Duration) -> StoreError {
    let message = format!("the server did not answer within {} s", limit.as_secs());
    BackendError { place: place.to_owned(), message }.into()
}

/// Fails if a value is too large.
pub(super) fn check_size(place: &str, key: &str, bytes: usize) -> Result<(), StoreError> {
    if bytes <= MAX_VALUE {
        return Ok(());
    }
    let (found, most) = (bytes >> 20, MAX_VALUE >> 20);
    let message = format!("`{key}` has {found} MiB, more than the limit of {most} MiB");
    Err(BackendError { place: place.to_owned(), message }.into())
}

/// Fails if a list is too long.
pub(super) fn check_count(place: &str, count: usize) -> Result<(), StoreError> {
    if count <= MAX_KEYS {
        return Ok(());
    }
    let message = format!("more than {MAX_KEYS} keys, the limit of a list");
    Err(BackendError { place: place.to_owned(), message }.into())
}
