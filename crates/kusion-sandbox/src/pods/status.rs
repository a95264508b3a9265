//! The status of a pod, as a node reports it.

use super::containers::{Container, Containers, State};
use super::resources::qos_class;
use crate::controllers::clock::rfc3339;
use crate::controllers::meta::{self, generation, items, text, uid};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The order in which nodes report conditions; others come first.
const ORDER: &[&str] =
    &["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

/// What the status needs to know besides the containers.
#[derive(Debug)]
pub(super) struct Place<'a> {
    /// Address of the pod.
    pub pod_ip: &'a str,
    /// Address of the node.
    pub host_ip: &'a str,
    /// The present time.
    pub now: Timestamp,
}

/// Builds the status of a pod that a node has taken on.
pub(super) fn build(pod: &Value, containers: &Containers, place: &Place<'_>) -> Value {
    let now = rfc3339(place.now);
    let policy = text(&pod["spec"]["restartPolicy"]);
    let phase = containers.phase(policy);
    let mut status = pod["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    status["phase"] = phase.into();
    status["observedGeneration"] = generation(pod).into();
    status["qosClass"] = qos_class(pod).into();
    status["hostIP"] = place.host_ip.into();
    status["hostIPs"] = json!([{"ip": place.host_ip}]);
    if status["startTime"].is_null() {
        status["startTime"] = now.clone().into();
    }
    if containers.list.iter().any(|it| !matches!(it.state, State::Creating { .. } | State::Blocked))
    {
        status["podIP"] = place.pod_ip.into();
        status["podIPs"] = json!([{"ip": place.pod_ip}]);
    }
    let specs = |key: &str| items(&pod["spec"][key]).to_vec();
    let report = |is_init: bool, specs: &[Value]| -> Vec<Value> {
        let list = containers.list.iter().filter(|it| it.is_init == is_init);
        list.zip(specs).map(|(it, spec)| container_status(pod, it, spec, containers)).collect()
    };
    let main = report(false, &specs("containers"));
    let init = report(true, &specs("initContainers"));
    if init.is_empty() {
        meta::remove(&mut status, "initContainerStatuses");
    } else {
        status["initContainerStatuses"] = init.into();
    }
    status["containerStatuses"] = main.into();
    set_conditions(pod, &mut status, containers, phase, &now);
    status
}

fn set_conditions(
    pod: &Value,
    status: &mut Value,
    containers: &Containers,
    phase: &str,
    now: &str,
) {
    let finished = matches!(phase, "Succeeded" | "Failed");
    let unready: Vec<&str> = containers
        .list
        .iter()
        .filter(|it| (!it.is_init || it.is_sidecar) && !it.ready)
        .map(|it| it.name.as_str())
        .collect();
    let sandbox = containers.list.iter().any(|it| {
        matches!(
            it.state,
            State::Running { .. }
                | State::BackOff { .. }
                | State::NoImage { .. }
                | State::Refused(_)
        )
    });
    let mut set = |type_: &str, good: bool, reason: &str, message: &str| {
        let mut condition = json!({
            "type": type_,
            "status": if good { "True" } else { "False" },
            "lastProbeTime": null,
            "observedGeneration": generation(pod),
        });
        if !reason.is_empty() {
            condition["reason"] = reason.into();
        }
        if !message.is_empty() {
            condition["message"] = message.into();
        }
        meta::set_condition(&mut status["conditions"], condition, now);
    };
    set("PodReadyToStartContainers", sandbox && !finished, "", "");
    let incomplete: Vec<&str> = containers
        .list
        .iter()
        .filter(|it| it.is_init && !matches!(it.state, State::Ended { code: 0, .. }))
        .map(|it| it.name.as_str())
        .collect();
    if phase == "Succeeded" {
        set("Initialized", true, "PodCompleted", "");
    } else if containers.initialized() {
        set("Initialized", true, "", "");
    } else {
        let message = format!("containers with incomplete status: [{}]", incomplete.join(" "));
        set("Initialized", false, "ContainersNotInitialized", &message);
    }
    if phase == "Succeeded" {
        set("Ready", false, "PodCompleted", "");
        set("ContainersReady", false, "PodCompleted", "");
    } else if phase == "Failed" {
        set("Ready", false, "PodFailed", "");
        set("ContainersReady", false, "PodFailed", "");
    } else if unready.is_empty() {
        let missing = missing_gates(pod);
        if missing.is_empty() {
            set("Ready", true, "", "");
        } else {
            set("Ready", false, "ReadinessGatesNotReady", &missing);
        }
        set("ContainersReady", true, "", "");
    } else {
        let message = format!("containers with unready status: [{}]", unready.join(" "));
        set("Ready", false, "ContainersNotReady", &message);
        set("ContainersReady", false, "ContainersNotReady", &message);
    }
    set("PodScheduled", true, "", "");
    if let Some(list) = meta::list_mut(status, &["conditions"]) {
        list.sort_by_key(|it| ORDER.iter().position(|type_| it["type"] == *type_));
    }
}

/// What is wrong with the readiness gates; empty when nothing.
fn missing_gates(pod: &Value) -> String {
    let mut parts = Vec::new();
    for gate in items(&pod["spec"]["readinessGates"]) {
        let type_ = text(&gate["conditionType"]);
        match meta::condition(pod, type_) {
            None => parts.push(format!(
                "corresponding condition of pod readiness gate \"{type_}\" does not exist."
            )),
            Some(it) if it["status"] != "True" => parts.push(format!(
                "the status of pod readiness gate \"{type_}\" is not \"True\", but {}",
                text(&it["status"])
            )),
            Some(_) => {}
        }
    }
    parts.join(", ")
}

fn container_status(
    pod: &Value,
    container: &Container,
    spec: &Value,
    containers: &Containers,
) -> Value {
    let image = full_image(text(&spec["image"]));
    let time = |ms: i64| Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), rfc3339);
    let id = format!("sandbox://{}_{}_{}", uid(pod), container.name, container.restarts);
    let ended = |(code, started, ended): (i64, i64, i64)| {
        json!({"terminated": {
            "exitCode": code,
            "reason": if code == 0 { "Completed" } else { "Error" },
            "startedAt": time(started),
            "finishedAt": time(ended),
            "containerID": id,
        }})
    };
    let mut state = match &container.state {
        State::Creating { .. } | State::Blocked
            if container.is_init || !containers.initialized() =>
        {
            json!({"waiting": {"reason": "PodInitializing"}})
        }
        State::Creating { .. } | State::Blocked => {
            json!({"waiting": {"reason": "ContainerCreating"}})
        }
        State::NoImage { .. } => json!({"waiting": {
            "reason": "ImagePullBackOff",
            "message": format!("Back-off pulling image \"{}\"", text(&spec["image"])),
        }}),
        State::Refused(why) => json!({"waiting": {
            "reason": "CreateContainerConfigError",
            "message": why,
        }}),
        State::Running { since } => json!({"running": {"startedAt": time(*since)}}),
        State::BackOff { pause, .. } => json!({"waiting": {
            "reason": "CrashLoopBackOff",
            "message": format!("back-off {} restarting failed container={} pod={}_{}({})",
                go_duration(pause / 1000), container.name, meta::name(pod), meta::namespace(pod), uid(pod)),
        }}),
        State::Ended { code, started, ended: end } => ended((*code, *started, *end)),
    };
    let started = matches!(container.state, State::Running { .. });
    let mut status = Map::new();
    let mut put = |key: &str, value: Value| {
        status.insert(key.to_owned(), value);
    };
    let exists = !matches!(
        container.state,
        State::Creating { .. } | State::Blocked | State::NoImage { .. } | State::Refused(_)
    ) || container.last.is_some();
    put("name", container.name.as_str().into());
    put("ready", (container.ready || is_done_init(container)).into());
    put("restartCount", container.restarts.into());
    put("started", started.into());
    put("image", if exists { image.as_str() } else { text(&spec["image"]) }.into());
    put("imageID", if exists { image.as_str() } else { "" }.into());
    if exists {
        put("containerID", id.as_str().into());
        put("resources", spec["resources"].as_object().cloned().unwrap_or_default().into());
    }
    put("lastState", container.last.map_or_else(|| json!({}), ended));
    put("state", state.take());
    let mounts: Vec<Value> = items(&spec["volumeMounts"])
        .iter()
        .map(|it| {
            let mut mount = json!({"name": it["name"], "mountPath": it["mountPath"]});
            if it["readOnly"] == true {
                mount["readOnly"] = true.into();
                mount["recursiveReadOnly"] = "Disabled".into();
            }
            mount
        })
        .collect();
    if !mounts.is_empty() {
        put("volumeMounts", mounts.into());
    }
    Value::Object(status)
}

