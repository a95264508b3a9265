//! Pods, nodes and what describes them.

use super::Layout;
use super::duration::{age, human, since};
use super::words::{NONE, containers, has_condition, items, number, selector, text, text_or};
use crate::clock;
use jiff::Timestamp;
use serde_json::Value;

/// Returns how a kind around pods is shown.
pub(super) fn layout(group: &str, kind: &str) -> Option<Layout> {
    Some(match (group, kind) {
        ("", "Pod") => Layout {
            columns: &[
                "Name",
                "Ready",
                "Status",
                "Restarts",
                "Age",
                "IP*",
                "Node*",
                "Nominated Node*",
                "Readiness Gates*",
            ],
            cells: pod,
        },
        ("", "PodTemplate") => Layout {
            columns: &["Name", "Containers", "Images", "Pod Labels"],
            cells: |it| {
                let [names, images] = containers(&it["template"]["spec"]);
                vec![names, images, selector(&it["template"]["metadata"]["labels"])]
            },
        },
        ("", "Node") => Layout {
            columns: &[
                "Name",
                "Status",
                "Roles",
                "Age",
                "Version",
                "Internal-IP*",
                "External-IP*",
                "OS-Image*",
                "Kernel-Version*",
                "Container-Runtime*",
            ],
            cells: node,
        },
        ("" | "events.k8s.io", "Event") => Layout {
            columns: &[
                "Last Seen",
                "Type",
                "Reason",
                "Object",
                "Subobject*",
                "Source*",
                "Message",
                "First Seen*",
                "Count*",
                "Name*",
            ],
            cells: event,
        },
        _ => return None,
    })
}

/// What the containers of a pod add up to.
#[derive(Default)]
struct Sum {
    reason: String,
    restarts: i64,
    last_restart: Option<Timestamp>,
    ready: usize,
    initializing: bool,
}

impl Sum {
    fn restarted(&mut self, status: &Value) {
        self.restarts += number(&status["restartCount"]);
        let finished = text(&status["lastState"]["terminated"]["finishedAt"]);
        self.last_restart = self.last_restart.max(clock::parse(finished));
    }
}

fn pod(it: &Value) -> Vec<Value> {
    let (spec, status) = (&it["spec"], &it["status"]);
    let phase = text(&status["phase"]);
    let mut sum = Sum { reason: text_or(&status["reason"], phase), ..Sum::default() };
    if items(&status["conditions"])
        .iter()
        .any(|it| it["type"] == "PodScheduled" && it["reason"] == "SchedulingGated")
    {
        "SchedulingGated".clone_into(&mut sum.reason);
    }
    let mut total = items(&spec["containers"]).len();
    total +=
        items(&spec["initContainers"]).iter().filter(|it| it["restartPolicy"] == "Always").count();
    init_containers(it, &mut sum);
    if !sum.initializing || has_condition(it, "Initialized") {
        main_containers(it, &mut sum);
    }
    if !it["metadata"]["deletionTimestamp"].is_null() {
        if status["reason"] == "NodeLost" {
            "Unknown".clone_into(&mut sum.reason);
        } else if phase != "Failed" && phase != "Succeeded" {
            "Terminating".clone_into(&mut sum.reason);
        }
    }
    let restarts = match sum.last_restart {
        Some(time) if sum.restarts > 0 => {
            let ago = human(Timestamp::now().duration_since(time).as_secs());
            format!("{} ({ago} ago)", sum.restarts)
        }
        _ => sum.restarts.to_string(),
    };
    vec![
        format!("{}/{total}", sum.ready).into(),
        sum.reason.into(),
        restarts.into(),
        age(it),
        text_or(&status["podIP"], NONE).into(),
        text_or(&spec["nodeName"], NONE).into(),
        text_or(&status["nominatedNodeName"], NONE).into(),
        gates(it).into(),
    ]
}

fn init_containers(it: &Value, sum: &mut Sum) {
    let specs = items(&it["spec"]["initContainers"]);
    for (at, status) in items(&it["status"]["initContainerStatuses"]).iter().enumerate() {
        sum.restarted(status);
        let terminated = &status["state"]["terminated"];
        let waiting = text(&status["state"]["waiting"]["reason"]);
        let sidecar = specs
            .iter()
            .any(|spec| spec["name"] == status["name"] && spec["restartPolicy"] == "Always");
        if !terminated.is_null() && number(&terminated["exitCode"]) == 0 {
            continue;
        }
        if sidecar && status["started"] == true {
            sum.ready += usize::from(status["ready"] == true);
            continue;
        }
        sum.initializing = true;
        sum.reason = if !terminated.is_null() {
            match text(&terminated["reason"]) {
                "" if number(&terminated["signal"]) != 0 => {
                    format!("Init:Signal:{}", number(&terminated["signal"]))
                }
                "" => format!("Init:ExitCode:{}", number(&terminated["exitCode"])),
                reason => format!("Init:{reason}"),
            }
        } else if !waiting.is_empty() && waiting != "PodInitializing" {
            format!("Init:{waiting}")
        } else {
            format!("Init:{at}/{}", specs.len())
        };
        break;
    }
}

