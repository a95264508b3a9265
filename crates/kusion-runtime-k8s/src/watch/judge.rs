//! Judges objects with regard to time: since when they fail or run.
//!
//! The first look at an object takes the times that it reports; after that, changes are timed by
//! the own clock. So a clock of the cluster that is wrong can only delay a verdict.

use crate::health::grace::{self, Finality};
use crate::health::{self, run};
use jiff::{SignedDuration, Timestamp};
use kusion_model::{Health, HealthState};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;

/// How long a failure from before the operation must last after it.
const OLD_FAILURE: Duration = Duration::from_secs(30);

/// A health, and when it changes if the object stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) health: Health,
    pub(super) until: Option<Timestamp>,
}

/// Judges objects.
#[derive(Default)]
pub(super) struct Judge {
    /// The start of the operation that changed the objects, to the second.
    operation: Option<Timestamp>,
    /// The record of each object, by uid.
    records: HashMap<String, Record>,
}

/// The failure and the run of one object.
struct Record {
    failure: Option<Failure>,
    run: Option<Run>,
}

/// The present failure of an object.
struct Failure {
    cause: &'static str,
    since: Timestamp,
    /// The newest sign of it, as reported.
    evidence: Option<Timestamp>,
    /// Whether there was a sign of it after the start of the operation.
    is_new: bool,
}

/// The present run of a pod.
#[derive(Clone, Copy)]
struct Run {
    restarts: i64,
    reported: Option<Timestamp>,
    since: Timestamp,
}

impl Judge {
    /// Creates the judge for objects that an operation changed, if there was one.
    pub(super) fn new(operation: Option<&str>) -> Self {
        let operation = operation.and_then(|it| it.parse::<Timestamp>().ok());
        // Objects report whole seconds.
        let to_second = |it: Timestamp| Timestamp::from_second(it.as_second()).ok();
        Self { operation: operation.and_then(to_second), records: HashMap::new() }
    }

    /// Returns the start of the operation, to the second.
    pub(super) fn operation(&self) -> Option<Timestamp> {
        self.operation
    }

    /// Notes the present form of an object.
    pub(super) fn note(&mut self, uid: &str, object: &Value, now: Timestamp) {
        let before = self.records.get(uid);
        let (failure, run) = (self.failure(before, object, now), run_of(before, object, now));
        // Also if it is empty: later changes of the object are timed by the own clock.
        self.records.insert(uid.to_owned(), Record { failure, run });
    }

    /// Forgets an object.
    pub(super) fn forget(&mut self, uid: &str) {
        self.records.remove(uid);
    }

    /// Returns the health of an object at a time.
    pub(super) fn verdict(&self, object: &Value, now: Timestamp) -> Verdict {
        let health = health::of_object(object);
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
        let Some(record) = self.records.get(uid) else { return Verdict { health, until: None } };
        match (health.state, &record.failure, record.run) {
            (HealthState::Failed, Some(failure), _) => self.failed(object, health, failure, now),
            (HealthState::Ready, _, Some(run)) => restarted(object, health, run, now),
            _ => Verdict { health, until: None },
        }
    }

    /// Returns since when a pod runs.
    pub(super) fn runs_since(&self, uid: &str) -> Option<Timestamp> {
        self.records.get(uid)?.run.map(|it| it.since)
    }

    fn failure(&self, before: Option<&Record>, object: &Value, now: Timestamp) -> Option<Failure> {
        let health = health::of_object(object);
        let reason = health.reason.filter(|_| health.state == HealthState::Failed)?;
        let cause = grace::cause(object, &reason).name;
        let evidence = grace::evidence(object, &reason).and_then(|it| it.parse().ok());
        let is_after = |time: Timestamp| self.operation.is_none_or(|it| time >= it);
        let Some(before) = before else {
            // A failure without a time may be old.
            let is_new = evidence.map_or(self.operation.is_none(), is_after);
            return Some(Failure {
                cause,
                since: evidence.unwrap_or(now).min(now),
                evidence,
                is_new,
            });
        };
        match before.failure.as_ref().filter(|it| it.cause == cause) {
            Some(known) => Some(Failure {
                cause,
                since: known.since,
                evidence,
                is_new: known.is_new || evidence != known.evidence,
            }),
            None => Some(Failure { cause, since: now, evidence, is_new: true }),
        }
    }

    fn failed(&self, object: &Value, health: Health, failure: &Failure, now: Timestamp) -> Verdict {
        let reason = health.reason.clone().unwrap_or_default();
        let grace = match grace::cause(object, &reason).finality {
            Finality::Ended => return Verdict { health, until: None },
            Finality::GivenUp => Duration::ZERO,
            Finality::MayHeal(grace) => grace,
        };
        let (since, grace) = match self.operation {
            Some(operation) if !failure.is_new => {
                (failure.since.max(operation), grace.max(OLD_FAILURE))
            }
            Some(operation) => (failure.since.max(operation), grace),
            None => (failure.since, grace),
        };
        let until = after(since, grace);
        if now >= until {
            return Verdict { health, until: None };
        }
        let health = Health::delayed(Some(reason), health.message);
        Verdict { health, until: Some(until) }
    }
}

