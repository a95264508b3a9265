//! Reports of operations and watches.

use super::style::{Role, Style, one_line};
use super::words::{self, count, of_action};
use super::{View, related};
use crate::arguments::quoted;
use kusion_app::OpenStack;
use kusion_engine::{Finding, Outcome, RelatedObject, Report, WatchEnd};
use kusion_model::HealthState;
use std::fmt::Write as _;

/// Maximum number of failures in a report.
const MOST: usize = 20;

/// The outcomes of steps, as reports name them.
const OUTCOMES: [(Outcome, &str); 4] = [
    (Outcome::Done, "done"),
    (Outcome::Failed, "failed"),
    (Outcome::Unknown, "unknown"),
    (Outcome::Skipped, "skipped"),
];

/// The number of steps by outcome.
#[derive(Debug, Default)]
pub(crate) struct Counts([usize; OUTCOMES.len()]);

impl Counts {
    /// Adds the steps of a report.
    pub(crate) fn add(&mut self, report: &Report) {
        for (count, (outcome, _)) in self.0.iter_mut().zip(OUTCOMES) {
            *count += report.count(outcome);
        }
    }

    /// Returns whether there were no steps.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    /// Formats the counts: `2 done, 1 failed`.
    pub(crate) fn text(&self) -> String {
        let counts = self.0.iter().zip(OUTCOMES).filter(|(count, _)| **count > 0);
        let counts: Vec<String> =
            counts.map(|(count, (_, word))| format!("{count} {word}")).collect();
        if counts.is_empty() { "nothing done".to_owned() } else { counts.join(", ") }
    }
}

/// Formats the report of an operation: counts, failures and what to run next.
pub(crate) fn of_operation(report: &Report, style: Style) -> String {
    let Some(revision) = report.revision else { return String::new() };
    let (word, role) = words::of_phase(report.phase);
    let mut counts = Counts::default();
    counts.add(report);
    let counts = counts.text();
    let mut text = format!("release {revision} {}: {counts}\n", style.paint(role, word));
    let failed: Vec<_> = report
        .steps
        .iter()
        .filter(|it| matches!(it.outcome, Outcome::Failed | Outcome::Unknown))
        .collect();
    for step in failed.iter().take(MOST) {
        let verb = of_action(step.action).verb;
        let mark = style.paint(Role::Bad, "✗");
        let _ = writeln!(text, "  {mark} {verb} {}: {}", step.id, one_line(&step.message));
    }
    if failed.len() > MOST {
        let _ = writeln!(text, "  … and {} more", failed.len() - MOST);
    }
    if !failed.is_empty() || report.count(Outcome::Skipped) > 0 {
        text.push_str(
            "completed steps are recorded; run `kusion preview` to see what is left, \
             then run the same command again\n",
        );
    }
    text
}

/// Formats the result of a watch: failures, their causes and what to run next.
pub(crate) fn of_watch(view: &View, open: &OpenStack, end: &WatchEnd) -> String {
    let style = view.style();
    match end {
        WatchEnd::Ready => format!("{}\n", style.paint(Role::Good, "all resources are ready")),
        WatchEnd::Stopped => "stopped watching; applied resources are kept\n".to_owned(),
        WatchEnd::Failed(findings) => {
            let head = format!("{} failed", count(findings.len(), "resource"));
            of_findings(view, open, &head, findings)
        }
        WatchEnd::TimedOut(findings) => {
            let head = format!("timed out: {} not ready", count(findings.len(), "resource"));
            of_findings(view, open, &head, findings)
        }
    }
}

fn of_findings(view: &View, open: &OpenStack, head: &str, findings: &[Finding]) -> String {
    let style = view.style();
    let mut text = format!("{}\n", style.paint(Role::Bad, head));
    let mut pod = None;
    for finding in findings.iter().take(MOST) {
        let mark = style.paint(Role::Bad, "✗");
        let _ = writeln!(text, "  {mark} {}: {}", finding.id, one_line(&finding.message));
        let related = view.last_seen(open.key(), &finding.id).map(|(_, it)| it).unwrap_or_default();
        let is_worth_a_look = |it: &&RelatedObject| {
            it.health.state != HealthState::Ready || !it.health.warnings.is_empty()
        };
        for object in related.iter().filter(is_worth_a_look) {
            let _ = writeln!(text, "{}", related::line(object, View::wide_frame(), style));
            if object.kind == "Pod" && pod.is_none() {
                pod = Some((namespace_of(finding.id.as_str()), object.clone()));
            }
        }
    }
    if findings.len() > MOST {
        let _ = writeln!(text, "  … and {} more", findings.len() - MOST);
    }
    text.push_str("for details, run:\n");
    if let Some((namespace, pod)) = pod {
        text.push_str(&of_pod(open, namespace, &pod));
    }
    text.push_str("  kusion release list       (roll back with `kusion release rollback REV`)\n");
    text
}

fn of_pod(open: &OpenStack, namespace: Option<&str>, pod: &RelatedObject) -> String {
    let kubectl = kubectl(open);
    let namespace = namespace.map(|it| format!(" -n {}", quoted(it))).unwrap_or_default();
    let name = quoted(&pod.name);
    format!("  {kubectl}{namespace} describe pod {name}\n  {kubectl}{namespace} logs {name}\n")
}

/// Returns the namespace in the id of a Kubernetes object: `apps/v1:Deployment:shop:web`.
fn namespace_of(id: &str) -> Option<&str> {
    let mut parts = id.splitn(4, ':');
    let namespace = parts.nth(2)?;
    parts.next().map(|_| namespace)
}

/// Returns the kubectl command for the cluster of a stack.
fn kubectl(open: &OpenStack) -> String {
    match &open.cluster.kubeconfig {
        Some(file) => format!("kubectl --kubeconfig {}", quoted(&file.display().to_string())),
        None => "kubectl".to_owned(),
    }
}

/// Formats the next steps after a stack is ready.
pub(crate) fn what_next(open: &OpenStack, arguments: &str, style: Style) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "kusion".to_owned());
    let program = quoted(&program);
    let kubectl = kubectl(open);
    let head = style.paint(Role::Heading, "next steps:");
    format!(
        "{head}\n  {program} status{arguments}\n  {kubectl} get all --all-namespaces\n  \
         {program} destroy{arguments} --yes\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_is_found_in_an_id() {
        assert_eq!(namespace_of("apps/v1:Deployment:shop:web"), Some("shop"));
        assert_eq!(namespace_of("v1:Namespace:shop"), None);
    }
}
