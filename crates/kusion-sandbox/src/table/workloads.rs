//! Workloads.

use super::Layout;
use super::duration::{age, between, since};
use super::words::{NONE, UNSET, containers, has_condition, items, number, selector, text_or};
use serde_json::Value;

/// Returns how a workload kind is shown.
pub(super) fn layout(group: &str, kind: &str) -> Option<Layout> {
    Some(match (group, kind) {
        ("apps", "Deployment") => Layout {
            columns: &[
                "Name",
                "Ready",
                "Up-to-date",
                "Available",
                "Age",
                "Containers*",
                "Images*",
                "Selector*",
            ],
            cells: deployment,
        },
        ("apps", "ReplicaSet") | ("", "ReplicationController") => Layout {
            columns: &[
                "Name",
                "Desired:integer",
                "Current:integer",
                "Ready:integer",
                "Age",
                "Containers*",
                "Images*",
                "Selector*",
            ],
            cells: replicas,
        },
        ("apps", "StatefulSet") => Layout {
            columns: &["Name", "Ready", "Age", "Containers*", "Images*"],
            cells: stateful_set,
        },
        ("apps", "DaemonSet") => Layout {
            columns: &[
                "Name",
                "Desired:integer",
                "Current:integer",
                "Ready:integer",
                "Up-to-date:integer",
                "Available:integer",
                "Node Selector",
                "Age",
                "Containers*",
                "Images*",
                "Selector*",
            ],
            cells: daemon_set,
        },
        ("apps", "ControllerRevision") => {
            Layout { columns: &["Name", "Controller", "Revision", "Age"], cells: revision }
        }
        ("batch", "Job") => Layout {
            columns: &[
                "Name",
                "Status",
                "Completions",
                "Duration",
                "Age",
                "Containers*",
                "Images*",
                "Selector*",
            ],
            cells: job,
        },
        ("batch", "CronJob") => Layout {
            columns: &[
                "Name",
                "Schedule",
                "Timezone",
                "Suspend:boolean",
                "Active:integer",
                "Last Schedule",
                "Age",
                "Containers*",
                "Images*",
                "Selector*",
            ],
            cells: cron_job,
        },
        ("autoscaling", "HorizontalPodAutoscaler") => Layout {
            columns: &["Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"],
            cells: autoscaler,
        },
        ("policy", "PodDisruptionBudget") => Layout {
            columns: &[
                "Name",
                "Min Available",
                "Max Unavailable",
                "Allowed Disruptions:integer",
                "Age",
            ],
            cells: budget,
        },
        _ => return None,
    })
}

fn template(object: &Value) -> [Value; 2] {
    containers(&object["spec"]["template"]["spec"])
}

fn deployment(it: &Value) -> Vec<Value> {
    let status = &it["status"];
    let ready = format!("{}/{}", number(&status["readyReplicas"]), number(&it["spec"]["replicas"]));
    let [names, images] = template(it);
    vec![
        ready.into(),
        number(&status["updatedReplicas"]).into(),
        number(&status["availableReplicas"]).into(),
        age(it),
        names,
        images,
        selector(&it["spec"]["selector"]),
    ]
}

fn replicas(it: &Value) -> Vec<Value> {
    let [names, images] = template(it);
    vec![
        number(&it["spec"]["replicas"]).into(),
        number(&it["status"]["replicas"]).into(),
        number(&it["status"]["readyReplicas"]).into(),
        age(it),
        names,
        images,
        selector(&it["spec"]["selector"]),
    ]
}

fn stateful_set(it: &Value) -> Vec<Value> {
    let ready =
        format!("{}/{}", number(&it["status"]["readyReplicas"]), number(&it["spec"]["replicas"]));
    let [names, images] = template(it);
    vec![ready.into(), age(it), names, images]
}

fn daemon_set(it: &Value) -> Vec<Value> {
    let status = &it["status"];
    let [names, images] = template(it);
    vec![
        number(&status["desiredNumberScheduled"]).into(),
        number(&status["currentNumberScheduled"]).into(),
        number(&status["numberReady"]).into(),
        number(&status["updatedNumberScheduled"]).into(),
        number(&status["numberAvailable"]).into(),
        selector(&it["spec"]["template"]["spec"]["nodeSelector"]),
        age(it),
        names,
        images,
        selector(&it["spec"]["selector"]),
    ]
}

