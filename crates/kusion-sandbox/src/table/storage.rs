//! Volumes and storage classes.

use super::Layout;
use super::duration::age;
use super::words::{UNSET, items, number, text, text_or};
use serde_json::Value;

/// Returns how a storage kind is shown.
pub(super) fn layout(group: &str, kind: &str) -> Option<Layout> {
    Some(match (group, kind) {
        ("", "PersistentVolume") => Layout {
            columns: &[
                "Name",
                "Capacity",
                "Access Modes",
                "Reclaim Policy",
                "Status",
                "Claim",
                "StorageClass",
                "VolumeAttributesClass",
                "Reason",
                "Age",
                "VolumeMode*",
            ],
            cells: volume,
        },
        ("", "PersistentVolumeClaim") => Layout {
            columns: &[
                "Name",
                "Status",
                "Volume",
                "Capacity",
                "Access Modes",
                "StorageClass",
                "VolumeAttributesClass",
                "Age",
                "VolumeMode*",
            ],
            cells: claim,
        },
        ("storage.k8s.io", "StorageClass") => Layout {
            columns: &[
                "Name ",
                "Provisioner",
                "ReclaimPolicy",
                "VolumeBindingMode",
                "AllowVolumeExpansion",
                "Age",
            ],
            cells: class,
        },
        ("storage.k8s.io", "CSINode") => Layout {
            columns: &["Name", "Drivers:integer", "Age"],
            cells: |it| vec![items(&it["spec"]["drivers"]).len().into(), age(it)],
        },
        ("storage.k8s.io", "VolumeAttachment") => Layout {
            columns: &["Name", "Attacher", "PV", "Node", "Attached:boolean", "Age"],
            cells: |it| {
                vec![
                    text(&it["spec"]["attacher"]).into(),
                    text(&it["spec"]["source"]["persistentVolumeName"]).into(),
                    text(&it["spec"]["nodeName"]).into(),
                    (it["status"]["attached"] == true).into(),
                    age(it),
                ]
            },
        },
        ("storage.k8s.io", "VolumeAttributesClass") => Layout {
            columns: &["Name", "DriverName", "Age"],
            cells: |it| vec![text(&it["driverName"]).into(), age(it)],
        },
        _ => return None,
    })
}

fn modes(value: &Value) -> String {
    let short = |mode: &Value| match text(mode) {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        _ => "",
    };
    let found: Vec<&str> = items(value).iter().map(short).collect();
    ["RWO", "ROX", "RWX", "RWOP"]
        .into_iter()
        .filter(|mode| found.contains(mode))
        .collect::<Vec<_>>()
        .join(",")
}

fn phase(it: &Value) -> Value {
    if it["metadata"]["deletionTimestamp"].is_null() {
        text(&it["status"]["phase"]).into()
    } else {
        "Terminating".into()
    }
}

fn volume(it: &Value) -> Vec<Value> {
    let spec = &it["spec"];
    let claim = &spec["claimRef"];
    let claim = if claim.is_null() {
        String::new()
    } else {
        format!("{}/{}", text(&claim["namespace"]), text(&claim["name"]))
    };
    vec![
        text(&spec["capacity"]["storage"]).into(),
        modes(&spec["accessModes"]).into(),
        text(&spec["persistentVolumeReclaimPolicy"]).into(),
        phase(it),
        claim.into(),
        text(&spec["storageClassName"]).into(),
        text_or(&spec["volumeAttributesClassName"], UNSET).into(),
        text(&it["status"]["reason"]).into(),
        age(it),
        text_or(&spec["volumeMode"], UNSET).into(),
    ]
}

fn claim(it: &Value) -> Vec<Value> {
    let (spec, status) = (&it["spec"], &it["status"]);
    let bound = !text(&spec["volumeName"]).is_empty();
    let shown = |text: String| if bound { text } else { String::new() };
    vec![
        phase(it),
        text(&spec["volumeName"]).into(),
        shown(text(&status["capacity"]["storage"]).to_owned()).into(),
        shown(modes(&status["accessModes"])).into(),
        text(&spec["storageClassName"]).into(),
        text_or(&spec["volumeAttributesClassName"], UNSET).into(),
        age(it),
        text_or(&spec["volumeMode"], UNSET).into(),
    ]
}

fn class(it: &Value) -> Vec<Value> {
    let mut name = text(&it["metadata"]["name"]).to_owned();
    let mark = &it["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"];
    if text(mark) == "true" {
        name.push_str(" (default)");
    }
    vec![
        name.into(),
        text(&it["provisioner"]).into(),
        text_or(&it["reclaimPolicy"], "Delete").into(),
        text_or(&it["volumeBindingMode"], "Immediate").into(),
        (it["allowVolumeExpansion"] == true).into(),
        age(it),
    ]
}

/// Returns a count of keys.
pub(super) fn size(value: &Value) -> i64 {
    value.as_object().map_or(0, |map| map.len() as i64) + number(value)
}
