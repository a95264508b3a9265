//! Accessors for fields of objects.

use kusion_model::Health;
use serde_json::Value;

/// Returns a whole number; 0 if there is none.
pub(super) fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

/// Returns a text; empty if there is none.
pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether a flag is set.
pub(super) fn flag(object: &Value, pointer: &str) -> bool {
    object.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
}

/// Returns the items of a list.
pub(super) fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the number of desired replicas; 1 by default.
pub(super) fn replicas(object: &Value) -> i64 {
    object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1)
}

/// Writes a number with its noun: `1 old pod`, `2 old pods`.
pub(super) fn count(number: i64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// One condition of a status.
#[derive(Clone, Copy)]
pub(super) struct Condition<'a> {
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
}

impl Condition<'_> {
    pub(super) fn is_true(&self) -> bool {
        self.status == "True"
    }

    pub(super) fn is_false(&self) -> bool {
        self.status == "False"
    }

    /// Returns the health of an object that failed because of this condition.
    pub(super) fn failed(&self) -> Health {
        Health::failed(self.reason, self.words())
    }

    /// Returns the health of a progressing object that is delayed by this condition.
    pub(super) fn stuck(&self) -> Health {
        stuck(self.reason, self.words())
    }

    /// Returns the message, or the reason if there is none.
    pub(super) fn words(&self) -> String {
        if self.message.is_empty() { self.reason.to_owned() } else { self.message.to_owned() }
    }
}

/// Finds a condition.
pub(super) fn condition<'a>(object: &'a Value, kind: &str) -> Option<Condition<'a>> {
    let found = list(object, "/status/conditions").iter();
    let found =
        found.into_iter().find(|it| it.get("type").and_then(Value::as_str) == Some(kind))?;
    let text = |name: &str| found.get(name).and_then(Value::as_str).unwrap_or_default();
    Some(Condition { status: text("status"), reason: text("reason"), message: text("message") })
}

/// Returns when a condition changed last.
pub(super) fn condition_time<'a>(object: &'a Value, kind: &str) -> Option<&'a str> {
    let mut conditions = list(object, "/status/conditions").iter();
    let found = conditions.find(|it| it.get("type").and_then(Value::as_str) == Some(kind))?;
    found.get("lastTransitionTime").and_then(Value::as_str)
}

/// Returns the health of an object whose latest update its controller has not processed.
pub(super) fn unseen(object: &Value) -> Option<Health> {
    let seen = number(object, "/status/observedGeneration");
    (seen < number(object, "/metadata/generation"))
        .then(|| Health::progressing("update not processed by its controller yet"))
}

/// Returns the health of a progressing object, with the reason of the delay.
pub(super) fn stuck(reason: &str, message: impl Into<String>) -> Health {
    let reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
    Health::delayed(reason, message)
}
