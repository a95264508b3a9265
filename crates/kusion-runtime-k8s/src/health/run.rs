//! Since when the containers of a pod run, and whether that proves anything.

use super::fields::{condition_time, list, number, text};
use super::pod::termination;
use jiff::Timestamp;
use serde_json::Value;
use std::time::Duration;

/// Maximum time that a restarted container must run before it counts as ready.
const LONGEST_PROOF: Duration = Duration::from_mins(1);

/// The last crash of a running container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Restart {
    /// How long the pod must run from now on: longer than before the crash.
    pub(crate) proof: Duration,
    /// Description for users.
    pub(crate) words: String,
}

/// Returns the number of restarts of the containers that run.
pub(crate) fn restarts(pod: &Value) -> i64 {
    running(pod).map(|it| number(it, "/restartCount")).sum()
}

/// Returns when the last container was started, or the pod became ready, if that was later.
pub(crate) fn started(pod: &Value) -> Option<Timestamp> {
    let starts = running(pod).map(|it| text(it, "/state/running/startedAt"));
    let ready = condition_time(pod, "Ready");
    starts.chain(ready).filter_map(|it| it.parse().ok()).max()
}

/// Returns whether nothing but the lack of a crash shows that a ready pod works: it restarted, or
/// a container has no readiness probe.
pub(crate) fn is_unproven(pod: &Value) -> bool {
    let main = list(pod, "/spec/containers").iter();
    let beside = list(pod, "/spec/initContainers").iter();
    let beside = beside.filter(|it| text(it, "/restartPolicy") == "Always");
    restarts(pod) > 0 || main.chain(beside).any(|it| it.get("readinessProbe").is_none())
}

/// Returns the last crash of a pod whose containers run again.
pub(crate) fn last_restart(pod: &Value) -> Option<Restart> {
    let crashed = |status: &Value| {
        let last = status.pointer("/lastState/terminated")?;
        let time = |pointer: &str| text(last, pointer).parse::<Timestamp>().ok();
        let life = match (time("/startedAt"), time("/finishedAt")) {
            (Some(start), Some(end)) => Duration::try_from(end.duration_since(start)).ok()?,
            _ => Duration::ZERO,
        };
        // Times of containers are whole seconds.
        let proof = life.min(LONGEST_PROOF) + Duration::from_secs(1);
        let name = text(status, "/name");
        let words = format!(
            "container `{name}` {}; restarts: {}; must run for {} s",
            termination(last).1,
            number(status, "/restartCount"),
            proof.as_secs(),
        );
        Some(Restart { proof, words })
    };
    running(pod)
        .filter(|it| number(it, "/restartCount") > 0)
        .filter_map(crashed)
        .max_by_key(|it| it.proof)
}

/// Returns the states of the containers that run as long as the pod.
fn running(pod: &Value) -> impl Iterator<Item = &Value> {
    let is_running = |it: &&Value| it.pointer("/state/running").is_some();
    let beside = list(pod, "/status/initContainerStatuses").iter();
    beside.chain(list(pod, "/status/containerStatuses")).filter(is_running)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(restarts: i64, life: &str) -> Value {
        json!({"spec": {"containers": [{"name": "a", "readinessProbe": {}}]},
            "status": {"containerStatuses": [{"name": "a", "restartCount": restarts,
                "state": {"running": {"startedAt": "2026-01-01T00:10:00Z"}},
                "lastState": {"terminated": {"exitCode": 1, "startedAt": "2026-01-01T00:00:00Z",
                    "finishedAt": format!("2026-01-01T00:{life}Z")}}}]}})
    }

    #[test]
    fn a_restarted_container_must_outlive_its_last_run() {
        let proof = |life: &str| last_restart(&pod(1, life)).map(|it| it.proof.as_secs());
        assert_eq!((proof("00:20"), proof("09:00")), (Some(21), Some(61)));
        assert_eq!(last_restart(&pod(0, "00:20")), None);
        let words = last_restart(&pod(3, "00:20")).map(|it| it.words);
        let expected = "container `a` exited with code 1; restarts: 3; must run for 21 s";
        assert_eq!(words.as_deref(), Some(expected));
    }

    #[test]
    fn a_probe_proves_more_than_time() {
        assert!(!is_unproven(&pod(0, "00:20")) && is_unproven(&pod(1, "00:20")));
        let mut bare = pod(0, "00:20");
        bare["spec"]["initContainers"] = json!([{"name": "proxy", "restartPolicy": "Always"}]);
        assert!(is_unproven(&bare), "a container beside the others has no probe");
        assert_eq!(
            started(&bare).map(|it| it.to_string()),
            Some("2026-01-01T00:10:00Z".to_owned())
        );
    }
}
