//! A stack in the hands of this process.

mod commit;
mod renewal;

use crate::backend::Backend;
use crate::error::StoreError;
use crate::frame::{self, Kind};
use crate::holder::{self, Holder};
use crate::journal::{Places, to_json};
use crate::lease::{self, LEASE_TIME, LockWait, MARGIN};
use crate::operation;
use crate::state::StackState;
use commit::{Committer, Entry};
use kusion_model::{OperationId, Record, Spec, StampedRecord};
use renewal::{Renewals, Tenure};
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// How deep records may be nested: what is written can be read again.
const DEPTH: usize = 120;

/// A stack that this process holds: the only one that writes its journal.
///
/// A session that is dropped gives its lease back too, a moment later.
pub struct Session {
    shared: Arc<Shared>,
    queue: mpsc::UnboundedSender<Entry>,
}

/// What a session and its tasks share.
struct Shared {
    backend: Arc<dyn Backend>,
    places: Places,
    stack: String,
    operation: OperationId,
    holder: Holder,
    tenure: Tenure,
    state: Mutex<StackState>,
}

impl Shared {
    fn stamp(&self, record: Record) -> StampedRecord {
        let (operation_id, time) = (self.operation.clone(), operation::now());
        StampedRecord { operation_id, time, record }
    }

    fn fenced(&self, holder: String) -> StoreError {
        StoreError::Fenced { stack: self.stack.clone(), holder }
    }

    /// Says whether the lease is surely ours.
    fn check(&self) -> Result<(), StoreError> {
        if let Some(holder) = self.tenure.lost() {
            return Err(self.fenced(holder));
        }
        let age = holder::uptime() - self.tenure.renewed();
        if age < LEASE_TIME.saturating_sub(MARGIN).as_secs_f64() {
            return Ok(());
        }
        Err(StoreError::Stale {
            stack: self.stack.clone(),
            seconds: age as u64,
            cause: self.tenure.trouble(),
        })
    }
}

impl Session {
    pub(crate) async fn open(
        backend: Arc<dyn Backend>,
        places: Places,
        holder: Holder,
        wait: LockWait,
    ) -> Result<Self, StoreError> {
        let stack = format!("stack `{}`", places.key);
        let held = lease::take(&*backend, &places, &stack, holder.clone(), wait).await?;
        let shared = Arc::new(Shared {
            backend,
            places,
            stack,
            operation: operation::new_id(),
            holder,
            tenure: Tenure::new(&held),
            state: Mutex::new(StackState::default()),
        });
        let renewals = Renewals::begin(&shared);
        let (queue, entries) = mpsc::unbounded_channel();
        let committer = match Committer::begin(Arc::clone(&shared), held.fence).await {
            Ok(committer) => committer,
            Err(error) => {
                drop(renewals);
                shared.tenure.release(&*shared.backend, &shared.places, None).await;
                return Err(error);
            }
        };
        tokio::spawn(committer.run(entries, renewals));
        Ok(Self { shared, queue })
    }

    /// Returns the name of the operation for which the stack is held.
    pub fn operation(&self) -> &OperationId {
        &self.shared.operation
    }

    /// Returns what is known of the stack: all records that are durable.
    pub fn state(&self) -> StackState {
        self.with_state(StackState::clone)
    }

    /// Looks at what is known of the stack without a copy of it.
    pub fn with_state<T>(&self, look: impl FnOnce(&StackState) -> T) -> T {
        look(&self.shared.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes records after those that are there and returns the number of the last one.
    ///
    /// They are durable when this returns. Records of several callers that come at the same time
    /// are written at once; those of one call follow each other. After an error that is not
    /// [`StoreError::Fenced`] the records may have been written or not.
    pub async fn append(&self, records: Vec<Record>) -> Result<u64, StoreError> {
        if records.is_empty() {
            return Ok(self.with_state(|state| state.seq));
        }
        let records: Vec<StampedRecord> =
            records.into_iter().map(|it| self.shared.stamp(it)).collect();
        let payloads: Vec<Vec<u8>> = records.iter().map(to_json).collect();
        if payloads.iter().any(|it| depth(it) > DEPTH) {
            let message = format!("a record is nested deeper than {DEPTH} levels");
            let place = self.shared.stack.clone();
            return Err(crate::BackendError { place, message }.into());
        }
        let (done, answer) = oneshot::channel();
        let ended = || StoreError::Ended(self.shared.stack.clone());
        let entry = Entry::Append { records, payloads, done };
        self.queue.send(entry).map_err(|_| ended())?;
        answer.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Keeps the Spec of a release, secrets sealed. Call it before the release is opened: then
    /// every release has its Spec.
    pub async fn put_spec(&self, revision: u64, spec: &Spec) -> Result<(), StoreError> {
        let key = self.shared.places.spec(revision);
        self.put(&key, Kind::Spec, revision, &[to_json(spec)]).await
    }

    /// Keeps what happened in a release, so that it can be shown again.
    pub async fn put_events<T: Serialize>(
        &self,
        revision: u64,
        events: &[T],
    ) -> Result<(), StoreError> {
        let key = self.shared.places.events(revision);
        let payloads: Vec<Vec<u8>> = events.iter().map(to_json).collect();
        self.put(&key, Kind::Events, 1, &payloads).await
    }

    async fn put(
        &self,
        key: &str,
        kind: Kind,
        first: u64,
        payloads: &[Vec<u8>],
    ) -> Result<(), StoreError> {
        let shared = &self.shared;
        shared.check()?;
        let (epoch, writer) = (shared.tenure.epoch(), shared.tenure.writer());
        let head = frame::Head { kind, flags: 0, first, epoch, writer };
        let check = || shared.check();
        shared.places.write(&*shared.backend, key, head, payloads, check).await
    }

    /// Says whether the stack is surely still held. Call it right before every call that changes
    /// something outside the store.
    pub fn check(&self) -> Result<(), StoreError> {
        self.shared.check()
    }

    /// Ends the session: writes what is pending, sums the journal up where that pays, gives the
    /// lease back.
    pub async fn close(self) -> Result<(), StoreError> {
        let (done, answer) = oneshot::channel();
        if self.queue.send(Entry::Close { done }).is_err() {
            return Err(StoreError::Ended(self.shared.stack.clone()));
        }
        answer.await.unwrap_or_else(|_| Err(StoreError::Ended(self.shared.stack.clone())))
    }
}

/// Counts how deep a JSON text is nested.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn brackets_in_texts_do_not_count() {
        assert_eq!(depth(br#"{"a": ["[[[\"[", {"b": 1}], "c": {}}"#), 3);
        assert_eq!(depth(b"1"), 0);
    }
}
