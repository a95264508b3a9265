//! A stack in the hands of this process.

mod commit;
mod renewal;

use crate::backend::{Backend, Expected, PutError};
use crate::error::StoreError;
use crate::frame::{self, Kind};
use crate::holder::{self, Holder};
use crate::journal::{self, Places, to_json};
use crate::lease::{self, LEASE_TIME, LockWait, MARGIN};
use crate::state::StackState;
use commit::{Committer, Entry};
use kusion_model::{Record, Spec, StackKey};
use renewal::{Renewals, Tenure};
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
    holder: Holder,
    tenure: Tenure,
    state: Mutex<StackState>,
}

impl Shared {
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
        key: &StackKey,
        holder: Holder,
        wait: LockWait,
    ) -> Result<Self, StoreError> {
        let places = Places { root: key.store_path() };
        let stack = format!("stack `{key}`");
        let held = lease::take(&*backend, &places, &stack, holder.clone(), wait).await?;
        let shared = Arc::new(Shared {
            backend,
            places,
            stack,
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
        let shared = &self.shared;
        shared.check()?;
        let payload = to_json(spec);
        let key = shared.places.spec(revision);
        let writer = shared.tenure.writer();
        let head = frame::Head { kind: Kind::Spec, flags: 0, first: revision, writer };
        let bytes = bytes::Bytes::from(frame::encode(&key, head, &[payload]));
        loop {
            let expected = match shared.backend.get(&key).await? {
                None => Expected::Absent,
                Some((found, _)) if found == bytes => return Ok(()),
                // Left over from a release that never opened.
                Some((_, version)) => Expected::Is(version),
            };
            match shared.backend.put(&key, bytes.clone(), expected).await {
                Ok(_) => return Ok(()),
                Err(PutError::Conflict) => shared.check()?,
                Err(PutError::Failed(error)) => return Err(error),
            }
        }
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

/// Reads the Spec of a release.
pub(crate) async fn read_spec(
    backend: &dyn Backend,
    places: &Places,
    revision: u64,
) -> Result<Option<Spec>, StoreError> {
    let key = places.spec(revision);
    let Some((bytes, _)) = backend.get(&key).await? else { return Ok(None) };
    let (_, payloads) = frame::decode(backend.place(), &key, Kind::Spec, &bytes)?;
    journal::parse(backend, &key, payloads.first().copied().unwrap_or_default()).map(Some)
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
