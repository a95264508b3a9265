//! Texts of actions, reasons, notes and health.

use super::style::{Role, one_line};
use crate::arguments::quoted;
use jiff::Timestamp;
use kusion_model::{
    Action, Conflict, FieldPath, GitRevision, Health, HealthState, Note, Operation, Owner,
    PathStep, Phase, Plan, PolicyFinding, PolicyLevel, Problem, Reason, ReleaseHealth, ResourceId,
    Step,
};
use kusion_plan::Refusal;
use std::fmt::Write as _;
use std::time::Duration;

/// The words and the color of an action.
pub(crate) struct ActionWords {
    /// The sign of the action.
    pub(crate) sign: &'static str,
    /// The verb: `create`.
    pub(crate) verb: &'static str,
    /// The present participle: `creating`.
    pub(crate) doing: &'static str,
    /// The past participle: `created`.
    pub(crate) done: &'static str,
    /// Its colour.
    pub(crate) role: Role,
}

/// Returns the words for an action.
pub(crate) fn of_action(action: Action) -> ActionWords {
    let (sign, verb, doing, done, role) = match action {
        Action::Keep => (" ", "keep", "keeping", "kept", Role::Muted),
        Action::Create => ("+", "create", "creating", "created", Role::Good),
        Action::Adopt => (">", "adopt", "adopting", "adopted", Role::Changed),
        Action::Update => ("~", "update", "updating", "updated", Role::Changed),
        Action::Replace => ("±", "replace", "replacing", "replaced", Role::Replaced),
        Action::Delete => ("-", "delete", "deleting", "deleted", Role::Bad),
        Action::Forget => ("?", "forget", "forgetting", "forgotten", Role::Muted),
    };
    ActionWords { sign, verb, doing, done, role }
}

/// Returns the reason for an action; empty if the action is self-explanatory. `is_moved` says that
/// the stack moved to another cluster.
pub(crate) fn of_reason(step: &Step, is_moved: bool) -> String {
    match &step.reason {
        // Otherwise an update without lines below it would say nothing.
        Reason::Differs if step.changes.is_empty() && step.notes.is_empty() => {
            "no value changes; the managed fields are recorded again".to_owned()
        }
        Reason::New | Reason::Same | Reason::Differs | Reason::Destroyed => String::new(),
        Reason::Missing if is_moved => "not on this cluster".to_owned(),
        Reason::Missing => "deleted outside this stack".to_owned(),
        Reason::Unmanaged => "exists, but is not managed by this stack yet".to_owned(),
        Reason::Unmarked => "its owner is recorded on it".to_owned(),
        Reason::Owned { owner } => format!("belongs to {}", one_line(&owner.to_string())),
        Reason::Shared => "shared with other stacks".to_owned(),
        Reason::Renamed { to } => format!("its object is now {}", one_line(to.as_str())),
        Reason::Hook => "runs once for each Spec that is applied".to_owned(),
        Reason::Removed => "no longer in the stack".to_owned(),
        Reason::Leftovers => "an interrupted replacement left objects behind".to_owned(),
        Reason::Unreachable { message } => one_line(message),
        Reason::Immutable { fields, message } if fields.is_empty() => {
            format!("cannot be updated in place: {}", one_line(message))
        }
        Reason::Immutable { fields, .. } => {
            let paths: Vec<String> = fields.iter().map(ToString::to_string).collect();
            format!("{} cannot be updated in place", paths.join(", "))
        }
    }
}

/// Returns who manages a field that would change.
pub(crate) fn of_conflict(conflict: &Conflict, field: &str) -> String {
    let time = conflict.time.as_ref().map(|it| format!(" (changed at {it})")).unwrap_or_default();
    one_line(&format!("conflict: `{}` manages {field}{time}", conflict.manager))
}

