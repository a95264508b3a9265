//! The watched objects and their owners.

use super::claims::Claims;
use super::clock::Clock;
use super::judge::Judge;
use super::warnings::{Warnings, latest_step};
use crate::health;
use crate::key::ObjectKey;
use jiff::Timestamp;
use kusion_model::{Health, HealthState, ResourceId, Warning};
use kusion_runtime::{Live, Progress, Related};
use serde_json::Value;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

/// Maximum depth of related objects: the pod of a job of a cron job.
const MAX_DEPTH: usize = 8;

/// One watched resource.
struct Watched {
    id: ResourceId,
    /// The uid of its object; `None` if it is missing.
    uid: Option<String>,
    /// The last reported health.
    said: Option<Progress>,
    /// Since when it is ready without a break.
    ready_since: Option<Timestamp>,
    /// When its health changes even if no object does.
    next_look: Option<Timestamp>,
}

/// All watched objects and resources.
pub(super) struct Board {
    clock: Clock,
    judge: Judge,
    watched: Vec<Watched>,
    by_key: HashMap<ObjectKey, usize>,
    by_uid: HashMap<String, usize>,
    objects: HashMap<String, Value>,
    /// What each object owns, by uids.
    owned: HashMap<String, BTreeSet<String>>,
    claims: Claims,
    warnings: Warnings,
    /// The resources whose health may have changed.
    dirty: BTreeSet<usize>,
    /// When the health of resources changes even if no object does.
    looks: BTreeSet<(Timestamp, usize)>,
}

impl Board {
    /// Creates a board for resources that an operation changed at a time, if there was one.
    pub(super) fn new(clock: Clock, operation: Option<&str>) -> Self {
        Self {
            clock,
            judge: Judge::new(operation),
            watched: Vec::new(),
            by_key: HashMap::new(),
            by_uid: HashMap::new(),
            objects: HashMap::new(),
            owned: HashMap::new(),
            claims: Claims::default(),
            warnings: Warnings::default(),
            dirty: BTreeSet::new(),
            looks: BTreeSet::new(),
        }
    }

    /// Adds a resource.
    pub(super) fn add(&mut self, id: ResourceId, key: &ObjectKey, live: Live) {
        let place = self.watched.len();
        let uid = live.identity.uid;
        if let Some(uid) = &uid {
            self.by_uid.insert(uid.clone(), place);
        }
        self.by_key.insert(key.clone(), place);
        let watched = Watched { id, uid, said: None, ready_since: None, next_look: None };
        self.watched.push(watched);
        self.dirty.insert(place);
    }

    /// Adds or updates an object.
    pub(super) fn put(&mut self, object: Value) {
        let Some(uid) = text(&object, "/metadata/uid").map(str::to_owned) else { return };
        if let Some(key) = ObjectKey::of_object(&object)
            && let Some(place) = self.by_key.get(&key).copied()
        {
            // The resource may be another object than before.
            self.by_uid.insert(uid.clone(), place);
            self.watched[place].uid = Some(uid.clone());
        }
        if text(&object, "/kind") == Some("Event") {
            if let Some(about) = self.warnings.put(&object) {
                self.touch(&about);
            }
            // Only an event that is itself a resource is an object like others.
            if !self.by_uid.contains_key(&uid) {
                return;
            }
        }
        for (set, claim) in self.claims.put(&uid, &object) {
            self.owned.entry(set).or_default().insert(claim);
        }
        for owner in owners(&object) {
            self.owned.entry(owner.to_owned()).or_default().insert(uid.clone());
        }
        self.judge.note(&uid, &object, self.clock.now());
        self.objects.insert(uid.clone(), object);
        self.touch(&uid);
    }

    /// Removes an object.
    pub(super) fn remove(&mut self, uid: &str) {
        if let Some(about) = self.warnings.remove(uid) {
            self.touch(&about);
        }
        self.touch(uid);
        self.judge.forget(uid);
        let Some(object) = self.objects.remove(uid) else { return };
        for owner in self.owners(&object) {
            if let Some(owned) = self.owned.get_mut(&owner) {
                owned.remove(uid);
                if owned.is_empty() {
                    self.owned.remove(&owner);
                }
            }
        }
        self.claims.remove(uid, &object);
        if let Some(place) = self.by_uid.remove(uid)
            && self.watched[place].uid.as_deref() == Some(uid)
        {
            self.watched[place].uid = None;
        }
    }

