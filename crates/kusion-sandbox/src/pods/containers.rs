//! The life of the containers of one pod: a small machine that time drives.

use super::behaviour::{Script, script};
use crate::controllers::meta::{items, text};
use serde_json::Value;

/// The first pause before a container that failed twice is restarted.
const FIRST_BACK_OFF_MS: i64 = 10_000;
/// The longest such pause.
const LONGEST_BACK_OFF_MS: i64 = 300_000;

/// How often it is tried again to create a container.
const RETRY_MS: i64 = 1000;

/// What a container does at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// Not started; starts at the time.
    Creating { until: i64 },
    /// Waits for the init containers.
    Blocked,
    /// The image cannot be had; the next try is at the time, if there is one.
    NoImage { until: Option<i64> },
    /// It cannot be created, and why.
    Refused(String),
    /// Runs since the time.
    Running { since: i64 },
    /// Failed and waits for its restart.
    BackOff { until: i64, pause: i64 },
    /// Ended for good.
    Ended { code: i64, started: i64, ended: i64 },
}

/// One container of a pod.
#[derive(Debug, Clone)]
pub(super) struct Container {
    /// Its name.
    pub name: String,
    /// Whether it is an init container.
    pub is_init: bool,
    /// Whether it is an init container that goes on running beside the others.
    pub is_sidecar: bool,
    /// What it does at the moment.
    pub state: State,
    /// How often it was restarted.
    pub restarts: i64,
    /// How its last run ended: code, start, end.
    pub last: Option<(i64, i64, i64)>,
    /// Whether it is ready.
    pub ready: bool,
    /// How many tries to pull its image have failed.
    pub failed_pulls: i64,
}

/// What happened to a container, for events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Happening {
    /// It was started.
    Started(String),
    /// Its image cannot be pulled.
    PullFailed(String),
    /// It failed and waits.
    BackedOff(String),
    /// It cannot be created, and why.
    Refused(String, String),
}

/// The containers of a pod, init containers first.
#[derive(Debug, Clone)]
pub(super) struct Containers {
    /// All of them.
    pub list: Vec<Container>,
    /// How many pods have failed at the same work before this one.
    pub predecessors: i64,
    /// Names of containers that cannot be created now, and why.
    pub refusals: Vec<(String, String)>,
}

/// What one step of time led to.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// What there is to tell.
    pub happenings: Vec<Happening>,
    /// When something happens next.
    pub next: Option<i64>,
}

impl Containers {
    /// The containers of a pod before anything has happened.
    pub(super) fn new(pod: &Value, now: i64) -> Self {
        let init = items(&pod["spec"]["initContainers"]).iter().map(|it| (it, true));
        let main = items(&pod["spec"]["containers"]).iter().map(|it| (it, false));
        let mut list: Vec<Container> = init
            .chain(main)
            .map(|(container, is_init)| Container {
                name: text(&container["name"]).to_owned(),
                is_init,
                is_sidecar: is_init && container["restartPolicy"] == "Always",
                state: State::Blocked,
                restarts: 0,
                last: None,
                ready: false,
                failed_pulls: 0,
            })
            .collect();
        if let Some(first) = list.iter_mut().find(|it| it.is_init) {
            first.state = State::Creating { until: now };
        }
        Self { list, predecessors: 0, refusals: Vec::new() }
    }

    /// Lets time pass until `now`.
    pub(super) fn advance(&mut self, pod: &Value, now: i64) -> Step {
        let mut step = Step::default();
        let mut blocked = false;
        for idx in 0..self.list.len() {
            if self.list[idx].is_init {
                if blocked {
                    break;
                }
                self.move_one(pod, idx, now, &mut step);
                let container = &self.list[idx];
                blocked = if container.is_sidecar {
                    !matches!(container.state, State::Running { .. })
                } else {
                    !matches!(container.state, State::Ended { code: 0, .. })
                };
            } else if !blocked {
                self.move_one(pod, idx, now, &mut step);
            }
        }
        step
    }

    /// Whether all init containers are done.
    pub(super) fn initialized(&self) -> bool {
        self.list.iter().filter(|it| it.is_init).all(|it| match it.state {
            State::Ended { code, .. } => code == 0,
            State::Running { .. } => it.is_sidecar,
            _ => false,
        })
    }

