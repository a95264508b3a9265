//! Fields of features that a server does not have unless it is told to: they are dropped.

use crate::registry::Served;
use serde_json::Value;

/// Steps to a field; `*` stands for all items of a list.
type Steps = &'static [&'static str];

/// Fields of pods whose features are off by default.
const POD: &[Steps] = &[
    &["containers", "*", "lifecycle", "stopSignal"],
    &["initContainers", "*", "lifecycle", "stopSignal"],
    &["schedulingGroup"],
    &["volumes", "*", "projected", "sources", "*", "clusterTrustBundle"],
    &["volumes", "*", "projected", "sources", "*", "podCertificate"],
];

/// Where workloads have the spec of their pods.
const PODS: &[(&str, Steps)] = &[
    ("Pod", &["spec"]),
    ("PodTemplate", &["template", "spec"]),
    ("CronJob", &["spec", "jobTemplate", "spec", "template", "spec"]),
    ("DaemonSet", &["spec", "template", "spec"]),
    ("Deployment", &["spec", "template", "spec"]),
    ("Job", &["spec", "template", "spec"]),
    ("ReplicaSet", &["spec", "template", "spec"]),
    ("ReplicationController", &["spec", "template", "spec"]),
    ("StatefulSet", &["spec", "template", "spec"]),
];

/// Drops the fields of an object whose features are off.
pub(super) fn close(served: &Served, object: &mut Value) {
    if !served.is_builtin() {
        return;
    }
    if &*served.kind == "StatefulSet" {
        drop_field(object, &["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]);
    }
    let Some((_, steps)) = PODS.iter().find(|(kind, _)| *kind == &*served.kind) else { return };
    let spec = steps.iter().try_fold(object, |value, key| value.get_mut(*key));
    if let Some(spec) = spec {
        for field in POD {
            drop_field(spec, field);
        }
    }
}

/// Removes a field, and an object around it that it leaves empty (`lifecycle: {}`).
fn drop_field(value: &mut Value, steps: &[&str]) {
    match steps {
        [] => {}
        ["*", rest @ ..] => {
            for item in value.as_array_mut().into_iter().flatten() {
                drop_field(item, rest);
            }
        }
        [key] => {
            if let Some(map) = value.as_object_mut() {
                map.remove(*key);
            }
        }
        [key, rest @ ..] => {
            let Some(map) = value.as_object_mut() else { return };
            let Some(inner) = map.get_mut(*key) else { return };
            drop_field(inner, rest);
            if *key == "lifecycle" && inner.as_object().is_some_and(serde_json::Map::is_empty) {
                map.remove(*key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_named_fields_go() {
        let mut spec = json!({
            "containers": [{"lifecycle": {"stopSignal": "SIGHUP"}},
                {"lifecycle": {"stopSignal": "SIGHUP", "preStop": {}}}],
            "volumes": [{"projected": {"sources": [{"podCertificate": {}}, {"secret": {}}]}}],
            "schedulingGroup": {},
            "hostNetwork": true,
        });
        for field in POD {
            drop_field(&mut spec, field);
        }
        assert_eq!(
            spec,
            json!({
                "containers": [{}, {"lifecycle": {"preStop": {}}}],
                "volumes": [{"projected": {"sources": [{}, {"secret": {}}]}}],
                "hostNetwork": true,
            })
        );
    }
}
