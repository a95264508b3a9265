//! Configuration, access and everything else.

use super::Layout;
use super::duration::age;
use super::storage::size;
use super::words::{items, number, text, text_or};
use serde_json::Value;

/// Returns how one of these kinds is shown.
pub(super) fn layout(group: &str, kind: &str) -> Option<Layout> {
    core(group, kind).or_else(|| others(group, kind))
}

fn core(group: &str, kind: &str) -> Option<Layout> {
    Some(match (group, kind) {
        ("", "ConfigMap") => Layout {
            columns: &["Name", "Data", "Age"],
            cells: |it| vec![(size(&it["data"]) + size(&it["binaryData"])).into(), age(it)],
        },
        ("", "Secret") => Layout {
            columns: &["Name", "Type", "Data", "Age"],
            cells: |it| vec![text(&it["type"]).into(), size(&it["data"]).into(), age(it)],
        },
        ("", "ServiceAccount") | ("resource.k8s.io", "DeviceClass" | "ResourceClaimTemplate") => {
            Layout { columns: &["Name", "Age"], cells: |it| vec![age(it)] }
        }
        ("", "Namespace") => Layout {
            columns: &["Name", "Status", "Age"],
            cells: |it| vec![text(&it["status"]["phase"]).into(), age(it)],
        },
        ("", "ComponentStatus") => Layout {
            columns: &["Name", "Status", "Message", "Error"],
            cells: |it| {
                let condition = &it["conditions"][0];
                let health = if condition["status"] == "True" { "Healthy" } else { "Unhealthy" };
                vec![health.into(), text(&condition["message"]).into(), "".into()]
            },
        },
        ("", "ResourceQuota") => {
            Layout { columns: &["Name", "Request", "Limit", "Age"], cells: quota }
        }
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => Layout {
            columns: &["Name", "Role", "Age", "Users*", "Groups*", "ServiceAccounts*"],
            cells: binding,
        },
        ("coordination.k8s.io", "Lease") => Layout {
            columns: &["Name", "Holder", "Age"],
            cells: |it| vec![text(&it["spec"]["holderIdentity"]).into(), age(it)],
        },
        _ => return None,
    })
}

fn others(group: &str, kind: &str) -> Option<Layout> {
    Some(match (group, kind) {
        ("scheduling.k8s.io", "PriorityClass") => Layout {
            columns: &[
                "Name",
                "Value:integer",
                "Global-Default:boolean",
                "Age",
                "PreemptionPolicy",
            ],
            cells: |it| {
                vec![
                    number(&it["value"]).into(),
                    (it["globalDefault"] == true).into(),
                    age(it),
                    text_or(&it["preemptionPolicy"], "PreemptLowerPriority").into(),
                ]
            },
        },
        ("node.k8s.io", "RuntimeClass") => Layout {
            columns: &["Name", "Handler", "Age"],
            cells: |it| vec![text(&it["handler"]).into(), age(it)],
        },
        (
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
        ) => Layout {
            columns: &["Name", "Webhooks:integer", "Age"],
            cells: |it| vec![items(&it["webhooks"]).len().into(), age(it)],
        },
        ("apiregistration.k8s.io", "APIService") => Layout {
            columns: &["Name", "Service", "Available", "Age"],
            cells: |it| {
                let available = super::words::has_condition(it, "Available");
                let word = if available { "True" } else { "False" };
                vec!["Local".into(), word.into(), age(it)]
            },
        },
        ("resource.k8s.io", "ResourceClaim") => Layout {
            columns: &["Name", "State", "Age"],
            cells: |it| vec![claim_state(it).into(), age(it)],
        },
        ("resource.k8s.io", "ResourceSlice") => Layout {
            columns: &["Name", "Node", "Driver", "Pool", "Age"],
            cells: |it| {
                let spec = &it["spec"];
                let [driver, pool] = [&spec["driver"], &spec["pool"]["name"]].map(text);
                vec![text(&spec["nodeName"]).into(), driver.into(), pool.into(), age(it)]
            },
        },
        ("certificates.k8s.io", "CertificateSigningRequest") => Layout {
            columns: &["Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"],
            cells: signing,
        },
        _ => return None,
    })
}

/// `pending`, or `allocated,reserved`, with `deleted` before it.
fn claim_state(it: &Value) -> String {
    let is_deleted = !it["metadata"]["deletionTimestamp"].is_null();
    let is_allocated = !it["status"]["allocation"].is_null();
    let states = [
        (is_deleted, "deleted"),
        (!is_allocated && !is_deleted, "pending"),
        (is_allocated, "allocated"),
        (!items(&it["status"]["reservedFor"]).is_empty(), "reserved"),
    ];
    let states: Vec<&str> = states.into_iter().filter(|it| it.0).map(|it| it.1).collect();
    states.join(",")
}

fn quota(it: &Value) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (name, hard) in it["status"]["hard"].as_object().into_iter().flatten() {
        let used = text_or(&it["status"]["used"][name], "0");
        let shown = format!("{name}: {used}/{}", text_or(hard, "0"));
        if name.starts_with("limits.") { limits.push(shown) } else { requests.push(shown) }
    }
    vec![requests.join(", ").into(), limits.join(", ").into(), age(it)]
}

fn binding(it: &Value) -> Vec<Value> {
    let role = format!("{}/{}", text(&it["roleRef"]["kind"]), text(&it["roleRef"]["name"]));
    let subjects = |kind: &str| -> Value {
        let names: Vec<String> = items(&it["subjects"])
            .iter()
            .filter(|it| it["kind"] == kind)
            .map(|it| match (kind, text(&it["namespace"])) {
                ("ServiceAccount", namespace) if !namespace.is_empty() => {
                    format!("{namespace}/{}", text(&it["name"]))
                }
                _ => text(&it["name"]).to_owned(),
            })
            .collect();
        names.join(", ").into()
    };
    vec![role.into(), age(it), subjects("User"), subjects("Group"), subjects("ServiceAccount")]
}

fn signing(it: &Value) -> Vec<Value> {
    let has = |kind: &str| items(&it["status"]["conditions"]).iter().any(|it| it["type"] == kind);
    let mut condition = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (_, true) => "Approved",
        _ => "Pending",
    }
    .to_owned();
    if has("Failed") {
        condition.push_str(",Failed");
    }
    if !text(&it["status"]["certificate"]).is_empty() {
        condition.push_str(",Issued");
    }
    let seconds = it["spec"]["expirationSeconds"].as_i64();
    vec![
        age(it),
        text_or(&it["spec"]["signerName"], "<none>").into(),
        text(&it["spec"]["username"]).into(),
        seconds.map_or("<none>".to_owned(), super::duration::human).into(),
        condition.into(),
    ]
}
