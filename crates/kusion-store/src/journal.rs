//! The journal of a stack: numbered segments, each written once, and snapshots of the resulting
//! state.

use crate::auth::Authority;
use crate::backend::{Backend, Expected, PutError};
use crate::error::StoreError;
use crate::frame::{self, Kind, Link, Writer};
use crate::lease::Lease;
use crate::state::StackState;
use bytes::Bytes;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use kusion_model::{LoggedRecord, StackKey, StampedRecord};
use serde::{Deserialize, Serialize};

/// Number of concurrent reads.
const READERS: usize = 16;
/// How often a read is retried because segments were deleted meanwhile: the lock holder wrote a
/// snapshot.
const ATTEMPTS: usize = 5;

/// The keys of the values of a stack, and the authority that verifies them.
#[derive(Clone)]
pub(crate) struct StackPaths {
    pub(crate) key: StackKey,
    pub(crate) root: String,
    pub(crate) authority: Authority,
}

/// Key prefix of all values of stacks.
pub(crate) const STACKS: &str = "stacks/";

impl StackPaths {
    pub(crate) fn new(key: &StackKey, authority: Authority) -> Self {
        Self { key: key.clone(), root: format!("{STACKS}{}", key.store_path()), authority }
    }

    pub(crate) fn lease(&self) -> String {
        format!("{}/lease", self.root)
    }

    pub(crate) fn segment(&self, first: u64) -> String {
        format!("{}/log/{first:020}", self.root)
    }

    pub(crate) fn snapshot(&self, seq: u64) -> String {
        format!("{}/snapshot/{seq:020}", self.root)
    }

    pub(crate) fn spec(&self, revision: u64) -> String {
        format!("{}/spec/{revision:020}", self.root)
    }

    pub(crate) fn events(&self, revision: u64) -> String {
        format!("{}/events/{revision:020}", self.root)
    }

    /// Writes a value that only the lock holder writes; replaces the value of an interrupted
    /// attempt.
    pub(crate) async fn write<P: AsRef<[u8]>>(
        &self,
        backend: &dyn Backend,
        name: &str,
        head: frame::Head,
        payloads: &[P],
        check: impl Fn() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let bytes = Bytes::from(frame::encode(&self.authority, name, head, payloads));
        loop {
            let expected = match backend.get(name).await? {
                None => Expected::Absent,
                Some((found, _)) if found == bytes => return Ok(()),
                Some((_, version)) => Expected::Is(version),
            };
            match backend.put(name, bytes.clone(), expected).await {
                Ok(_) => return Ok(()),
                Err(PutError::Conflict) => check()?,
                Err(PutError::Failed(error)) => return Err(error),
            }
        }
    }

    /// Reads the payloads of a value; `None` if it does not exist.
    pub(crate) async fn payloads<T: serde::de::DeserializeOwned>(
        &self,
        backend: &dyn Backend,
        name: &str,
        kind: Kind,
    ) -> Result<Option<Vec<T>>, StoreError> {
        let Some((bytes, _)) = backend.get(name).await? else { return Ok(None) };
        let (_, payloads) = frame::decode(&self.authority, backend.place(), name, kind, &bytes)?;
        payloads.iter().map(|it| parse(backend, name, it)).collect::<Result<_, _>>().map(Some)
    }

    pub(crate) async fn numbers(
        &self,
        backend: &dyn Backend,
        folder: &str,
    ) -> Result<Vec<u64>, StoreError> {
        let prefix = format!("{}/{folder}/", self.root);
        let keys = backend.list(&prefix).await?;
        keys.iter()
            .map(|key| {
                let number = key.strip_prefix(&prefix).and_then(|it| it.parse().ok());
                number.ok_or_else(|| {
                    StoreError::damaged(backend.place(), format!("unexpected key `{key}`"))
                })
            })
            .collect()
    }
}

/// The written form of a snapshot.
#[derive(Serialize)]
struct SnapshotOut<'a> {
    state: &'a StackState,
    fences: &'a [u64],
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

