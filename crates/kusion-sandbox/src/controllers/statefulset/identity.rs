//! What makes a pod of a `StatefulSet` that very pod: name, labels, volumes.

use super::super::kind::Kind;
use super::super::meta::{self, items, set_label, text};
use super::super::revision::LABEL;
use super::super::template;
use super::claim_templates;
use serde_json::{Value, json};

const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

/// The name of the pod at a place.
pub(super) fn name(set: &Value, ordinal: i64) -> String {
    format!("{}-{ordinal}", meta::name(set))
}

/// The place of a pod; none when it has no name of the set.
pub(super) fn ordinal(set: &Value, pod: &Value) -> Option<i64> {
    let (parent, number) = meta::name(pod).rsplit_once('-')?;
    if parent != meta::name(set) || !number.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    number.parse().ok()
}

/// The pod for a place.
pub(super) fn pod(set: &Value, from: &Value, ordinal: i64, revision: &str) -> Value {
    let mut pod = template::pod(from, Kind::StatefulSet, set);
    meta::remove(&mut pod["metadata"], "generateName");
    pod["metadata"]["name"] = name(set, ordinal).into();
    pod["spec"]["hostname"] = name(set, ordinal).into();
    let service = text(&set["spec"]["serviceName"]);
    if !service.is_empty() {
        pod["spec"]["subdomain"] = service.into();
    }
    set_label(&mut pod, POD_NAME, name(set, ordinal));
    set_label(&mut pod, POD_INDEX, ordinal.to_string());
    set_label(&mut pod, LABEL, revision);
    set_volumes(set, &mut pod, ordinal);
    pod
}

fn set_volumes(set: &Value, pod: &mut Value, ordinal: i64) {
    let names: Vec<&str> =
        claim_templates(set).iter().map(|it| text(&it["metadata"]["name"])).collect();
    if names.is_empty() {
        return;
    }
    let mut volumes: Vec<Value> = names
        .iter()
        .map(|it| {
            json!({"name": it, "persistentVolumeClaim":
                {"claimName": claim_name(set, it, ordinal)}})
        })
        .collect();
    let others = items(&pod["spec"]["volumes"]).iter();
    volumes.extend(others.filter(|it| !names.contains(&text(&it["name"]))).cloned());
    pod["spec"]["volumes"] = volumes.into();
}

fn claim_name(set: &Value, template: &str, ordinal: i64) -> String {
    format!("{template}-{}-{ordinal}", meta::name(set))
}

/// The claims that the pod at a place needs.
pub(super) fn claims(set: &Value, ordinal: i64) -> Vec<Value> {
    let labels = &set["spec"]["selector"]["matchLabels"];
    claim_templates(set)
        .iter()
        .map(|template| {
            let mut claim = template.clone();
            let name = claim_name(set, text(&template["metadata"]["name"]), ordinal);
            claim["metadata"]["name"] = name.into();
            claim["metadata"]["namespace"] = meta::namespace(set).into();
            for (key, value) in labels.as_object().into_iter().flatten() {
                set_label(&mut claim, key, value.clone());
            }
            meta::remove(&mut claim, "status");
            if set["spec"]["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Delete" {
                let reference = meta::controller_reference(Kind::StatefulSet, set);
                claim["metadata"]["ownerReferences"] = json!([reference]);
            }
            claim
        })
        .collect()
}

/// The pod with its identity put right; none when it is right.
pub(super) fn repaired(set: &Value, pod: &Value, ordinal: i64) -> Option<Value> {
    let wanted = name(set, ordinal);
    let index = ordinal.to_string();
    if meta::label(pod, POD_NAME) == Some(&wanted) && meta::label(pod, POD_INDEX) == Some(&index) {
        return None;
    }
    let mut pod = pod.clone();
    set_label(&mut pod, POD_NAME, wanted);
    set_label(&mut pod, POD_INDEX, index);
    Some(pod)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_has_its_claims() {
        let set = json!({"metadata": {"name": "db", "namespace": "n", "uid": "u"}, "spec": {
            "serviceName": "svc", "selector": {"matchLabels": {"a": "b"}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}]}});
        let pod =
            pod(&set, &json!({"spec": {"volumes": [{"name": "data"}, {"name": "x"}]}}), 3, "r");
        assert_eq!(pod["metadata"]["name"], "db-3");
        assert_eq!(pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"], "data-db-3");
        assert_eq!(pod["spec"]["volumes"][1]["name"], "x");
        assert_eq!(claims(&set, 3)[0]["metadata"]["labels"]["a"], "b");
        assert_eq!(ordinal(&set, &pod), Some(3));
    }
}
