//! Running providers, one for each configuration.

use crate::error::ProviderError;
use crate::provider::Provider;
use futures::future::join_all;
use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// What distinguishes provider processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoolKey {
    /// The address of the provider, `registry.opentofu.org/hashicorp/local`.
    pub address: String,
    /// Its program.
    pub program: PathBuf,
    /// A fingerprint of its configuration.
    pub config: String,
}

type Slot = Arc<OnceCell<Arc<Provider>>>;

/// Keeps providers running for the time of an operation. Each is started when it is asked for first.
#[derive(Default)]
pub struct Pool(Mutex<BTreeMap<PoolKey, Slot>>);

impl Pool {
    /// Returns the provider of a key; `start` starts it, once even for concurrent callers. A failed
    /// start is tried again by the next caller.
    pub async fn get(
        &self,
        key: &PoolKey,
        start: impl Future<Output = Result<Provider, ProviderError>>,
    ) -> Result<Arc<Provider>, ProviderError> {
        let slot = self.slots().entry(key.clone()).or_default().clone();
        let start = Box::pin(start);
        slot.get_or_try_init(|| async { start.await.map(Arc::new) }).await.cloned()
    }

    /// Returns how many providers run.
    pub fn len(&self) -> usize {
        self.slots().values().filter(|it| it.initialized()).count()
    }

    /// Returns whether no provider runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets a provider, so that the next caller starts it anew. It ends when nobody uses it.
    pub fn forget(&self, key: &PoolKey) {
        self.slots().remove(key);
    }

    /// Asks all providers to cancel their calls.
    pub async fn cancel(&self) {
        let slots: Vec<Slot> = self.slots().values().cloned().collect();
        join_all(slots.iter().filter_map(|it| it.get()).map(|it| it.cancel())).await;
    }

    /// Asks all providers to end, and kills those that do not.
    pub async fn close(&self) {
        let slots = std::mem::take(&mut *self.slots());
        let running = slots.values().filter_map(|it| it.get());
        join_all(running.map(|it| it.shut_down())).await;
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, BTreeMap<PoolKey, Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
