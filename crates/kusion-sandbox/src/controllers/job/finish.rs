//! When a Job is over, and how.

use super::super::meta::{self, int, items, text};
use super::{Round, indexes};
use serde_json::Value;

/// How a Job ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Whether it reached its goal.
    pub good: bool,
    /// One word.
    pub reason: String,
    /// A sentence.
    pub message: String,
}

impl Verdict {
    fn failed(reason: &str, message: impl Into<String>) -> Self {
        Self { good: false, reason: reason.to_owned(), message: message.into() }
    }
}

/// Whether the end of a Job stands in its status.
pub(super) fn is_finished(job: &Value) -> bool {
    meta::is_true(job, "Complete") || meta::is_true(job, "Failed")
}

/// Whether and how a Job ends now.
pub(super) fn judge(round: &Round<'_>) -> Option<Verdict> {
    let (spec, status) = (&round.job["spec"], &round.status);
    if let Some(known) = items(&status["conditions"]).iter().find(|it| {
        it["status"] == "True"
            && (it["type"] == "FailureTarget" || it["type"] == "SuccessCriteriaMet")
    }) {
        return Some(Verdict {
            good: known["type"] == "SuccessCriteriaMet",
            reason: text(&known["reason"]).to_owned(),
            message: text(&known["message"]).to_owned(),
        });
    }
    if let Some(verdict) = by_policy(round) {
        return Some(verdict);
    }
    let failed = int(&status["failed"], 0);
    let restarts = restarts(round);
    let limit = int(&spec["backoffLimit"], 6);
    if failed > limit || (restarts > 0 && restarts >= limit.max(1) && failed + restarts > limit) {
        let message = "Job has reached the specified backoff limit";
        return Some(Verdict::failed("BackoffLimitExceeded", message));
    }
    if let Some(limit) = spec["activeDeadlineSeconds"].as_i64()
        && spec["suspend"] != true
        && let Some(start) = meta::time(&status["startTime"])
        && round.now.as_second() >= start.as_second() + limit
    {
        let message = "Job was active longer than specified deadline";
        return Some(Verdict::failed("DeadlineExceeded", message));
    }
    if let Some(verdict) = by_index(round) {
        return Some(verdict);
    }
    let succeeded = int(&status["succeeded"], 0);
    let active = round.pods.iter().filter(|it| meta::is_pod_active(it)).count();
    let done = match spec["completions"].as_i64() {
        Some(completions) => succeeded >= completions,
        None => succeeded > 0 && active == 0,
    };
    done.then(|| Verdict {
        good: true,
        reason: "CompletionsReached".to_owned(),
        message: "Reached expected number of succeeded pods".to_owned(),
    })
}

/// Restarts of containers count as failures when pods restart them themselves.
fn restarts(round: &Round<'_>) -> i64 {
    if round.job["spec"]["template"]["spec"]["restartPolicy"] != "OnFailure" {
        return 0;
    }
    let statuses = round.pods.iter().filter(|it| !meta::is_pod_finished(it)).flat_map(|pod| {
        items(&pod["status"]["containerStatuses"])
            .iter()
            .chain(items(&pod["status"]["initContainerStatuses"]))
    });
    statuses.map(|it| int(&it["restartCount"], 0)).sum()
}

/// The rules for failures of indexes.
fn by_index(round: &Round<'_>) -> Option<Verdict> {
    let spec = &round.job["spec"];
    spec["backoffLimitPerIndex"].as_i64()?;
    let failed = indexes::parse(text(&round.status["failedIndexes"]));
    if let Some(limit) = spec["maxFailedIndexes"].as_i64()
        && failed.len() as i64 > limit
    {
        let message = "Job has exceeded the specified maximal number of failed indexes";
        return Some(Verdict::failed("MaxFailedIndexesExceeded", message));
    }
    let done = indexes::parse(text(&round.status["completedIndexes"]));
    if !failed.is_empty() && (done.len() + failed.len()) as i64 >= int(&spec["completions"], 1) {
        return Some(Verdict::failed("FailedIndexes", "Job has failed indexes"));
    }
    None
}

/// The policies for success and for failures of pods.
fn by_policy(round: &Round<'_>) -> Option<Verdict> {
    let spec = &round.job["spec"];
    for (idx, rule) in items(&spec["successPolicy"]["rules"]).iter().enumerate() {
        let done = indexes::parse(text(&round.status["completedIndexes"]));
        let wanted = rule["succeededIndexes"].as_str().map(indexes::parse);
        let met = match &wanted {
            Some(wanted) => wanted.intersection(&done).count(),
            None => done.len(),
        } as i64;
        let needed = rule["succeededCount"]
            .as_i64()
            .unwrap_or_else(|| wanted.as_ref().map_or(1, |it| it.len() as i64));
        if met >= needed {
            return Some(Verdict {
                good: true,
                reason: "SuccessPolicy".to_owned(),
                message: format!("Matched rules at index {idx}"),
            });
        }
    }
    for pod in round.pods.iter().filter(|it| it["status"]["phase"] == "Failed") {
        for (idx, rule) in items(&spec["podFailurePolicy"]["rules"]).iter().enumerate() {
            let Some(detail) = matches_rule(rule, pod) else { continue };
            if rule["action"] != "FailJob" {
                break;
            }
            let message = format!(
                "{detail} for pod {}/{} matching FailJob rule at index {idx}",
                meta::namespace(pod),
                meta::name(pod)
            );
            return Some(Verdict::failed("PodFailurePolicy", message));
        }
    }
    None
}

/// What the failure policy says about a failed pod; empty when it says nothing.
pub(super) fn action_for<'a>(job: &'a Value, pod: &Value) -> &'a str {
    items(&job["spec"]["podFailurePolicy"]["rules"])
        .iter()
        .find(|it| matches_rule(it, pod).is_some())
        .map_or("", |it| text(&it["action"]))
}

/// What in a failed pod matches a rule of the failure policy.
pub(super) fn matches_rule(rule: &Value, pod: &Value) -> Option<String> {
    let codes = &rule["onExitCodes"];
    if codes.is_object() {
        for status in items(&pod["status"]["containerStatuses"]) {
            let Some(code) = status["state"]["terminated"]["exitCode"].as_i64() else { continue };
            let name = text(&codes["containerName"]);
            if code == 0 || (!name.is_empty() && status["name"] != name) {
                continue;
            }
            let listed = items(&codes["values"]).iter().any(|it| it.as_i64() == Some(code));
            if listed == (codes["operator"] == "In") {
                return Some(format!(
                    "Container {} failed with exit code {code}",
                    text(&status["name"])
                ));
            }
        }
        return None;
    }
    items(&rule["onPodConditions"]).iter().find_map(|wanted| {
        let type_ = text(&wanted["type"]);
        let status = wanted["status"].as_str().unwrap_or("True");
        meta::condition(pod, type_)
            .filter(|it| it["status"] == status)
            .map(|_| format!("Pod has condition {type_}"))
    })
}