/// Returns the text of a note.
pub(crate) fn of_note(note: &Note) -> String {
    match note {
        Note::DryRunDeferred { requirement } => {
            format!("dry run deferred until {requirement} exists")
        }
        Note::NoDryRun => "no dry run: uses values that are known only after apply".to_owned(),
        Note::TakesFields { manager, fields } => {
            format!("takes over {} from `{manager}`", fields.join(", "))
        }
        Note::Adopts => "`kusion destroy` will delete it".to_owned(),
        Note::TakesOver { owner } => format!("takes it over from {}", one_line(&owner.to_string())),
        Note::KeepsLive { path, rule } => format!("{path} keeps its live value (rule `{rule}`)"),
        Note::Moved { from } => format!("recorded as {} until now", one_line(from.as_str())),
        Note::DeletesLeftovers { count } => {
            let objects = self::count(*count, "object");
            format!("deletes {objects} left behind by an interrupted replacement")
        }
        Note::Warning { message } => format!("warning: {message}"),
    }
}

/// Returns the texts of refusals below a plan. Rejected resources are only named: their steps show
/// the problems.
pub(crate) fn of_refusals(refusals: &[Refusal]) -> Vec<String> {
    const SHOWN: usize = 5;
    let mut rejected = Vec::new();
    let mut texts = Vec::new();
    for refusal in refusals {
        match refusal {
            Refusal::Rejected { id, .. } => rejected.push(id.as_str()),
            _ => texts.push(of_refusal(refusal)),
        }
    }
    if !rejected.is_empty() {
        let mut ids = rejected[..rejected.len().min(SHOWN)].join(", ");
        if let more @ 1.. = rejected.len().saturating_sub(SHOWN) {
            let _ = write!(ids, " and {more} more");
        }
        texts.insert(0, format!("{} (see above): {ids}", count(rejected.len(), "resource")));
    }
    texts
}

/// Returns the text of a refusal, with how to allow it.
pub(crate) fn of_refusal(refusal: &Refusal) -> String {
    let way = match refusal {
        Refusal::Rejected { id, problems } => return of_problems(id, problems),
        Refusal::PreventDestroy { .. } => "remove `prevent-destroy` first".to_owned(),
        Refusal::ProtectedKind { kind, .. } => format!("pass `--allow-delete {kind}`"),
        Refusal::Unmanaged { id } | Refusal::Contains { id, .. } => {
            format!("pass `--allow-delete {id}`")
        }
        Refusal::Owned { id, owner } => of_owner(id, owner),
        Refusal::OwnedInOtherStore { id, .. } => {
            format!("use that store (`--backend`), or, if it is lost, pass `--take-over {id}`")
        }
        Refusal::Policy { finding } => of_policy(finding),
        Refusal::MassDelete { .. } => "pass `--allow-mass-delete`".to_owned(),
        Refusal::Conflict { id, conflicts } => of_conflicts(id, conflicts),
    };
    format!("{refusal}; {way}")
}

/// Returns whether a refusal ends with an approval of the saved plan.
pub(crate) fn is_approval(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Policy { finding } if finding.level == PolicyLevel::Approve)
}

/// Returns what lets a plan run despite a finding of a policy.
fn of_policy(finding: &PolicyFinding) -> String {
    let fix = match finding.fix.as_str() {
        "" => String::new(),
        fix => format!("{fix}; "),
    };
    match finding.level {
        PolicyLevel::Approve => {
            let role = &finding.role;
            format!(
                "{fix}save the plan with `kusion preview --save FILE`, approve it with `kusion plan \
                 approve FILE --as {role}`, and run it with `kusion apply --plan FILE`"
            )
        }
        _ => format!("{fix}run `kusion policy explain {}` for details", finding.policy),
    }
}

/// Returns the text of a finding that does not keep a plan from running.
pub(crate) fn of_finding(finding: &PolicyFinding) -> String {
    let end = match (&finding.exception, finding.fix.as_str()) {
        (Some(it), _) => {
            format!("; excepted until {} by {}: {}", it.expires, it.owner, it.reason)
        }
        (None, "") => String::new(),
        (None, fix) => format!("; {fix}"),
    };
    format!("policy `{}`: {}{end}", finding.policy, finding.text())
}

/// Returns the word before a finding that does not keep a plan from running.
pub(crate) fn of_level(finding: &PolicyFinding) -> &'static str {
    match finding.level {
        _ if finding.exception.is_some() => "excepted:",
        PolicyLevel::Warn | PolicyLevel::Fix => "warning:",
        PolicyLevel::Approve | PolicyLevel::Deny => "approved:",
    }
}