/// A snapshot as it is read.
#[derive(Deserialize)]
struct SnapshotIn {
    state: StackState,
    fences: Vec<u64>,
    /// The hash of the last segment that it contains.
    #[serde(default)]
    link: Option<String>,
}

/// A loaded journal.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) state: StackState,
    /// Numbers of segments that must be kept, because earlier lock holders may still try to write
    /// them.
    pub(crate) fences: Vec<u64>,
    /// The number of the last record in the newest snapshot.
    pub(crate) snapshot: u64,
    /// The size of that snapshot.
    pub(crate) snapshot_bytes: usize,
    /// The size of the segments after it.
    pub(crate) log_bytes: usize,
    /// How many they are.
    pub(crate) segments: usize,
    /// The end of the journal.
    pub(crate) end: End,
}

/// The end of a journal, which the next segment continues.
#[derive(Clone, Debug)]
pub(crate) struct End {
    /// The hash of the last segment; `None` if an earlier version wrote the snapshot that holds it.
    pub(crate) link: Option<Link>,
    /// The name of the last segment, or of the snapshot that holds it; `None` if there is none.
    pub(crate) name: Option<String>,
    /// The epoch of its writer.
    pub(crate) epoch: u64,
}

impl Default for End {
    fn default() -> Self {
        Self { link: Some(Link::default()), name: None, epoch: 0 }
    }
}

impl End {
    /// Continues with a segment; returns the problem if it does not belong here.
    pub(crate) fn continue_with(
        &mut self,
        name: &str,
        head: &frame::Head,
        bytes: &[u8],
    ) -> Result<(), &'static str> {
        // Segments of an earlier version have no link.
        if let (Some(expected), Some(found)) = (self.link, head.link)
            && expected != found
        {
            return Err("does not continue the segment before it");
        }
        if head.epoch < self.epoch {
            return Err("is older than the segment before it");
        }
        let link = Some(frame::link_of(bytes));
        *self = Self { link, name: Some(name.to_owned()), epoch: head.epoch };
        Ok(())
    }
}

/// Reads the journal of a stack.
pub(crate) async fn load(backend: &dyn Backend, paths: &StackPaths) -> Result<Loaded, StoreError> {
    let mut attempt = 1;
    loop {
        // The lease is read first: the journal contains at least the record that it names.
        let lease = Lease::read(backend, paths).await?;
        let lease = lease.map(|(lease, _)| lease);
        match load_once(backend, paths, lease.as_ref()).await {
            Err(StoreError::Damaged { .. }) if attempt < ATTEMPTS => attempt += 1,
            other => return other,
        }
    }
}

async fn load_once(
    backend: &dyn Backend,
    paths: &StackPaths,
    lease: Option<&Lease>,
) -> Result<Loaded, StoreError> {
    let at_least = lease.map_or(0, |it| it.seq);
    let snapshots = paths.numbers(backend, "snapshot").await?;
    let mut loaded = Loaded::default();
    let mut last_error = None;
    for seq in snapshots.iter().rev() {
        match read_snapshot(backend, paths, *seq).await {
            Ok(Some(found)) => {
                loaded = found;
                break;
            }
            Ok(None) => {}
            Err(error @ StoreError::Damaged { .. }) => last_error = Some(error),
            Err(error) => return Err(error),
        }
    }
    let firsts = paths.numbers(backend, "log").await?;
    match add_segments(backend, paths, &mut loaded, &firsts).await {
        Ok(()) if loaded.state.seq < at_least => Err(StoreError::damaged(
            backend.place(),
            format!(
                "the journal of `{}` ends with record {}, but record {at_least} was written; \
                 restore the store from a backup",
                paths.root, loaded.state.seq
            ),
        )),
        Ok(()) => match lease {
            None if loaded.state.seq > 0 => Err(StoreError::damaged(
                backend.place(),
                format!("`{}` is missing; restore the store from a backup", paths.lease()),
            )),
            Some(lease) if lease.token < loaded.end.epoch => Err(StoreError::damaged(
                backend.place(),
                format!(
                    "`{}` is older than the journal: it names lock holder {}, but lock holder {} \
                     wrote; restore the store from a backup",
                    paths.lease(),
                    lease.token,
                    loaded.end.epoch
                ),
            )),
            _ => Ok(loaded),
        },
        // The contents of a damaged snapshot cannot be rebuilt from segments: report the damage.
        Err(error) => Err(last_error.unwrap_or(error)),
    }
}

