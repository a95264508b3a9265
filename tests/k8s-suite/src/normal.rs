//! Makes answers comparable: what differs by nature is replaced by a mark.

use serde_json::{Map, Value};

/// Keys whose values differ from run to run.
const FLEETING: &[&str] = &[
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "lastTransitionTime",
    "lastUpdateTime",
    "lastHeartbeatTime",
    "lastProbeTime",
    "lastPhaseTransitionTime",
    "storageVersionHash",
    "lastScheduleTime",
    "lastSuccessfulTime",
    "startTime",
    "startedAt",
    "completionTime",
    "firstTimestamp",
    "lastTimestamp",
    "eventTime",
    "renewTime",
    "acquireTime",
    "clusterIP",
    "clusterIPs",
    "podIP",
    "podIPs",
    "hostIP",
    "hostIPs",
    "nodePort",
    "continue",
    "hash",
    "remainingItemCount",
    "serverAddressByClientCIDRs",
    "expirationTimestamp",
    "token",
    "nodeName",
];

/// Managers that write at a time of their own.
const RECONCILERS: &[&str] = &["kube-controller-manager", "kube-scheduler", "kubelet"];

/// Replaces what differs by nature.
pub(crate) fn normalise(value: &mut Value, id: &str, uids: &[String]) {
    match value {
        Value::Object(map) => normalise_object(map, id, uids),
        Value::Array(items) => items.iter_mut().for_each(|item| normalise(item, id, uids)),
        Value::String(text) => normalise_text(text, id, uids),
        _ => {}
    }
}

fn normalise_object(map: &mut Map<String, Value>, id: &str, uids: &[String]) {
    // Maps are keyed by names, and names may hold the mark of the run.
    let keys: Vec<String> = map.keys().filter(|key| key.contains(id)).cloned().collect();
    for key in keys {
        if let Some(value) = map.remove(&key) {
            map.insert(key.replace(id, "$id"), value);
        }
    }
    for (key, value) in map.iter_mut() {
        let written = match value {
            Value::String(text) => !text.is_empty() && text != "None",
            Value::Null => false,
            Value::Object(_) => key == "serverAddressByClientCIDRs",
            _ => true,
        };
        if FLEETING.contains(&key.as_str()) && written {
            *value = Value::String(format!("<{key}>"));
        } else {
            normalise(value, id, uids);
        }
    }
    // What reconcilers write comes when it comes.
    map.remove("deployment.kubernetes.io/revision");
    if map.get("annotations").is_some_and(|it| it.as_object().is_some_and(Map::is_empty)) {
        map.remove("annotations");
    }
    if let Some(Value::Array(columns)) = map.get_mut("columnDefinitions") {
        // What a column holds is told in words of one's own.
        columns.iter_mut().filter_map(Value::as_object_mut).for_each(|column| {
            column.remove("description");
        });
    }
    if let Some(Value::Array(causes)) = map.get_mut("causes") {
        causes.sort_by_cached_key(ToString::to_string);
    }
    if let Some(Value::Array(entries)) = map.get_mut("managedFields") {
        entries.retain(|it| {
            it["manager"].as_str().is_none_or(|manager| !RECONCILERS.contains(&manager))
        });
        for entry in entries.iter_mut() {
            if let Some(time) = entry.get_mut("time") {
                *time = "<time>".into();
            }
        }
        entries.sort_by_cached_key(ToString::to_string);
    }
}

fn normalise_text(text: &mut String, id: &str, uids: &[String]) {
    if text.contains(id) {
        *text = text.replace(id, "$id");
    }
    if let Some(volume) = text.strip_prefix("kube-api-access-").filter(|it| it.len() == 5) {
        *text = text.replace(volume, "<suffix>");
    }
    if is_age(text) {
        "<age>".clone_into(text);
    }
    for uid in uids {
        if text.contains(uid.as_str()) {
            *text = text.replace(uid.as_str(), "<uid>");
        }
    }
}

