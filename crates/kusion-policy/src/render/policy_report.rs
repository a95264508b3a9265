//! The `PolicyReport` of the Kubernetes policy working group, as one object for each stack.

use super::Located;
use crate::moment::Moment;
use kusion_model::{PolicyFinding, PolicyLevel};
use serde_json::{Value, json};

/// Writes findings as a list of policy reports.
pub fn policy_report(now: Moment, stacks: &[&str], findings: &[Located<'_>]) -> Value {
    let items: Vec<Value> = stacks
        .iter()
        .map(|stack| {
            let own: Vec<&PolicyFinding> =
                findings.iter().filter(|it| it.stack == *stack).map(|it| it.finding).collect();
            report(now, stack, &own)
        })
        .collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

fn report(now: Moment, stack: &str, findings: &[&PolicyFinding]) -> Value {
    let results: Vec<Value> = findings.iter().map(|it| result(now, it)).collect();
    let count = |name: &str| findings.iter().filter(|it| verdict(it) == name).count();
    json!({
        "apiVersion": "wgpolicyk8s.io/v1alpha2",
        "kind": "PolicyReport",
        "metadata": {"name": object_name(stack)},
        "summary": {
            "pass": 0,
            "fail": count("fail"),
            "warn": count("warn"),
            "error": 0,
            "skip": count("skip"),
        },
        "results": results,
    })
}

fn result(now: Moment, finding: &PolicyFinding) -> Value {
    let (policy, rule) = finding.policy.rsplit_once('/').unwrap_or((&finding.policy, ""));
    let mut properties = json!({"level": finding.level});
    for (key, value) in [("fix", &finding.fix), ("role", &finding.role)] {
        if !value.is_empty() {
            properties[key] = value.as_str().into();
        }
    }
    if !finding.path.0.is_empty() {
        properties["path"] = finding.path.to_string().into();
    }
    if let Some(origin) = &finding.origin {
        properties["origin"] = origin.to_string().into();
    }
    let mut result = json!({
        "source": "kusion",
        "policy": policy,
        "result": verdict(finding),
        "scored": finding.level != PolicyLevel::Warn,
        "message": finding.message,
        "timestamp": {"seconds": now.millis / 1000, "nanos": 0},
        "properties": properties,
    });
    if !rule.is_empty() {
        result["rule"] = rule.into();
    }
    if let Some(id) = &finding.resource {
        result["resources"] = json!([object(id.as_str())]);
    }
    result
}

/// Returns a reference to the object of an id: `apiVersion:Kind[:namespace]:name`.
fn object(id: &str) -> Value {
    match id.split(':').collect::<Vec<_>>().as_slice() {
        [version, kind, name] => json!({"apiVersion": version, "kind": kind, "name": name}),
        [version, kind, namespace, name] => {
            json!({"apiVersion": version, "kind": kind, "namespace": namespace, "name": name})
        }
        _ => json!({"name": id}),
    }
}

fn verdict(finding: &PolicyFinding) -> &'static str {
    match finding.level {
        _ if finding.exception.is_some() => "skip",
        PolicyLevel::Deny | PolicyLevel::Approve => "fail",
        PolicyLevel::Warn | PolicyLevel::Fix => "warn",
    }
}

/// Returns a name that an object may have.
fn object_name(stack: &str) -> String {
    let plain =
        |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_lowercase() } else { '-' };
    let name: String = stack.chars().map(plain).collect();
    format!("kusion-{}", name.trim_matches('-'))
}
