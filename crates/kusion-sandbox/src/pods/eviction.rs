//! Whether a pod may be evicted: the budgets that cover it decide.

use crate::Status;
use crate::controllers::meta::{self, int, text};
use crate::controllers::selector;
use serde_json::{Value, json};
use std::sync::Arc;

/// What becomes of a request to evict.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The pod may go.
    Allow,
    /// The pod may go, after this status was written to its budget (index in the list).
    AllowAfter(usize, Box<Value>),
}

/// Decides about one pod, given all budgets of its namespace.
pub(crate) fn decide(
    pod: &Value,
    budgets: &[Arc<Value>],
    now_text: &str,
) -> Result<Verdict, Status> {
    if meta::is_pod_finished(pod)
        || meta::is_deleting(pod)
        || text(&pod["status"]["phase"]) == "Pending"
    {
        return Ok(Verdict::Allow);
    }
    let covering: Vec<usize> = (0..budgets.len())
        .filter(|it| {
            selector::matches(&budgets[*it]["spec"]["selector"], &pod["metadata"]["labels"])
        })
        .collect();
    let [idx] = covering[..] else {
        if covering.is_empty() {
            return Ok(Verdict::Allow);
        }
        return Err(Status {
            code: 500,
            reason: "InternalError",
            message: "This pod has more than one PodDisruptionBudget, which the eviction \
                      subresource does not support."
                .to_owned(),
            details: Value::Null,
        });
    };
    let budget = &budgets[idx];
    let status = &budget["status"];
    let healthy = int(&status["currentHealthy"], 0);
    let desired = int(&status["desiredHealthy"], 0);
    if !meta::is_pod_ready(pod)
        && (budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
            || (healthy >= desired && desired > 0))
    {
        return Ok(Verdict::Allow);
    }
    if int(&status["observedGeneration"], 0) < meta::generation(budget) {
        return Err(refusal(
            budget,
            "The disruption budget %s is still being processed by the server.",
            Some(10),
        ));
    }
    if int(&status["disruptionsAllowed"], 0) <= 0 {
        return Err(refusal(
            budget,
            &format!(
                "The disruption budget %s needs {desired} healthy pods and has {healthy} currently"
            ),
            None,
        ));
    }
    let mut status = status.clone();
    let allowed = int(&status["disruptionsAllowed"], 0) - 1;
    status["disruptionsAllowed"] = allowed.into();
    if allowed == 0 {
        let condition = json!({"type": "DisruptionAllowed", "status": "False",
            "reason": "InsufficientPods", "message": "",
            "observedGeneration": int(&status["observedGeneration"], 0)});
        meta::set_condition(&mut status["conditions"], condition, now_text);
    }
    if !status["disruptedPods"].is_object() {
        status["disruptedPods"] = json!({});
    }
    status["disruptedPods"][meta::name(pod)] = now_text.into();
    Ok(Verdict::AllowAfter(idx, Box::new(status)))
}

fn refusal(budget: &Value, template: &str, retry_after: Option<i64>) -> Status {
    let cause = template.replace("%s", meta::name(budget));
    let mut details = json!({"causes": [{"reason": "DisruptionBudget", "message": cause}]});
    if let Some(seconds) = retry_after {
        details["retryAfterSeconds"] = seconds.into();
    }
    Status::too_many_requests(
        "Cannot evict pod as it would violate the pod's disruption budget.",
        details,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod() -> Value {
        json!({"metadata": {"name": "p", "labels": {"a": "b"}}, "status": {"phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}]}})
    }

    fn budget(allowed: i64) -> Arc<Value> {
        Arc::new(json!({"metadata": {"name": "x", "generation": 1},
            "spec": {"selector": {"matchLabels": {"a": "b"}}},
            "status": {"observedGeneration": 1, "disruptionsAllowed": allowed,
                "currentHealthy": 1, "desiredHealthy": 1}}))
    }

    #[test]
    fn a_budget_that_is_used_up_refuses() {
        let refused = decide(&pod(), &[budget(0)], "t").unwrap_err();
        assert_eq!(refused.code, 429);
        assert_eq!(
            refused.details["causes"][0]["message"],
            "The disruption budget x needs 1 healthy pods and has 1 currently"
        );
    }

    #[test]
    fn an_eviction_is_counted() {
        let verdict = decide(&pod(), &[budget(2)], "t").unwrap();
        let Verdict::AllowAfter(0, status) = verdict else { panic!("{verdict:?}") };
        assert_eq!(status["disruptionsAllowed"], 1);
        assert_eq!(status["disruptedPods"]["p"], "t");
    }
}
