//! Who may change a stack: a lease that must be renewed.
//!
//! A lease is judged without comparing the clocks of two machines: of a process on this machine
//! by the process table and the machine's own uptime, of any other by whether the lease changes
//! while this process looks at it.

use crate::backend::{Backend, Expected, PutError, Version};
use crate::error::StoreError;
use crate::frame::{self, Kind, Writer};
use crate::holder::{self, Holder, Life};
use crate::journal::{Places, to_json};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// How long a lease lasts without renewal.
pub const LEASE_TIME: Duration = Duration::from_secs(15);
/// How often a holder renews its lease.
pub const RENEWAL: Duration = Duration::from_secs(5);
/// How long before its end a holder no longer relies on a lease.
pub(crate) const MARGIN: Duration = Duration::from_secs(3);
/// How often a waiting process looks.
const LOOK: Duration = Duration::from_millis(200);

/// What to do when a live process holds a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// Give up at once.
    No,
    /// Wait this long.
    For(Duration),
}

/// The written form of a lease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Lease {
    /// Grows with every holder.
    pub(crate) token: u64,
    /// Who; none when the stack is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) holder: Option<Holder>,
    /// Since when, RFC 3339, for people.
    #[serde(default)]
    pub(crate) since: String,
    /// Grows with every renewal.
    #[serde(default)]
    pub(crate) beat: u64,
    /// The uptime of the holder's machine at the last renewal, in seconds.
    #[serde(default)]
    pub(crate) uptime: f64,
    /// The journal reaches at least this record.
    #[serde(default)]
    pub(crate) seq: u64,
    /// Which session of the holder.
    #[serde(default)]
    pub(crate) session: String,
}

/// A lease that this process has.
pub(crate) struct Held {
    pub(crate) lease: Lease,
    pub(crate) version: Version,
    pub(crate) writer: Writer,
    /// Whether the holder before may still live and must be fenced off.
    pub(crate) fence: bool,
}

impl Lease {
    /// Reads the lease of a stack; none if nobody ever held it.
    pub(crate) async fn read(
        backend: &dyn Backend,
        places: &Places,
    ) -> Result<Option<(Self, Version)>, StoreError> {
        let key = places.lease();
        let Some((bytes, version)) = backend.get(&key).await? else { return Ok(None) };
        let place = backend.place();
        let (_, payloads) = frame::decode(&places.authority, place, &key, Kind::Lease, &bytes)?;
        let payload = payloads.first().copied().unwrap_or_default();
        let lease = serde_json::from_slice(payload).map_err(|error| {
            StoreError::damaged(backend.place(), format!("`{key}` cannot be understood: {error}"))
        })?;
        Ok(Some((lease, version)))
    }

    /// Writes the lease of a stack if it is still as expected.
    pub(crate) async fn write(
        &self,
        backend: &dyn Backend,
        places: &Places,
        writer: Writer,
        expected: Expected,
    ) -> Result<Version, PutError> {
        let key = places.lease();
        let (first, epoch) = (self.token, self.token);
        let head = frame::Head { kind: Kind::Lease, flags: 0, first, epoch, writer };
        let bytes = frame::encode(&places.authority, &key, head, &[to_json(self)]);
        backend.put(&key, bytes.into(), expected).await
    }
}

/// What may be done about a lease of somebody else.
enum Verdict {
    /// It may be taken; whether its holder may still live.
    Take { fence: bool },
    /// Its holder lives.
    Live,
    /// Nobody knows yet: look again.
    Open,
}

/// What a waiting process has seen of a lease.
#[derive(Default)]
struct Watch {
    seen: Option<(Lease, Instant)>,
    /// Whether the lease has changed since the first look.
    moved: bool,
}

impl Watch {
    fn judge(&mut self, lease: &Lease) -> Verdict {
        let Some(holder) = &lease.holder else { return Verdict::Take { fence: false } };
        match holder.life() {
            Life::Dead => return Verdict::Take { fence: false },
            Life::Here => {
                let age = holder::uptime() - lease.uptime;
                let expired = age >= LEASE_TIME.as_secs_f64();
                return if expired { Verdict::Take { fence: true } } else { Verdict::Live };
            }
            Life::Elsewhere => {}
        }
        match &self.seen {
            Some((seen, since)) if seen == lease => {
                if since.elapsed() >= LEASE_TIME {
                    Verdict::Take { fence: true }
                } else if self.moved {
                    Verdict::Live
                } else {
                    Verdict::Open
                }
            }
            other => {
                self.moved = other.is_some();
                self.seen = Some((lease.clone(), Instant::now()));
                if self.moved { Verdict::Live } else { Verdict::Open }
            }
        }
    }
}

/// Takes the lease of a stack, or says who has it.
pub(crate) async fn take(
    backend: &dyn Backend,
    places: &Places,
    stack: &str,
    holder: Holder,
    wait: LockWait,
) -> Result<Held, StoreError> {
    let begun = Instant::now();
    let patience = match wait {
        LockWait::No => Duration::ZERO,
        LockWait::For(time) => time,
    };
    let writer: Writer = fastrand::u128(..).to_le_bytes();
    let mut watch = Watch::default();
    loop {
        let found = Lease::read(backend, places).await?;
        let verdict = match &found {
            None => Verdict::Take { fence: false },
            Some((lease, _)) => watch.judge(lease),
        };
        match (verdict, found) {
            (Verdict::Take { fence }, found) => {
                let (token, seq, expected) = match found {
                    None => (1, 0, Expected::Absent),
                    Some((lease, version)) => (lease.token + 1, lease.seq, Expected::Is(version)),
                };
                let lease = Lease {
                    token,
                    holder: Some(holder.clone()),
                    since: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                    beat: 0,
                    uptime: holder::uptime(),
                    seq,
                    session: format!("{:032x}", u128::from_le_bytes(writer)),
                };
                match lease.write(backend, places, writer, expected).await {
                    Ok(version) => return Ok(Held { lease, version, writer, fence }),
                    // Somebody was quicker; or a lost answer hides that it was us.
                    Err(PutError::Conflict) => {
                        if let Some((now, version)) = Lease::read(backend, places).await?
                            && now == lease
                        {
                            return Ok(Held { lease, version, writer, fence });
                        }
                    }
                    Err(PutError::Failed(error)) => return Err(error),
                }
            }
            (Verdict::Live, Some((lease, _))) if begun.elapsed() >= patience => {
                let holder = lease.holder.unwrap_or(holder);
                return Err(StoreError::Held {
                    stack: stack.to_owned(),
                    holder: Box::new(holder),
                    since: lease.since,
                });
            }
            (Verdict::Live | Verdict::Open, _) => tokio::time::sleep(LOOK).await,
        }
    }
}
