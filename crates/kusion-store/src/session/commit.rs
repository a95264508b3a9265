//! Writes records: one task for each session, several callers' records in one segment.

use super::Shared;
use super::renewal::Renewals;
use crate::backend::{Expected, PutError};
use crate::error::StoreError;
use crate::frame::{self, FENCE, Kind};
use crate::journal::{self, Snapshot, to_json};
use kusion_model::{Record, StampedRecord};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Maximum size of a segment, in bytes.
const MAX_SEGMENT: usize = 4 << 20;
/// Minimum number of bytes since the last snapshot for a new one.
const SNAPSHOT_BYTES: usize = 256 << 10;
/// Maximum number of segments since the last snapshot.
const SNAPSHOT_SEGMENTS: usize = 200;

/// Pause before a failed write is retried.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(700)];

/// A request of a session to its task.
pub(super) enum Entry {
    Append {
        records: Vec<StampedRecord>,
        payloads: Vec<Vec<u8>>,
        done: oneshot::Sender<Result<u64, StoreError>>,
    },
    Close {
        done: oneshot::Sender<Result<(), StoreError>>,
    },
}

/// The writer of a journal.
pub(super) struct Committer {
    shared: Arc<Shared>,
    fences: Vec<u64>,
    snapshot_bytes: usize,
    log_bytes: usize,
    segments: usize,
}

impl Committer {
    /// Reads the journal and writes the next segment, which fences off an earlier lock holder.
    pub(super) async fn begin(shared: Arc<Shared>, fence: bool) -> Result<Self, StoreError> {
        let locked = shared.stamp(Record::Locked { holder: shared.holder.to_string() });
        let payload = to_json(&locked);
        loop {
            let loaded = journal::load(&*shared.backend, &shared.paths).await?;
            let mut committer = Self {
                shared: Arc::clone(&shared),
                fences: loaded.fences,
                snapshot_bytes: loaded.snapshot_bytes,
                log_bytes: loaded.log_bytes,
                segments: loaded.segments,
            };
            let first = loaded.state.seq + 1;
            *shared.state.lock().unwrap_or_else(PoisonError::into_inner) = loaded.state;
            let flags = if fence { FENCE } else { 0 };
            let written = committer.write(first, flags, &[payload.as_slice()]).await;
            match written {
                Ok(()) => {
                    if fence {
                        committer.fences.push(first);
                    }
                    committer.fold(vec![locked]);
                    return Ok(committer);
                }
                // The previous lock holder wrote one more segment; it cannot do so after ours.
                Err(PutError::Conflict) => shared.check()?,
                Err(PutError::Failed(error)) => return Err(error),
            }
        }
    }

