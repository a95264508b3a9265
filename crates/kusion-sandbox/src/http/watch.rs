//! Watches: the changes of a collection as a stream of lines.

use super::body::Body;
use super::negotiate::{Form, Shape};
use super::options::ListOptions;
use super::present;
use crate::Status;
use crate::api::{EventKind, Scope};
use crate::cluster::{Cluster, Filter, prefix};
use crate::registry::Served;
use crate::store::{Change, Stored, TableId, TooOld, frame};
use bytes::{Bytes, BytesMut};
use hyper::Response;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, timeout_at};

/// Lines are sent together up to this size.
const BATCH: usize = 64 * 1024;
/// How often an idle watch tells the present revision.
const BOOKMARK: Duration = Duration::from_mins(1);

/// The longest time of a watch in seconds; clients ask for minutes.
const LONGEST: u64 = 365 * 24 * 3600;
/// How long a watcher may take for its last lines.
const GRACE: Duration = Duration::from_secs(5);

/// Answers a watch.
pub(crate) fn watch(
    cluster: &Arc<Cluster>,
    served: &Arc<Served>,
    form: Form,
    namespace: &str,
    options: &ListOptions,
) -> Result<Response<Body>, Status> {
    let table = served.table()?;
    let filter = Filter::new(served, options.selection())?;
    let seconds = options.timeout.filter(|it| *it > 0).unwrap_or_else(|| fastrand::u64(1800..3600));
    let end = Instant::now() + Duration::from_secs(seconds.min(LONGEST));
    let (sender, parts) = channel(16);
    let watcher = Watcher {
        cluster: Arc::clone(cluster),
        served: Arc::clone(served),
        table,
        form,
        filter,
        prefix: prefix(served, Scope::Namespace(namespace)),
        bookmarks: options.bookmarks,
        headed: false,
        sender,
    };
    let initial = match options.initial_events {
        Some(initial) => initial,
        None => options.version.unwrap_or(0) == 0,
    };
    let start = options.version.filter(|_| !initial);
    let marks_end = options.initial_events == Some(true) && options.bookmarks;
    let cut = cluster.cuts.subscribe();
    // What is there when the client gets its answer: changes that it makes then are events.
    let wake = cluster.store.wake(table);
    let state = start.is_none().then(|| cluster.store.list(table, &watcher.prefix, ""));
    let start = Start { version: start.unwrap_or(0), state, marks_end };
    // A client that reads nothing blocks its watcher: it ends all the same.
    tokio::spawn(timeout_at(end + GRACE, watcher.run(start, end, wake, cut)));
    Ok(present::response(200, "application/json", Body::Stream { parts, end }))
}

/// Where a watch starts.
struct Start {
    /// The revision of which the client knows, if it does not want the state.
    version: u64,
    /// The objects, and the revision at which they were seen.
    state: Option<(Vec<Arc<Stored>>, u64)>,
    /// Whether the end of the state is marked.
    marks_end: bool,
}

struct Watcher {
    cluster: Arc<Cluster>,
    served: Arc<Served>,
    table: TableId,
    form: Form,
    filter: Filter,
    prefix: String,
    bookmarks: bool,
    /// Whether the columns of a table have been sent.
    headed: bool,
    sender: Sender<Bytes>,
}

impl Watcher {
    async fn run(
        mut self,
        start: Start,
        deadline: Instant,
        mut wake: Receiver<u64>,
        mut cut: Receiver<u64>,
    ) {
        let mut seen = start.version;
        if let Some((stored, revision)) = start.state {
            if !self.send_state(stored, revision, start.marks_end).await {
                return;
            }
            seen = revision;
        }
        let mut next_bookmark = Instant::now() + BOOKMARK;
        loop {
            wake.borrow_and_update();
            let changes = self.cluster.store.changes(self.table, seen);
            let Ok((changes, revision)) = changes else {
                let _ = self.sender.send(expired(seen, &self.cluster)).await;
                return;
            };
            if !self.send_changes(&changes).await {
                return;
            }
            seen = seen.max(revision);
            let wait = next_bookmark.min(deadline);
            tokio::select! {
                changed = wake.changed() => if changed.is_err() { return },
                () = self.sender.closed() => return,
                _ = cut.changed() => return,
                () = tokio::time::sleep_until(wait) => {
                    if self.bookmarks && !self.send(self.bookmark(self.cluster.store.revision().min(seen), false)).await {
                        return;
                    }
                    if Instant::now() >= deadline {
                        return;
                    }
                    next_bookmark = Instant::now() + BOOKMARK;
                }
            }
        }
    }

