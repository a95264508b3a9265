//! Reading and writing the parts that all objects share: metadata, owners, conditions.

use super::clock::parse_time;
use super::kind::Kind;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The label that names the service of an endpoint slice.
pub(crate) const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// `metadata.name`.
pub(crate) fn name(object: &Value) -> &str {
    text(&object["metadata"]["name"])
}

/// `metadata.namespace`; empty for cluster-scoped objects.
pub(crate) fn namespace(object: &Value) -> &str {
    text(&object["metadata"]["namespace"])
}

/// `metadata.uid`.
pub(crate) fn uid(object: &Value) -> &str {
    text(&object["metadata"]["uid"])
}

/// `metadata.generation`.
pub(crate) fn generation(object: &Value) -> i64 {
    int(&object["metadata"]["generation"], 0)
}

/// Whether deletion has begun.
pub(crate) fn is_deleting(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// `metadata.creationTimestamp`.
pub(crate) fn created(object: &Value) -> Option<Timestamp> {
    time(&object["metadata"]["creationTimestamp"])
}

/// The text of a value; empty when it is none.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The number of a value, or `default`.
pub(crate) fn int(value: &Value, default: i64) -> i64 {
    value.as_i64().unwrap_or(default)
}

/// The time of a value.
pub(crate) fn time(value: &Value) -> Option<Timestamp> {
    value.as_str().and_then(parse_time)
}

/// The elements of a list; none when the value is no list.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The value of a label; none when absent.
pub(crate) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["labels"].get(key).and_then(Value::as_str)
}

/// The value of an annotation; none when absent.
pub(crate) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["annotations"].get(key).and_then(Value::as_str)
}

/// Sets an annotation.
pub(crate) fn set_annotation(object: &mut Value, key: &str, value: impl Into<Value>) {
    let annotations = &mut object["metadata"]["annotations"];
    if !annotations.is_object() {
        *annotations = Value::Object(Map::new());
    }
    annotations[key] = value.into();
}

/// Sets a label.
pub(crate) fn set_label(object: &mut Value, key: &str, value: impl Into<Value>) {
    let labels = &mut object["metadata"]["labels"];
    if !labels.is_object() {
        *labels = Value::Object(Map::new());
    }
    labels[key] = value.into();
}

/// Whether a finalizer is among `metadata.finalizers`.
pub(crate) fn has_finalizer(object: &Value, finalizer: &str) -> bool {
    items(&object["metadata"]["finalizers"]).iter().any(|it| it == finalizer)
}

/// Takes a finalizer out; says whether it was there.
pub(crate) fn remove_finalizer(object: &mut Value, finalizer: &str) -> bool {
    let Some(list) = list_mut(object, &["metadata", "finalizers"]) else { return false };
    let before = list.len();
    list.retain(|it| it != finalizer);
    let removed = list.len() != before;
    if list.is_empty() {
        remove(&mut object["metadata"], "finalizers");
    }
    removed
}

/// The owner references of an object.
pub(crate) fn owners(object: &Value) -> &[Value] {
    items(&object["metadata"]["ownerReferences"])
}

/// The owner reference that says `controller: true`.
pub(crate) fn controller(object: &Value) -> Option<&Value> {
    owners(object).iter().find(|it| it["controller"] == true)
}

/// Whether `owner` controls `object`.
pub(crate) fn is_controlled_by(object: &Value, owner: &Value) -> bool {
    controller(object).is_some_and(|it| it["uid"] == owner["metadata"]["uid"])
}

/// An owner reference of a controller to its dependent.
pub(crate) fn controller_reference(kind: Kind, owner: &Value) -> Value {
    json!({
        "apiVersion": kind.api_version(),
        "kind": kind.name(),
        "name": name(owner),
        "uid": uid(owner),
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// A reference to an object as events and addresses carry it.
pub(crate) fn object_reference(kind: Kind, object: &Value) -> Value {
    let mut reference = json!({
        "kind": kind.name(),
        "name": name(object),
        "uid": uid(object),
    });
    if !namespace(object).is_empty() {
        reference["namespace"] = namespace(object).into();
    }
    reference
}

/// A condition of the status.
pub(crate) fn condition<'a>(object: &'a Value, type_: &str) -> Option<&'a Value> {
    items(&object["status"]["conditions"]).iter().find(|it| it["type"] == type_)
}

/// Whether a condition has status `True`.
pub(crate) fn is_true(object: &Value, type_: &str) -> bool {
    condition(object, type_).is_some_and(|it| it["status"] == "True")
}

/// Sets a condition in a list of conditions. The time of transition moves only when the status
/// changes; other fields are replaced. Says whether anything changed.
pub(crate) fn set_condition(conditions: &mut Value, mut new: Value, now: &str) -> bool {
    if !conditions.is_array() {
        *conditions = Value::Array(Vec::new());
    }
    let Some(list) = conditions.as_array_mut() else { return false };
    let old = list.iter_mut().find(|it| it["type"] == new["type"]);
    let same_status = old.as_ref().is_some_and(|it| it["status"] == new["status"]);
    new["lastTransitionTime"] = match &old {
        Some(it) if same_status => it["lastTransitionTime"].clone(),
        _ => now.into(),
    };
    match old {
        Some(it) if *it == new => false,
        Some(it) => {
            *it = new;
            true
        }
        None => {
            list.push(new);
            true
        }
    }
}

/// Removes a condition from a status; a list that is empty then goes too.
pub(crate) fn remove_condition(status: &mut Value, type_: &str) {
    if let Some(list) = list_mut(status, &["conditions"]) {
        list.retain(|it| it["type"] != type_);
        if list.is_empty() {
            remove(status, "conditions");
        }
    }
}

/// The list at a path, without making what is missing.
pub(crate) fn list_mut<'a>(value: &'a mut Value, path: &[&str]) -> Option<&'a mut Vec<Value>> {
    let mut here = value;
    for key in path {
        here = here.get_mut(*key)?;
    }
    here.as_array_mut()
}

