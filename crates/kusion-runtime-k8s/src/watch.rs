//! Watches the health of resources.
//!
//! Each collection that matters (a kind in a namespace) has a [`source`] that lists it and then
//! follows its changes. A [`board`] keeps the objects and their owners, and returns the resources
//! whose health has changed. Events of the server that warn of an object that is not ready say why
//! ([`warnings`]).

mod board;
mod claims;
mod clock;
pub(crate) mod events;
mod judge;
mod source;
mod warnings;

use crate::health;
use crate::key::ObjectKey;
use crate::requires;
use crate::runtime::KubernetesRuntime;
use board::Board;
use clock::Clock;
use futures::stream::{self, BoxStream, StreamExt as _};
use kusion_model::ResourceId;
use kusion_runtime::{Live, Progress, RuntimeError};
use serde_json::Value;
use source::{Source, SourceEvent};
use std::collections::{BTreeMap, BTreeSet};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Kinds without controllers: they change only by updates.
const STILL: &[(&str, &str)] = &[
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "ServiceAccount"),
    ("v1", "LimitRange"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("networking.k8s.io/v1", "IngressClass"),
    ("storage.k8s.io/v1", "StorageClass"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
];

const REPLICA_SET: (&str, &str) = ("apps/v1", "ReplicaSet");
const POD: (&str, &str) = ("v1", "Pod");
const JOB: (&str, &str) = ("batch/v1", "Job");
const CONTROLLER_REVISION: (&str, &str) = ("apps/v1", "ControllerRevision");
const CLAIM: (&str, &str) = ("v1", "PersistentVolumeClaim");
const EVENT: (&str, &str) = ("v1", "Event");
const ENDPOINT_SLICE: (&str, &str) = ("discovery.k8s.io/v1", "EndpointSlice");

/// Kinds of which objects belong to objects of a kind.
fn related_kinds(kind: &str) -> &'static [(&'static str, &'static str)] {
    match kind {
        "Deployment" => &[REPLICA_SET, POD],
        "StatefulSet" => &[CONTROLLER_REVISION, CLAIM, POD],
        "DaemonSet" => &[CONTROLLER_REVISION, POD],
        "ReplicaSet" | "ReplicationController" | "Job" => &[POD],
        "CronJob" => &[JOB, POD],
        "Service" => &[ENDPOINT_SLICE],
        _ => &[],
    }
}

/// From this many namespaces on, one watch of all beats one watch each.
const ALL_NAMESPACES_FROM: usize = 8;

/// Watches resources.
pub(crate) async fn watch(
    runtime: KubernetesRuntime,
    targets: Vec<(ResourceId, Live)>,
    since: Option<&str>,
) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError> {
    let mut first = Vec::new();
    let mut board = Board::new(Clock::system(), since);
    // The watched collections, and whether they contain a resource itself.
    let mut wanted: BTreeMap<(String, String), (bool, BTreeSet<String>)> = BTreeMap::new();
    for (id, live) in targets {
        let key = ObjectKey::parse(&live.identity.key);
        let Some(key) = key.or_else(|| ObjectKey::of_object(&live.attributes)) else { continue };
        if STILL.contains(&(key.api_version.as_str(), key.kind.as_str())) {
            let health = health::of_object(&live.attributes);
            first.push(Ok(Progress { id, health, related: Vec::new(), settling_since: None }));
            continue;
        }
        // Events about objects without a namespace are of no interest here.
        let events = [EVENT].into_iter().filter(|_| !key.namespace.is_empty());
        for (api_version, kind) in related_kinds(&key.kind).iter().copied().chain(events) {
            let slot = wanted.entry((api_version.to_owned(), kind.to_owned())).or_default();
            slot.1.insert(key.namespace.clone());
        }
        let slot = wanted.entry((key.api_version.clone(), key.kind.clone())).or_default();
        slot.0 = true;
        slot.1.insert(key.namespace.clone());
        board.add(id, &key, live);
    }
    let sources = sources(&runtime, wanted).await?;
    if sources.is_empty() {
        return Ok(stream::iter(first).chain(stream::pending()).boxed());
    }
    let (teller, heard) = mpsc::channel(1024);
    let mut tasks = JoinSet::new();
    let n_sources = sources.len();
    for source in sources {
        tasks.spawn(source.run(runtime.clone(), teller.clone()));
    }
    drop(teller);
    let (out, progress) = mpsc::channel(256);
    tokio::spawn(gather(board, heard, n_sources, out, tasks));
    Ok(stream::iter(first).chain(stream_of(progress)).boxed())
}

