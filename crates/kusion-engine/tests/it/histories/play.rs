//! Histories that the reconcilers of a sandbox play.

use super::{Change, History};
use jiff::Timestamp;
use kusion_runtime_k8s::ObjectChange;
use kusion_sandbox::{
    Api, Clock, ControllerOptions, Deletion, EventKind, PatchKind, Reconcilers, Subscription, Write,
};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// How far the clock moves between two looks, in milliseconds.
const STEP_MS: i64 = 100;
/// Maximum number of steps of reconcilers at one time.
const WORK: usize = 10_000;

/// What another process does at a time.
#[derive(Clone)]
pub(super) enum Act {
    /// Applies an object.
    Apply(Value),
    /// Deletes an object.
    Delete(Value),
}

/// A clock that moves when it is told to.
#[derive(Debug)]
struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap_or_default()
    }
}

/// Plays acts at their times (milliseconds after the start of the watch) and what follows from
/// them, for some seconds. The first object is the watched one.
pub(super) fn play(acts: &[(i64, Act)], seconds: i64) -> History {
    let target = match acts.iter().find_map(|(_, act)| match act {
        Act::Apply(object) if object["metadata"]["name"] == "it" => Some(object),
        _ => None,
    }) {
        Some(target) => target.clone(),
        None => Value::Null,
    };
    let first = acts.iter().map(|(at, _)| *at).min().unwrap_or_default().min(0);
    // The server stamps new objects with the time of the machine.
    let begin = Timestamp::now().as_second() * 1000;
    let clock = Arc::new(Hand(AtomicI64::new(begin)));
    let api = Api::new();
    let options = ControllerOptions {
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        ..ControllerOptions::default()
    };
    let mut reconcilers = Reconcilers::new(api.clone(), &options).expect("a new cluster");
    let changes = api.subscribe();
    reconcilers.work(WORK);
    drain(&changes);
    let mut seen: Vec<Change> = Vec::new();
    let mut now = first;
    while now <= seconds * 1000 {
        clock.0.store(begin + now - first, Ordering::SeqCst);
        for (_, act) in acts.iter().filter(|(at, _)| *at > now - STEP_MS && *at <= now) {
            perform(&api, act);
            reconcilers.work(WORK);
        }
        reconcilers.work(WORK);
        seen.extend(drain(&changes).into_iter().map(|change| (now, change)));
        now += STEP_MS;
    }
    let start = Timestamp::from_millisecond(begin - first).expect("a time");
    History { start, changes: seen, target, acts: acts.to_vec() }
}

/// Does what an act says.
pub(super) fn perform(api: &Api, act: &Act) {
    let (Act::Apply(object) | Act::Delete(object)) = act;
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let facts = api.resource_of(text("/apiVersion"), text("/kind")).expect("a known kind");
    let namespace = if facts.namespaced { "default" } else { "" };
    let name = text("/metadata/name");
    match act {
        Act::Apply(_) => {
            let write = Write { manager: "test", force: true, ..Write::default() };
            let done =
                api.patch(&facts.resource, namespace, name, PatchKind::Apply, object, &write);
            done.expect("the object is applied");
        }
        Act::Delete(_) => {
            let done = api.delete(&facts.resource, namespace, name, &Deletion::default());
            done.expect("the object is deleted");
        }
    }
}

fn drain(changes: &Subscription) -> Vec<ObjectChange> {
    let mut drained = Vec::new();
    while let Some(event) = changes.try_next() {
        let object = event.object();
        drained.push(match event.kind {
            EventKind::Deleted => {
                let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
                ObjectChange::Deleted(uid.to_owned())
            }
            _ => ObjectChange::Changed((*object).clone()),
        });
    }
    drained
}
