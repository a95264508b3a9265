//! How long a failure must last before it counts.
//!
//! What the kubelet retries may heal without intervention: an image that is pushed a moment later,
//! a config map that another process creates, a quota that is freed. Such a failure counts once it
//! has lasted for the time of its cause. What the kubelet or a controller gave up counts
//! immediately.

use super::fields::{list, text};
use super::pod::containers;
use serde_json::Value;
use std::time::Duration;

/// When a failure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finality {
    /// The object has ended and never runs again.
    Ended,
    /// Given up by the kubelet or a controller. If that happened before an operation, the
    /// operation may have repaired it.
    GivenUp,
    /// May heal without intervention within this time.
    MayHeal(Duration),
}

/// A cause of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// Its name: reasons that alternate while the kubelet retries have the same cause.
    pub(crate) name: &'static str,
    /// When it counts.
    pub(crate) finality: Finality,
}

/// Reasons of waiting containers that cannot start, with the cause and its grace in seconds. The
/// kubelet pulls an image three times in the first 30 s; it does not retry an invalid one.
const WAITING: &[(&str, &str, u64)] = &[
    ("InvalidImageName", "invalid image", 0),
    ("ErrImageNeverPull", "image never pulled", 0),
    ("ErrImagePull", "image pull", 30),
    ("ImagePullBackOff", "image pull", 30),
    ("ImageInspectError", "image pull", 30),
    ("RegistryUnavailable", "image pull", 30),
    ("CreateContainerError", "container creation", 30),
    ("RunContainerError", "container creation", 30),
    ("PreStartHookError", "container creation", 30),
    ("PostStartHookError", "container creation", 30),
    ("CreateContainerConfigError", "container configuration", 60),
];

/// Grace of pods that cannot be created: a quota, an admission webhook, a missing service account.
const CREATION: Duration = Duration::from_mins(1);

/// Returns the cause of a reason of a waiting container; `None` if it can still start.
pub(super) fn of_waiting(reason: &str) -> Option<Cause> {
    let (_, name, seconds) = WAITING.iter().find(|(known, ..)| *known == reason)?;
    let finality = match seconds {
        0 => Finality::GivenUp,
        n => Finality::MayHeal(Duration::from_secs(*n)),
    };
    Some(Cause { name, finality })
}

/// Returns the cause of the failure of an object.
pub(crate) fn cause(object: &Value, reason: &str) -> Cause {
    match text(object, "/kind") {
        "Job" => Cause { name: "job", finality: Finality::Ended },
        "Pod" if text(object, "/status/phase") == "Failed" => {
            Cause { name: "pod", finality: Finality::Ended }
        }
        "Pod" => {
            of_waiting(reason).unwrap_or(Cause { name: "crash loop", finality: Finality::GivenUp })
        }
        "Deployment" | "ReplicaSet" | "ReplicationController"
            if reason != "ProgressDeadlineExceeded" =>
        {
            Cause { name: "pod creation", finality: Finality::MayHeal(CREATION) }
        }
        _ => Cause { name: "condition", finality: Finality::GivenUp },
    }
}

/// Returns the time of the newest sign of a failure, as the object reports it.
pub(crate) fn evidence<'a>(object: &'a Value, reason: &str) -> Option<&'a str> {
    let latest = |times: &mut dyn Iterator<Item = &'a str>| times.filter(|it| !it.is_empty()).max();
    if text(object, "/kind") != "Pod" {
        let conditions = list(object, "/status/conditions").iter();
        let mut times = conditions
            .filter(|it| text(it, "/reason") == reason)
            .flat_map(|it| [text(it, "/lastUpdateTime"), text(it, "/lastTransitionTime")]);
        return latest(&mut times);
    }
    let ended = |status: &'a Value| text(status, "/lastState/terminated/finishedAt");
    if of_waiting(reason).is_none()
        && let Some(time) = latest(&mut containers(object).map(ended))
    {
        return Some(time);
    }
    let conditions = list(object, "/status/conditions").iter();
    let mut times = conditions
        .filter(|it| text(it, "/status") == "False" && text(it, "/type") == "ContainersReady")
        .map(|it| text(it, "/lastTransitionTime"));
    latest(&mut times).or_else(|| {
        let places = ["/status/startTime", "/metadata/creationTimestamp"];
        places.into_iter().map(|it| text(object, it)).find(|it| !it.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn alternating_reasons_have_one_cause() {
        let pod = json!({"kind": "Pod", "status": {"phase": "Pending"}});
        assert_eq!(cause(&pod, "ErrImagePull"), cause(&pod, "ImagePullBackOff"));
        assert_eq!(cause(&pod, "CrashLoopBackOff").finality, Finality::GivenUp);
        assert_eq!(cause(&pod, "InvalidImageName").finality, Finality::GivenUp);
        let ended = json!({"kind": "Pod", "status": {"phase": "Failed"}});
        assert_eq!(cause(&ended, "Error").finality, Finality::Ended);
    }

    #[test]
    fn controllers_give_up_at_their_deadline_only() {
        let web = json!({"kind": "Deployment"});
        assert_eq!(cause(&web, "ProgressDeadlineExceeded").finality, Finality::GivenUp);
        assert_eq!(cause(&web, "FailedCreate").finality, Finality::MayHeal(CREATION));
    }

    #[test]
    fn the_newest_sign_is_the_last_crash() {
        let pod = json!({"kind": "Pod", "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"},
            "status": {"startTime": "2026-01-01T00:00:01Z", "containerStatuses": [
                {"lastState": {"terminated": {"finishedAt": "2026-01-01T00:00:20Z"}}}, {}]}});
        assert_eq!(evidence(&pod, "CrashLoopBackOff"), Some("2026-01-01T00:00:20Z"));
        assert_eq!(evidence(&pod, "ErrImagePull"), Some("2026-01-01T00:00:01Z"));
        let web = json!({"kind": "Deployment", "status": {"conditions": [
            {"reason": "FailedCreate", "lastTransitionTime": "2026-01-01T00:00:05Z"}]}});
        assert_eq!(evidence(&web, "FailedCreate"), Some("2026-01-01T00:00:05Z"));
    }
}