    /// Returns the health of resources whose health has changed.
    pub(super) fn changes(&mut self) -> Vec<Progress> {
        let now = self.clock.now();
        while let Some(look) = self.looks.first().copied().filter(|(at, _)| *at <= now) {
            self.looks.remove(&look);
            self.dirty.insert(look.1);
        }
        let mut changed = Vec::new();
        for place in std::mem::take(&mut self.dirty) {
            let (progress, next_look) = self.progress(&self.watched[place], now);
            let watched = &mut self.watched[place];
            if let Some(old) = std::mem::replace(&mut watched.next_look, next_look) {
                self.looks.remove(&(old, place));
            }
            self.looks.extend(next_look.map(|it| (it, place)));
            watched.ready_since =
                progress.health.is_ready().then(|| watched.ready_since.unwrap_or(now));
            if watched.said.as_ref() != Some(&progress) {
                watched.said = Some(progress.clone());
                changed.push(progress);
            }
        }
        changed
    }

    /// Returns when [`Self::changes`] has something to say even if no object changes.
    pub(super) fn next_look(&self) -> Option<tokio::time::Instant> {
        let (next, _) = self.looks.first()?;
        Some(self.clock.instant(*next).map_or_else(tokio::time::Instant::now, Into::into))
    }

    /// Returns since when a ready object runs that is not proven to be stable; `seen` is when it
    /// was first seen to be ready.
    fn settling_since(&self, object: &Value, below: &[&Value], seen: Timestamp) -> Option<Instant> {
        let (pods, n_desired) = health::settling_pods(object, below)?;
        // Some pods are not known yet, or must not be read.
        if pods.len() < n_desired {
            return self.clock.instant(seen);
        }
        let unproven = pods.into_iter().filter(|it| health::run::is_unproven(it));
        let since = unproven.filter_map(|pod| {
            let since = self.judge.runs_since(text(pod, "/metadata/uid")?);
            Some(since.unwrap_or(seen))
        });
        self.clock.instant(since.max()?)
    }

    /// Marks the resource that an object is or belongs to.
    fn touch(&mut self, uid: &str) {
        let mut at = vec![uid.to_owned()];
        for _ in 0..MAX_DEPTH {
            let mut above = Vec::new();
            for uid in &at {
                if let Some(place) = self.by_uid.get(uid) {
                    self.dirty.insert(*place);
                }
                if let Some(object) = self.objects.get(uid) {
                    above.extend(self.owners(object));
                }
            }
            if above.is_empty() {
                return;
            }
            at = above;
        }
    }

    /// Returns the uids of the objects that an object belongs to.
    fn owners(&self, object: &Value) -> Vec<String> {
        owners(object).chain(self.claims.set_of(object)).map(str::to_owned).collect()
    }

    /// Returns the health of a resource, and when it changes if no object does.
    fn progress(&self, watched: &Watched, now: Timestamp) -> (Progress, Option<Timestamp>) {
        let id = watched.id.clone();
        let object = watched.uid.as_deref().and_then(|uid| self.objects.get(uid));
        let (Some(object), Some(uid)) = (object, watched.uid.as_deref()) else {
            let health = Health::failed("Missing", "deleted outside this stack");
            return (Progress { id, health, related: Vec::new(), settling_since: None }, None);
        };
        let found = self.below(uid);
        let objects: Vec<&Value> = found.iter().map(|(object, _)| *object).collect();
        let next = Cell::new(None::<Timestamp>);
        let judged = |object: &Value| {
            let verdict = self.judge.verdict(object, now);
            next.set([next.get(), verdict.until].into_iter().flatten().min());
            verdict.health
        };
        let mut health = health::summary_of(object, &objects, &judged);
        health.warnings = self.warnings(uid, object, &health);
        let related: Vec<Related> =
            found.into_iter().map(|(object, owner)| self.related(object, owner, &judged)).collect();
        explain(&mut health, &related);
        let seen = watched.ready_since.unwrap_or(now);
        let settling_since =
            if health.is_ready() { self.settling_since(object, &objects, seen) } else { None };
        (Progress { id, health, related, settling_since }, next.get())
    }

    /// Returns what an object owns, each with the uid of its owner, ordered by creation.
    fn below(&self, uid: &str) -> Vec<(&Value, Option<String>)> {
        let mut found: Vec<(&Value, Option<String>)> = Vec::new();
        self.collect(uid, None, 0, &mut found);
        let age = |object: &Value| {
            let text = |pointer: &str| text(object, pointer).unwrap_or_default().to_owned();
            (text("/metadata/creationTimestamp"), text("/metadata/name"))
        };
        found.sort_by_cached_key(|(object, _)| age(object));
        found
    }

    fn related(
        &self,
        object: &Value,
        owner: Option<String>,
        judged: &dyn Fn(&Value) -> Health,
    ) -> Related {
        let word = |pointer: &str| text(object, pointer).unwrap_or_default().to_owned();
        let mut health = judged(object);
        let uid = word("/metadata/uid");
        health.warnings = self.warnings(&uid, object, &health);
        explain(&mut health, &[]);
        let (kind, name) = (word("/kind"), word("/metadata/name"));
        let created = text(object, "/metadata/creationTimestamp").map(str::to_owned);
        Related { kind, name, owner, uid, health, created }
    }

