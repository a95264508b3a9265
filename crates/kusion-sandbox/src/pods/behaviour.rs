//! What a container does, by annotation or by its command.
//!
//! Annotations of the pod, for all its containers (`sandbox.kusion.io/exit-code: "1"`) or for
//! one (`sandbox.kusion.io/exit-code.web: "1"`). Without them, containers of pods that are
//! always restarted run for ever; other containers end after a moment unless their command or
//! image says that they go on.

use crate::controllers::meta::{annotation, int, items, text};
use kusion_k8s_schema::{SANDBOX_PREFIX, milliseconds};
use serde_json::Value;

/// The prefix of all annotations.
pub(super) const PREFIX: &str = SANDBOX_PREFIX;
/// How long a container runs of which nothing is known but that it ends.
const MOMENT_MS: i64 = 100;
/// Words of images that serve until they are stopped.
const SERVERS: &[&str] = &[
    "pause",
    "nginx",
    "httpd",
    "agnhost",
    "redis",
    "postgres",
    "mysql",
    "mariadb",
    "mongo",
    "caddy",
    "traefik",
    "haproxy",
    "envoy",
    "memcached",
    "rabbitmq",
    "kafka",
    "etcd",
    "tomcat",
    "webhook",
    "registry",
    "sample-apiserver",
    "grafana",
    "prometheus",
];

/// What one container does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Script {
    /// Time until the container starts.
    pub start_delay_ms: i64,
    /// Time from its start until it is ready.
    pub ready_delay_ms: i64,
    /// Time that it runs; none means until it is stopped.
    pub run_time_ms: Option<i64>,
    /// How it ends.
    pub exit_code: i64,
    /// How many tries to pull the image fail.
    pub pull_errors: i64,
    /// It runs but never becomes ready.
    pub never_ready: bool,
    /// Time that it takes to stop.
    pub stop_time_ms: i64,
}

/// Reads an annotation for a container.
pub(super) fn setting<'a>(pod: &'a Value, container: &str, key: &str) -> Option<&'a str> {
    annotation(pod, &format!("{PREFIX}{key}.{container}"))
        .or_else(|| annotation(pod, &format!("{PREFIX}{key}")))
}

/// What a container of a pod does in its `attempt`-th run (from zero).
pub(super) fn script(pod: &Value, container: &Value, is_init: bool, attempt: i64) -> Script {
    let name = text(&container["name"]);
    let duration = |key: &str| setting(pod, name, key).and_then(milliseconds);
    let flag = |key: &str| setting(pod, name, key).is_some_and(|it| it != "false");
    let always = if is_init {
        container["restartPolicy"] == "Always"
    } else {
        !matches!(text(&pod["spec"]["restartPolicy"]), "Never" | "OnFailure")
    };
    let (mut run_time_ms, mut exit_code) =
        if always { (None, 0) } else { guess(container, is_init, attempt) };
    if flag("crash-loop") {
        (run_time_ms, exit_code) = (Some(MOMENT_MS), 1);
    }
    if let Some(code) = setting(pod, name, "exit-code").and_then(|it| it.parse().ok()) {
        exit_code = code;
        run_time_ms = run_time_ms.or(Some(MOMENT_MS));
    }
    if let Some(time) = duration("run-time") {
        run_time_ms = Some(time);
    }
    if let Some(time) = duration("crash-after").filter(|_| attempt == 0) {
        (run_time_ms, exit_code) = (Some(time), 1);
    }
    Script {
        start_delay_ms: duration("start-delay").unwrap_or(0),
        ready_delay_ms: duration("ready-delay")
            .unwrap_or_else(|| int(&container["readinessProbe"]["initialDelaySeconds"], 0) * 1000),
        run_time_ms,
        exit_code,
        pull_errors: match setting(pod, name, "image-pull-error") {
            None | Some("false") => 0,
            Some(text) => text.parse::<u32>().map_or(i64::MAX, i64::from),
        },
        never_ready: flag("never-ready"),
        stop_time_ms: duration("stop-time").unwrap_or(0),
    }
}