pub(crate) async fn read_snapshot(
    backend: &dyn Backend,
    paths: &StackPaths,
    seq: u64,
) -> Result<Option<Loaded>, StoreError> {
    let key = paths.snapshot(seq);
    let Some((bytes, _)) = backend.get(&key).await? else { return Ok(None) };
    let place = backend.place();
    let (head, payloads) = frame::decode(&paths.authority, place, &key, Kind::Snapshot, &bytes)?;
    let payload = payloads.first().copied().unwrap_or_default();
    let snapshot: SnapshotIn = parse(backend, &key, payload)?;
    if snapshot.state.seq != seq {
        return Err(StoreError::damaged(
            backend.place(),
            format!("`{key}` contains another state"),
        ));
    }
    let link = snapshot.link.and_then(|it| blake3::Hash::from_hex(it).ok()).map(Into::into);
    Ok(Some(Loaded {
        end: End { link, name: Some(key), epoch: head.epoch },
        state: snapshot.state,
        fences: snapshot.fences,
        snapshot: seq,
        snapshot_bytes: bytes.len(),
        ..Loaded::default()
    }))
}

async fn add_segments(
    backend: &dyn Backend,
    paths: &StackPaths,
    loaded: &mut Loaded,
    firsts: &[u64],
) -> Result<(), StoreError> {
    let wanted: Vec<u64> = firsts.iter().copied().filter(|it| *it > loaded.snapshot).collect();
    let mut segments = stream::iter(wanted)
        .map(|first| async move {
            let key = paths.segment(first);
            Ok::<_, StoreError>((first, backend.get(&key).await?, key))
        })
        .buffered(READERS);
    while let Some((first, found, key)) = segments.try_next().await? {
        if first != loaded.state.seq + 1 {
            let what = format!(
                "the journal of `{}` continues with record {first} after record {}; restore \
                 the store from a backup",
                paths.root, loaded.state.seq
            );
            return Err(StoreError::damaged(backend.place(), what));
        }
        let Some((bytes, _)) = found else {
            return Err(StoreError::damaged(backend.place(), format!("`{key}` is missing")));
        };
        let (head, records) = read_segment(backend, paths, &key, &bytes)?;
        loaded
            .end
            .continue_with(&key, &head, &bytes)
            .map_err(|what| StoreError::damaged(format!("{}: `{key}`", backend.place()), what))?;
        if head.flags & frame::FENCE != 0 {
            loaded.fences.push(first);
        }
        for record in records {
            loaded.state.add(record);
        }
        loaded.log_bytes += bytes.len();
        loaded.segments += 1;
    }
    Ok(())
}

/// Reads the records of a segment.
pub(crate) fn read_segment(
    backend: &dyn Backend,
    paths: &StackPaths,
    key: &str,
    bytes: &[u8],
) -> Result<(frame::Head, Vec<StampedRecord>), StoreError> {
    let place = backend.place();
    let (head, payloads) = frame::decode(&paths.authority, place, key, Kind::Segment, bytes)?;
    if payloads.is_empty() || !key.ends_with(&format!("/{:020}", head.first)) {
        return Err(StoreError::damaged(backend.place(), format!("`{key}` is empty or misplaced")));
    }
    let records: Result<Vec<StampedRecord>, StoreError> =
        payloads.iter().map(|payload| parse(backend, key, payload)).collect();
    Ok((head, records?))
}