/// Returns the findings of a plan that do not keep it from running.
pub(crate) fn notes_of_policies(plan: &Plan) -> Vec<&PolicyFinding> {
    let Some(record) = &plan.policies else { return Vec::new() };
    record.findings.iter().filter(|it| !it.blocks(&record.decisions)).collect()
}

/// Returns the first problem of a rejected resource; its step shows all.
fn of_problems(id: &ResourceId, problems: &[Problem]) -> String {
    let first = problems.first().map(ToString::to_string).unwrap_or_default();
    match problems.len().saturating_sub(1) {
        0 => format!("{id}: {first}"),
        more => format!("{id}: {first}; and {more} more"),
    }
}

/// Returns what to do about fields of other managers.
fn of_conflicts(id: &ResourceId, conflicts: &[Conflict]) -> String {
    let path = conflicts.iter().flat_map(|it| &it.paths).next();
    let ignore = path.map(|path| {
        let rule = match kind_of(id.as_str()) {
            Some(kind) => format!("{kind}:{}", pattern(path)),
            None => pattern(path),
        };
        format!("`--ignore-fields {}` to keep the live value, ", quoted(&rule))
    });
    let ignore = ignore.unwrap_or_default();
    format!("pass `--force-conflicts` to take it over, {ignore}or remove it from the stack")
}

/// Writes a path as a pattern that matches all items of lists.
fn pattern(path: &FieldPath) -> String {
    let mut text = String::new();
    for step in &path.0 {
        match step {
            PathStep::Index(_) => text.push_str("[*]"),
            PathStep::Key(key) => {
                let key = FieldPath::default().key(key).to_string();
                if !text.is_empty() && !key.starts_with('[') {
                    text.push('.');
                }
                text.push_str(&key);
            }
        }
    }
    text
}

/// Returns the kind in the id of a Kubernetes object: `apps/v1:Deployment:shop:web`.
fn kind_of(id: &str) -> Option<&str> {
    let parts: Vec<&str> = id.split(':').collect();
    parts.get(1).copied().filter(|_| parts.len() >= 3)
}

/// Returns what to do about an object of another owner.
fn of_owner(id: &ResourceId, owner: &Owner) -> String {
    let flag = format!("pass `--take-over {id}`");
    match owner {
        Owner::Tool { .. } => format!("remove it there without deleting it, and {flag}"),
        Owner::Stack { .. } | Owner::Unknown { .. } => {
            format!("to move it to this stack, {flag}")
        }
    }
}

/// Returns the name of an operation.
pub(crate) fn of_operation(operation: Operation) -> String {
    match operation {
        Operation::Apply => "apply".to_owned(),
        Operation::Destroy => "destroy".to_owned(),
        Operation::Rollback { to } => format!("rollback to {to}"),
    }
}

/// Returns the name and the color of the phase of a release.
pub(crate) fn of_phase(phase: Phase) -> (&'static str, Role) {
    match phase {
        Phase::Running => ("running", Role::Changed),
        Phase::Succeeded => ("succeeded", Role::Good),
        Phase::Failed => ("failed", Role::Bad),
        Phase::Stopped => ("stopped", Role::Changed),
        Phase::Interrupted => ("interrupted", Role::Bad),
    }
}

/// Returns the name of the health of a release.
pub(crate) fn of_release_health(health: ReleaseHealth) -> &'static str {
    match health {
        ReleaseHealth::Ready => "ready",
        ReleaseHealth::Degraded => "degraded",
        ReleaseHealth::Failed => "failed",
        ReleaseHealth::Unknown => "unknown",
    }
}

/// Returns a commit in a few words: `1a2b3c4d5e (trunk), modified`.
pub(crate) fn of_commit(git: &GitRevision) -> String {
    let short: String = git.commit.chars().take(10).collect();
    let branch = git.branch.as_deref().map(|it| format!(" ({})", one_line(it)));
    let state = match git.is_dirty {
        Some(false) => "",
        Some(true) => ", modified",
        None => ", modified or not: unknown",
    };
    format!("{}{}{state}", one_line(&short), branch.unwrap_or_default())
}

/// Returns a commit in a sentence.
pub(crate) fn of_commit_long(git: &GitRevision) -> String {
    let branch = match &git.branch {
        Some(branch) => format!("of the branch {}", one_line(branch)),
        None => "without a branch".to_owned(),
    };
    let state = match git.is_dirty {
        Some(false) => "without uncommitted changes",
        Some(true) => "with uncommitted changes",
        None => "unknown whether there were uncommitted changes",
    };
    format!("commit {} {branch}, {state}", one_line(&git.commit))
}

