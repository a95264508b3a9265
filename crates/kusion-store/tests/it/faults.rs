//! Backends whose answers are lost, and holders that come late.

use crate::places::{new_key, root, run, store_key};
use crate::records::noted;
use async_trait::async_trait;
use bytes::Bytes;
use kusion_store::{
    Backend, BackendError, Expected, Holder, LockWait, Memory, PutError, Store, StoreError, Version,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testkit::Suite;
use tokio::sync::Semaphore;

/// Adds the tests of this module.
pub(crate) fn add(suite: &mut Suite) {
    suite.add("faults::lost_answers_lose_and_double_nothing", || {
        run(lost_answers_lose_and_double_nothing());
    });
    suite.add("faults::a_late_write_is_refused_after_the_journal_was_summed_up", || {
        run(a_late_write_is_refused_after_the_journal_was_summed_up());
    });
}

/// A backend that sometimes fails before or after it has written, or waits before it writes.
struct Faulty {
    inner: Arc<Memory>,
    rng: Mutex<fastrand::Rng>,
    fails: AtomicBool,
    gate: Semaphore,
}

impl Faulty {
    fn new(inner: &Arc<Memory>, seed: u64) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::clone(inner),
            rng: Mutex::new(fastrand::Rng::with_seed(seed)),
            fails: AtomicBool::new(false),
            gate: Semaphore::new(1_000_000),
        })
    }

    fn failure() -> StoreError {
        BackendError { place: "test".into(), message: "no answer".into() }.into()
    }
}

#[async_trait]
impl Backend for Faulty {
    fn place(&self) -> &'static str {
        "faulty"
    }

    async fn get(&self, key: &str) -> Result<Option<(Bytes, Version)>, StoreError> {
        self.inner.get(key).await
    }

    async fn put(&self, key: &str, bytes: Bytes, expected: Expected) -> Result<Version, PutError> {
        self.gate.acquire().await.expect("never closed").forget();
        let dice = self.rng.lock().expect("no panic").u8(0..6);
        let fails = self.fails.load(Ordering::Relaxed);
        if fails && dice == 0 {
            return Err(Self::failure().into());
        }
        let done = self.inner.put(key, bytes, expected).await;
        if fails && dice == 1 { Err(Self::failure().into()) } else { done }
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.inner.list(prefix).await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), StoreError> {
        self.inner.delete(keys).await
    }
}

async fn lost_answers_lose_and_double_nothing() {
    futures::future::join_all((0..50).map(write_with_lost_answers)).await;
}

async fn write_with_lost_answers(seed: u64) {
    let memory = Arc::new(Memory::default());
    let faulty = Faulty::new(&memory, seed);
    let store = Store::with_backend(faulty.clone(), store_key());
    let key = new_key();
    let session = store.lock(&key, Holder::current("test"), LockWait::No).await;
    let session = session.expect("nobody has it");
    faulty.fails.store(true, Ordering::Relaxed);
    let mut known = Vec::new();
    for number in 0..40 {
        let name = format!("r{number:02}");
        match session.append(vec![noted(&name, 5)]).await {
            Ok(seq) => known.push((seq, name)),
            Err(StoreError::Backend(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    faulty.fails.store(false, Ordering::Relaxed);
    session.append(vec![noted("last", 5)]).await.expect("written");
    let state = session.state();
    for (_, name) in &known {
        assert!(state.resources.contains_key(name.as_str()), "{name} in seed {seed}");
    }
    assert!(known.is_sorted());
    assert_eq!(state.seq, 1 + state.resources.len() as u64, "nothing came twice");
    assert_eq!(store.read(&key).await.expect("readable"), state);
}

/// A holder stands still in the middle of a write; the next one sums the journal up, so that the
/// numbers that were taken are free again; then the first one goes on.
async fn a_late_write_is_refused_after_the_journal_was_summed_up() {
    let memory = Arc::new(Memory::default());
    let faulty = Faulty::new(&memory, 0);
    let late = Store::with_backend(faulty.clone(), store_key());
    let key = new_key();
    let mut elsewhere = Holder::current("late");
    elsewhere.machine = "elsewhere".into();
    let session = late.lock(&key, elsewhere, LockWait::No).await.expect("nobody has it");
    session.append(vec![noted("a", 5)]).await.expect("written");
    faulty.gate.forget_permits(usize::MAX);
    let write = session.append(vec![noted("late", 5)]);
    let others = async {
        let store = Store::with_backend(memory.clone(), store_key());
        for round in 0..4 {
            let next = store.lock(&key, Holder::current("next"), LockWait::No).await;
            let next = next.expect("the lease is not renewed");
            for number in 0..5 {
                let name = format!("{round}-{number}");
                next.append(vec![noted(&name, 200_000)]).await.expect("written");
            }
            next.close().await.expect("closed");
        }
        faulty.gate.add_permits(1000);
        store.read(&key).await.expect("readable")
    };
    let (written, before) = tokio::join!(write, others);
    assert!(matches!(written, Err(StoreError::Fenced { .. })), "{written:?}");
    assert!(session.check().is_err());
    let log = memory.list(&format!("{}/log/", root(&key))).await.expect("readable");
    assert!(log.len() < 15, "{} segments: old ones are removed", log.len());
    let again = Store::with_backend(memory, store_key()).read(&key).await.expect("readable");
    assert_eq!(again, before);
    tokio::time::sleep(Duration::from_millis(10)).await;
}
