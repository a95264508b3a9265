//! The objects that a server has from its start, as it stores them: roles, priority levels and
//! served APIs.

use crate::builtin::decompress;
use serde_json::Value;
use std::io::Cursor;

/// The objects as compressed lines of JSON, recorded by `cargo xtask k8s-schema`.
const FILE: &[u8] = include_bytes!("../data/k8s-v1.36.first.json.zst");

/// Returns the objects, without what differs from server to server: uids, versions and times.
///
/// They are read one by one, so that they never are in memory all together.
///
/// # Panics
/// Never: the objects are part of the program, and a test reads them.
pub fn first_objects() -> impl Iterator<Item = Value> {
    let lines = decompress(FILE).expect("the recorded objects are whole: a test reads them");
    let reader = serde_json::Deserializer::from_reader(Cursor::new(lines));
    reader.into_iter::<Value>().map_while(Result::ok)
}

/// Returns the objects of a server in the form in which they are recorded.
///
/// One line per object.
pub fn first_objects_file(mut objects: Vec<Value>) -> String {
    for object in &mut objects {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            for key in ["uid", "resourceVersion", "creationTimestamp"] {
                metadata.remove(key);
            }
        }
        for entry in object["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
            entry["time"] = Value::Null;
        }
        if let Some(conditions) = object.get_mut("status").and_then(|it| it.get_mut("conditions")) {
            for condition in conditions.as_array_mut().into_iter().flatten() {
                condition["lastTransitionTime"] = Value::Null;
            }
        }
    }
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_objects_are_of_known_kinds() {
        let objects: Vec<Value> = first_objects().collect();
        assert!(objects.len() > 150, "{}", objects.len());
        for object in &objects {
            let text = |key: &str| object[key].as_str().unwrap_or_default();
            let (group, version) = text("apiVersion").split_once('/').unwrap_or_default();
            let known = crate::builtin().resource_of_kind(group, version, text("kind"));
            assert!(known.is_some(), "{object}");
            assert!(object["metadata"].get("uid").is_none());
        }
    }
}
