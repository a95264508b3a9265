//! Warnings of the server: events of type `Warning`, by object.

use kusion_model::Warning;
use serde_json::Value;
use std::collections::HashMap;

/// Selects the events that count.
pub(super) const SELECTOR: &str = "type=Warning";
/// Maximum number of reported warnings about one object.
const TOLD: usize = 3;
/// Maximum number of stored warnings about one object.
const KEPT: usize = 16;

/// One event.
struct Entry {
    uid: String,
    /// When it happened last, to the second.
    last: String,
    warning: Warning,
}

/// All warnings.
#[derive(Default)]
pub(super) struct Warnings {
    /// By the uid of the object, the newest first.
    about: HashMap<String, Vec<Entry>>,
    /// The uid of the object that each event is about.
    objects: HashMap<String, String>,
}

impl Warnings {
    /// Adds an event; returns the uid of the object that it is about.
    pub(super) fn put(&mut self, event: &Value) -> Option<String> {
        let uid = text(event, "/metadata/uid")?;
        let object = text(event, "/involvedObject/uid")?;
        if text(event, "/type") != Some("Warning") {
            return None;
        }
        let times = [
            "/series/lastObservedTime",
            "/lastTimestamp",
            "/eventTime",
            "/firstTimestamp",
            "/metadata/creationTimestamp",
        ];
        let first = ["/firstTimestamp", "/eventTime", "/metadata/creationTimestamp"];
        let time = |places: &[&str]| places.iter().find_map(|it| text(event, it));
        let warning = Warning {
            reason: text(event, "/reason").unwrap_or("Warning").to_owned(),
            message: text(event, "/message").unwrap_or_default().trim().to_owned(),
            since: time(&first).map(str::to_owned),
        };
        let last = to_second(time(&times).unwrap_or_default()).to_owned();
        let entries = self.about.entry(object.to_owned()).or_default();
        entries.retain(|it| it.uid != uid);
        let place = entries.partition_point(|it| it.last > last);
        entries.insert(place, Entry { uid: uid.to_owned(), last, warning });
        for old in entries.drain(KEPT.min(entries.len())..) {
            self.objects.remove(&old.uid);
        }
        self.objects.insert(uid.to_owned(), object.to_owned());
        Some(object.to_owned())
    }

    /// Removes an event; returns the uid of the object that it was about.
    pub(super) fn remove(&mut self, uid: &str) -> Option<String> {
        let object = self.objects.remove(uid)?;
        if let Some(entries) = self.about.get_mut(&object) {
            entries.retain(|it| it.uid != uid);
            if entries.is_empty() {
                self.about.remove(&object);
            }
        }
        Some(object)
    }

    /// Returns the newest warnings about an object; those before its latest step are over.
    pub(super) fn of(&self, uid: &str, latest_step: &str) -> Vec<Warning> {
        let entries = self.about.get(uid).map_or(&[][..], Vec::as_slice);
        let is_new = |it: &&Entry| it.last.is_empty() || it.last.as_str() >= latest_step;
        let mut warnings: Vec<Warning> = Vec::new();
        for entry in entries.iter().take_while(is_new) {
            let is_known = |it: &Warning| it.message == entry.warning.message;
            if warnings.len() < TOLD && !warnings.iter().any(is_known) {
                warnings.push(entry.warning.clone());
            }
        }
        warnings
    }
}

/// Returns when an object changed last, to the second: one of its conditions, or the creation of
/// an object for it.
pub(super) fn latest_step<'a>(object: &'a Value, made: impl Iterator<Item = &'a Value>) -> &'a str {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let changed = conditions
        .into_iter()
        .flatten()
        .filter_map(|it| it.get("lastTransitionTime").and_then(Value::as_str));
    let made = made.filter_map(|it| text(it, "/metadata/creationTimestamp"));
    changed.chain(made).map(to_second).max().unwrap_or_default()
}

/// Cuts `2026-01-01T00:00:30.123Z` to seconds, so that times can be compared as texts.
fn to_second(time: &str) -> &str {
    time.get(..19).unwrap_or_default()
}

fn text<'a>(object: &'a Value, pointer: &str) -> Option<&'a str> {
    object.pointer(pointer).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(uid: &str, reason: &str, last: &str) -> Value {
        json!({"metadata": {"uid": uid}, "involvedObject": {"uid": "pod"}, "type": "Warning",
            "reason": reason, "message": format!("{reason} happened"), "lastTimestamp": last,
            "firstTimestamp": "2026-01-01T00:00:00Z"})
    }

    fn reasons(warnings: &Warnings, latest_step: &str) -> Vec<String> {
        warnings.of("pod", latest_step).into_iter().map(|it| it.reason).collect()
    }

    #[test]
    fn the_newest_warnings_come_first_and_old_ones_are_over() {
        let mut warnings = Warnings::default();
        warnings.put(&event("a", "FailedScheduling", "2026-01-01T00:00:10Z"));
        let newer = event("b", "FailedMount", "2026-01-01T00:00:20.123456Z");
        assert_eq!(warnings.put(&newer).as_deref(), Some("pod"));
        assert_eq!(reasons(&warnings, ""), ["FailedMount", "FailedScheduling"]);
        assert_eq!(reasons(&warnings, "2026-01-01T00:00:20"), ["FailedMount"]);
        // A repeated event moves to the front.
        warnings.put(&event("a", "FailedScheduling", "2026-01-01T00:00:30Z"));
        assert_eq!(reasons(&warnings, ""), ["FailedScheduling", "FailedMount"]);
        assert_eq!(warnings.remove("a").as_deref(), Some("pod"));
        assert_eq!(reasons(&warnings, ""), ["FailedMount"]);
        assert_eq!(warnings.remove("a"), None);
        let mut normal = event("c", "Pulled", "2026-01-01T00:00:40Z");
        normal["type"] = "Normal".into();
        assert_eq!(warnings.put(&normal), None);
    }

    #[test]
    fn no_more_warnings_are_kept_than_are_of_use() {
        let mut warnings = Warnings::default();
        for number in 0..100 {
            let (uid, second) = (format!("e{number}"), number % 60);
            warnings.put(&event(
                &uid,
                &uid,
                &format!("2026-01-01T00:{:02}:{second:02}Z", number / 60),
            ));
        }
        assert_eq!(reasons(&warnings, ""), ["e99", "e98", "e97"]);
        assert_eq!((warnings.about["pod"].len(), warnings.objects.len()), (KEPT, KEPT));
    }

    #[test]
    fn steps_are_conditions_and_what_was_made() {
        let pod = json!({"status": {"conditions": [
            {"lastTransitionTime": "2026-01-01T00:00:10Z"},
            {"lastTransitionTime": "2026-01-01T00:00:05Z"}, {}]}});
        assert_eq!(latest_step(&pod, std::iter::empty()), "2026-01-01T00:00:10");
        let made = json!({"metadata": {"creationTimestamp": "2026-01-01T00:00:11Z"}});
        assert_eq!(latest_step(&pod, [&made].into_iter()), "2026-01-01T00:00:11");
    }
}
