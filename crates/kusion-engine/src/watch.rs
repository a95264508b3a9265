//! Watches resources until they are ready.

use crate::desired::Desired;
use crate::error::{EngineError, Finding};
use crate::event::{Event, ObjectName, RelatedObject};
use crate::readiness::{DEFAULT_SETTLE, Readiness, text};
use crate::scope::Scope;
use crate::secrets::hide_health;
use crate::stack::Stack;
use crate::stop::Stop;
use futures::stream::{self, BoxStream, StreamExt as _};
use kusion_model::{Health, HealthState, Resource, ResourceId, ResourceState, ResourceType};
use kusion_runtime::{Live, Progress, Related, RuntimeError};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// Options of a watch.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// The timeout; `None` means until the user stops it.
    pub timeout: Option<Duration>,
    /// Whether to continue when all resources are ready.
    pub forever: bool,
    /// How long a resource that may not be stable must stay ready: one without a readiness check,
    /// or after a restart.
    pub settle: Duration,
    /// The start of the operation that is watched (RFC 3339), if there was one: failures from
    /// before it count only if they last.
    pub since: Option<String>,
    /// Signal of the user to stop.
    pub stop: Stop,
}

/// An object that can be watched.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The resource.
    pub id: ResourceId,
    /// Its type, which selects the runtime.
    pub resource_type: ResourceType,
    /// The object.
    pub live: Live,
}

impl Watched {
    /// Returns the live object as a resource.
    fn as_resource(&self) -> Resource {
        Resource {
            id: self.id.clone(),
            resource_type: self.resource_type.clone(),
            attributes: self.live.attributes.clone(),
            depends_on: Vec::new(),
            extensions: serde_json::Map::new(),
        }
    }
}

/// The result of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// All resources are ready.
    Ready,
    /// Some resources failed.
    Failed(Vec<Finding>),
    /// The watch timed out; these resources are not ready.
    TimedOut(Vec<Finding>),
    /// The user stopped it.
    Stopped,
}

/// The recorded state of a resource and the health of its object.
#[derive(Clone, Debug)]
pub struct ResourceStatus {
    /// The recorded state.
    pub state: ResourceState,
    /// The health; `None` if the object is missing.
    pub health: Option<Health>,
    /// Objects that belong to it.
    pub related: Vec<RelatedObject>,
}

type ProgressStream = BoxStream<'static, Result<Progress, RuntimeError>>;

impl Stack {
    /// Returns the health of the resources of the stack.
    pub async fn status(&self) -> Result<BTreeMap<ResourceId, ResourceStatus>, EngineError> {
        let mut scope = self.scope();
        let (states, live) = self.recorded_live(&mut scope).await?;
        let mut left = live.len();
        let mut all: BTreeMap<ResourceId, ResourceStatus> = states
            .into_iter()
            .map(|(id, state)| (id, ResourceStatus { state, health: None, related: Vec::new() }))
            .collect();
        let mut progress = scope.progress(live, None).await?;
        let mut readiness = Readiness::new(std::iter::empty(), DEFAULT_SETTLE);
        while left > 0 {
            let Some(seen) = progress.next().await else { break };
            let seen = readiness.see(seen?, Instant::now());
            if let Some(status) = all.get_mut(&seen.id)
                && status.health.is_none()
            {
                left -= 1;
                status.health = Some(seen.health);
                status.related = tree(&seen.related);
            }
        }
        Ok(all)
    }

    /// Watches the recorded resources of the stack. Fails if it should end when they are ready and
    /// there are none.
    pub async fn watch(&self, options: &WatchOptions) -> Result<WatchEnd, EngineError> {
        let mut scope = self.scope();
        let (states, live) = self.recorded_live(&mut scope).await?;
        if states.is_empty() && !options.forever {
            return Err(EngineError::NoResources { stack: Box::new(self.key().clone()) });
        }
        let known: BTreeSet<&ResourceId> = live.iter().map(|it| &it.id).collect();
        let missing = states.into_keys().filter(|id| !known.contains(id)).collect();
        scope.watch(live, missing, options).await
    }

