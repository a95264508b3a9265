//! Events: what happened to an object, told to people.

use super::clock::rfc3339;
use super::kind::Kind;
use super::meta;
use super::world::World;
use rustc_hash::{FxHashMap, FxHasher};
use serde_json::{Value, json};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How many events are remembered for counting repeats.
const REMEMBERED: usize = 4096;

/// Whether an event is good news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// All is well.
    Normal,
    /// Someone should look.
    Warning,
}

/// Who tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    /// The component (`deployment-controller`).
    pub component: &'a str,
    /// The node on which it runs; empty when none.
    pub host: &'a str,
}

impl<'a> Source<'a> {
    /// A component that runs on no node in particular.
    pub(crate) fn component(component: &'a str) -> Self {
        Self { component, host: "" }
    }
}

/// The events that were told of late, so that repeats are counted and not told anew.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    recent: FxHashMap<u64, Arc<str>>,
    serial: u64,
}

/// Tells an event about an object. Failures are of no consequence.
pub(crate) fn record(
    world: &mut World,
    source: Source<'_>,
    kind: Kind,
    object: &Value,
    tone: Tone,
    reason: &str,
    message: &str,
) {
    record_at(world, source, kind, object, "", tone, (reason, message));
}

/// Tells an event about a part of an object (`spec.containers{web}`).
pub(crate) fn record_at(
    world: &mut World,
    source: Source<'_>,
    kind: Kind,
    object: &Value,
    field_path: &str,
    tone: Tone,
    (reason, message): (&str, &str),
) {
    let namespace = match meta::namespace(object) {
        "" => "default",
        it => it,
    };
    let mut hasher = FxHasher::default();
    (source.component, source.host, meta::uid(object), field_path).hash(&mut hasher);
    (tone == Tone::Warning, reason, message).hash(&mut hasher);
    let fingerprint = hasher.finish();
    let now = world.now();
    if let Some(name) = world.recorder.recent.get(&fingerprint).cloned()
        && let Some(known) = world.get(Kind::Event, namespace, &name)
    {
        let mut event = (*known).clone();
        event["count"] = (meta::int(&event["count"], 1) + 1).into();
        event["lastTimestamp"] = rfc3339(now).into();
        if world.update(Kind::Event, event).is_ok() {
            return;
        }
    }
    world.recorder.serial += 1;
    let nanos = now.as_nanosecond() + i128::from(world.recorder.serial);
    let name = format!("{}.{nanos:x}", meta::name(object));
    let mut involved = meta::object_reference(kind, object);
    involved["apiVersion"] = kind.api_version().into();
    involved["resourceVersion"] = object["metadata"]["resourceVersion"].clone();
    if !field_path.is_empty() {
        involved["fieldPath"] = field_path.into();
    }
    let mut from = json!({"component": source.component});
    if !source.host.is_empty() {
        from["host"] = source.host.into();
    }
    let event = json!({
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": involved,
        "reason": reason,
        "message": message,
        "source": from,
        "firstTimestamp": rfc3339(now),
        "lastTimestamp": rfc3339(now),
        "count": 1,
        "type": if tone == Tone::Normal { "Normal" } else { "Warning" },
        "eventTime": null,
        "reportingComponent": source.component,
        "reportingInstance": source.host,
    });
    if world.create_as(source.component, Kind::Event, namespace, event).is_ok() {
        if world.recorder.recent.len() >= REMEMBERED {
            world.recorder.recent.clear();
        }
        world.recorder.recent.insert(fingerprint, name.into());
    }
}
