//! Objects in memory: one revision counter, one sorted table per resource, and the latest changes
//! of each table for watchers.

mod journal;
mod scan;
mod stored;

pub use journal::remove_objects;
pub(crate) use journal::{Journal, Restored};
pub(crate) use stored::{Stored, frame};

use crate::api::{Event, EventKind, Resource};
use crate::object;
use bytes::Bytes;
use journal::Record;
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::ops::Bound;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use stored::Recent;
use tokio::sync::watch;

/// Where revisions begin. A real server has a past too: what is older cannot be asked for.
const FIRST_REVISION: u64 = 100;
/// Changes kept per table at most. A watch that asks for an older revision gets 410 Gone.
const RING: usize = 8192;
/// Changes that are kept whatever they take.
const SHORT_RING: usize = 1024;
/// Beyond those, changes are kept while their texts take no more than this.
const RING_BYTES: usize = 8 << 20;
/// Changes are kept only while their texts take no more than this.
const MAX_RING_BYTES: usize = 64 << 20;
/// The largest object, in bytes of JSON. A real server stores built-in kinds in a form that is
/// shorter, of which it takes 1.5 MiB.
const LARGEST: usize = 2 << 20;

/// What all objects may take, in bytes of JSON. A real server has such a limit, too.
const QUOTA: usize = 512 << 20;

/// Number of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TableId(u32);

/// One change of one object.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// What happened.
    pub(crate) kind: EventKind,
    /// The object after the change; when deleted, its last state at the revision of the deletion.
    pub(crate) object: Arc<Stored>,
    /// The object before the change.
    pub(crate) previous: Option<Arc<Stored>>,
}

impl Change {
    /// Returns the line that watchers of the storage version get.
    pub(crate) fn frame(&self) -> Bytes {
        self.object.line()
    }
}

/// The table is no longer as the writer saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Race;

/// Why a write did not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The table is no longer as the writer saw it.
    Race,
    /// The object is too large.
    TooLarge,
    /// All objects are too large together.
    Full,
    /// The change cannot be written to the file of the cluster.
    NotWritten(ErrorKind),
}

impl From<Race> for Refused {
    fn from(Race: Race) -> Self {
        Self::Race
    }
}

/// The revision that was asked for is no longer kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooOld;

#[derive(Debug)]
struct Table {
    resource: Resource,
    objects: BTreeMap<Arc<str>, Arc<Stored>>,
    ring: VecDeque<Change>,
    /// What the texts in the ring take.
    ring_bytes: usize,
    /// Changes up to this revision are forgotten.
    forgotten: u64,
    wake: watch::Sender<u64>,
}

impl Table {
    /// Remembers a change; forgets the oldest ones.
    fn remember(&mut self, change: Change) {
        self.ring_bytes += change.object.size();
        self.ring.push_back(change);
        while self.ring.len() > RING
            || (self.ring.len() > SHORT_RING && self.ring_bytes > RING_BYTES)
            || self.ring_bytes > MAX_RING_BYTES
        {
            let Some(old) = self.ring.pop_front() else { return };
            self.ring_bytes -= old.object.size();
            self.forgotten = old.object.revision;
        }
    }
}

#[derive(Debug)]
struct State {
    revision: u64,
    /// What all objects take, in bytes of JSON.
    bytes: usize,
    tables: Vec<Table>,
    by_name: FxHashMap<(Arc<str>, Arc<str>), TableId>,
    /// Where changes are written, if they are to survive the process.
    journal: Option<Journal>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            revision: FIRST_REVISION,
            bytes: 0,
            tables: Vec::new(),
            by_name: FxHashMap::default(),
            journal: None,
        }
    }
}

impl State {
    /// Writes a change to the file, if there is one.
    fn record(&mut self, table: TableId, stored: &Stored, kind: EventKind) -> Result<(), Refused> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let resource = &self.tables[table.0 as usize].resource;
        let text = stored.json();
        let record = Record {
            kind,
            revision: stored.revision,
            group: &resource.group,
            plural: &resource.plural,
            key: &stored.key,
            text: &text,
        };
        journal.append(&record).map_err(|error| Refused::NotWritten(error.kind()))
    }

    /// Replaces a file that has become too long.
    fn shorten(&mut self) {
        let Some(journal) = self.journal.as_mut().filter(|it| it.is_long()) else { return };
        let texts: Vec<(&Resource, &Stored, Bytes)> = self
            .tables
            .iter()
            .flat_map(|table| table.objects.values().map(|it| (&table.resource, &**it, it.json())))
            .collect();
        let mut records = texts.iter().map(|(resource, stored, text)| Record {
            kind: EventKind::Added,
            revision: stored.revision,
            group: &resource.group,
            plural: &resource.plural,
            key: &stored.key,
            text,
        });
        journal.rewrite(self.revision, &mut records);
    }
}