/// Returns the sign, the name and the color of a health state.
pub(crate) fn of_state(state: HealthState) -> (&'static str, &'static str, Role) {
    match state {
        HealthState::Ready => ("●", "ready", Role::Good),
        HealthState::Progressing => ("◌", "progressing", Role::Changed),
        HealthState::Failed => ("✗", "failed", Role::Bad),
        HealthState::Terminating => ("◌", "terminating", Role::Muted),
    }
}

/// Returns the health of an object, with its reason, in one line.
pub(crate) fn of_health(health: &Health) -> String {
    let (_, word, _) = of_state(health.state);
    let mut text = word.to_owned();
    if let Some(reason) = &health.reason {
        text = format!("{text}, {}", one_line(reason));
    }
    if !health.message.is_empty() {
        text = format!("{text}: {}", one_line(&health.message));
    }
    text
}

/// Writes an age or a duration as kubectl does: `35s`, `4m10s`, `3h`, `12d`.
pub(crate) fn of_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=119 => format!("{seconds}s"),
        120..=599 if !seconds.is_multiple_of(60) => format!("{}m{}s", seconds / 60, seconds % 60),
        120..=10_799 => format!("{}m", seconds / 60),
        10_800..=172_799 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Writes the duration of a step: `0.25s`, `12s`.
pub(crate) fn of_short_duration(duration: Duration) -> String {
    if duration < Duration::from_secs(10) {
        format!("{:.2}s", duration.as_secs_f64())
    } else {
        of_duration(duration)
    }
}

/// Returns the time between two instants of the calendar; `None` if one cannot be read.
pub(crate) fn between(start: &str, end: Timestamp) -> Option<Duration> {
    let start: Timestamp = start.parse().ok()?;
    Some(end.duration_since(start).try_into().unwrap_or_default())
}

/// Writes a number with its word: `1 step`, `2 steps`.
pub(crate) fn count(number: usize, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        let texts: Vec<String> = [0, 119, 130, 180, 601, 7300, 11_000, 200_000]
            .map(|it| of_duration(Duration::from_secs(it)))
            .to_vec();
        assert_eq!(texts, ["0s", "119s", "2m10s", "3m", "10m", "121m", "3h", "2d"]);
    }

    #[test]
    fn an_age_is_never_negative() {
        let now: Timestamp = "2026-01-01T00:00:10Z".parse().expect("a time");
        assert_eq!(between("2026-01-01T00:00:00Z", now), Some(Duration::from_secs(10)));
        assert_eq!(between("2026-01-01T00:00:20Z", now), Some(Duration::ZERO));
        assert_eq!(between("soon", now), None);
    }

    #[test]
    fn the_cause_of_a_failure_is_said() {
        let health = Health::failed("ImagePullBackOff", "no such image\n  x");
        assert_eq!(of_health(&health), "failed, ImagePullBackOff: no such image   x");
    }

    #[test]
    fn the_ways_out_of_a_conflict_can_be_copied() {
        let conflict = |paths: Vec<FieldPath>| Refusal::Conflict {
            id: ResourceId::new("apps/v1:Deployment:shop:web"),
            conflicts: vec![Conflict { paths, ..Conflict::new("kubectl", vec!["f".into()]) }],
        };
        let path = FieldPath::default().key("spec").key("containers").index(2).key("image");
        let expected = "apps/v1:Deployment:shop:web: conflict: `kubectl` manages f; pass \
                        `--force-conflicts` to take it over, `--ignore-fields \
                        'Deployment:spec.containers[*].image'` to keep the live value, or remove \
                        it from the stack";
        assert_eq!(of_refusal(&conflict(vec![path])), expected);
        let label = FieldPath::default().key("labels").key("a/b");
        let rule = pattern(&label);
        assert_eq!(rule, r#"labels["a/b"]"#);
        assert!(rule.parse::<kusion_model::FieldPattern>().is_ok());
        let text = of_refusal(&conflict(Vec::new()));
        assert!(text.ends_with("take it over, or remove it from the stack"), "{text}");
    }
}
