//! Sessions: stacks that this process has locked.

mod commit;
mod renewal;

use crate::backend::Backend;
use crate::error::StoreError;
use crate::frame::{self, Kind};
use crate::holder::Holder;
use crate::journal::{StackPaths, to_json};
use crate::lease::{self, LEASE_TIME, LockWait, MARGIN};
use crate::machine::Machine;
use crate::operation;
use crate::state::StackState;
use commit::{Committer, Entry};
use kusion_model::{OperationId, Record, Spec, SpecOrigins, StampedRecord};
use renewal::{LeaseKeeper, Loss, Renewals};
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Maximum nesting depth of records, so that every record can be parsed again.
const DEPTH: usize = 120;

/// A stack that this process has locked: no other process writes its journal.
///
/// Dropping a session releases the lease shortly afterwards.
pub struct Session {
    shared: Arc<Shared>,
    queue: mpsc::UnboundedSender<Entry>,
}

/// Data that a session shares with its tasks.
struct Shared {
    machine: Arc<dyn Machine>,
    backend: Arc<dyn Backend>,
    paths: StackPaths,
    stack: String,
    operation: OperationId,
    holder: Holder,
    lease: LeaseKeeper,
    state: Mutex<StackState>,
}

impl Shared {
    fn stamp(&self, record: Record) -> StampedRecord {
        let (operation_id, time) = (self.operation.clone(), operation::now());
        StampedRecord { operation_id, time, record }
    }

    /// Returns the error of a session that lost its lock.
    fn lost(&self, loss: Loss) -> StoreError {
        match loss {
            Loss::Holder(holder) => StoreError::Fenced { stack: self.stack.clone(), holder },
            Loss::SetBack(what) => {
                StoreError::SetBack { place: self.backend.place().to_owned(), what }
            }
        }
    }

    /// Checks that the lease is still valid.
    fn check(&self) -> Result<(), StoreError> {
        if let Some(loss) = self.lease.lost() {
            return Err(self.lost(loss));
        }
        let age = self.machine.uptime() - self.lease.renewed();
        if age < LEASE_TIME.saturating_sub(MARGIN).as_secs_f64() {
            return Ok(());
        }
        Err(StoreError::Stale {
            stack: self.stack.clone(),
            seconds: age as u64,
            cause: self.lease.last_error(),
        })
    }
}

impl Session {
    pub(crate) async fn open(
        machine: Arc<dyn Machine>,
        backend: Arc<dyn Backend>,
        paths: StackPaths,
        holder: Holder,
        wait: LockWait,
    ) -> Result<Self, StoreError> {
        let stack = format!("stack `{}`", paths.key);
        let held = lease::acquire(&*machine, &*backend, &paths, &stack, holder.clone(), wait);
        let held = held.await?;
        let shared = Arc::new(Shared {
            machine: Arc::clone(&machine),
            backend,
            paths,
            stack,
            operation: operation::new_id(),
            holder,
            lease: LeaseKeeper::new(machine, &held),
            state: Mutex::new(StackState::default()),
        });
        let renewals = Renewals::begin(&shared);
        let (queue, entries) = mpsc::unbounded_channel();
        let committer = match Committer::begin(Arc::clone(&shared), held.fence).await {
            Ok(committer) => committer,
            Err(error) => {
                drop(renewals);
                shared.lease.release(&*shared.backend, &shared.paths, None).await;
                return Err(error);
            }
        };
        tokio::spawn(committer.run(entries, renewals));
        Ok(Self { shared, queue })
    }

    /// Returns the epoch of the lock.
    #[cfg(test)]
    pub(crate) fn epoch(&self) -> u64 {
        self.shared.lease.epoch()
    }

    /// Returns the id of the operation for which the stack is locked.
    pub fn operation(&self) -> &OperationId {
        &self.shared.operation
    }

    /// Returns the state of the stack: the result of all durable records.
    pub fn state(&self) -> StackState {
        self.with_state(StackState::clone)
    }

    /// Reads the state of the stack without copying it.
    pub fn with_state<T>(&self, look: impl FnOnce(&StackState) -> T) -> T {
        look(&self.shared.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Appends records and returns the number of the last one.
    ///
    /// They are durable when this returns. Records of concurrent callers are written together;
    /// those of one call are consecutive. After an error other than [`StoreError::Fenced`] the
    /// records may or may not have been written.
    pub async fn append(&self, records: Vec<Record>) -> Result<u64, StoreError> {
        if records.is_empty() {
            return Ok(self.with_state(|state| state.seq));
        }
        let records: Vec<StampedRecord> =
            records.into_iter().map(|it| self.shared.stamp(it)).collect();
        let payloads: Vec<Vec<u8>> = records.iter().map(to_json).collect();
        if payloads.iter().any(|it| depth(it) > DEPTH) {
            let message = format!("a record is nested more than {DEPTH} levels deep");
            let place = self.shared.stack.clone();
            return Err(crate::BackendError { place, message }.into());
        }
        let (done, answer) = oneshot::channel();
        let ended = || StoreError::Ended(self.shared.stack.clone());
        let entry = Entry::Append { records, payloads, done };
        self.queue.send(entry).map_err(|_| ended())?;
        answer.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Stores the Spec of a release, with sealed secrets, and the source locations of its values.
    /// Must be called before the release is opened, so that every release has its Spec.
    pub async fn put_spec(
        &self,
        revision: u64,
        spec: &Spec,
        origins: &SpecOrigins,
    ) -> Result<(), StoreError> {
        let key = self.shared.paths.spec(revision);
        // The operation binds the Spec to its release.
        let payloads = [to_json(spec), to_json(&self.shared.operation), to_json(origins)];
        self.put(&key, Kind::Spec, revision, &payloads).await
    }

    /// Stores the events of a release.
    pub async fn put_events<T: Serialize>(
        &self,
        revision: u64,
        events: &[T],
    ) -> Result<(), StoreError> {
        let key = self.shared.paths.events(revision);
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
        let (epoch, writer) = (shared.lease.epoch(), shared.lease.writer());
        let head = frame::Head { kind, flags: 0, first, epoch, writer, link: None };
        let check = || shared.check();
        shared.paths.write(&*shared.backend, key, head, payloads, check).await
    }

    /// Checks that the stack is still locked. Must be called directly before every call that
    /// changes something outside the store.
    pub fn check(&self) -> Result<(), StoreError> {
        self.shared.check()
    }

    /// Ends the session: writes pending records, writes a snapshot if it is worthwhile, and
    /// releases the lease.
    pub async fn close(self) -> Result<(), StoreError> {
        let (done, answer) = oneshot::channel();
        if self.queue.send(Entry::Close { done }).is_err() {
            return Err(StoreError::Ended(self.shared.stack.clone()));
        }
        answer.await.unwrap_or_else(|_| Err(StoreError::Ended(self.shared.stack.clone())))
    }
}

/// Returns the nesting depth of a JSON text.
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
