//! Events: what happened to an object, told to people.

use super::clock::rfc3339;
use super::kind::Kind;
use super::meta;
use super::world::World;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How many events are remembered for counting repeats.
const REMEMBERED: usize = 4096;
/// How many events that differ in their texts alone are told before they are combined.
const ALIKE: usize = 10;
/// The events about one object that a component tells in one go.
const BURST: i64 = 25;
/// After that, it may tell one more each time this has passed.
const REFILL_MS: i64 = 300_000;

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
    /// The texts of events that are the same otherwise.
    alike: FxHashMap<u64, FxHashSet<u64>>,
    /// How many more events may be told about an object, and since when.
    budgets: FxHashMap<u64, (i64, i64)>,
    serial: u64,
}

impl Recorder {
    /// Takes note of an event about an object; says whether it may be told.
    fn may_tell(&mut self, about: u64, now_ms: i64) -> bool {
        if self.budgets.len() >= REMEMBERED {
            self.budgets.clear();
        }
        let (left, since) = self.budgets.entry(about).or_insert((BURST, now_ms));
        let earned = (now_ms - *since) / REFILL_MS;
        *left = (*left + earned).min(BURST);
        *since += earned * REFILL_MS;
        *left -= 1;
        *left = (*left).max(-1);
        *left >= 0
    }

    /// Takes note of the text of an event; says whether it is one of too many.
    fn is_one_of_many(&mut self, group: u64, text: u64) -> bool {
        if self.alike.len() >= REMEMBERED {
            self.alike.clear();
        }
        let texts = self.alike.entry(group).or_default();
        if texts.len() >= ALIKE && !texts.contains(&text) {
            return true;
        }
        texts.insert(text);
        texts.len() > ALIKE
    }
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
    let hash = |parts: &[&str]| {
        let mut hasher = FxHasher::default();
        parts.hash(&mut hasher);
        hasher.finish()
    };
    let now = world.now();
    let about = hash(&[source.component, source.host, meta::uid(object)]);
    if !world.recorder.may_tell(about, now.as_millisecond()) {
        return;
    }
    let tone_word = if tone == Tone::Normal { "Normal" } else { "Warning" };
    let group = hash(&[source.component, source.host, meta::uid(object), tone_word, reason]);
    let combined = world.recorder.is_one_of_many(group, hash(&[message]));
    let message = &*if combined {
        Cow::from(format!("(combined from similar events): {message}"))
    } else {
        Cow::from(message)
    };
    let fingerprint =
        if combined { group } else { group ^ hash(&[field_path, message]).rotate_left(1) };
    if let Some(name) = world.recorder.recent.get(&fingerprint).cloned()
        && let Some(known) = world.get(Kind::Event, namespace, &name)
    {
        let mut event = (*known).clone();
        event["count"] = (meta::int(&event["count"], 1) + 1).into();
        event["lastTimestamp"] = rfc3339(now).into();
        event["message"] = message.into();
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
        "type": tone_word,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_differ_in_their_texts_alone_are_combined() {
        let mut recorder = Recorder::default();
        let combined: Vec<bool> = (0..12).map(|text| recorder.is_one_of_many(1, text)).collect();
        assert_eq!(combined, [vec![false; 10], vec![true; 2]].concat());
        assert!(!recorder.is_one_of_many(1, 3), "a known text is counted");
        assert!(!recorder.is_one_of_many(2, 11));
    }

    #[test]
    fn one_object_does_not_flood_the_events() {
        let mut recorder = Recorder::default();
        let told = (0..100).filter(|_| recorder.may_tell(7, 0)).count();
        assert_eq!(told, 25);
        assert!(recorder.may_tell(8, 0));
        assert!(recorder.may_tell(7, 2 * REFILL_MS));
    }
}