/// Adds an element to the list of a key, made when it is missing.
pub(crate) fn push(value: &mut Value, key: &str, element: Value) {
    match value.get_mut(key).and_then(Value::as_array_mut) {
        Some(list) => list.push(element),
        None => {
            if let Some(map) = value.as_object_mut() {
                map.insert(key.to_owned(), Value::Array(vec![element]));
            }
        }
    }
}

/// Whether a pod has the condition `Ready`.
pub(crate) fn is_pod_ready(pod: &Value) -> bool {
    is_true(pod, "Ready")
}

/// Whether a pod counts: not finished, not on its way out.
pub(crate) fn is_pod_active(pod: &Value) -> bool {
    !is_pod_finished(pod) && !is_deleting(pod)
}

/// Whether a pod has ended, well or not.
pub(crate) fn is_pod_finished(pod: &Value) -> bool {
    matches!(text(&pod["status"]["phase"]), "Succeeded" | "Failed")
}

/// Whether a pod has been ready for `min_ready_seconds`; otherwise the seconds that are missing,
/// none when it is not ready.
pub(crate) fn pod_available(
    pod: &Value,
    min_ready_seconds: i64,
    now: Timestamp,
) -> Result<(), Option<i64>> {
    let ready = condition(pod, "Ready").filter(|it| it["status"] == "True").ok_or(None)?;
    if min_ready_seconds == 0 {
        return Ok(());
    }
    let since = time(&ready["lastTransitionTime"]).ok_or(None)?;
    let rest = since.as_second() + min_ready_seconds - now.as_second();
    if rest <= 0 { Ok(()) } else { Err(Some(rest)) }
}

/// Removes a key of an object value.
pub(crate) fn remove(value: &mut Value, key: &str) -> Option<Value> {
    value.as_object_mut().and_then(|it| it.remove(key))
}

/// Sets a count in a status, leaving it out when zero (as fields with `omitempty` are).
pub(crate) fn set_count(status: &mut Value, key: &str, count: i64) {
    if count == 0 {
        remove(status, key);
    } else {
        status[key] = count.into();
    }
}

/// Resolves an int-or-percent against a total.
pub(crate) fn scaled(value: &Value, total: i64, round_up: bool) -> i64 {
    match value {
        Value::Number(number) => number.as_i64().unwrap_or(0),
        Value::String(text) => {
            let percent: i64 = text.trim_end_matches('%').parse().unwrap_or(0);
            let product = percent.saturating_mul(total);
            if round_up { (product + 99).div_euclid(100) } else { product.div_euclid(100) }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transition_time_stays_while_the_status_stays() {
        let mut list = Value::Null;
        assert!(set_condition(&mut list, json!({"type": "A", "status": "True"}), "1"));
        assert!(set_condition(
            &mut list,
            json!({"type": "A", "status": "True", "reason": "r"}),
            "2"
        ));
        assert!(!set_condition(
            &mut list,
            json!({"type": "A", "status": "True", "reason": "r"}),
            "3"
        ));
        assert_eq!(list[0]["lastTransitionTime"], "1");
        assert!(set_condition(&mut list, json!({"type": "A", "status": "False"}), "4"));
        assert_eq!(list[0]["lastTransitionTime"], "4");
    }

    #[test]
    fn percentages_round_as_asked() {
        assert_eq!(scaled(&json!("25%"), 10, true), 3);
        assert_eq!(scaled(&json!("25%"), 10, false), 2);
        assert_eq!(scaled(&json!(4), 10, false), 4);
    }
}