fn revision(it: &Value) -> Vec<Value> {
    let owner =
        items(&it["metadata"]["ownerReferences"]).iter().find(|it| it["controller"] == true);
    let controller = owner.map_or(NONE.to_owned(), |owner| {
        let api_version = text_or(&owner["apiVersion"], "");
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let kind = text_or(&owner["kind"], "").to_lowercase();
        let name = text_or(&owner["name"], "");
        if group.is_empty() { format!("{kind}/{name}") } else { format!("{kind}.{group}/{name}") }
    });
    vec![controller.into(), number(&it["revision"]).into(), age(it)]
}

fn job(it: &Value) -> Vec<Value> {
    let (spec, status) = (&it["spec"], &it["status"]);
    let succeeded = number(&status["succeeded"]);
    let completions = match (spec["completions"].as_i64(), number(&spec["parallelism"])) {
        (Some(wanted), _) => format!("{succeeded}/{wanted}"),
        (None, parallel) if parallel > 1 => format!("{succeeded}/1 of {parallel}"),
        (None, _) => format!("{succeeded}/1"),
    };
    let state = ["Complete", "Failed"]
        .into_iter()
        .find(|kind| has_condition(it, kind))
        .or_else(|| (!it["metadata"]["deletionTimestamp"].is_null()).then_some("Terminating"))
        .or_else(|| {
            ["Suspended", "FailureTarget", "SuccessCriteriaMet"]
                .into_iter()
                .find(|kind| has_condition(it, kind))
        })
        .unwrap_or("Running");
    let [names, images] = template(it);
    vec![
        state.into(),
        completions.into(),
        between(&status["startTime"], &status["completionTime"]).into(),
        age(it),
        names,
        images,
        selector(&spec["selector"]),
    ]
}

fn cron_job(it: &Value) -> Vec<Value> {
    let spec = &it["spec"];
    let last = match &it["status"]["lastScheduleTime"] {
        Value::Null => NONE.to_owned(),
        time => since(time),
    };
    let suspend = match spec["suspend"].as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => UNSET,
    };
    let job = &spec["jobTemplate"]["spec"];
    let [names, images] = containers(&job["template"]["spec"]);
    vec![
        text_or(&spec["schedule"], "").into(),
        text_or(&spec["timeZone"], NONE).into(),
        suspend.into(),
        items(&it["status"]["active"]).len().into(),
        last.into(),
        age(it),
        names,
        images,
        selector(&job["selector"]),
    ]
}

fn autoscaler(it: &Value) -> Vec<Value> {
    let spec = &it["spec"];
    let target = &spec["scaleTargetRef"];
    let reference = format!("{}/{}", text_or(&target["kind"], ""), text_or(&target["name"], ""));
    vec![
        reference.into(),
        metrics(it).into(),
        text_or(&spec["minReplicas"], UNSET).into(),
        number(&spec["maxReplicas"]).into(),
        number(&it["status"]["currentReplicas"]).into(),
        age(it),
    ]
}

fn metrics(it: &Value) -> String {
    let wanted = items(&it["spec"]["metrics"]);
    if wanted.is_empty() {
        let percent = &it["spec"]["targetCPUUtilizationPercentage"];
        return match percent.as_i64() {
            Some(percent) => format!("cpu: <unknown>/{percent}%"),
            None => NONE.to_owned(),
        };
    }
    let mut texts = Vec::new();
    for (at, metric) in wanted.iter().enumerate() {
        let current = &it["status"]["currentMetrics"][at]["resource"]["current"];
        let resource = &metric["resource"];
        if resource.is_null() {
            texts.push(format!("<unknown>/{}", text_or(&metric["type"], "")));
            continue;
        }
        let name = text_or(&resource["name"], "");
        texts.push(match resource["target"]["averageUtilization"].as_i64() {
            Some(percent) => {
                let now = match current["averageUtilization"].as_i64() {
                    Some(now) => format!("{now}%"),
                    None => "<unknown>".to_owned(),
                };
                format!("{name}: {now}/{percent}%")
            }
            None => {
                let now = text_or(&current["averageValue"], "<unknown>");
                format!("{name}: {now}/{}", text_or(&resource["target"]["averageValue"], ""))
            }
        });
    }
    texts.join(", ")
}

fn budget(it: &Value) -> Vec<Value> {
    vec![
        text_or(&it["spec"]["minAvailable"], "N/A").into(),
        text_or(&it["spec"]["maxUnavailable"], "N/A").into(),
        number(&it["status"]["disruptionsAllowed"]).into(),
        age(it),
    ]
}
