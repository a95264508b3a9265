//! What containers print.

use super::behaviour::setting;
use crate::Status;
use crate::controllers::meta::{self, items, text};
use serde_json::Value;

/// One line of a log: when it was printed, and the text without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// In RFC 3339.
    pub time: String,
    /// The text.
    pub text: String,
}

/// The lines that a container of a pod has printed. An empty name means the only container, or
/// the default one; `previous` asks for the run before the last restart.
pub(crate) fn lines(pod: &Value, container: &str, previous: bool) -> Result<Vec<Line>, Status> {
    let spec = choose(pod, container)?;
    let name = text(&spec["name"]);
    let status = ["containerStatuses", "initContainerStatuses"]
        .iter()
        .flat_map(|it| items(&pod["status"][*it]))
        .find(|it| it["name"] == name)
        .unwrap_or(&Value::Null);
    if previous && status["lastState"]["terminated"].is_null() {
        return Err(Status::bad_request(format!(
            "previous terminated container \"{name}\" in pod \"{}\" not found",
            meta::name(pod)
        )));
    }
    let state = if previous { &status["lastState"] } else { &status["state"] };
    let started = text(&state["running"]["startedAt"]);
    let started =
        if started.is_empty() { text(&state["terminated"]["startedAt"]) } else { started };
    if started.is_empty() {
        let reason = text(&state["waiting"]["reason"]);
        let detail = match reason {
            "" => "ContainerCreating",
            "ImagePullBackOff" => {
                return Err(Status::bad_request(format!(
                    "container \"{name}\" in pod \"{}\" is waiting to start: trying and failing to pull image",
                    meta::name(pod)
                )));
            }
            it => it,
        };
        return Err(Status::bad_request(format!(
            "container \"{name}\" in pod \"{}\" is waiting to start: {detail}",
            meta::name(pod)
        )));
    }
    let line = |text: &str| Line { time: started.to_owned(), text: text.to_owned() };
    if let Some(log) = setting(pod, name, "log") {
        return Ok(log.lines().map(line).collect());
    }
    let echoed = echoed(spec);
    if !echoed.is_empty() {
        return Ok(echoed.iter().map(|it| line(it)).collect());
    }
    Ok(vec![line(&format!("sandbox: container {name} of image {} started", text(&spec["image"])))])
}

fn choose<'a>(pod: &'a Value, container: &str) -> Result<&'a Value, Status> {
    let main = items(&pod["spec"]["containers"]);
    if container.is_empty() {
        let wanted = meta::annotation(pod, "kubectl.kubernetes.io/default-container");
        if let Some(found) = wanted.and_then(|name| main.iter().find(|it| it["name"] == name)) {
            return Ok(found);
        }
        if main.len() != 1 {
            let names: Vec<&str> = main.iter().map(|it| text(&it["name"])).collect();
            return Err(Status::bad_request(format!(
                "a container name must be specified for pod {}, choose one of: [{}]",
                meta::name(pod),
                names.join(" ")
            )));
        }
        return Ok(&main[0]);
    }
    main.iter()
        .chain(items(&pod["spec"]["initContainers"]))
        .chain(items(&pod["spec"]["ephemeralContainers"]))
        .find(|it| it["name"] == container)
        .ok_or_else(|| {
            Status::bad_request(format!(
                "container {container} is not valid for pod {}",
                meta::name(pod)
            ))
        })
}

/// What the `echo`s of a command print.
fn echoed(container: &Value) -> Vec<String> {
    let words = items(&container["command"]).iter().chain(items(&container["args"]));
    let words: Vec<&str> = words.map(text).collect();
    if let Some(position) = words.iter().position(|it| *it == "echo" || *it == "/bin/echo") {
        return vec![words[position + 1..].join(" ")];
    }
    let mut lines = Vec::new();
    for script in words {
        for command in script.split([';', '\n', '&', '|']) {
            if let Some(rest) = command.trim().strip_prefix("echo ") {
                lines.push(rest.trim().trim_matches(['"', '\'']).to_owned());
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(command: &[&str], state: &Value) -> Value {
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "b",
            "command": command}]}, "status": {"containerStatuses": [{"name": "a", "state": state}]}})
    }

    #[test]
    fn echoes_are_printed() {
        let running = json!({"running": {"startedAt": "t"}});
        let found = lines(&pod(&["sh", "-c", "echo 'hi there'; sleep 3"], &running), "", false);
        assert_eq!(found.unwrap(), [Line { time: "t".into(), text: "hi there".into() }]);
    }

    #[test]
    fn a_container_that_waits_has_no_log() {
        let failure =
            lines(&pod(&[], &json!({"waiting": {"reason": "ContainerCreating"}})), "", false);
        assert_eq!(
            failure.unwrap_err().message,
            "container \"a\" in pod \"p\" is waiting to start: ContainerCreating"
        );
    }
}