    /// Writes records until the session ends.
    pub(super) async fn run(
        mut self,
        mut entries: mpsc::UnboundedReceiver<Entry>,
        renewals: Renewals,
    ) {
        let mut batch = Vec::new();
        let closing = 'open: loop {
            if entries.recv_many(&mut batch, 4096).await == 0 {
                break None;
            }
            let mut appends = Vec::new();
            for entry in batch.drain(..) {
                match entry {
                    Entry::Append { records, payloads, done } => {
                        appends.push((records, payloads, done));
                    }
                    Entry::Close { done } => {
                        self.commit_all(appends).await;
                        break 'open Some(done);
                    }
                }
            }
            self.commit_all(appends).await;
            if self.log_bytes > SNAPSHOT_BYTES.max(self.snapshot_bytes) {
                // The journal is complete without it; the next snapshot may succeed.
                let _ = self.snapshot().await;
            }
        };
        let mut outcome = self.shared.lease.lost().map_or(Ok(()), |it| Err(self.shared.fenced(it)));
        let is_long = self.log_bytes > SNAPSHOT_BYTES.max(self.snapshot_bytes) / 2;
        if outcome.is_ok() && (is_long || self.segments > SNAPSHOT_SEGMENTS) {
            // Only damage is reported: the journal is complete without a snapshot.
            let summed = self.snapshot().await;
            if matches!(summed, Err(StoreError::Damaged { .. } | StoreError::Fenced { .. })) {
                outcome = summed;
            }
        }
        drop(renewals);
        let seq = self.state_seq();
        self.shared.lease.release(&*self.shared.backend, &self.shared.paths, Some(seq)).await;
        if let Some(done) = closing {
            let _ = done.send(outcome);
        }
    }

    fn state_seq(&self) -> u64 {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).seq
    }

    async fn commit_all(&mut self, appends: Vec<Append>) {
        let mut group: Vec<Append> = Vec::new();
        let mut size = 0;
        for append in appends {
            let own: usize = append.1.iter().map(Vec::len).sum();
            if size > 0 && size + own > MAX_SEGMENT {
                self.commit(std::mem::take(&mut group)).await;
                size = 0;
            }
            size += own;
            group.push(append);
        }
        if !group.is_empty() {
            self.commit(group).await;
        }
    }

    /// Writes the records of some callers as one segment.
    async fn commit(&mut self, group: Vec<Append>) {
        let payloads: Vec<&[u8]> = group.iter().flat_map(|it| &it.1).map(Vec::as_slice).collect();
        match self.write_next(&payloads).await {
            Ok(()) => {
                for (records, _, done) in group {
                    let seq = self.fold(records);
                    let _ = done.send(Ok(seq));
                }
            }
            Err(error) => {
                for (_, _, done) in group {
                    let _ = done.send(Err(error.clone()));
                }
            }
        }
    }

    /// Writes the next segment, unless another process wrote it.
    async fn write_next(&mut self, payloads: &[&[u8]]) -> Result<(), StoreError> {
        if let Some(holder) = self.shared.lease.lost() {
            return Err(self.shared.fenced(holder));
        }
        let mut pauses = PAUSES.iter();
        loop {
            let first = self.state_seq() + 1;
            match (self.write(first, 0, payloads).await, pauses.clone().next()) {
                (Ok(()), _) => return Ok(()),
                (Err(PutError::Conflict), _) => {}
                (Err(PutError::Failed(StoreError::Backend(_))), Some(pause)) => {
                    pauses.next();
                    tokio::time::sleep(*pause).await;
                    continue;
                }
                (Err(PutError::Failed(error)), _) => return Err(error),
            }
            let backend = Arc::clone(&self.shared.backend);
            let key = self.shared.paths.segment(first);
            let Some((bytes, _)) = backend.get(&key).await? else {
                return Err(StoreError::damaged(backend.place(), format!("`{key}` is missing")));
            };
            let (head, records) =
                journal::read_segment(&*backend, &self.shared.paths, &key, &bytes)?;
            if head.writer != self.shared.lease.writer() {
                let holder = match records.first().map(|it| &it.record) {
                    Some(Record::Locked { holder }) => holder.clone(),
                    _ => "another process".to_owned(),
                };
                self.shared.lease.lose(holder.clone());
                return Err(self.shared.fenced(holder));
            }
            // Written by this session, in an attempt whose response was lost: this one, or an
            // earlier one.
            let wanted = self.segment(&key, frame::Head { first, ..head }, payloads);
            self.log_bytes += bytes.len();
            self.segments += 1;
            if bytes == wanted {
                return Ok(());
            }
            self.fold(records);
        }
    }

    async fn write(&mut self, first: u64, flags: u8, payloads: &[&[u8]]) -> Result<(), PutError> {
        let key = self.shared.paths.segment(first);
        let (epoch, writer) = (self.shared.lease.epoch(), self.shared.lease.writer());
        let head = frame::Head { kind: Kind::Segment, flags, first, epoch, writer };
        let bytes = self.segment(&key, head, payloads);
        let size = bytes.len();
        tracing::debug!(key, records = payloads.len(), size, "write");
        self.shared.backend.put(&key, bytes.into(), Expected::Absent).await?;
        self.log_bytes += size;
        self.segments += 1;
        Ok(())
    }

    fn segment(&self, key: &str, head: frame::Head, payloads: &[&[u8]]) -> Vec<u8> {
        frame::encode(&self.shared.paths.authority, key, head, payloads)
    }

    fn fold(&self, records: Vec<StampedRecord>) -> u64 {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        for record in records {
            state.add(record);
        }
        state.seq
    }

    async fn snapshot(&mut self) -> Result<(), StoreError> {
        self.shared.check()?;
        let (backend, paths) = (&*self.shared.backend, &self.shared.paths);
        let snapshot = {
            let state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
            let writer = (self.shared.lease.epoch(), self.shared.lease.writer());
            Snapshot::of(paths, &state, &self.fences, writer)
        };
        self.snapshot_bytes = snapshot.write(backend, paths, &self.fences).await?;
        self.log_bytes = 0;
        self.segments = 0;
        Ok(())
    }
}

type Append = (Vec<StampedRecord>, Vec<Vec<u8>>, oneshot::Sender<Result<u64, StoreError>>);