/// Whether a text is an age as tables show it, such as `5m10s`.
fn is_age(text: &str) -> bool {
    let digits_and_units =
        text.bytes().all(|byte| byte.is_ascii_digit() || b"smhdy".contains(&byte));
    digits_and_units
        && text.starts_with(|first: char| first.is_ascii_digit())
        && text.ends_with(|last: char| last.is_ascii_lowercase())
}

/// Collects all uids of an answer.
pub(crate) fn collect_uids(value: &Value, uids: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "uid" && text.len() > 8 => {
                        if !uids.contains(text) {
                            uids.push(text.clone());
                        }
                    }
                    _ => collect_uids(value, uids),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_uids(item, uids)),
        _ => {}
    }
}

/// Keeps the named parts only.
pub(crate) fn only(value: &Value, pointers: &[String]) -> Value {
    let mut kept = Map::new();
    for pointer in pointers {
        let mut found = Vec::new();
        visit(value, &segments(pointer), &mut |part| found.push(part.clone()));
        kept.insert(pointer.clone(), Value::Array(found));
    }
    Value::Object(kept)
}

/// Removes the named parts.
pub(crate) fn without(value: &mut Value, pointers: &[String]) {
    for pointer in pointers {
        remove(value, &segments(pointer));
    }
}

fn segments(pointer: &str) -> Vec<String> {
    let parts = pointer.split('/').skip(1);
    parts.map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

fn visit(value: &Value, path: &[String], found: &mut impl FnMut(&Value)) {
    let Some((first, rest)) = path.split_first() else { return found(value) };
    match value {
        Value::Array(items) if first == "*" => items.iter().for_each(|it| visit(it, rest, found)),
        Value::Array(items) => {
            if let Some(item) = first.parse().ok().and_then(|at: usize| items.get(at)) {
                visit(item, rest, found);
            }
        }
        Value::Object(map) if first == "*" => map.values().for_each(|it| visit(it, rest, found)),
        Value::Object(map) => {
            if let Some(value) = map.get(first) {
                visit(value, rest, found);
            }
        }
        _ => {}
    }
}

fn remove(value: &mut Value, path: &[String]) {
    let Some((first, rest)) = path.split_first() else { return };
    match value {
        Value::Array(items) if first == "*" => items.iter_mut().for_each(|it| remove(it, rest)),
        Value::Array(items) => {
            if let Some(item) = first.parse().ok().and_then(|at: usize| items.get_mut(at)) {
                remove(item, rest);
            }
        }
        Value::Object(map) if first == "*" => map.values_mut().for_each(|it| remove(it, rest)),
        Value::Object(map) if rest.is_empty() => {
            map.remove(first);
        }
        Value::Object(map) => {
            if let Some(value) = map.get_mut(first) {
                remove(value, rest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fleeting_values_become_marks() {
        let mut value = json!({
            "metadata": {"uid": "1-2-3-4-5-6-7", "name": "c-qqq", "resourceVersion": "7"},
            "message": "uid 1-2-3-4-5-6-7", "spec": {"clusterIP": "None"}
        });
        let mut uids = Vec::new();
        collect_uids(&value, &mut uids);
        normalise(&mut value, "qqq", &uids);
        let want = json!({
            "metadata": {"uid": "<uid>", "name": "c-$id", "resourceVersion": "<resourceVersion>"},
            "message": "uid <uid>", "spec": {"clusterIP": "None"}
        });
        assert_eq!(value, want);
    }

    #[test]
    fn parts_are_kept_or_removed_by_pointers() {
        let mut value = json!({"items": [{"a": 1, "b": 2}, {"a": 3}]});
        assert_eq!(only(&value, &["/items/*/a".into()]), json!({"/items/*/a": [1, 3]}));
        without(&mut value, &["/items/*/a".into()]);
        assert_eq!(value, json!({"items": [{"b": 2}, {}]}));
    }
}