/// All objects of a cluster.
#[derive(Debug, Default)]
pub(crate) struct Store {
    state: RwLock<State>,
    recent: Arc<Recent>,
    subscribers: Mutex<Vec<Sender<Event>>>,
}

impl Store {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the table of a resource in its storage version, made at the first call.
    pub(crate) fn table(&self, resource: &Resource) -> TableId {
        let mut state = self.write();
        let name = (Arc::clone(&resource.group), Arc::clone(&resource.plural));
        if let Some(id) = state.by_name.get(&name) {
            let id = *id;
            state.tables[id.0 as usize].resource = resource.clone();
            return id;
        }
        let id = TableId(u32::try_from(state.tables.len()).unwrap_or(u32::MAX));
        let revision = state.revision;
        state.tables.push(Table {
            resource: resource.clone(),
            objects: BTreeMap::new(),
            ring: VecDeque::new(),
            ring_bytes: 0,
            forgotten: FIRST_REVISION,
            wake: watch::Sender::new(revision),
        });
        state.by_name.insert(name, id);
        id
    }

    /// Returns the revision of the last change.
    pub(crate) fn revision(&self) -> u64 {
        self.read().revision
    }

    /// Returns an object.
    pub(crate) fn get(&self, table: TableId, key: &str) -> Option<Arc<Stored>> {
        self.read().tables[table.0 as usize].objects.get(key).cloned()
    }

    /// Returns how many objects a table holds.
    pub(crate) fn len(&self, table: TableId) -> usize {
        self.read().tables[table.0 as usize].objects.len()
    }

    /// Returns the objects whose keys start with a prefix and lie after a key, in the order of
    /// their keys, and the revision at which they were seen.
    pub(crate) fn list(
        &self,
        table: TableId,
        prefix: &str,
        after: &str,
    ) -> (Vec<Arc<Stored>>, u64) {
        let state = self.read();
        (range(&state.tables[table.0 as usize].objects, prefix, after), state.revision)
    }

    /// Returns the same as [`Store::list`] as it was at an earlier revision.
    pub(crate) fn list_at(
        &self,
        table: TableId,
        prefix: &str,
        after: &str,
        revision: u64,
    ) -> Result<Vec<Arc<Stored>>, TooOld> {
        let state = self.read();
        let table = &state.tables[table.0 as usize];
        if table.forgotten > revision {
            return Err(TooOld);
        }
        let newest = table.ring.back().map_or(0, |change| change.object.revision);
        if newest <= revision {
            return Ok(range(&table.objects, prefix, after));
        }
        let mut past: BTreeMap<Arc<str>, Arc<Stored>> = range(&table.objects, prefix, after)
            .into_iter()
            .map(|stored| (Arc::clone(&stored.key), stored))
            .collect();
        for change in table.ring.iter().rev() {
            if change.object.revision <= revision {
                break;
            }
            let key = &change.object.key;
            if !key.starts_with(prefix) || **key <= *after {
                continue;
            }
            match &change.previous {
                Some(previous) => past.insert(Arc::clone(key), Arc::clone(previous)),
                None => past.remove(key),
            };
        }
        Ok(past.into_values().collect())
    }

    /// Returns the changes of a table after a revision, oldest first, and the present revision.
    pub(crate) fn changes(&self, table: TableId, after: u64) -> Result<(Vec<Change>, u64), TooOld> {
        let state = self.read();
        let table = &state.tables[table.0 as usize];
        if table.forgotten > after {
            return Err(TooOld);
        }
        let start = table.ring.partition_point(|change| change.object.revision <= after);
        Ok((table.ring.range(start..).cloned().collect(), state.revision))
    }

    /// Returns a receiver that is told of each change of a table.
    pub(crate) fn wake(&self, table: TableId) -> watch::Receiver<u64> {
        self.read().tables[table.0 as usize].wake.subscribe()
    }

    /// Returns a receiver of all objects, as if they were new, and of all later changes.
    pub(crate) fn subscribe_from_start(&self) -> Receiver<Event> {
        let (sender, receiver) = channel();
        let state = self.read();
        for table in &state.tables {
            for object in table.objects.values() {
                let object = Arc::clone(object);
                let change = Change { kind: EventKind::Added, object, previous: None };
                // The receiver is here.
                let _ = sender.send(Event::new(table.resource.clone(), change));
            }
        }
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        receiver
    }

    /// Returns a receiver of all later changes.
    pub(crate) fn subscribe(&self) -> Receiver<Event> {
        let (sender, receiver) = channel();
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        receiver
    }