    /// Returns the warnings about an object that is not ready.
    fn warnings(&self, uid: &str, object: &Value, health: &Health) -> Vec<Warning> {
        let is_unbound = text(object, "/kind") == Some("PersistentVolumeClaim")
            && text(object, "/status/phase") != Some("Bound");
        if health.is_ready() && !is_unbound {
            return Vec::new();
        }
        let owned = self.owned.get(uid).into_iter().flatten();
        let made = owned.filter_map(|it| self.objects.get(it));
        let operation = self.judge.operation().map(|it| it.to_string());
        let start = operation.as_deref().and_then(|it| it.get(..19)).unwrap_or_default();
        let mut warnings = self.warnings.of(uid, latest_step(object, made).max(start));
        if text(object, "/spec/nodeName").is_some_and(|it| !it.is_empty()) {
            warnings.retain(|it| it.reason != "FailedScheduling");
        }
        warnings
    }

    fn collect<'a>(
        &'a self,
        uid: &str,
        owner: Option<&str>,
        depth: usize,
        found: &mut Vec<(&'a Value, Option<String>)>,
    ) {
        let Some(owned) = self.owned.get(uid).filter(|_| depth < MAX_DEPTH) else { return };
        for below in owned {
            let Some(object) = self.objects.get(below) else { continue };
            found.push((object, owner.map(str::to_owned)));
            self.collect(below, Some(below), depth + 1, found);
        }
    }
}

/// Adds the newest warning to the message if there is no other reason why an object is not ready:
/// one about the object itself, or about its newest related object.
fn explain(health: &mut Health, related: &[Related]) {
    if health.state == HealthState::Ready
        && let Some(warning) = health.warnings.first()
    {
        let words = format!("{}: {}", warning.reason, warning.message);
        health.message = format!("{}; {words}", health.message);
        return;
    }
    if health.state != HealthState::Progressing || health.reason.is_some() {
        return;
    }
    let own = health.warnings.first().map(|it| (it.reason.clone(), it.message.clone()));
    let below = || {
        related.iter().rev().filter(|it| it.health.state != HealthState::Terminating).find_map(
            |it| {
                let warning = it.health.warnings.first()?;
                let kind = it.kind.to_lowercase();
                let words = format!("{kind} `{}`: {}", it.name, warning.message);
                Some((warning.reason.clone(), words))
            },
        )
    };
    if let Some((reason, words)) = own.or_else(below) {
        health.reason = Some(reason);
        let awaited = std::mem::take(&mut health.message);
        health.message = if awaited.is_empty() { words } else { format!("{awaited}; {words}") };
    }
}

fn owners(object: &Value) -> impl Iterator<Item = &str> {
    let list = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|owner| owner.get("uid")?.as_str())
}

fn text<'a>(object: &'a Value, pointer: &str) -> Option<&'a str> {
    object.pointer(pointer).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::Identity;
    use serde_json::json;

    fn object(kind: &str, name: &str, owner: Option<&str>) -> Value {
        let api_version = if kind == "Pod" { "v1" } else { "apps/v1" };
        let owners: Vec<Value> = owner.map(|uid| json!({"uid": uid})).into_iter().collect();
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name,
            "namespace": "n", "uid": name, "ownerReferences": owners}})
    }

    #[test]
    fn pods_belong_to_the_deployment_of_their_replica_set() {
        let mut board = Board::new(Clock::system(), None);
        let web = object("Deployment", "web", None);
        let key = ObjectKey::of_object(&web).expect("a key");
        let identity = Identity::new(key.to_string(), Some("web".to_owned()));
        board.add(ResourceId::new("r"), &key, Live::new(identity, Value::Null));
        // In any order.
        board.put(object("Pod", "web-1-a", Some("web-1")));
        board.put(object("Pod", "stranger", Some("other")));
        board.put(object("ReplicaSet", "web-1", Some("web")));
        board.put(web.clone());
        let said = board.changes();
        assert_eq!(said.len(), 1);
        let names: Vec<(&str, Option<&str>)> =
            said[0].related.iter().map(|it| (it.name.as_str(), it.owner.as_deref())).collect();
        assert_eq!(names, [("web-1", None), ("web-1-a", Some("web-1"))]);
        board.put(web);
        assert_eq!(board.changes(), [], "nothing new");
        board.remove("web-1-a");
        assert_eq!(board.changes()[0].related.len(), 1);
        board.remove("web");
        assert_eq!(board.changes()[0].health.reason.as_deref(), Some("Missing"));
    }
}