/// Guesses from the command how long a container runs and how it ends.
fn guess(container: &Value, is_init: bool, attempt: i64) -> (Option<i64>, i64) {
    let words: Vec<&str> = items(&container["command"])
        .iter()
        .chain(items(&container["args"]))
        .flat_map(|it| text(it).split(|c: char| c.is_whitespace() || c == ';'))
        .filter(|it| !it.is_empty())
        .collect();
    let has_command = !items(&container["command"]).is_empty();
    if !has_command && !is_init && serves(text(&container["image"])) {
        return (None, 0);
    }
    if attempt > 0 && words.contains(&"touch") {
        // The script left a mark in its first run, and finds it now.
        return (Some(MOMENT_MS), 0);
    }
    let mut run_time = MOMENT_MS;
    let mut codes = Vec::new();
    for (idx, word) in words.iter().enumerate() {
        let next = words.get(idx + 1).copied().unwrap_or_default();
        match word.rsplit('/').next().unwrap_or_default() {
            "sleep" if next == "infinity" || next == "inf" => return (None, 0),
            "sleep" => match milliseconds(next) {
                Some(time) => run_time = time.max(run_time),
                None => return (None, 0),
            },
            "while" if matches!(next, "true" | ":" | "[") => return (None, 0),
            "tail" if next.starts_with("-f") || next.starts_with("-F") => return (None, 0),
            "pause" | "netexec" | "serve-hostname" | "test-webserver" => return (None, 0),
            "false" => codes.push(1),
            "exit" => codes.extend(next.parse::<i64>().ok()),
            _ => {}
        }
    }
    (Some(run_time), choose_code(&codes, attempt))
}

/// The exit code among those that a script names: the only one; with several, the first run
/// fails and later ones succeed when both are possible.
fn choose_code(codes: &[i64], attempt: i64) -> i64 {
    let failure = codes.iter().copied().find(|it| *it != 0);
    match failure {
        Some(_) if codes.contains(&0) && attempt > 0 => 0,
        Some(code) => code,
        None => 0,
    }
}

fn serves(image: &str) -> bool {
    let last = image.rsplit('/').next().unwrap_or(image);
    let name = last.split([':', '@']).next().unwrap_or(last);
    SERVERS.iter().any(|it| name.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(command: &[&str], image: &str) -> (Option<i64>, i64) {
        guess(&json!({"command": command, "image": image}), false, 0)
    }

    #[test]
    fn durations_are_read() {
        assert_eq!(milliseconds("2s"), Some(2000));
        assert_eq!(milliseconds("1m30s"), Some(90_000));
        assert_eq!(milliseconds("150ms"), Some(150));
        assert_eq!(milliseconds("3"), Some(3000));
        assert_eq!(milliseconds("soon"), None);
    }

    #[test]
    fn commands_tell_how_long_and_how_it_ends() {
        assert_eq!(of(&["sleep", "300"], "busybox"), (Some(300_000), 0));
        assert_eq!(of(&["/bin/true"], "busybox"), (Some(MOMENT_MS), 0));
        assert_eq!(of(&["/bin/false"], "busybox"), (Some(MOMENT_MS), 1));
        assert_eq!(of(&["sh", "-c", "exit 3"], "busybox"), (Some(MOMENT_MS), 3));
        assert_eq!(of(&["sh", "-c", "while true; do date; done"], "busybox"), (None, 0));
        assert_eq!(of(&[], "registry.k8s.io/pause:3.10"), (None, 0));
        assert_eq!(of(&[], "busybox"), (Some(MOMENT_MS), 0));
    }

    #[test]
    fn annotations_win() {
        let pod = json!({"metadata": {"annotations": {"sandbox.kusion.io/exit-code": "2",
            "sandbox.kusion.io/run-time.a": "3s"}}, "spec": {"restartPolicy": "Never"}});
        let script = script(&pod, &json!({"name": "a", "image": "x"}), false, 0);
        assert_eq!((script.run_time_ms, script.exit_code), (Some(3000), 2));
    }

    #[test]
    fn pods_that_are_always_restarted_run_for_ever() {
        let pod = json!({"metadata": {}, "spec": {"restartPolicy": "Always"}});
        let script = script(&pod, &json!({"name": "a", "command": ["true"]}), false, 0);
        assert_eq!(script.run_time_ms, None);
    }
}