/// Reads the records that have not been deleted: all since the second to last snapshot.
pub(crate) async fn records(
    backend: &dyn Backend,
    paths: &StackPaths,
) -> Result<Vec<LoggedRecord>, StoreError> {
    let mut all: Vec<LoggedRecord> = Vec::new();
    let unknown = || End { link: None, ..End::default() };
    let mut end = unknown();
    for first in paths.numbers(backend, "log").await? {
        let key = paths.segment(first);
        // A missing segment was replaced by a snapshot meanwhile.
        let Some((bytes, _)) = backend.get(&key).await? else { continue };
        let (head, records) = read_segment(backend, paths, &key, &bytes)?;
        // Segments that fence off an earlier lock holder are kept longer than their neighbours.
        if all.last().is_none_or(|it| it.seq + 1 != first) {
            end = unknown();
        }
        end.continue_with(&key, &head, &bytes)
            .map_err(|what| StoreError::damaged(format!("{}: `{key}`", backend.place()), what))?;
        all.extend((first..).zip(records).map(|(seq, it)| LoggedRecord {
            stack: paths.key.clone(),
            seq,
            operation_id: it.operation_id,
            time: it.time,
            record: it.record,
        }));
    }
    Ok(all)
}

/// The bytes of a snapshot of a state.
pub(crate) struct Snapshot {
    seq: u64,
    key: String,
    bytes: Bytes,
}

impl Snapshot {
    /// Creates a snapshot of a state.
    pub(crate) fn of(
        paths: &StackPaths,
        state: &StackState,
        fences: &[u64],
        (end, writer): (&End, Writer),
    ) -> Self {
        let key = paths.snapshot(state.seq);
        let link = end.link.map(|it| blake3::Hash::from_bytes(it).to_string());
        let payload = to_json(&SnapshotOut { state, fences, link });
        let (kind, first, epoch) = (Kind::Snapshot, state.seq, end.epoch);
        let head = frame::Head { kind, flags: 0, first, epoch, writer, link: None };
        let bytes = frame::encode(&paths.authority, &key, head, &[payload]).into();
        Self { seq: state.seq, key, bytes }
    }

    /// Writes the snapshot, reads it back, and removes everything older than the previous snapshot.
    /// Returns its size.
    pub(crate) async fn write(
        self,
        backend: &dyn Backend,
        paths: &StackPaths,
        fences: &[u64],
    ) -> Result<usize, StoreError> {
        let size = self.bytes.len();
        match backend.put(&self.key, self.bytes.clone(), Expected::Absent).await {
            Ok(_) => {
                let again = backend.get(&self.key).await?;
                if again.is_none_or(|(bytes, _)| bytes != self.bytes) {
                    let what = format!("`{}` differs from what was written", self.key);
                    return Err(StoreError::damaged(backend.place(), what));
                }
            }
            // The same number is the same state: an earlier attempt got through.
            Err(PutError::Conflict) => {
                read_snapshot(backend, paths, self.seq).await?;
            }
            Err(PutError::Failed(error)) => return Err(error),
        }
        remove_older(backend, paths, self.seq, fences).await?;
        Ok(size)
    }
}

/// Removes everything up to the snapshot before the one with this number; that snapshot is kept.
async fn remove_older(
    backend: &dyn Backend,
    paths: &StackPaths,
    seq: u64,
    fences: &[u64],
) -> Result<(), StoreError> {
    let snapshots = paths.numbers(backend, "snapshot").await?;
    let Some(previous) = snapshots.iter().rev().find(|it| **it < seq).copied() else {
        return Ok(());
    };
    let firsts = paths.numbers(backend, "log").await?;
    let mut keys: Vec<String> = firsts
        .into_iter()
        .filter(|first| *first <= previous && !fences.contains(first))
        .map(|first| paths.segment(first))
        .collect();
    keys.extend(snapshots.into_iter().filter(|it| *it < previous).map(|it| paths.snapshot(it)));
    if keys.is_empty() { Ok(()) } else { backend.delete(&keys).await }
}

/// Reads a payload as JSON.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(
    backend: &dyn Backend,
    key: &str,
    payload: &[u8],
) -> Result<T, StoreError> {
    serde_json::from_slice(payload).map_err(|error| {
        StoreError::damaged(backend.place(), format!("cannot parse `{key}`: {error}"))
    })
}

/// Writes a value as JSON.
pub(crate) fn to_json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("records are plain data with text keys")
}
