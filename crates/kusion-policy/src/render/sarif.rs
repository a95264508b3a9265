//! SARIF 2.1.0, which code hosts and editors read.

use super::Located;
use crate::policy::Policy;
use kusion_model::{PolicyFinding, PolicyLevel};
use serde_json::{Value, json};

/// Writes findings as a SARIF log. `policies` describe the rules.
pub fn sarif(version: &str, policies: &[Policy], findings: &[Located<'_>]) -> Value {
    let rules: Vec<Value> = policies
        .iter()
        .map(|it| {
            let mut rule = json!({
                "id": it.name,
                "shortDescription": {"text": it.title()},
                "defaultConfiguration": {"level": level(it.level())},
            });
            if !it.description().is_empty() {
                rule["fullDescription"] = json!({"text": it.description()});
            }
            if !it.fix().is_empty() {
                rule["help"] = json!({"text": it.fix()});
            }
            rule
        })
        .collect();
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "kusion policy", "version": version, "rules": rules}},
            "results": results,
        }],
    })
}

fn result(located: &Located<'_>) -> Value {
    let finding = located.finding;
    let mut result = json!({
        "ruleId": finding.policy,
        "level": level(finding.level),
        "message": {"text": message(finding)},
        "locations": [{
            "logicalLocations": [{"fullyQualifiedName": name(located)}],
        }],
    });
    if let Some(origin) = finding.origin.as_ref().filter(|it| it.line > 0) {
        result["locations"][0]["physicalLocation"] = json!({
            "artifactLocation": {"uri": &*origin.file},
            "region": {"startLine": origin.line, "startColumn": origin.column.max(1)},
        });
    }
    if let Some(exception) = &finding.exception {
        let reason = &exception.reason;
        result["suppressions"] = json!([{"kind": "external", "justification": reason}]);
    }
    result
}

fn name(located: &Located<'_>) -> String {
    match &located.finding.resource {
        Some(id) if located.finding.path.0.is_empty() => format!("{} {id}", located.stack),
        Some(id) => format!("{} {id} {}", located.stack, located.finding.path),
        None => located.stack.to_owned(),
    }
}

fn message(finding: &PolicyFinding) -> String {
    match finding.fix.as_str() {
        "" => finding.message.clone(),
        fix => format!("{}; {fix}", finding.message),
    }
}

fn level(level: PolicyLevel) -> &'static str {
    match level {
        PolicyLevel::Deny | PolicyLevel::Approve => "error",
        PolicyLevel::Warn | PolicyLevel::Fix => "warning",
    }
}
