//! Findings about stacks, in several forms.

use crate::failure::{Exit, Failure};
use crate::view::style::one_line;
use crate::view::{self, words};
use kusion_app::policies::{CheckedStacks, now};
use kusion_app::wire::{CheckDocument, Finding};
use kusion_model::{FieldPath, PolicyFinding, PolicyLevel};
use kusion_policy::render::{Located, junit, policy_report, sarif};
use serde_json::Value;
use std::fmt::Write as _;

/// The output format of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum ReportOutput {
    /// Human-readable text
    #[default]
    Text,
    /// JSON, for programs
    Json,
    /// SARIF, for code hosts and editors
    Sarif,
    /// Test suites in XML, for CI systems
    Junit,
    /// Objects of the Kubernetes policy working group
    PolicyReport,
}

/// Shows the findings of policies, after findings of other kinds. Fails if one of them is an error.
pub(crate) fn show(
    checked: &CheckedStacks,
    others: &[Finding],
    output: ReportOutput,
    n_stacks: usize,
    n_cells: usize,
) -> Result<Exit, Failure> {
    let mut findings = others.to_vec();
    for stack in &checked.stacks {
        findings.extend(stack.findings.iter().map(|it| listed(&stack.stack, it)));
    }
    let n_errors = findings.iter().filter(|it| it.severity == "error").count();
    let stacks: Vec<&str> = checked.stacks.iter().map(|it| it.stack.as_str()).collect();
    let text = match output {
        ReportOutput::Json => {
            CheckDocument::new(n_stacks, n_cells, checked.policies.len(), findings).text()
        }
        ReportOutput::Text => {
            let mut text = String::new();
            for it in &findings {
                let message = one_line(&it.message);
                let _ = writeln!(text, "{}[{}] {}: {message}", it.severity, it.code, it.stack);
            }
            let n_warnings = findings.iter().filter(|it| it.severity == "warning").count();
            let mut subjects = vec![words::count(n_stacks, "stack")];
            if n_cells > 0 {
                subjects.push(words::count(n_cells, "cell"));
            }
            match checked.policies.len() {
                0 => {}
                1 => subjects.push("1 policy".to_owned()),
                count => subjects.push(format!("{count} policies")),
            }
            let mut results = vec![words::count(n_errors, "error")];
            if n_warnings > 0 {
                results.push(words::count(n_warnings, "warning"));
            }
            let _ = writeln!(text, "{}: {}", subjects.join(", "), results.join(", "));
            text
        }
        _ => rendered(checked, others, output, &stacks),
    };
    view::result(&text)?;
    Ok(if n_errors == 0 { Exit::Success } else { Exit::Failed })
}

/// Writes findings in the form of another tool.
fn rendered(
    checked: &CheckedStacks,
    others: &[Finding],
    output: ReportOutput,
    stacks: &[&str],
) -> String {
    let others: Vec<(&str, PolicyFinding)> =
        others.iter().map(|it| (it.stack.as_str(), as_policy(it))).collect();
    let mut all: Vec<Located<'_>> =
        others.iter().map(|(stack, finding)| Located { stack, finding }).collect();
    for it in &checked.stacks {
        all.extend(it.findings.iter().map(|finding| Located { stack: &it.stack, finding }));
    }
    let text = |value: &Value| {
        let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
        text.push('\n');
        text
    };
    match output {
        ReportOutput::Junit => junit(&checked.policies, stacks, &all),
        ReportOutput::PolicyReport => text(&policy_report(now(), stacks, &all)),
        _ => text(&sarif(env!("CARGO_PKG_VERSION"), &checked.policies, &all)),
    }
}

fn listed(stack: &str, finding: &PolicyFinding) -> Finding {
    let severity = match finding.level {
        _ if finding.exception.is_some() => "excepted",
        PolicyLevel::Deny => "error",
        PolicyLevel::Approve | PolicyLevel::Fix | PolicyLevel::Warn => "warning",
    };
    let end = match (&finding.exception, finding.level, finding.fix.as_str()) {
        (Some(it), ..) => format!("; until {} by {}: {}", it.expires, it.owner, it.reason),
        (None, PolicyLevel::Approve, _) => format!("; needs an approval by {}", finding.role),
        (None, _, "") => String::new(),
        (None, _, fix) => format!("; {fix}"),
    };
    Finding {
        severity,
        code: finding.policy.clone(),
        stack: stack.to_owned(),
        message: format!("{}{end}", finding.text()),
        finding: Some(finding.clone()),
    }
}

fn as_policy(finding: &Finding) -> PolicyFinding {
    PolicyFinding {
        policy: finding.code.clone(),
        level: if finding.severity == "error" { PolicyLevel::Deny } else { PolicyLevel::Warn },
        message: finding.message.clone(),
        resource: None,
        path: FieldPath::default(),
        origin: None,
        fix: String::new(),
        role: String::new(),
        exception: None,
    }
}