    /// Watches objects until all are ready, or none is progressing.
    pub async fn watch_objects(
        &self,
        live: Vec<Watched>,
        options: &WatchOptions,
    ) -> Result<WatchEnd, EngineError> {
        let mut scope = self.scope();
        let types = live.iter().map(|it| (it.resource_type.clone(), it.id.clone())).collect();
        scope.start(types).await?;
        for watched in &live {
            let resource = watched.as_resource();
            scope.learn(&resource, &resource.attributes)?;
        }
        scope.watch(live, Vec::new(), options).await
    }

    async fn recorded_live(
        &self,
        scope: &mut Scope,
    ) -> Result<(BTreeMap<ResourceId, ResourceState>, Vec<Watched>), EngineError> {
        let mut state = self.engine.store.read(self.key()).await?;
        scope.start_for(&state, &Desired::new()).await?;
        scope.check_place(&mut state, false)?;
        let prior = scope.priors_for_runtimes(&state.resources);
        let live = scope.read_all_live(&Desired::new(), &prior).await?;
        drop(prior);
        scope.learn_secrets(&Desired::new(), &live, &state)?;
        let states = state.resources;
        let watched = live
            .into_iter()
            .filter_map(|(id, live)| {
                let resource_type = states.get(&id)?.resource.resource_type.clone();
                Some(Watched { id, resource_type, live })
            })
            .collect();
        Ok((states, watched))
    }
}

impl Scope {
    async fn watch(
        &self,
        live: Vec<Watched>,
        missing: Vec<ResourceId>,
        options: &WatchOptions,
    ) -> Result<WatchEnd, EngineError> {
        let mut readiness = Readiness::new(live.iter().map(|it| it.id.clone()), options.settle);
        let mut news = News::default();
        let mut progress = self.progress(live, options.since.as_deref()).await?;
        for id in missing {
            let health = Health::failed("Missing", "deleted outside this stack");
            let seen = Progress { id, health, related: Vec::new(), settling_since: None };
            self.tell(&mut news, &readiness.see(seen, Instant::now()));
        }
        let deadline = options.timeout.map(|it| Instant::now() + it);
        while options.forever || !readiness.is_decided() {
            tokio::select! {
                next = progress.next() => {
                    let Some(seen) = next else { break };
                    self.tell(&mut news, &readiness.see(seen?, Instant::now()));
                }
                () = until(readiness.next_stable()) => {
                    for seen in readiness.settled(Instant::now()) {
                        self.tell(&mut news, &seen);
                    }
                }
                () = options.stop.wait() => return Ok(WatchEnd::Stopped),
                () = until(deadline) => return Ok(WatchEnd::TimedOut(readiness.not_ready())),
            }
        }
        let failed = readiness.not_ready();
        Ok(if failed.is_empty() { WatchEnd::Ready } else { WatchEnd::Failed(failed) })
    }

    /// Emits the events for an observation of a watched object.
    fn tell(&self, news: &mut News, seen: &Progress) {
        for event in news.of(seen) {
            self.log.emit(event);
        }
        self.log.emit(Event::Health {
            id: seen.id.clone(),
            health: seen.health.clone(),
            related: tree(&seen.related),
        });
    }

