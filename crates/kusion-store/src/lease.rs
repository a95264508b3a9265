//! Leases: the lock of a stack, which must be renewed.
//!
//! A lease is judged without comparing the clocks of two machines: of a process on this machine
//! by the process table and the machine's own uptime, of any other by whether the lease changes
//! while this process observes it.

use crate::backend::{Backend, Expected, PutError, Version};
use crate::error::StoreError;
use crate::frame::{self, Kind, Writer};
use crate::holder::{Holder, Life};
use crate::journal::{StackPaths, to_json};
use crate::machine::Machine;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a lease lasts without renewal.
pub const LEASE_TIME: Duration = Duration::from_secs(15);
/// Interval of renewals.
pub const RENEWAL: Duration = Duration::from_secs(5);
/// Safety margin: how long before its expiry a lease is no longer relied on.
pub(crate) const MARGIN: Duration = Duration::from_secs(3);
/// Interval at which a waiting process reads the lease.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The same, if the lock holder holds the lock for a moment only.
const BRIEF_INTERVAL: Duration = Duration::from_millis(20);
/// How long every process waits for such a lock holder.
const BRIEF_TIME: Duration = Duration::from_secs(5);

/// What to do when a stack is locked by a running process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// Fail immediately.
    No,
    /// Wait up to this long.
    For(Duration),
}

/// The stored form of a lease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Lease {
    /// Increases with every lock holder.
    pub(crate) token: u64,
    /// The lock holder; `None` if the stack is not locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) holder: Option<Holder>,
    /// Start of the lock, RFC 3339, for display.
    #[serde(default)]
    pub(crate) since: String,
    /// Increases with every renewal.
    #[serde(default)]
    pub(crate) beat: u64,
    /// The uptime of the holder's machine at the last renewal, in seconds.
    #[serde(default)]
    pub(crate) uptime: f64,
    /// The journal reaches at least this record.
    #[serde(default)]
    pub(crate) seq: u64,
    /// Id of the session of the lock holder.
    #[serde(default)]
    pub(crate) session: String,
}

/// A lease that this process has acquired.
pub(crate) struct Held {
    pub(crate) lease: Lease,
    pub(crate) version: Version,
    pub(crate) writer: Writer,
    /// Whether the previous lock holder may still be running and must be fenced off.
    pub(crate) fence: bool,
}

impl Lease {
    /// Reads the lease of a stack; `None` if it was never locked.
    pub(crate) async fn read(
        backend: &dyn Backend,
        paths: &StackPaths,
    ) -> Result<Option<(Self, Version)>, StoreError> {
        let key = paths.lease();
        let Some((bytes, version)) = backend.get(&key).await? else { return Ok(None) };
        let place = backend.place();
        let (_, payloads) = frame::decode(&paths.authority, place, &key, Kind::Lease, &bytes)?;
        let payload = payloads.first().copied().unwrap_or_default();
        let lease = serde_json::from_slice(payload).map_err(|error| {
            StoreError::damaged(backend.place(), format!("cannot parse `{key}`: {error}"))
        })?;
        Ok(Some((lease, version)))
    }

    /// Returns whether a process holds the lease, as far as this machine can tell without waiting.
    pub(crate) fn is_held(&self, machine: &dyn Machine) -> bool {
        let Some(holder) = &self.holder else { return false };
        match holder.life(machine) {
            Life::Dead => false,
            Life::Here => machine.uptime() - self.uptime < LEASE_TIME.as_secs_f64(),
            Life::Elsewhere => true,
        }
    }

    /// Returns whether its holder holds the lock for a moment only.
    fn is_brief(&self) -> bool {
        self.holder.as_ref().is_some_and(|it| it.is_brief)
    }

    /// Returns how long to wait for its holder, by how long a process waits for others.
    fn patience(&self, timeout: Duration) -> Duration {
        if self.is_brief() { timeout.max(BRIEF_TIME) } else { timeout }
    }

    /// Writes the lease of a stack if it is still as expected.
    pub(crate) async fn write(
        &self,
        backend: &dyn Backend,
        paths: &StackPaths,
        writer: Writer,
        expected: Expected,
    ) -> Result<Version, PutError> {
        let key = paths.lease();
        let (first, epoch) = (self.token, self.token);
        let head = frame::Head { kind: Kind::Lease, flags: 0, first, epoch, writer, link: None };
        let bytes = frame::encode(&paths.authority, &key, head, &[to_json(self)]);
        backend.put(&key, bytes.into(), expected).await
    }
}