/// A change of an object, as a server reports it.
#[derive(Clone, Debug)]
pub enum ObjectChange {
    /// It is new or has changed.
    Changed(Value),
    /// It was deleted; its uid.
    Deleted(String),
}

/// Watches resources in a stream of changes instead of on a server: the health that a watch on a
/// server with this history would report. The first item of the stream is the list of all objects;
/// `start` is the time at which it is read (RFC 3339).
pub fn watch_changes(
    targets: Vec<(ResourceId, Live)>,
    since: Option<&str>,
    start: &str,
    mut changes: BoxStream<'static, Vec<ObjectChange>>,
) -> BoxStream<'static, Result<Progress, RuntimeError>> {
    let clock = start.parse().map_or_else(|_| Clock::system(), Clock::starting);
    let mut board = Board::new(clock, since);
    for (id, live) in targets {
        if let Some(key) = ObjectKey::of_object(&live.attributes) {
            board.add(id, &key, live);
        }
    }
    let (teller, heard) = mpsc::channel(1024);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut is_listed = false;
        while let Some(batch) = changes.next().await {
            let told = batch.into_iter().map(|it| match it {
                ObjectChange::Changed(object) => SourceEvent::Changed(object),
                ObjectChange::Deleted(uid) => SourceEvent::Deleted(uid),
            });
            let listed = (!is_listed).then_some(SourceEvent::Listed);
            is_listed = true;
            for event in told.chain(listed) {
                if teller.send(event).await.is_err() {
                    return;
                }
            }
        }
        // The objects stay as they are.
        teller.closed().await;
    });
    let (out, progress) = mpsc::channel(256);
    tokio::spawn(gather(board, heard, 1, out, tasks));
    stream_of(progress)
}

fn stream_of(
    progress: mpsc::Receiver<Result<Progress, RuntimeError>>,
) -> BoxStream<'static, Result<Progress, RuntimeError>> {
    let next = |mut progress: mpsc::Receiver<Result<Progress, RuntimeError>>| async {
        progress.recv().await.map(|item| (item, progress))
    };
    stream::unfold(progress, next).boxed()
}

async fn sources(
    runtime: &KubernetesRuntime,
    wanted: BTreeMap<(String, String), (bool, BTreeSet<String>)>,
) -> Result<Vec<Source>, RuntimeError> {
    let mut sources = Vec::new();
    for ((api_version, kind), (is_target, namespaces)) in wanted {
        let found = runtime.discovery.find(&runtime.calls, &api_version, &kind).await?;
        let served = match found {
            Some(served) if served.can_list && served.can_watch => served,
            _ if is_target => {
                return Err(RuntimeError::Missing(requires::kind(&api_version, &kind)));
            }
            _ => continue,
        };
        let namespaces: Vec<String> = if namespaces.len() >= ALL_NAMESPACES_FROM {
            vec![String::new()]
        } else {
            namespaces.into_iter().collect()
        };
        // A stack may hold events as resources; those are all looked at.
        let is_event = (served.api_version.as_str(), served.kind.as_str()) == EVENT;
        let fields = (is_event && !is_target).then_some(warnings::SELECTOR);
        sources.extend(namespaces.into_iter().map(|namespace| Source {
            served: served.clone(),
            namespace,
            fields,
            is_target,
        }));
    }
    Ok(sources)
}

/// Receives events of the sources and sends progress, until the receiver is dropped.
async fn gather(
    mut board: Board,
    mut heard: mpsc::Receiver<SourceEvent>,
    n_sources: usize,
    out: mpsc::Sender<Result<Progress, RuntimeError>>,
    tasks: JoinSet<()>,
) {
    // The tasks end with this one.
    let _tasks = tasks;
    let mut n_listed = 0;
    loop {
        // Pending events are processed together.
        let mut next = tokio::select! {
            told = heard.recv() => match told {
                Some(told) => Some(told),
                None => return,
            },
            () = until(board.next_look()) => None,
            () = out.closed() => return,
        };
        while let Some(told) = next {
            match told {
                SourceEvent::Changed(object) => board.put(object),
                SourceEvent::Deleted(uid) => board.remove(&uid),
                SourceEvent::Listed => n_listed += 1,
                SourceEvent::Failed(error) => {
                    if out.send(Err(error)).await.is_err() {
                        return;
                    }
                }
            }
            next = heard.try_recv().ok();
        }
        // Before all lists are read, pods may be missing.
        if n_listed < n_sources {
            continue;
        }
        for progress in board.changes() {
            if out.send(Ok(progress)).await.is_err() {
                return;
            }
        }
    }
}

async fn until(time: Option<tokio::time::Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