    /// Adds an object, unless there is one of its key.
    pub(crate) fn insert(
        &self,
        table: TableId,
        key: &str,
        value: Value,
    ) -> Result<Arc<Stored>, Refused> {
        let mut state = self.write();
        if state.tables[table.0 as usize].objects.contains_key(key) {
            return Err(Refused::Race);
        }
        self.commit(&mut state, table, EventKind::Added, key.into(), value)
    }

    /// Replaces an object, unless it changed after `seen`.
    pub(crate) fn replace(
        &self,
        table: TableId,
        seen: &Stored,
        value: Value,
    ) -> Result<Arc<Stored>, Refused> {
        let mut state = self.write();
        check_seen(&state, table, seen)?;
        self.commit(&mut state, table, EventKind::Modified, Arc::clone(&seen.key), value)
    }

    /// Removes an object, unless it changed after `seen`; `last` is its last state.
    pub(crate) fn remove(
        &self,
        table: TableId,
        seen: &Stored,
        last: Value,
    ) -> Result<Arc<Stored>, Refused> {
        let mut state = self.write();
        check_seen(&state, table, seen)?;
        self.commit(&mut state, table, EventKind::Deleted, Arc::clone(&seen.key), last)
    }

    fn commit(
        &self,
        state: &mut State,
        table: TableId,
        kind: EventKind,
        key: Arc<str>,
        mut value: Value,
    ) -> Result<Arc<Stored>, Refused> {
        let revision = state.revision + 1;
        object::meta_mut(&mut value)
            .insert("resourceVersion".to_owned(), Value::String(revision.to_string()));
        let stored = Arc::new(Stored::new(key, revision, kind, value, &self.recent));
        // What is removed was stored before.
        if stored.size() > LARGEST && kind != EventKind::Deleted {
            return Err(Refused::TooLarge);
        }
        let before =
            state.tables[table.0 as usize].objects.get(&stored.key).map_or(0, |it| it.size());
        let rest = state.bytes - before;
        let after = if kind == EventKind::Deleted { 0 } else { stored.size() };
        if after > before && rest + after > QUOTA {
            return Err(Refused::Full);
        }
        state.record(table, &stored, kind)?;
        state.revision = revision;
        state.bytes = rest + after;
        let table = &mut state.tables[table.0 as usize];
        let previous = match kind {
            EventKind::Deleted => table.objects.remove(&stored.key),
            _ => table.objects.insert(Arc::clone(&stored.key), Arc::clone(&stored)),
        };
        let change = Change { kind, object: Arc::clone(&stored), previous };
        self.tell(table, &change);
        table.remember(change);
        table.wake.send_replace(revision);
        state.shorten();
        Ok(stored)
    }

    /// Takes the objects of an earlier process in. Their changes are forgotten: watchers of old
    /// revisions start again.
    pub(crate) fn restore(&self, restored: Restored) {
        let mut bytes = 0;
        for ((group, plural), objects) in restored.tables {
            // The version of a custom resource is set when its definition is served.
            let id = self.table_named(&group, &plural);
            let mut state = self.write();
            let table = &mut state.tables[id.0 as usize];
            for (key, (revision, text)) in objects {
                let stored = Stored::restored(key.as_str().into(), revision, &text, &self.recent);
                bytes += stored.size();
                table.objects.insert(Arc::clone(&stored.key), Arc::new(stored));
            }
        }
        let mut state = self.write();
        state.bytes += bytes;
        state.revision = state.revision.max(restored.revision);
        let revision = state.revision;
        for table in &mut state.tables {
            table.forgotten = revision;
            table.wake.send_replace(revision);
        }
    }

    fn table_named(&self, group: &str, plural: &str) -> TableId {
        let known = self.read().by_name.get(&(group.into(), plural.into())).copied();
        known.unwrap_or_else(|| self.table(&Resource::new(group, "", plural)))
    }

    /// Writes all later changes to a file.
    pub(crate) fn write_to(&self, journal: Journal) {
        self.write().journal = Some(journal);
    }

    fn tell(&self, table: &Table, change: &Change) {
        let mut subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        subscribers.retain(|sender| {
            sender.send(Event::new(table.resource.clone(), change.clone())).is_ok()
        });
    }
}

fn check_seen(state: &State, table: TableId, seen: &Stored) -> Result<(), Race> {
    let here = state.tables[table.0 as usize].objects.get(&seen.key).ok_or(Race)?;
    if here.revision == seen.revision { Ok(()) } else { Err(Race) }
}

fn range(objects: &BTreeMap<Arc<str>, Arc<Stored>>, prefix: &str, after: &str) -> Vec<Arc<Stored>> {
    let start = if after > prefix { Bound::Excluded(after) } else { Bound::Included(prefix) };
    objects
        .range::<str, _>((start, Bound::Unbounded))
        .take_while(|(key, _)| key.starts_with(prefix))
        .map(|(_, stored)| Arc::clone(stored))
        .collect()
}
