//! Renewal of leases.

use super::Shared;
use crate::backend::{Backend, Expected, PutError, Version};
use crate::frame::Writer;
use crate::holder;
use crate::journal::StackPaths;
use crate::lease::{HeldLease, Lease, RENEWAL};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Pause before a failed renewal is retried.
const AGAIN: Duration = Duration::from_secs(1);

/// Timeout of a renewal.
const ANSWER: Duration = Duration::from_secs(4);

/// The lease of a session as it was last written.
pub(super) struct LeaseKeeper {
    writer: Writer,
    inner: Mutex<Inner>,
    /// Held while the lease is written.
    writing: tokio::sync::Mutex<()>,
}

struct Inner {
    lease: Lease,
    version: Version,
    /// The uptime right before the last write that succeeded.
    renewed: f64,
    lost: Option<String>,
    last_error: String,
}

impl LeaseKeeper {
    pub(super) fn new(held: &HeldLease) -> Self {
        Self {
            writer: held.writer,
            inner: Mutex::new(Inner {
                lease: held.lease.clone(),
                version: held.version.clone(),
                renewed: held.lease.uptime,
                lost: None,
                last_error: String::new(),
            }),
            writing: tokio::sync::Mutex::new(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn writer(&self) -> Writer {
        self.writer
    }

    /// Returns the epoch of this lock holder.
    pub(super) fn epoch(&self) -> u64 {
        self.lock().lease.token
    }

    /// Returns the lock holder that has replaced this one.
    pub(super) fn lost(&self) -> Option<String> {
        self.lock().lost.clone()
    }

    /// Records the lock holder that has replaced this one.
    pub(super) fn lose(&self, holder: String) {
        self.lock().lost.get_or_insert(holder);
    }

    pub(super) fn renewed(&self) -> f64 {
        self.lock().renewed
    }

    pub(super) fn last_error(&self) -> String {
        let last_error = self.lock().last_error.clone();
        if last_error.is_empty() { "the process was paused".to_owned() } else { last_error }
    }

    /// Renews the lease; `seq` is the number of the last record that is known to be durable.
    async fn renew(&self, backend: &dyn Backend, paths: &StackPaths, seq: Option<u64>) -> bool {
        self.write(backend, paths, |lease| {
            lease.beat += 1;
            lease.seq = seq.unwrap_or(lease.seq).max(lease.seq);
        })
        .await
    }

    /// Releases the lease; if that fails, it expires.
    pub(super) async fn release(
        &self,
        backend: &dyn Backend,
        paths: &StackPaths,
        seq: Option<u64>,
    ) {
        self.write(backend, paths, |lease| {
            lease.holder = None;
            lease.beat += 1;
            lease.seq = seq.unwrap_or(lease.seq).max(lease.seq);
        })
        .await;
    }

    async fn write(
        &self,
        backend: &dyn Backend,
        paths: &StackPaths,
        change: impl FnOnce(&mut Lease),
    ) -> bool {
        let _writing = self.writing.lock().await;
        let (mut next, mut version) = {
            let inner = self.lock();
            if inner.lost.is_some() {
                return false;
            }
            (inner.lease.clone(), inner.version.clone())
        };
        change(&mut next);
        // An earlier write may have succeeded although its answer was lost: retry once.
        for _ in 0..2 {
            next.uptime = holder::uptime();
            let written = next.write(backend, paths, self.writer, Expected::Is(version));
            let Ok(written) = tokio::time::timeout(ANSWER, written).await else {
                let message = format!("{} did not answer in time", backend.place());
                self.lock().last_error = message;
                return false;
            };
            match written {
                Ok(version) => {
                    let mut inner = self.lock();
                    inner.renewed = next.uptime;
                    inner.lease = next;
                    inner.version = version;
                    inner.last_error.clear();
                    return true;
                }
                Err(PutError::Failed(error)) => {
                    self.lock().last_error = error.to_string();
                    return false;
                }
                Err(PutError::Conflict) => match Lease::read(backend, paths).await {
                    Ok(Some((now, found)))
                        if now.session == next.session && now.token == next.token =>
                    {
                        version = found;
                    }
                    Ok(now) => {
                        let holder = now.and_then(|(lease, _)| lease.holder);
                        self.lose(holder.map_or("another process".to_owned(), |it| it.to_string()));
                        return false;
                    }
                    Err(error) => {
                        self.lock().last_error = error.to_string();
                        return false;
                    }
                },
            }
        }
        false
    }
}

/// Renews the lease of a session until it is dropped.
pub(super) struct Renewals(JoinHandle<()>);

impl Renewals {
    pub(super) fn begin(shared: &Arc<Shared>) -> Self {
        Self(tokio::spawn(keep(Arc::clone(shared))))
    }
}

impl Drop for Renewals {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Renews a lease until it is lost.
async fn keep(shared: Arc<Shared>) {
    let mut pause = RENEWAL;
    loop {
        tokio::time::sleep(pause).await;
        let seq = shared.state.lock().unwrap_or_else(PoisonError::into_inner).seq;
        let renewed = shared.lease.renew(&*shared.backend, &shared.paths, Some(seq)).await;
        if shared.lease.lost().is_some() {
            return;
        }
        pause = if renewed { RENEWAL } else { AGAIN };
    }
}
