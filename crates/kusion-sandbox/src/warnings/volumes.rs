//! Storage.

use super::{annotation, fraction, node_label, selector_term};
use crate::validate::{at, items, text};
use serde_json::Value;

/// Annotations of volumes and claims that are fields now.
const ANNOTATIONS: &[(&str, &str)] = &[
    (
        "volume.beta.kubernetes.io/storage-class",
        r#"deprecated since v1.8; use "storageClassName" attribute instead"#,
    ),
    (
        "volume.beta.kubernetes.io/mount-options",
        r#"deprecated since v1.31; use "mountOptions" attribute instead"#,
    ),
];

/// Kinds of volumes that are gone or about to go, in pods; `true` if volumes of their own can
/// be of the kind, too. The server spells two of them in its own way.
const SOURCES: &[(&str, &str, &str, bool)] = &[
    ("photonPersistentDisk", "", "deprecated in v1.11, non-functional in v1.16+", true),
    ("gitRepo", "", "deprecated in v1.11, and disabled by default in v1.33+", false),
    ("scaleIO", "", "deprecated in v1.16, non-functional in v1.22+", true),
    ("flocker", "", "deprecated in v1.22, non-functional in v1.25+", false),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+", true),
    ("quobyte", "", "deprecated in v1.22, non-functional in v1.25+", false),
    ("glusterfs", "", "deprecated in v1.25, non-functional in v1.26+", true),
    ("cephfs", "", "deprecated in v1.28, non-functional in v1.31+", true),
    ("rbd", "", "deprecated in v1.28, non-functional in v1.31+", true),
];

/// Warns about the kind of a volume.
pub(super) fn source(volume: &Value, path: &str, in_pod: bool, out: &mut Vec<String>) {
    for (kind, shown, message, own) in SOURCES {
        if (in_pod || *own) && !at(volume, kind).is_null() {
            let shown = if shown.is_empty() { kind } else { shown };
            out.push(format!("{path}.{shown}: {message}"));
        }
    }
}

/// Warns about a claim.
pub(super) fn claim(claim: &Value, out: &mut Vec<String>) {
    annotations(claim, &ANNOTATIONS[..1], out);
    claim_spec(at(claim, "spec"), "spec", out);
}

/// Warns about what a claim asks for.
pub(super) fn claim_spec(spec: &Value, path: &str, out: &mut Vec<String>) {
    for key in ["requests", "limits"] {
        let amounts = at(at(spec, "resources"), key);
        fraction(amounts, "storage", &format!("{path}.resources.{key}"), out);
    }
}

/// Warns about a volume.
pub(super) fn volume(volume: &Value, out: &mut Vec<String>) {
    let spec = at(volume, "spec");
    annotations(volume, ANNOTATIONS, out);
    if text(spec, "persistentVolumeReclaimPolicy") == "Recycle" {
        let message = "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is \
                       deprecated. Instead, the recommended approach is to use dynamic \
                       provisioning.";
        out.push(message.to_owned());
    }
    let required = at(at(spec, "nodeAffinity"), "required");
    for (path, term) in items(required, "nodeSelectorTerms", "spec.nodeAffinity.required") {
        selector_term(term, &path, false, out);
    }
    source(spec, "spec", false, out);
}

fn annotations(object: &Value, known: &[(&str, &str)], out: &mut Vec<String>) {
    for (key, message) in known {
        if annotation(object, key).is_some() {
            out.push(format!("metadata.annotations[{key}]: {message}"));
        }
    }
}

/// Warns about a class of storage.
pub(super) fn class(class: &Value, out: &mut Vec<String>) {
    for (path, topology) in items(class, "allowedTopologies", "") {
        for (path, expression) in items(topology, "matchLabelExpressions", &path) {
            if let Some(message) = node_label(text(expression, "key")) {
                out.push(format!("{path}.key: {message}"));
            }
        }
    }
}

/// Warns about a storage driver.
pub(super) fn driver(spec: &Value, out: &mut Vec<String>) {
    let asks = at(spec, "tokenRequests").as_array().is_some_and(|list| !list.is_empty());
    if asks && at(spec, "serviceAccountTokenInSecrets").is_null() {
        let message = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI \
                       driver, set to true to prevent possible logging of tokens in volume \
                       attributes";
        out.push(message.to_owned());
    }
}
