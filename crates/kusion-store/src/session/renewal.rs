//! Renewal of leases.

use super::Shared;
use crate::backend::{Backend, Expected, PutError, Version};
use crate::frame::Writer;
use crate::journal::StackPaths;
use crate::lease::{Held, Lease, RENEWAL};
use crate::machine::Machine;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Pause before a failed renewal is retried.
const AGAIN: Duration = Duration::from_secs(1);

/// Timeout of a renewal.
const ANSWER: Duration = Duration::from_secs(4);

/// The lease of a session as it was last written.
pub(super) struct LeaseKeeper {
    machine: Arc<dyn Machine>,
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
    lost: Option<Loss>,
    last_error: String,
}

/// Why a session lost its lock.
#[derive(Clone, Debug)]
pub(super) enum Loss {
    /// This lock holder has replaced it.
    Holder(String),
    /// The store no longer contains what it had confirmed.
    SetBack(String),
}

impl LeaseKeeper {
    pub(super) fn new(machine: Arc<dyn Machine>, held: &Held) -> Self {
        Self {
            machine,
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

    /// Returns why the lock was lost; `None` if it was not.
    pub(super) fn lost(&self) -> Option<Loss> {
        self.lock().lost.clone()
    }

    /// Records why the lock was lost.
    pub(super) fn lose(&self, loss: Loss) {
        self.lock().lost.get_or_insert(loss);
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
        let (confirmed, mut version) = {
            let inner = self.lock();
            if inner.lost.is_some() {
                return false;
            }
            (inner.lease.clone(), inner.version.clone())
        };
        let mut next = confirmed.clone();
        change(&mut next);
        // An earlier write may have succeeded although its answer was lost: retry once.
        for _ in 0..2 {
            next.uptime = self.machine.uptime();
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
                Err(PutError::Conflict) => {
                    let read = Lease::read(backend, paths);
                    let Ok(found) = tokio::time::timeout(ANSWER, read).await else {
                        let message = format!("{} did not answer in time", backend.place());
                        self.lock().last_error = message;
                        return false;
                    };
                    match found {
                        Ok(Some((now, found))) if now.session == next.session => {
                            if now.beat < confirmed.beat || now.seq < confirmed.seq {
                                let what = format!("`{}` is older than before", paths.lease());
                                self.lose(Loss::SetBack(what));
                                return false;
                            }
                            version = found;
                        }
                        Ok(Some((now, _))) if now.token > next.token => {
                            let holder = now.holder.map(|it| it.to_string());
                            let holder = holder.unwrap_or_else(|| "another process".to_owned());
                            self.lose(Loss::Holder(holder));
                            return false;
                        }
                        Ok(_) => {
                            let what = format!("`{}` is missing or older", paths.lease());
                            self.lose(Loss::SetBack(what));
                            return false;
                        }
                        Err(error) => {
                            self.lock().last_error = error.to_string();
                            return false;
                        }
                    }
                }
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