fn is_done_init(container: &Container) -> bool {
    container.is_init && matches!(container.state, State::Ended { code: 0, .. })
}

/// The image with the tag that is implied.
fn full_image(image: &str) -> String {
    let last = image.rsplit('/').next().unwrap_or(image);
    if last.contains([':', '@']) { image.to_owned() } else { format!("{image}:latest") }
}

/// Seconds as Go prints durations.
fn go_duration(seconds: i64) -> String {
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_pod_reports_all_conditions() {
        let pod = json!({"metadata": {"name": "p", "uid": "u", "generation": 1}, "spec": {
            "restartPolicy": "Always", "containers": [{"name": "a", "image": "nginx"}]}});
        let mut containers = Containers::new(&pod, 0);
        containers.advance(&pod, 0);
        let place =
            Place { pod_ip: "10.244.0.1", host_ip: "192.0.2.2", now: Timestamp::UNIX_EPOCH };
        let status = build(&pod, &containers, &place);
        assert_eq!(status["phase"], "Running");
        let types: Vec<&str> =
            items(&status["conditions"]).iter().map(|it| text(&it["type"])).collect();
        assert_eq!(
            types,
            [
                "PodReadyToStartContainers",
                "Initialized",
                "Ready",
                "ContainersReady",
                "PodScheduled"
            ]
        );
        assert!(items(&status["conditions"]).iter().all(|it| it["status"] == "True"));
        assert_eq!(status["containerStatuses"][0]["image"], "nginx:latest");
    }
}