    async fn send(&self, bytes: Bytes) -> bool {
        bytes.is_empty() || self.sender.send(bytes).await.is_ok()
    }

    /// Sends the objects that were there at a revision; returns whether the client still reads.
    async fn send_state(&mut self, stored: Vec<Arc<Stored>>, revision: u64, end: bool) -> bool {
        let mut batch = BytesMut::new();
        for stored in stored {
            if !self.filter.is_empty() && !self.filter.takes(&stored) {
                continue;
            }
            let line = self.line(EventKind::Added, &stored);
            batch.extend_from_slice(&line);
            if batch.len() > BATCH && !self.send(batch.split().freeze()).await {
                return false;
            }
        }
        if end {
            batch.extend_from_slice(&self.bookmark(revision, true));
        }
        self.send(batch.freeze()).await
    }

    async fn send_changes(&mut self, changes: &[Change]) -> bool {
        if let [change] = changes {
            return match self.line_of(change) {
                Some(line) => self.send(line).await,
                None => true,
            };
        }
        let mut batch = BytesMut::new();
        for change in changes {
            let Some(line) = self.line_of(change) else { continue };
            batch.extend_from_slice(&line);
            if batch.len() > BATCH && !self.send(batch.split().freeze()).await {
                return false;
            }
        }
        self.send(batch.freeze()).await
    }

    /// Returns the line for a change, when the watcher can see it.
    fn line_of(&mut self, change: &Change) -> Option<Bytes> {
        if !change.object.key.starts_with(&self.prefix) {
            return None;
        }
        if self.filter.is_empty() {
            return Some(self.natural(change));
        }
        let now = change.kind != EventKind::Deleted && self.filter.takes(&change.object);
        let before = change.previous.as_ref().is_some_and(|previous| self.filter.takes(previous));
        match (before, now) {
            (false, false) => None,
            (true, true) => Some(self.natural(change)),
            (false, true) if change.kind == EventKind::Added => Some(self.natural(change)),
            (false, true) => Some(self.line(EventKind::Added, &change.object)),
            (true, false) if change.kind == EventKind::Deleted => Some(self.natural(change)),
            (true, false) => {
                // The object left the selection: its last state in it, at this revision.
                let previous = change.previous.as_ref()?;
                let mut value = (*previous.value()).clone();
                value["metadata"]["resourceVersion"] = change.object.revision.to_string().into();
                Some(self.line_for(EventKind::Deleted, value))
            }
        }
    }

    fn natural(&mut self, change: &Change) -> Bytes {
        if self.served.is_plain(&change.object) && self.form.shape == Shape::Object {
            return change.frame();
        }
        self.line(change.kind, &change.object)
    }

    fn line(&mut self, kind: EventKind, stored: &Stored) -> Bytes {
        if self.served.is_plain(stored) && self.form.shape == Shape::Object {
            return frame(kind, |line| line.extend_from_slice(&stored.json()));
        }
        self.line_for(kind, (*stored.value()).clone())
    }

    fn line_for(&mut self, kind: EventKind, value: Value) -> Bytes {
        let value = self.cluster.to_served(&self.served, value);
        let mut value = present::shaped(&self.cluster, &self.served, &self.form, &value);
        if matches!(self.form.shape, Shape::Table(_)) {
            if self.headed {
                value["columnDefinitions"] = Value::Null;
            }
            self.headed = true;
        }
        frame(kind, |line| {
            // Writing a tree to memory cannot fail.
            let _ = serde_json::to_writer(line, &value);
        })
    }

    fn bookmark(&self, revision: u64, initial_end: bool) -> Bytes {
        let mut meta = json!({"resourceVersion": revision.to_string()});
        if initial_end {
            meta["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let (kind, api_version) = match &self.form.shape {
            Shape::Table(version) => ("Table", format!("meta.k8s.io/{version}")),
            Shape::Metadata(version) => ("PartialObjectMetadata", format!("meta.k8s.io/{version}")),
            _ => (&*self.served.kind, self.served.api_version()),
        };
        let object = json!({"kind": kind, "apiVersion": api_version, "metadata": meta});
        let mut line = json!({"type": "BOOKMARK", "object": object}).to_string().into_bytes();
        line.push(b'\n');
        Bytes::from(line)
    }
}

fn expired(seen: u64, cluster: &Cluster) -> Bytes {
    let TooOld = TooOld;
    let status =
        Status::expired(format!("too old resource version: {seen} ({})", cluster.store.revision()));
    let mut line = json!({"type": "ERROR", "object": status.to_value()}).to_string().into_bytes();
    line.push(b'\n');
    Bytes::from(line)
}
