//! Storage.

use super::report::{Report, amount, at, is_empty, items, join, text};
use serde_json::Value;

const ACCESS_MODES: &[&str] =
    &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES: &[&str] = &["Block", "Filesystem"];

/// A volume.
pub(super) fn volume(spec: &Value, report: &mut Report) {
    if is_empty(at(spec, "accessModes")) {
        report.required("spec.accessModes", "");
    }
    access_modes(spec, "spec", report);
    if is_empty(at(spec, "capacity")) {
        report.required("spec.capacity", "");
    }
    let storage = at(at(spec, "capacity"), "storage");
    if storage.is_null() {
        report.not_supported("spec.capacity", at(spec, "capacity"), &["storage"]);
    }
    let plain = [
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    ];
    let has_source =
        spec.as_object().is_some_and(|it| it.keys().any(|key| !plain.contains(&key.as_str())));
    if !has_source {
        report.required("spec", "must specify a volume type");
    }
    report.one_of_if_set(
        spec,
        "persistentVolumeReclaimPolicy",
        "spec",
        &["Delete", "Recycle", "Retain"],
    );
    report.one_of_if_set(spec, "volumeMode", "spec", VOLUME_MODES);
}

/// A claim for a volume.
pub(super) fn claim(spec: &Value, path: &str, report: &mut Report) {
    if is_empty(at(spec, "accessModes")) {
        report.required(join(path, "accessModes"), "at least 1 access mode is required");
    }
    access_modes(spec, path, report);
    let storage = at(at(at(spec, "resources"), "requests"), "storage");
    if storage.is_null() {
        report.required(format!("{path}.resources[storage]"), "");
    } else if amount(storage).is_some_and(|it| it.is_zero() || it.is_negative()) {
        report.invalid(format!("{path}.resources[storage]"), storage, "must be greater than zero");
    }
    report.one_of_if_set(spec, "volumeMode", path, VOLUME_MODES);
}

fn access_modes(spec: &Value, path: &str, report: &mut Report) {
    for (_, mode) in items(spec, "accessModes", path) {
        if mode.as_str().is_some_and(|mode| !ACCESS_MODES.contains(&mode)) {
            report.not_supported(join(path, "accessModes"), mode, ACCESS_MODES);
        }
    }
}

/// A class of storage.
pub(super) fn class(object: &Value, report: &mut Report) {
    if text(object, "provisioner").is_empty() {
        report.required("provisioner", "");
    }
    report.one_of_if_set(object, "reclaimPolicy", "", &["Delete", "Retain"]);
    report.one_of_if_set(object, "volumeBindingMode", "", &["Immediate", "WaitForFirstConsumer"]);
}
