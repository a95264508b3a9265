//! Configuration, storage, access and other kinds.

use super::{Object, child, items, made, set, set_number, set_text, spec, text};
use data_encoding::BASE64;
use serde_json::{Value, json};

/// A secret.
pub(super) fn secret(object: &mut Object) {
    set_text(object, "type", "Opaque");
    let Some(Value::Object(texts)) = object.remove("stringData") else { return };
    let data = made(object, "data");
    for (key, value) in texts {
        let encoded = BASE64.encode(value.as_str().unwrap_or_default().as_bytes());
        data.insert(key, encoded.into());
    }
}

/// A namespace carries its name as a label.
pub(super) fn namespace(object: &mut Object) {
    let metadata = made(object, "metadata");
    let name = text(metadata, "name").to_owned();
    if !name.is_empty() {
        made(metadata, "labels").insert("kubernetes.io/metadata.name".into(), name.into());
    }
}

/// Limits: what is not said follows from the neighbours.
pub(super) fn limit_range(object: &mut Object) {
    for limit in items(spec(object), "limits") {
        if text(limit, "type") != "Container" {
            continue;
        }
        for (key, source) in
            [("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")]
        {
            let Some(from) = limit.get(source).and_then(Value::as_object).cloned() else {
                continue;
            };
            let to = made(limit, key);
            for (name, value) in from {
                to.entry(name).or_insert(value);
            }
        }
    }
}

/// A volume.
pub(super) fn volume(object: &mut Object) {
    let volume = spec(object);
    set_text(volume, "persistentVolumeReclaimPolicy", "Retain");
    set_text(volume, "volumeMode", "Filesystem");
    super::pod::volume_source(volume);
    set_text(made(object, "status"), "phase", "Pending");
}

/// A claim for a volume.
pub(super) fn claim(object: &mut Object) {
    set_text(spec(object), "volumeMode", "Filesystem");
    set_text(made(object, "status"), "phase", "Pending");
}

/// A class of storage.
pub(super) fn storage_class(object: &mut Object) {
    set_text(object, "reclaimPolicy", "Delete");
    set_text(object, "volumeBindingMode", "Immediate");
}

/// A claim for devices.
pub(super) fn resource_claim(spec: &mut Object) {
    let Some(devices) = child(spec, "devices") else { return };
    for request in items(devices, "requests") {
        if let Some(exactly) = child(request, "exactly") {
            device_request(exactly);
        }
        for alternative in items(request, "firstAvailable") {
            device_request(alternative);
        }
    }
}

fn device_request(request: &mut Object) {
    set_text(request, "allocationMode", "ExactCount");
    if text(request, "allocationMode") == "ExactCount" {
        set_number(request, "count", 1);
    }
}

/// A storage driver.
pub(super) fn csi_driver(object: &mut Object) {
    let driver = spec(object);
    set(driver, "attachRequired", true);
    set(driver, "podInfoOnMount", false);
    set(driver, "storageCapacity", false);
    set(driver, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    set(driver, "volumeLifecycleModes", json!(["Persistent"]));
    set(driver, "requiresRepublish", false);
    set(driver, "seLinuxMount", false);
}

/// Who may do what.
pub(super) fn binding(object: &mut Object) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    if let Some(role) = child(object, "roleRef") {
        set_text(role, "apiGroup", GROUP);
    }
    for subject in items(object, "subjects") {
        if matches!(text(subject, "kind"), "User" | "Group") {
            set_text(subject, "apiGroup", GROUP);
        }
    }
}

/// The definition of a custom kind.
pub(super) fn definition(object: &mut Object) {
    let definition = spec(object);
    if let Some(names) = child(definition, "names") {
        let kind = text(names, "kind").to_owned();
        if !kind.is_empty() {
            set_text(names, "singular", &kind.to_lowercase());
            set_text(names, "listKind", &format!("{kind}List"));
        }
    }
    set_text(made(definition, "conversion"), "strategy", "None");
}