/// Status of the lease of another process.
enum LeaseStatus {
    /// The lease can be acquired; `fence` if its holder may still be running.
    Free { fence: bool },
    /// Its holder is running.
    Live,
    /// Not known yet: read it again.
    Unknown,
}

/// The observations of a lease by a waiting process.
struct Watch<'a> {
    machine: &'a dyn Machine,
    /// The lease, and when it was first seen like this.
    seen: Option<(Lease, Duration)>,
    /// Whether the lease has changed since the first observation.
    moved: bool,
}

impl Watch<'_> {
    fn classify(&mut self, lease: &Lease) -> LeaseStatus {
        let Some(holder) = &lease.holder else { return LeaseStatus::Free { fence: false } };
        match holder.life(self.machine) {
            Life::Dead => return LeaseStatus::Free { fence: false },
            Life::Here => {
                let age = self.machine.uptime() - lease.uptime;
                let expired = age >= LEASE_TIME.as_secs_f64();
                return if expired { LeaseStatus::Free { fence: true } } else { LeaseStatus::Live };
            }
            Life::Elsewhere => {}
        }
        match &self.seen {
            Some((seen, since)) if seen == lease => {
                if self.machine.elapsed().saturating_sub(*since) >= LEASE_TIME {
                    LeaseStatus::Free { fence: true }
                } else if self.moved {
                    LeaseStatus::Live
                } else {
                    LeaseStatus::Unknown
                }
            }
            other => {
                self.moved = other.is_some();
                self.seen = Some((lease.clone(), self.machine.elapsed()));
                if self.moved { LeaseStatus::Live } else { LeaseStatus::Unknown }
            }
        }
    }
}

/// Acquires the lease of a stack; fails with [`StoreError::Held`] if another process holds it.
pub(crate) async fn acquire(
    machine: &dyn Machine,
    backend: &dyn Backend,
    paths: &StackPaths,
    stack: &str,
    holder: Holder,
    wait: LockWait,
) -> Result<Held, StoreError> {
    let begun = machine.elapsed();
    let timeout = match wait {
        LockWait::No => Duration::ZERO,
        LockWait::For(time) => time,
    };
    let writer: Writer = fastrand::u128(..).to_le_bytes();
    let mut watch = Watch { machine, seen: None, moved: false };
    loop {
        let found = Lease::read(backend, paths).await?;
        let status = match &found {
            None => LeaseStatus::Free { fence: false },
            Some((lease, _)) => watch.classify(lease),
        };
        match (status, found) {
            (LeaseStatus::Free { fence }, found) => {
                let (token, seq, expected) = match found {
                    None => (1, 0, Expected::Absent),
                    Some((lease, version)) => (lease.token + 1, lease.seq, Expected::Is(version)),
                };
                let lease = Lease {
                    token,
                    holder: Some(holder.clone()),
                    since: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                    beat: 0,
                    uptime: machine.uptime(),
                    seq,
                    session: format!("{:032x}", u128::from_le_bytes(writer)),
                };
                match lease.write(backend, paths, writer, expected).await {
                    Ok(version) => return Ok(Held { lease, version, writer, fence }),
                    // Another process was faster, or the answer to our own write was lost.
                    Err(PutError::Conflict) => {
                        if let Some((now, version)) = Lease::read(backend, paths).await?
                            && now == lease
                        {
                            return Ok(Held { lease, version, writer, fence });
                        }
                    }
                    Err(PutError::Failed(error)) => return Err(error),
                }
            }
            (LeaseStatus::Live, Some((lease, _)))
                if machine.elapsed().saturating_sub(begun) >= lease.patience(timeout) =>
            {
                let holder = lease.holder.unwrap_or(holder);
                return Err(StoreError::Held {
                    stack: stack.to_owned(),
                    holder: Box::new(holder),
                    since: lease.since,
                });
            }
            (LeaseStatus::Live | LeaseStatus::Unknown, found) => {
                let is_brief = found.is_some_and(|(lease, _)| lease.is_brief());
                let pause = if is_brief { BRIEF_INTERVAL } else { POLL_INTERVAL };
                tokio::time::sleep(pause).await;
            }
        }
    }
}