    /// The phase of the pod.
    pub(super) fn phase(&self, restart_policy: &str) -> &'static str {
        let failed_init = self
            .list
            .iter()
            .any(|it| it.is_init && matches!(it.state, State::Ended { code, .. } if code != 0));
        if failed_init {
            return "Failed";
        }
        let main: Vec<&Container> = self.list.iter().filter(|it| !it.is_init).collect();
        let ended = main.iter().filter(|it| matches!(it.state, State::Ended { .. })).count();
        let failed =
            main.iter().any(|it| matches!(it.state, State::Ended { code, .. } if code != 0));
        if ended == main.len() && restart_policy != "Always" {
            return if failed { "Failed" } else { "Succeeded" };
        }
        let started = main.iter().any(|it| {
            matches!(it.state, State::Running { .. } | State::Ended { .. } | State::BackOff { .. })
                || it.restarts > 0
        });
        if started && self.initialized() { "Running" } else { "Pending" }
    }

    /// Stops everything that runs.
    pub(super) fn stop(&mut self, now: i64, code: i64) {
        for container in &mut self.list {
            container.ready = false;
            if let State::Running { since } = container.state {
                container.state = State::Ended { code, started: since, ended: now };
            }
        }
    }

    fn move_one(&mut self, pod: &Value, idx: usize, now: i64, step: &mut Step) {
        for _ in 0..8 {
            let before = self.list[idx].state.clone();
            self.transit(pod, idx, now, step);
            if self.list[idx].state == before {
                break;
            }
        }
    }

    fn transit(&mut self, pod: &Value, idx: usize, now: i64, step: &mut Step) {
        let spec = spec_of(pod, &self.list, idx);
        let container = &mut self.list[idx];
        let attempt = container.restarts + self.predecessors;
        let script = script(pod, spec, container.is_init, attempt);
        let wake = |at: i64, step: &mut Step| {
            step.next = Some(step.next.map_or(at, |it| it.min(at)));
        };
        let refusal = self.refusals.iter().find(|(name, _)| *name == container.name);
        match container.state {
            State::Blocked => {
                container.state = State::Creating { until: now + script.start_delay_ms };
            }
            State::Creating { until } | State::BackOff { until, .. } if until > now => {
                wake(until, step);
            }
            State::NoImage { until: None } | State::Ended { .. } => {}
            State::NoImage { until: Some(until) } if until > now => wake(until, step),
            State::Creating { .. } | State::NoImage { .. }
                if container.failed_pulls < script.pull_errors =>
            {
                container.failed_pulls += 1;
                let heals = script.pull_errors < i64::MAX;
                container.state = State::NoImage { until: heals.then_some(now + RETRY_MS) };
                step.happenings.push(Happening::PullFailed(container.name.clone()));
            }
            State::Creating { .. } | State::Refused(_) if refusal.is_some() => {
                wake(now + RETRY_MS, step);
                let why = refusal.map(|it| it.1.clone()).unwrap_or_default();
                if container.state != State::Refused(why.clone()) {
                    step.happenings.push(Happening::Refused(container.name.clone(), why.clone()));
                    container.state = State::Refused(why);
                }
            }
            State::Creating { .. } | State::Refused(_) | State::NoImage { .. } => {
                start(container, now, step);
            }
            State::Running { since } => {
                let ready_at = since + script.ready_delay_ms;
                if !script.never_ready && ready_at > now && !container.ready {
                    wake(ready_at, step);
                }
                container.ready = container.ready || (!script.never_ready && ready_at <= now);
                match script.run_time_ms.map(|it| since + it) {
                    Some(end) if end <= now => {
                        finish(pod, container, &script, since, now, step);
                    }
                    Some(end) => wake(end, step),
                    None => {}
                }
            }
            State::BackOff { .. } => {
                container.restarts += 1;
                start(container, now, step);
            }
        }
    }
}

fn spec_of<'a>(pod: &'a Value, list: &[Container], idx: usize) -> &'a Value {
    let n_init = list.iter().filter(|it| it.is_init).count();
    if idx < n_init {
        &pod["spec"]["initContainers"][idx]
    } else {
        &pod["spec"]["containers"][idx - n_init]
    }
}

fn start(container: &mut Container, now: i64, step: &mut Step) {
    container.state = State::Running { since: now };
    step.happenings.push(Happening::Started(container.name.clone()));
}