fn main_containers(it: &Value, sum: &mut Sum) {
    sum.restarts = 0;
    let mut running = false;
    for status in items(&it["status"]["containerStatuses"]).iter().rev() {
        sum.restarted(status);
        let state = &status["state"];
        let terminated = &state["terminated"];
        let waiting = text(&state["waiting"]["reason"]);
        if !waiting.is_empty() {
            waiting.clone_into(&mut sum.reason);
        } else if !text(&terminated["reason"]).is_empty() {
            text(&terminated["reason"]).clone_into(&mut sum.reason);
        } else if !terminated.is_null() {
            let signal = number(&terminated["signal"]);
            sum.reason = if signal == 0 {
                format!("ExitCode:{}", number(&terminated["exitCode"]))
            } else {
                format!("Signal:{signal}")
            };
        } else if status["ready"] == true && !state["running"].is_null() {
            running = true;
            sum.ready += 1;
        }
    }
    if sum.reason == "Completed" && running {
        let word = if has_condition(it, "Ready") { "Running" } else { "NotReady" };
        word.clone_into(&mut sum.reason);
    }
}

fn gates(it: &Value) -> String {
    let gates = items(&it["spec"]["readinessGates"]);
    if gates.is_empty() {
        return NONE.to_owned();
    }
    let open = gates.iter().filter(|gate| has_condition(it, text(&gate["conditionType"]))).count();
    format!("{open}/{}", gates.len())
}

fn node(it: &Value) -> Vec<Value> {
    let info = &it["status"]["nodeInfo"];
    let ready = items(&it["status"]["conditions"]).iter().find(|it| it["type"] == "Ready");
    let mut state = match ready.map(|it| text(&it["status"])) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if it["spec"]["unschedulable"] == true {
        state.push_str(",SchedulingDisabled");
    }
    let roles: Vec<&str> = it["metadata"]["labels"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => value.as_str(),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect();
    let address = |kind: &str| {
        let found = items(&it["status"]["addresses"]).iter().find(|it| it["type"] == kind);
        found.map_or(NONE, |it| text(&it["address"])).to_owned()
    };
    vec![
        state.into(),
        super::words::joined(roles).into(),
        age(it),
        text(&info["kubeletVersion"]).into(),
        address("InternalIP").into(),
        address("ExternalIP").into(),
        text_or(&info["osImage"], "<unknown>").into(),
        text_or(&info["kernelVersion"], "<unknown>").into(),
        text_or(&info["containerRuntimeVersion"], "<unknown>").into(),
    ]
}

fn event(it: &Value) -> Vec<Value> {
    let pick = |keys: &[&str]| {
        keys.iter().map(|key| &it[*key]).find(|value| !value.is_null()).unwrap_or(&Value::Null)
    };
    let involved = pick(&["involvedObject", "regarding"]);
    let first = since(pick(&["firstTimestamp", "deprecatedFirstTimestamp", "eventTime"]));
    let last = match pick(&["lastTimestamp", "deprecatedLastTimestamp"]) {
        Value::Null if !it["series"].is_null() => since(&it["series"]["lastObservedTime"]),
        Value::Null => first.clone(),
        time => since(time),
    };
    let count = match number(pick(&["count", "deprecatedCount"])) {
        0 => number(&it["series"]["count"]).max(1),
        count => count,
    };
    let kind = text(&involved["kind"]).to_lowercase();
    let name = text(&involved["name"]);
    let target = if name.is_empty() { kind } else { format!("{kind}/{name}") };
    let source = pick(&["source", "deprecatedSource"]);
    let component = match text(&source["component"]) {
        "" => text(pick(&["reportingComponent", "reportingController"])),
        component => component,
    };
    let host = match text(&source["host"]) {
        "" => text(&it["reportingInstance"]),
        host => host,
    };
    let source =
        if host.is_empty() { component.to_owned() } else { format!("{component}, {host}") };
    vec![
        last.into(),
        text(&it["type"]).into(),
        text(&it["reason"]).into(),
        target.into(),
        text(&involved["fieldPath"]).into(),
        source.into(),
        text(pick(&["message", "note"])).trim().into(),
        first.into(),
        count.into(),
        text(&it["metadata"]["name"]).into(),
    ]
}
