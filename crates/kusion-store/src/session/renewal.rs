//! Keeps a lease.

use super::Shared;
use crate::backend::{Backend, Expected, PutError, Version};
use crate::frame::Writer;
use crate::holder;
use crate::journal::Places;
use crate::lease::{Held, Lease, RENEWAL};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;

/// How soon a renewal that failed is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// How long the answer to a renewal may take.
const ANSWER: Duration = Duration::from_secs(4);

/// The lease of a session as it was last written.
pub(super) struct Tenure {
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
    trouble: String,
}

impl Tenure {
    pub(super) fn new(held: &Held) -> Self {
        Self {
            writer: held.writer,
            inner: Mutex::new(Inner {
                lease: held.lease.clone(),
                version: held.version.clone(),
                renewed: held.lease.uptime,
                lost: None,
                trouble: String::new(),
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

    /// Returns the number of this holder among all of the stack.
    pub(super) fn epoch(&self) -> u64 {
        self.lock().lease.token
    }

    /// Returns who has taken the stack from us.
    pub(super) fn lost(&self) -> Option<String> {
        self.lock().lost.clone()
    }

    /// Notes who has taken the stack from us.
    pub(super) fn lose(&self, holder: String) {
        self.lock().lost.get_or_insert(holder);
    }

    pub(super) fn renewed(&self) -> f64 {
        self.lock().renewed
    }

    pub(super) fn trouble(&self) -> String {
        let trouble = self.lock().trouble.clone();
        if trouble.is_empty() { "the process was paused".to_owned() } else { trouble }
    }

    /// Writes the lease anew; `seq` is what the journal reaches at least.
    async fn renew(&self, backend: &dyn Backend, places: &Places, seq: Option<u64>) -> bool {
        self.write(backend, places, |lease| {
            lease.beat += 1;
            lease.seq = seq.unwrap_or(lease.seq).max(lease.seq);
        })
        .await
    }

    /// Gives the lease back; what fails here expires by itself.
    pub(super) async fn release(&self, backend: &dyn Backend, places: &Places, seq: Option<u64>) {
        self.write(backend, places, |lease| {
            lease.holder = None;
            lease.beat += 1;
            lease.seq = seq.unwrap_or(lease.seq).max(lease.seq);
        })
        .await;
    }

    async fn write(
        &self,
        backend: &dyn Backend,
        places: &Places,
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
        // A lost answer may hide that an earlier write of ours got through: then once more.
        for _ in 0..2 {
            next.uptime = holder::uptime();
            let written = next.write(backend, places, self.writer, Expected::Is(version));
            let Ok(written) = tokio::time::timeout(ANSWER, written).await else {
                let message = format!("{} did not answer in time", backend.place());
                self.lock().trouble = message;
                return false;
            };
            match written {
                Ok(version) => {
                    let mut inner = self.lock();
                    inner.renewed = next.uptime;
                    inner.lease = next;
                    inner.version = version;
                    inner.trouble.clear();
                    return true;
                }
                Err(PutError::Failed(error)) => {
                    self.lock().trouble = error.to_string();
                    return false;
                }
                Err(PutError::Conflict) => match Lease::read(backend, places).await {
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
                        self.lock().trouble = error.to_string();
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
        let renewed = shared.tenure.renew(&*shared.backend, &shared.places, Some(seq)).await;
        if shared.tenure.lost().is_some() {
            return;
        }
        pause = if renewed { RENEWAL } else { AGAIN };
    }
}