fn finish(
    pod: &Value,
    container: &mut Container,
    script: &Script,
    since: i64,
    now: i64,
    step: &mut Step,
) {
    container.ready = false;
    let policy = text(&pod["spec"]["restartPolicy"]);
    let failed = script.exit_code != 0;
    let restart = match policy {
        "Never" => container.is_sidecar,
        "OnFailure" => failed || container.is_sidecar,
        _ => failed || !container.is_init || container.is_sidecar,
    };
    if !restart {
        container.state = State::Ended { code: script.exit_code, started: since, ended: now };
        return;
    }
    container.last = Some((script.exit_code, since, now));
    if container.restarts == 0 && container.last.is_some() {
        container.restarts = 1;
        start(container, now, step);
        return;
    }
    let doublings = (container.restarts - 1).clamp(0, 10) as u32;
    let pause = (FIRST_BACK_OFF_MS << doublings).min(LONGEST_BACK_OFF_MS);
    container.state = State::BackOff { until: now + pause, pause };
    step.happenings.push(Happening::BackedOff(container.name.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(policy: &str, annotations: &Value, init: &Value) -> Value {
        json!({"metadata": {"annotations": annotations}, "spec": {"restartPolicy": policy,
            "initContainers": init, "containers": [{"name": "a", "image": "busybox"}]}})
    }

    #[test]
    fn a_server_is_ready_at_once() {
        let pod = pod("Always", &json!({}), &json!([]));
        let mut containers = Containers::new(&pod, 0);
        let step = containers.advance(&pod, 0);
        assert_eq!(containers.phase("Always"), "Running");
        assert!(containers.list[0].ready);
        assert_eq!(step.next, None);
    }

    #[test]
    fn a_task_ends_after_a_moment() {
        let pod = pod("Never", &json!({}), &json!([]));
        let mut containers = Containers::new(&pod, 0);
        assert_eq!(containers.advance(&pod, 0).next, Some(100));
        assert_eq!(containers.phase("Never"), "Running");
        containers.advance(&pod, 100);
        assert_eq!(containers.phase("Never"), "Succeeded");
    }

    #[test]
    fn a_crash_loop_backs_off() {
        let pod = pod("Always", &json!({"sandbox.kusion.io/crash-loop": "true"}), &json!([]));
        let mut containers = Containers::new(&pod, 0);
        containers.advance(&pod, 0);
        containers.advance(&pod, 100);
        assert_eq!(containers.list[0].restarts, 1);
        let step = containers.advance(&pod, 200);
        assert_eq!(containers.list[0].state, State::BackOff { until: 10_200, pause: 10_000 });
        assert_eq!(step.happenings, [Happening::BackedOff("a".to_owned())]);
        containers.advance(&pod, 10_200);
        assert_eq!(containers.list[0].restarts, 2);
    }

    #[test]
    fn init_containers_run_first() {
        let pod = pod("Always", &json!({}), &json!([{"name": "i", "image": "busybox"}]));
        let mut containers = Containers::new(&pod, 0);
        containers.advance(&pod, 0);
        assert_eq!(containers.phase("Always"), "Pending");
        assert_eq!(containers.list[1].state, State::Blocked);
        containers.advance(&pod, 100);
        assert!(containers.initialized());
        assert_eq!(containers.phase("Always"), "Running");
    }

    #[test]
    fn an_image_that_is_missing_keeps_the_pod_pending() {
        let pod = pod("Always", &json!({"sandbox.kusion.io/image-pull-error": "true"}), &json!([]));
        let mut containers = Containers::new(&pod, 0);
        containers.advance(&pod, 0);
        assert_eq!(containers.list[0].state, State::NoImage { until: None });
        assert_eq!(containers.phase("Always"), "Pending");
    }

    #[test]
    fn an_image_can_be_had_after_some_tries() {
        let pod = pod("Always", &json!({"sandbox.kusion.io/image-pull-error": "2"}), &json!([]));
        let mut containers = Containers::new(&pod, 0);
        for (now, phase) in
            [(0, "Pending"), (1000, "Pending"), (1999, "Pending"), (2000, "Running")]
        {
            containers.advance(&pod, now);
            assert_eq!(containers.phase("Always"), phase, "{now}");
        }
    }

    #[test]
    fn a_crash_happens_once() {
        let pod = pod("Always", &json!({"sandbox.kusion.io/crash-after": "5s"}), &json!([]));
        let mut containers = Containers::new(&pod, 0);
        assert_eq!(containers.advance(&pod, 0).next, Some(5000));
        assert_eq!(containers.advance(&pod, 5000).next, None);
        let container = &containers.list[0];
        assert_eq!((container.restarts, container.last), (1, Some((1, 0, 5000))));
        assert_eq!(container.state, State::Running { since: 5000 });
    }
}