    /// Waits until one object is ready, or the user stops it.
    pub(crate) async fn wait_for(
        &self,
        watched: Watched,
        settle: Duration,
        timeout: Duration,
        stop: &Stop,
        since: &str,
    ) -> Result<(), String> {
        let wait = async {
            let progress = self.progress(vec![watched], Some(since)).await;
            let mut progress = progress.map_err(|fault| fault.to_string())?;
            let mut news = News::default();
            // An object is stable only after it has stayed ready.
            let mut stable_at = None;
            loop {
                let seen = tokio::select! {
                    seen = progress.next() => seen,
                    () = until(stable_at) => return Ok(()),
                };
                let Some(seen) = seen else { return Err("the watch ended".to_owned()) };
                let seen = seen.map_err(|fault| fault.to_string())?;
                self.tell(&mut news, &seen);
                match seen.health.state {
                    HealthState::Ready if settle.is_zero() => return Ok(()),
                    HealthState::Ready => {
                        stable_at.get_or_insert(Instant::now() + settle);
                    }
                    HealthState::Failed => return Err(text(&seen.health)),
                    HealthState::Progressing | HealthState::Terminating => stable_at = None,
                }
            }
        };
        tokio::select! {
            done = wait => done,
            () = stop.wait() => Ok(()),
            () = tokio::time::sleep(timeout) => {
                Err(format!("timed out: not ready after {} s", timeout.as_secs()))
            }
        }
    }

    /// Merges the streams of all runtimes with watched objects.
    async fn progress(
        &self,
        live: Vec<Watched>,
        since: Option<&str>,
    ) -> Result<ProgressStream, EngineError> {
        let mut groups: BTreeMap<ResourceType, Vec<(ResourceId, Live)>> = BTreeMap::new();
        for Watched { id, resource_type, live } in live {
            groups.entry(resource_type).or_default().push((id, live));
        }
        let mut streams = Vec::new();
        for (resource_type, targets) in groups {
            let Some((first, _)) = targets.first() else { continue };
            let runtime = self.runtime(first, &resource_type)?;
            streams.push(runtime.watch(targets, since).await?);
        }
        let redactor = self.redactor.clone();
        let hidden = move |seen: Result<Progress, RuntimeError>| {
            let mut seen = seen?;
            hide_health(&redactor, &mut seen.health);
            seen.related.iter_mut().for_each(|it| hide_health(&redactor, &mut it.health));
            Ok(seen)
        };
        Ok(stream::select_all(streams).map(hidden).boxed())
    }
}

/// The warnings that were already emitted.
#[derive(Default)]
struct News {
    told: BTreeSet<(ResourceId, Option<ObjectName>, String, String)>,
}

impl News {
    /// Returns the warnings that were not emitted before.
    fn of(&mut self, progress: &Progress) -> Vec<Event> {
        let own = progress.health.warnings.iter().map(|it| (None, it));
        let below = progress.related.iter().flat_map(|object| {
            let name = ObjectName { kind: object.kind.clone(), name: object.name.clone() };
            object.health.warnings.iter().map(move |it| (Some(name.clone()), it))
        });
        let mut events = Vec::new();
        for (object, warning) in own.chain(below) {
            let id = progress.id.clone();
            let (reason, message) = (warning.reason.clone(), warning.message.clone());
            if self.told.insert((id.clone(), object.clone(), reason, message)) {
                events.push(Event::Warning { id, object, warning: warning.clone() });
            }
        }
        events
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Sorts objects below their owners, ordered by creation.
fn tree(related: &[Related]) -> Vec<RelatedObject> {
    let known: HashMap<&str, &Related> = related.iter().map(|it| (it.uid.as_str(), it)).collect();
    let mut children: HashMap<Option<&str>, Vec<&Related>> = HashMap::new();
    for object in related {
        let owner = object.owner.as_deref().filter(|it| known.contains_key(it));
        children.entry(owner).or_default().push(object);
    }
    let mut flat = Vec::with_capacity(related.len());
    let mut open: Vec<(usize, &Related)> =
        children.remove(&None).into_iter().flatten().rev().map(|it| (1, it)).collect();
    while let Some((depth, object)) = open.pop() {
        flat.push(RelatedObject {
            kind: object.kind.clone(),
            name: object.name.clone(),
            depth,
            health: object.health.clone(),
            created: object.created.clone(),
        });
        let below = children.remove(&Some(object.uid.as_str()));
        open.extend(below.into_iter().flatten().rev().map(|it| (depth + 1, it)));
    }
    flat
}
