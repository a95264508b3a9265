//! One collection: listed, then followed.

use super::events::{EventKind, Events};
use crate::calls::Call;
use crate::discovery::Served;
use crate::object::RawList;
use crate::runtime::KubernetesRuntime;
use kusion_runtime::RuntimeError;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Page size of lists.
const PAGE: usize = 500;

/// A collection.
pub(super) struct Source {
    pub(super) served: Arc<Served>,
    /// Empty for all namespaces.
    pub(super) namespace: String,
    /// Filter of the reported objects.
    pub(super) fields: Option<&'static str>,
    /// Whether it contains resources, and not only their related objects.
    pub(super) is_target: bool,
}

/// An event of a source.
pub(super) enum SourceEvent {
    /// An object is new or has changed.
    Changed(Value),
    /// An object was deleted; its uid.
    Deleted(String),
    /// The first list is complete.
    Listed,
    /// The source has failed and stops.
    Failed(RuntimeError),
}

/// Reason of a source to stop: the receiver was dropped, or an error.
enum Stop {
    Closed,
    Failed(RuntimeError),
}

/// The position of a source in the changes of its collection.
#[derive(Default)]
struct Cursor {
    /// The reported objects.
    known: HashSet<String>,
    /// The version from which to follow; empty before a list.
    version: String,
    is_listed: bool,
}

impl Source {
    /// Sends events of the collection until the receiver is dropped.
    pub(super) async fn run(self, runtime: KubernetesRuntime, teller: mpsc::Sender<SourceEvent>) {
        let mut standing = Cursor::default();
        let mut pause = Duration::from_millis(200);
        loop {
            let before = standing.version.clone();
            match self.turn(&runtime, &teller, &mut standing).await {
                Ok(()) => {}
                Err(Stop::Closed) => return,
                Err(Stop::Failed(error)) if error.is_transient() => {}
                Err(Stop::Failed(error)) => {
                    // Related objects may not be readable; they are omitted then.
                    if self.is_target {
                        let _ = teller.send(SourceEvent::Failed(error)).await;
                    }
                    if !standing.is_listed {
                        let _ = teller.send(SourceEvent::Listed).await;
                    }
                    return;
                }
            }
            if standing.version != before {
                pause = Duration::from_millis(200);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(10));
        }
    }

    /// Lists if need be, and follows until the watch ends.
    async fn turn(
        &self,
        runtime: &KubernetesRuntime,
        teller: &mpsc::Sender<SourceEvent>,
        standing: &mut Cursor,
    ) -> Result<(), Stop> {
        if standing.version.is_empty() {
            self.list(runtime, teller, standing).await?;
            if !standing.is_listed {
                standing.is_listed = true;
                tell(teller, SourceEvent::Listed).await?;
            }
        }
        let (served, namespace, version) = (&self.served, &self.namespace, &standing.version);
        let opened = Events::open(&runtime.calls, served, namespace, version, self.fields);
        let mut events = match opened.await {
            Ok(events) => events,
            Err(error) => {
                // The version may be too old: the next iteration lists again.
                standing.version.clear();
                return Err(Stop::Failed(error));
            }
        };
        loop {
            let event = match events.next().await {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(()),
                Err(error) => return Err(Stop::Failed(error)),
            };
            if event.kind == EventKind::Error {
                standing.version.clear();
                return Ok(());
            }
            let mut object = event.object;
            if let Some(version) = text(&object, "/metadata/resourceVersion") {
                version.clone_into(&mut standing.version);
            }
            match event.kind {
                EventKind::Added | EventKind::Modified => {
                    reduce(&mut object, &self.served);
                    if let Some(uid) = text(&object, "/metadata/uid") {
                        standing.known.insert(uid.to_owned());
                    }
                    tell(teller, SourceEvent::Changed(object)).await?;
                }
                EventKind::Deleted => {
                    if let Some(uid) = text(&object, "/metadata/uid") {
                        standing.known.remove(uid);
                        tell(teller, SourceEvent::Deleted(uid.to_owned())).await?;
                    }
                }
                EventKind::Bookmark | EventKind::Error => {}
            }
        }
    }

    async fn list(
        &self,
        runtime: &KubernetesRuntime,
        teller: &mpsc::Sender<SourceEvent>,
        standing: &mut Cursor,
    ) -> Result<(), Stop> {
        let path = self.served.collection(&self.namespace);
        let mut next = String::new();
        let mut seen = HashSet::new();
        loop {
            let call = Call::page(&path, PAGE, self.fields, &next);
            let answer = runtime.calls.send(call).await.map_err(Stop::Failed)?;
            // The list has expired: it starts again, after a pause.
            if answer.status == http::StatusCode::GONE {
                let message = format!("the resource version of `{path}` expired");
                return Err(Stop::Failed(runtime.calls.lost(&message)));
            }
            let answer = answer.success().map_err(Stop::Failed)?;
            let unread = |error: serde_json::Error| {
                Stop::Failed(runtime.calls.lost(&format!("`{path}`: {error}")))
            };
            let list: RawList<'_> = serde_json::from_slice(&answer.body).map_err(unread)?;
            for item in list.items.unwrap_or_default() {
                let mut object: Value = serde_json::from_str(item.get()).map_err(unread)?;
                reduce(&mut object, &self.served);
                if let Some(uid) = text(&object, "/metadata/uid") {
                    seen.insert(uid.to_owned());
                }
                tell(teller, SourceEvent::Changed(object)).await?;
            }
            if list.metadata.next.is_empty() {
                let mut gone: Vec<String> = standing.known.difference(&seen).cloned().collect();
                gone.sort_unstable();
                for uid in gone {
                    tell(teller, SourceEvent::Deleted(uid)).await?;
                }
                standing.known = seen;
                standing.version = list.metadata.resource_version;
                return Ok(());
            }
            next = list.metadata.next;
        }
    }
}

async fn tell(teller: &mpsc::Sender<SourceEvent>, told: SourceEvent) -> Result<(), Stop> {
    teller.send(told).await.map_err(|_| Stop::Closed)
}

fn text<'a>(object: &'a Value, pointer: &str) -> Option<&'a str> {
    object.pointer(pointer).and_then(Value::as_str)
}

/// Removes unused fields, and sets kind and apiVersion.
fn reduce(object: &mut Value, served: &Served) {
    let Value::Object(fields) = object else { return };
    fields.insert("apiVersion".to_owned(), served.api_version.as_str().into());
    fields.insert("kind".to_owned(), served.kind.as_str().into());
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    if served.kind == "ControllerRevision" {
        fields.remove("data");
    }
    if served.kind != "Pod"
        && let Some(Value::Object(spec)) = fields.get_mut("spec")
    {
        spec.remove("template");
    }
}