/// Returns the present run of a pod; `None` if it does not run.
fn run_of(before: Option<&Record>, object: &Value, now: Timestamp) -> Option<Run> {
    if object.get("kind").and_then(Value::as_str) != Some("Pod") {
        return None;
    }
    let reported = Some(run::started(object)?);
    let restarts = run::restarts(object);
    let since = match before {
        None => reported.map_or(now, |it| it.min(now)),
        Some(before) => match before.run {
            Some(known) if known.restarts == restarts && known.reported == reported => known.since,
            _ => now,
        },
    };
    Some(Run { restarts, reported, since })
}

/// Returns the health of a ready pod, which must prove itself after a restart.
fn restarted(object: &Value, health: Health, run: Run, now: Timestamp) -> Verdict {
    let Some(restart) = run::last_restart(object) else { return Verdict { health, until: None } };
    let until = after(run.since, restart.proof);
    if now >= until {
        return Verdict { health, until: None };
    }
    let health = Health::delayed(Some("Restarted".to_owned()), restart.words);
    Verdict { health, until: Some(until) }
}

fn after(time: Timestamp, duration: Duration) -> Timestamp {
    let duration = SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX);
    time.saturating_add(duration).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).expect("a time")
    }

    fn waiting(reason: &str) -> Value {
        json!({"kind": "Pod", "metadata": {"uid": "p", "creationTimestamp": at(0).to_string()},
            "spec": {"containers": [{"name": "a"}]}, "status": {"phase": "Pending",
                "containerStatuses": [{"name": "a", "state": {"waiting": {"reason": reason}}}]}})
    }

    fn crashed(restarts: i64, finished: i64) -> Value {
        let mut pod = waiting("CrashLoopBackOff");
        pod["status"]["phase"] = "Running".into();
        pod["status"]["containerStatuses"][0]["restartCount"] = restarts.into();
        pod["status"]["containerStatuses"][0]["lastState"] =
            json!({"terminated": {"exitCode": 1, "finishedAt": at(finished).to_string()}});
        pod
    }

    fn state(judge: &Judge, object: &Value, now: i64) -> (HealthState, Option<i64>) {
        let verdict = judge.verdict(object, at(now));
        (verdict.health.state, verdict.until.map(|it| it.as_second() - 1_700_000_000))
    }

    #[test]
    fn a_cause_that_may_heal_must_last() {
        let mut judge = Judge::new(None);
        let pod = waiting("ErrImagePull");
        judge.note("p", &pod, at(1));
        assert_eq!(state(&judge, &pod, 1), (HealthState::Progressing, Some(30)));
        let pod = waiting("ImagePullBackOff");
        judge.note("p", &pod, at(10));
        assert_eq!(state(&judge, &pod, 29), (HealthState::Progressing, Some(30)));
        assert_eq!(state(&judge, &pod, 30), (HealthState::Failed, None));
        // A cause that appears during the watch counts from then on, whatever the pod reports.
        let pod = waiting("CreateContainerConfigError");
        judge.note("p", &pod, at(50));
        assert_eq!(state(&judge, &pod, 50), (HealthState::Progressing, Some(110)));
    }

    #[test]
    fn failures_from_before_an_operation_count_if_they_last() {
        let mut judge = Judge::new(Some(&at(100).to_string()));
        let pod = crashed(5, 90);
        judge.note("p", &pod, at(101));
        assert_eq!(state(&judge, &pod, 101), (HealthState::Progressing, Some(130)));
        assert_eq!(state(&judge, &pod, 130), (HealthState::Failed, None));
        // It crashes once more.
        let pod = crashed(6, 110);
        judge.note("p", &pod, at(110));
        assert_eq!(state(&judge, &pod, 110), (HealthState::Failed, None));
        // One that crashed after the start of the operation.
        let mut judge = Judge::new(Some(&at(100).to_string()));
        judge.note("p", &crashed(2, 100), at(101));
        assert_eq!(state(&judge, &crashed(2, 100), 101), (HealthState::Failed, None));
    }

    #[test]
    fn a_clock_that_is_wrong_delays_a_verdict_but_never_for_ever() {
        let mut judge = Judge::new(None);
        let mut pod = waiting("ErrImagePull");
        pod["metadata"]["creationTimestamp"] = at(9_999).to_string().into();
        judge.note("p", &pod, at(0));
        assert_eq!(state(&judge, &pod, 0), (HealthState::Progressing, Some(30)));
    }
}
